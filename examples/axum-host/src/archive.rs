//! Moving house: `export`, `import` and `compare`, by what the first argument says.
//!
//! A real host has such commands of its own, or none; what they do is all in [`export`],
//! [`import`] and [`compare`].
//!
//! Each of them brings the databases that it opens up to date, as the host itself does: an older
//! version of the host can't open them any more.

use std::{
    ffi::OsString,
    fmt,
    io::{BufRead, Write},
    num::NonZeroU16,
    path::Path,
};

use kindgi_core::{
    BoxError, StoreError,
    archive::{InvalidLine, check_first_line, first_line, from_line, to_line},
    store::{
        Archive, ExportPosition, Imported, Record,
        archive::{RecordId, Refused},
    },
};
use kindgi_store_sqlx::SqlxStore;

use crate::config::{Database, database};

/// How many records are read at a time.
const PAGE: NonZeroU16 = match NonZeroU16::new(200) {
    Some(page) => page,
    None => NonZeroU16::MIN,
};
/// How many records are put in at a time, and about how many bytes of them.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

/// What is to be done instead of serving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Prints all that a database holds, or what comes after a position. It is brought up to date
    /// for that, and an older version can't open it any more.
    Export {
        /// The database's URL.
        url: String,
        /// Where to go on.
        from: Option<ExportPosition>,
    },
    /// Puts in what is read.
    Import {
        /// The database's URL.
        url: String,
    },
    /// Says in what two databases differ. They are brought up to date for that, and an older
    /// version can't open them any more.
    Compare {
        /// Their URLs.
        urls: [String; 2],
    },
}

/// What may be said.
const USAGE: &str = "\
usage: axum-host
       axum-host export DATABASE_URL [--from POSITION] > FILE
       axum-host import DATABASE_URL < FILE
       axum-host compare DATABASE_URL DATABASE_URL";

impl Command {
    /// What the arguments say after the program's name; `None` if there are none.
    ///
    /// # Errors
    ///
    /// What is wrong with them, and how they should be.
    pub fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, BoxError> {
        let text = |arg: OsString| {
            let text = arg.into_string();
            text.map_err(|_| BoxError::from(format!("an argument is not valid Unicode\n{USAGE}")))
        };
        let args = args.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let command = match *args.as_slice() {
            [] => return Ok(None),
            ["export", url] => Self::Export {
                url: moved(url)?,
                from: None,
            },
            ["export", url, "--from", position] | ["export", "--from", position, url] => {
                Self::Export {
                    url: moved(url)?,
                    from: Some(position.parse().map_err(|e| format!("--from: {e}"))?),
                }
            }
            ["import", url] => Self::Import { url: moved(url)? },
            ["compare", one, other] => Self::Compare {
                urls: [moved(one)?, moved(other)?],
            },
            _ => return Err(USAGE.into()),
        };
        Ok(Some(command))
    }
}

/// The URL of a database that can be moved.
fn moved(url: &str) -> Result<String, BoxError> {
    match database(url)? {
        Database::Sql(url) => Ok(url),
        Database::Memory => {
            Err("what is in memory ends with its process and can't be moved".into())
        }
    }
}

/// Opens a database to read it, which a file that isn't there must not come to be for. It is
/// brought up to date all the same.
///
/// # Errors
///
/// When it isn't there or can't be opened.
pub async fn open_to_read(url: &str) -> Result<SqlxStore, BoxError> {
    if let Some(file) = url.strip_prefix("sqlite:") {
        let file = file.strip_prefix("//").unwrap_or(file);
        let file = file.split('?').next().unwrap_or_default();
        if !Path::new(file).exists() {
            return Err(format!("there is no file {file:?}").into());
        }
    }
    open(url).await
}

/// Opens a database, and makes it if it is a file that isn't there.
///
/// # Errors
///
/// When it can't be opened.
pub async fn open(url: &str) -> Result<SqlxStore, BoxError> {
    Ok(SqlxStore::builder().connect(url).await?)
}

