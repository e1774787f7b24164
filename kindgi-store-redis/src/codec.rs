//! A kept answer as bytes.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kindgi_core::idempotency::{KeptAnswer, Outcome};

const WITHHELD: u8 = 0;
const ANSWER: u8 = 1;

/// Which of both it is, and the status; of an answer also how many headers there are, each header's
/// name and value with their lengths, and the body.
pub(crate) fn write(outcome: &Outcome) -> Bytes {
    let mut all = BytesMut::new();
    match outcome {
        Outcome::Withheld { status } => {
            all.put_u8(WITHHELD);
            all.put_u16(*status);
        }
        Outcome::Answer(answer) => {
            all.put_u8(ANSWER);
            all.put_u16(answer.status);
            all.put_u64(answer.headers.len() as u64);
            for (name, value) in &answer.headers {
                for part in [name.as_bytes(), value] {
                    all.put_u64(part.len() as u64);
                    all.put_slice(part);
                }
            }
            all.put_slice(&answer.body);
        }
    }
    all.freeze()
}

/// From what [`write`] gave, if it did.
pub(crate) fn read(mut all: Bytes) -> Option<Outcome> {
    let kind = all.try_get_u8().ok()?;
    let status = all.try_get_u16().ok()?;
    match kind {
        WITHHELD if all.is_empty() => Some(Outcome::Withheld { status }),
        ANSWER => {
            let count = all.try_get_u64().ok()?;
            let mut headers = Vec::new();
            for _ in 0..count {
                let name = String::from_utf8(part(&mut all)?.into()).ok()?;
                headers.push((name, part(&mut all)?));
            }
            Some(Outcome::Answer(KeptAnswer {
                status,
                headers,
                body: all,
            }))
        }
        _ => None,
    }
}

fn part(all: &mut Bytes) -> Option<Bytes> {
    let length = usize::try_from(all.try_get_u64().ok()?).ok()?;
    (length <= all.len()).then(|| all.split_to(length))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn outcome() -> impl Strategy<Value = Outcome> {
        let bytes = || vec(any::<u8>(), 0..20).prop_map(Bytes::from);
        let answer = (any::<u16>(), vec((".{0,4}", bytes()), 0..4), bytes());
        let answer = answer.prop_map(|(status, headers, body)| {
            Outcome::Answer(KeptAnswer {
                status,
                headers,
                body,
            })
        });
        prop_oneof![
            any::<u16>().prop_map(|status| Outcome::Withheld { status }),
            answer,
        ]
    }

    proptest! {
        #[test]
        fn any_outcome_is_read_as_it_was_written(outcome in outcome()) {
            prop_assert_eq!(read(write(&outcome)), Some(outcome));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..40)) {
            if let Some(outcome) = read(bytes.clone().into()) {
                prop_assert_eq!(write(&outcome), bytes);
            }
        }

        #[test]
        fn what_is_cut_off_before_the_body_is_refused(value in vec(any::<u8>(), 1..9)) {
            let answer = KeptAnswer {
                status: 200,
                headers: vec![("name".to_owned(), value.into())],
                body: Bytes::new(),
            };
            let all = write(&Outcome::Answer(answer));
            for length in 0..all.len() {
                prop_assert_eq!(read(all.slice(..length)), None);
            }
        }
    }
}
