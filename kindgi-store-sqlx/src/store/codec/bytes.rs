//! Bytes, and texts that any database takes.

use crate::error::DbError;

/// What is text without a NUL follows a `t` as it is; all else is in hex after an `x`.
pub(in crate::store) fn bytes_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&0) => format!("t{text}"),
        _ => {
            let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
            let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
            std::iter::once('x').chain(digits).collect()
        }
    }
}

/// From what [`bytes_text`] wrote.
pub(in crate::store) fn bytes(text: String) -> Result<Vec<u8>, DbError> {
    let corrupt = || DbError::corrupt("bytes");
    let mut all = text.into_bytes();
    match all.first() {
        Some(b't') => {
            all.remove(0);
            Ok(all)
        }
        Some(b'x') => {
            let digit = |digit: &u8| char::from(*digit).to_digit(16).map(|digit| digit as u8);
            let byte = |pair: &[u8]| match pair {
                [high, low] => Some(digit(high)? << 4 | digit(low)?),
                _ => None,
            };
            let digits = all.get(1..).unwrap_or_default();
            let bytes = digits.chunks(2).map(byte).collect::<Option<_>>();
            bytes.ok_or_else(corrupt)
        }
        _ => Err(corrupt()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_as_they_were_written(all in vec(any::<u8>(), 0..40)) {
            let text = bytes_text(&all);
            prop_assert!(!text.contains('\0'));
            prop_assert_eq!(bytes(text).ok(), Some(all));
        }

        #[test]
        fn any_text_is_written_as_it_is(text in "[^\u{0}]*") {
            prop_assert_eq!(bytes_text(text.as_bytes()), format!("t{text}"));
            prop_assert_eq!(bytes(format!("t{text}")).ok(), Some(text.into_bytes()));
        }
    }

    #[test]
    fn what_nobody_wrote_is_refused() {
        for text in ["", "a", "x0", "x0g", "xé"] {
            assert!(bytes(text.to_owned()).is_err(), "{text:?}");
        }
    }
}