/// Writes all that a store holds, or what comes after a position, each record a line; gives how
/// many there were. The line that says the format comes first, and not again after a position.
///
/// # Errors
///
/// [`Stopped`] says where to go on.
pub async fn export(
    store: &dyn Archive,
    from: Option<ExportPosition>,
    out: &mut dyn Write,
    is_told_to_stop: &dyn Fn() -> bool,
) -> Result<u64, Stopped> {
    let mut stopped = Stopped {
        lines: 0,
        next: from,
        because: Because::Told,
    };
    let mut text = match &stopped.next {
        None => first_line() + "\n",
        Some(_) => String::new(),
    };
    let mut records = 0;
    loop {
        if is_told_to_stop() {
            return Err(stopped);
        }
        let page = match store.export(stopped.next.as_ref(), PAGE).await {
            Ok(page) => page,
            Err(e) => return Err(stopped.because(Because::Store(e))),
        };
        for record in &page.records {
            text.push_str(&to_line(record));
            text.push('\n');
        }
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if let Err(e) = written {
            return Err(stopped.because(Because::Output(e)));
        }
        stopped.lines += text.matches('\n').count();
        records += page.records.len() as u64;
        text.clear();
        match page.next {
            Some(next) => stopped.next = Some(next),
            None => return Ok(records),
        }
    }
}

/// An export that stopped before its end.
#[derive(Debug)]
pub struct Stopped {
    /// How many lines it has written as a whole.
    lines: usize,
    /// Where to go on; `None` at the beginning.
    next: Option<ExportPosition>,
    because: Because,
}

#[derive(Debug)]
enum Because {
    Told,
    Store(StoreError),
    Output(std::io::Error),
}

impl Stopped {
    fn because(self, because: Because) -> Self {
        Self { because, ..self }
    }

    /// Where to go on; `None` is at the beginning.
    pub fn next(&self) -> Option<&ExportPosition> {
        self.next.as_ref()
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.because {
            Because::Told => f.write_str("told to stop")?,
            Because::Store(_) => f.write_str("the database can't be read")?,
            // A part of a page may have been written.
            Because::Output(_) => write!(
                f,
                "the output can't be written; of this export's lines keep the first {} and no more",
                self.lines
            )?,
        }
        match &self.next {
            None => f.write_str("; begin again"),
            Some(next) => write!(f, "; go on with --from {next}, and append (>>)"),
        }
    }
}

impl std::error::Error for Stopped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.because {
            Because::Told => None,
            Because::Store(e) => Some(e),
            Because::Output(e) => Some(e),
        }
    }
}

/// How much an import read, and how much of it was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records in the input.
    pub read: u64,
    /// Records that weren't there before.
    pub added: u64,
}

/// Puts in the records of an export's lines, batch by batch.
///
/// # Errors
///
/// [`Failed`] names the line. What came before its batch is in, and changes nothing when it is
/// put in again.
pub async fn import(store: &dyn Archive, input: &mut dyn BufRead) -> Result<Counts, Failed> {
    let mut counts = Counts::default();
    let mut batch = Batch::default();
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let at = |because| Failed { number, because };
        let read = input.read_line(&mut line);
        if read.map_err(|e| at(Failure::Input(e)))? == 0 {
            if number == 1 {
                return Err(at(Failure::Empty));
            }
            break;
        }
        let text = line.strip_suffix('\n').unwrap_or(&line);
        if number == 1 {
            check_first_line(text).map_err(|e| at(Failure::Line(e)))?;
            continue;
        }
        let record = from_line(text).map_err(|e| at(Failure::Line(e)))?;
        batch.records.push(record);
        batch.lines.push(number);
        batch.bytes += line.len();
        if batch.records.len() >= BATCH || batch.bytes >= BATCH_BYTES {
            batch.put_in(store, &mut counts).await?;
        }
    }
    batch.put_in(store, &mut counts).await?;
    Ok(counts)
}

#[derive(Default)]
struct Batch {
    records: Vec<Record>,
    /// The number of each record's line.
    lines: Vec<u64>,
    bytes: usize,
}

