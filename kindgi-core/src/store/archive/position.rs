//! Where an export is.

use std::{error, fmt, str::FromStr, sync::Arc};

use crate::model::TenantId;

/// What an archive is made of, in this order: what is named comes before what names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArchivePart {
    /// Judge classes, live and retired.
    Classes,
    /// Versions of judging rules, live and stopped ones'.
    RuleVersions,
    /// How often the rules of each project changed.
    Rules,
    /// Copies of runs, and which runs are erased.
    Runs,
    /// Judgments, live and dead.
    Judgments,
    /// Runs that rules took or skipped, with their items of the queue.
    Tellings,
    /// Before which instant a tenant's data was purged.
    Purges,
    /// Operations that took effect, with their receipts.
    Operations,
}

impl ArchivePart {
    /// All, in order.
    pub const ALL: [Self; 8] = [
        Self::Classes,
        Self::RuleVersions,
        Self::Rules,
        Self::Runs,
        Self::Judgments,
        Self::Tellings,
        Self::Purges,
        Self::Operations,
    ];

    /// The one after this.
    pub fn next(self) -> Option<Self> {
        Self::ALL.into_iter().find(|part| *part > self)
    }

    /// Its name in a position.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Classes => "classes",
            Self::RuleVersions => "rule-versions",
            Self::Rules => "rules",
            Self::Runs => "runs",
            Self::Judgments => "judgments",
            Self::Tellings => "tellings",
            Self::Purges => "purges",
            Self::Operations => "operations",
        }
    }

    /// From what [`as_str`](Self::as_str) gives.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.as_str() == name)
    }
}

/// Which record: no two of a store have the same. Their order is an export's.
///
/// As text it has no blanks and needs no quotes in a shell: `judgments/tenant/id`, with all but
/// letters, digits and `-._~` as `%` and two hexadecimal digits for each byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId {
    /// In which part.
    pub part: ArchivePart,
    /// Whose.
    pub tenant: TenantId,
    /// The id of the class, the rule, the project, the run, the judgment or, in lower-case
    /// hexadecimal digits, the operation; empty for a purge.
    pub id: Arc<str>,
    /// The version of a rule; else 0.
    pub version: u32,
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.part.as_str())?;
        for text in [self.tenant.as_str(), &self.id] {
            f.write_str("/")?;
            for byte in text.bytes() {
                match byte {
                    b'-' | b'.' | b'_' | b'~' => write!(f, "{}", char::from(byte))?,
                    _ if byte.is_ascii_alphanumeric() => write!(f, "{}", char::from(byte))?,
                    _ => write!(f, "%{byte:02X}")?,
                }
            }
        }
        match self.part {
            ArchivePart::RuleVersions => write!(f, "/{}", self.version),
            _ => Ok(()),
        }
    }
}

/// Where an export goes on. As text it is a part's name or a [`RecordId`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExportPosition {
    /// At the beginning of a part.
    Start(ArchivePart),
    /// After a record, whether or not it is there.
    After(RecordId),
}

impl ExportPosition {
    /// The part it is in.
    pub fn part(&self) -> ArchivePart {
        match self {
            Self::Start(part) => *part,
            Self::After(record) => record.part,
        }
    }

    /// The record it is after.
    pub fn after(&self) -> Option<&RecordId> {
        match self {
            Self::Start(_) => None,
            Self::After(record) => Some(record),
        }
    }
}

impl fmt::Display for ExportPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(part) => f.write_str(part.as_str()),
            Self::After(record) => record.fmt(f),
        }
    }
}

impl FromStr for ExportPosition {
    type Err = InvalidPosition;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut pieces = text.split('/');
        let part = pieces.next().and_then(ArchivePart::from_name);
        let part = part.ok_or(InvalidPosition("it must begin with the name of a part"))?;
        let Some(tenant) = pieces.next() else {
            return Ok(Self::Start(part));
        };
        let shape = InvalidPosition("it must be PART, PART/TENANT/ID or rule-versions/…/VERSION");
        let id = decoded(pieces.next().ok_or(shape)?)?;
        let version = match (part, pieces.next()) {
            (ArchivePart::RuleVersions, Some(version)) => version.parse().map_err(|_| shape)?,
            (ArchivePart::RuleVersions, None) | (_, Some(_)) => return Err(shape),
            (_, None) => 0,
        };
        if pieces.next().is_some() {
            return Err(shape);
        }
        let tenant = TenantId::new(decoded(tenant)?);
        Ok(Self::After(RecordId {
            part,
            tenant: tenant.map_err(|_| InvalidPosition("its tenant isn't one"))?,
            id: id.into(),
            version,
        }))
    }
}

/// The text that stands for itself or is in hexadecimal digits.
fn decoded(text: &str) -> Result<String, InvalidPosition> {
    let wrong = InvalidPosition("after a % there must be two hexadecimal digits of UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit().ok_or(wrong)?, digit().ok_or(wrong)?);
        bytes.push(u8::try_from(high * 16 + low).map_err(|_| wrong)?);
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong)?;
    if text.contains('\0') {
        return Err(InvalidPosition("it must not contain U+0000"));
    }
    Ok(text)
}

/// A text that is no [`ExportPosition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidPosition(&'static str);

impl fmt::Display for InvalidPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no position of an export: {}", self.0)
    }
}

impl error::Error for InvalidPosition {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_position_is_read_as_it_was_written(
            part in proptest::sample::select(&ArchivePart::ALL[..]),
            tenant in "[^\u{0}\\s]{1,20}",
            id in "[^\u{0}]{0,20}",
            version in any::<u32>(),
        ) {
            let version = if part == ArchivePart::RuleVersions { version } else { 0 };
            let tenant = tenant.parse().unwrap();
            let record = RecordId { part, tenant, id: id.into(), version };
            for position in [ExportPosition::Start(part), ExportPosition::After(record)] {
                let text = position.to_string();
                prop_assert!(text.bytes().all(|b| b.is_ascii_graphic() && !b"'\"\\$&;*?#".contains(&b)));
                prop_assert_eq!(text.parse(), Ok(position));
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}", part in 0..8_usize) {
            let _ = text.parse::<ExportPosition>();
            let _ = format!("{}/{text}", ArchivePart::ALL[part].as_str()).parse::<ExportPosition>();
        }
    }

    #[test]
    fn what_nobody_wrote_is_refused() {
        for text in [
            "",
            "nothing",
            "judgments/",
            "judgments/t",
            "judgments/t/i/1",
            "rule-versions/t/r",
            "rule-versions/t/r/x",
            "rule-versions/t/r/1/1",
            "judgments//i",
            "judgments/t/%0",
            "judgments/t/%zz",
            "judgments/t/%ff",
            "judgments/t/%00",
        ] {
            assert!(text.parse::<ExportPosition>().is_err(), "{text:?}");
        }
    }
}
