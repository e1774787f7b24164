//! Pages of a list: keyset paging, so that no row is skipped or repeated while others write.

use std::sync::Arc;

use crate::clock::Timestamp;

/// How many rows a page may have: 1 to 100, 25 unless said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageSize(u16);

impl PageSize {
    /// The most rows a page may have.
    pub const MAX: u16 = 100;

    /// The size, or `None` outside 1 to 100.
    pub const fn new(size: u16) -> Option<Self> {
        if size == 0 || size > Self::MAX {
            return None;
        }
        Some(Self(size))
    }

    /// How many rows.
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// 25.
impl Default for PageSize {
    fn default() -> Self {
        Self(25)
    }
}

/// A row's place in a list: its instant, then its id, compared bytewise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The row's instant.
    pub at: Timestamp,
    /// The row's id.
    pub id: Arc<str>,
}

/// Which page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageRequest {
    /// The last row of the page before; `None` asks for the first page.
    pub after: Option<Position>,
    /// How many rows at most.
    pub size: PageSize,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows, in the list's order.
    pub rows: Vec<T>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<Position>,
}

impl<T> Page<T> {
    /// A page without rows, and the last one.
    pub fn empty() -> Self {
        Self {
            rows: Vec::new(),
            next: None,
        }
    }
}
