//! Text that callers and hosts give: what it may be, and the types that hold it.
//!
//! Nothing is trimmed or normalised; text compares exactly, code point for code point.

use std::{error, fmt};

/// Why a text was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InvalidText(Fault);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fault {
    Empty,
    Blank,
    TooLong(usize),
    Nul,
    Shape(&'static str),
}

impl InvalidText {
    pub(crate) const fn shape(must: &'static str) -> Self {
        Self(Fault::Shape(must))
    }
}

impl fmt::Display for InvalidText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Fault::Empty => f.write_str("must not be empty"),
            Fault::Blank => f.write_str("must not be only white space"),
            Fault::TooLong(max) => write!(f, "must have at most {max} characters"),
            Fault::Nul => f.write_str("must not contain U+0000"),
            Fault::Shape(must) => f.write_str(must),
        }
    }
}

impl error::Error for InvalidText {}

/// 1 to `max` code points, not only white space, no U+0000.
pub(crate) fn named(text: &str, max: usize) -> Result<(), InvalidText> {
    if text.is_empty() {
        return Err(InvalidText(Fault::Empty));
    }
    free(text, max)?;
    if text.chars().all(char::is_whitespace) {
        return Err(InvalidText(Fault::Blank));
    }
    Ok(())
}

/// At most `max` code points, no U+0000.
pub(crate) fn free(text: &str, max: usize) -> Result<(), InvalidText> {
    if text.contains('\0') {
        return Err(InvalidText(Fault::Nul));
    }
    // A text of so few bytes can't have more code points.
    if text.len() > max && text.chars().count() > max {
        return Err(InvalidText(Fault::TooLong(max)));
    }
    Ok(())
}

/// A validated text type: cheap to clone, compared bytewise.
macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Takes the text as it is, or says what is wrong with it.
            pub fn new(
                text: impl Into<std::sync::Arc<str>>,
            ) -> Result<Self, $crate::model::InvalidText> {
                let text = text.into();
                let check: fn(&str) -> Result<(), $crate::model::InvalidText> = $check;
                check(&text)?;
                Ok(Self(text))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::model::InvalidText;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::new(text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::model::InvalidText;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::new(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = $crate::model::InvalidText;

            fn try_from(text: &str) -> Result<Self, Self::Error> {
                Self::new(text)
            }
        }
    };
}
pub(crate) use text_type;