impl Batch {
    async fn put_in(&mut self, store: &dyn Archive, counts: &mut Counts) -> Result<(), Failed> {
        let line_of = |id: Option<&RecordId>| {
            let mut lines = self.records.iter().zip(&self.lines);
            // The last of several: the first of them was taken.
            let found = lines.rfind(|(record, _)| id.is_none_or(|id| record.id() == *id));
            found.map_or(1, |(_, line)| *line)
        };
        match store.import(&self.records).await {
            Ok(Imported::Ok { added }) => {
                counts.read += self.records.len() as u64;
                counts.added += added;
                *self = Self::default();
                Ok(())
            }
            Ok(Imported::Refused(refused)) => Err(Failed {
                number: line_of(Some(&refused.record)),
                because: Failure::Refused(refused),
            }),
            Err(e) => Err(Failed {
                number: line_of(None),
                because: Failure::Store(e),
            }),
        }
    }
}

/// An import that stopped before its end.
#[derive(Debug)]
pub struct Failed {
    number: u64,
    because: Failure,
}

#[derive(Debug)]
enum Failure {
    Empty,
    Input(std::io::Error),
    Line(InvalidLine),
    Refused(Refused),
    Store(StoreError),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number;
        match &self.because {
            Failure::Empty => f.write_str("there is nothing to import"),
            Failure::Input(_) => write!(f, "line {number} can't be read"),
            Failure::Line(e) => write!(f, "line {number}: {e}"),
            Failure::Refused(refused) => write!(f, "line {number}: {refused}"),
            Failure::Store(_) => write!(
                f,
                "the database failed before line {number} was in; import the same lines again"
            ),
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.because {
            Failure::Input(e) => Some(e),
            Failure::Store(e) => Some(e),
            Failure::Empty | Failure::Line(_) | Failure::Refused(_) => None,
        }
    }
}

/// Walks two stores side by side and writes a line for each record that isn't in both, or isn't
/// equal; gives how many there were.
///
/// # Errors
///
/// When a store fails or nothing can be written.
pub async fn compare(
    one: &dyn Archive,
    other: &dyn Archive,
    out: &mut dyn Write,
) -> Result<u64, BoxError> {
    let (mut first, mut second) = (Walk::new(one), Walk::new(other));
    let (mut left, mut right) = (first.next().await?, second.next().await?);
    let mut differences = 0;
    loop {
        let ids = (
            left.as_ref().map(Record::id),
            right.as_ref().map(Record::id),
        );
        let (go_left, go_right) = match &ids {
            (None, None) => return Ok(differences),
            (Some(_), None) => (true, false),
            (None, Some(_)) => (false, true),
            (Some(left), Some(right)) => (left <= right, right <= left),
        };
        let said = match (go_left, go_right) {
            (true, false) => Some(("only in the first", ids.0)),
            (false, true) => Some(("only in the second", ids.1)),
            _ if left != right => Some(("differs", ids.0)),
            _ => None,
        };
        if let Some((what, Some(id))) = said {
            writeln!(out, "{what}: {id}")?;
            differences += 1;
        }
        if go_left {
            left = first.next().await?;
        }
        if go_right {
            right = second.next().await?;
        }
    }
}

/// All records of a store, one by one.
struct Walk<'s> {
    store: &'s dyn Archive,
    page: std::vec::IntoIter<Record>,
    next: Option<ExportPosition>,
    is_over: bool,
}

impl<'s> Walk<'s> {
    fn new(store: &'s dyn Archive) -> Self {
        Self {
            store,
            page: Vec::new().into_iter(),
            next: None,
            is_over: false,
        }
    }

    async fn next(&mut self) -> Result<Option<Record>, StoreError> {
        loop {
            if let Some(record) = self.page.next() {
                return Ok(Some(record));
            }
            if self.is_over {
                return Ok(None);
            }
            let page = self.store.export(self.next.as_ref(), PAGE).await?;
            self.is_over = page.next.is_none();
            self.next = page.next;
            self.page = page.records.into_iter();
        }
    }
}
