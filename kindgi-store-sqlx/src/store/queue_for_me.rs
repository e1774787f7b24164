//! The list of the queue for one who may judge some classes, by that filter alone.
//!
//! An item suits them if it wants any judgment or one of a class of theirs. No index gives the
//! order of all that suit, but there is one for what wants any and for each class: a page is merged
//! of the first of each.

use std::iter;

use kindgi_core::store::Keyset;

use super::{
    Tables,
    codec::queue::ITEM,
    columns_of, limited, marks, oldest_first,
    queue_list::{List, since},
};
use crate::sql::{Cell, Sql};

/// Of how many classes a page is merged at most: it reads so many times a page's rows. Those who
/// may judge more are suited by much of the list, which is walked in its order then.
const MERGED: usize = 32;

/// Items that suit.
#[derive(Clone, Copy)]
enum Suit<'a> {
    /// Those that want any judgment.
    Any,
    /// Those that want one of these classes.
    OneOf(&'a [&'a str]),
}

impl Suit<'_> {
    /// When an item was added.
    fn at(self) -> &'static str {
        match self {
            Self::Any => "added_at",
            Self::OneOf(_) => "told_at",
        }
    }
}

impl List<'_> {
    pub(super) fn classes(&self) -> Vec<&str> {
        let classes = self.filter.wants_any_or.iter().flatten();
        classes.map(|class| class.as_str()).collect()
    }

    /// Items that suit, from their index alone.
    fn suiting(&self, suit: Suit<'_>, columns: &str) -> Sql {
        let Tables {
            queue_items: items,
            tellings,
            ..
        } = self.tables;
        let (from, suits, classes) = match suit {
            Suit::Any => (items, "wants_any = 1".to_owned(), &[][..]),
            Suit::OneOf(classes) => {
                let suits = format!("wants IN ({})", marks(classes.len()));
                (tellings, suits, classes)
            }
        };
        let sql =
            format!("SELECT {columns} FROM {from} WHERE tenant = ? AND project = ? AND {suits}");
        let sql = Sql::new(sql)
            .bind(self.tenant.as_str())
            .bind(self.project.as_str())
            .bind_all(classes.iter().map(|class| Cell::from(*class)));
        since(sql, suit.at(), self.filter.added_after)
    }

    /// A page of the items that suit, unless it takes too many classes to merge.
    pub(super) fn merged(&self, keyset: &Keyset) -> Option<Sql> {
        let classes = self.classes();
        if classes.len() > MERGED {
            return None;
        }
        let suits = iter::once(Suit::Any).chain(classes.chunks(1).map(Suit::OneOf));
        let mut all = Sql::default();
        for (number, suit) in suits.enumerate() {
            let columns = format!("{} AS at, run", suit.at());
            let first = oldest_first(self.suiting(suit, &columns), (suit.at(), "run"), keyset);
            // Also leaves one of an item that several classes suit.
            let union = if number == 0 { "" } else { " UNION " };
            all = all
                .push(&format!(
                    "{union}SELECT at, run FROM ({}) s{number}",
                    first.text
                ))
                .bind_all(first.args);
        }
        let first = format!("SELECT at, run FROM ({}) m ORDER BY at, run", all.text);
        let first = limited(Sql::new(first).bind_all(all.args), keyset.limit);
        let page = format!(
            "SELECT {} FROM ({}) p JOIN {} q ON q.tenant = ? AND q.run = p.run \
             ORDER BY p.at, p.run",
            columns_of("q", ITEM),
            first.text,
            self.tables.queue_items,
        );
        let page = Sql::new(page).bind_all(first.args);
        Some(page.bind(self.tenant.as_str()))
    }

    /// How many items suit, if it isn't kept.
    pub(super) fn suiting_in_all(&self) -> Sql {
        let mut all = self.suiting(Suit::Any, "run");
        let classes = self.classes();
        if !classes.is_empty() {
            let wanting = self.suiting(Suit::OneOf(&classes), "run");
            all = all
                .push(&format!(" UNION {}", wanting.text))
                .bind_all(wanting.args);
        }
        Sql::new(format!("SELECT COUNT(*) FROM ({}) a", all.text)).bind_all(all.args)
    }
}
