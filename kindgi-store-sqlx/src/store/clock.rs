//! The clock that judges the deadlines of idempotency keys.

use std::{sync::Arc, time::Duration};

use kindgi_core::{Clock, Timestamp};

use super::codec;
use crate::{drivers::Connection, error::DbError, sql::Sql};

/// A hundred years, the most that is added to an instant of the database's.
const CENTURY: i64 = 100 * 366 * 24 * 60 * 60 * 1000;

#[derive(Clone)]
pub(super) enum StoreClock {
    Given(Arc<dyn Clock>),
    /// The database's own, by an expression of milliseconds since the Unix epoch.
    Database(&'static str),
}

impl StoreClock {
    /// Now, for statements that are made now.
    pub(super) fn moment(&self) -> Moment {
        match self {
            Self::Given(clock) => Moment::At(clock.now()),
            Self::Database(expression) => Moment::Asked(expression),
        }
    }

    pub(super) async fn now(&self, connection: &mut dyn Connection) -> Result<Timestamp, DbError> {
        match self.moment() {
            Moment::At(now) => Ok(now),
            moment => {
                let select = Sql::new("SELECT ").push_sql(moment.now());
                let row = connection.fetch_first(&select).await?;
                let mut row = row.ok_or_else(|| DbError::corrupt("no time"))?;
                codec::time(row.int()?)
            }
        }
    }
}

/// An instant as statements say it.
#[derive(Clone, Copy)]
pub(super) enum Moment {
    At(Timestamp),
    /// When the database comes to it.
    Asked(&'static str),
}

impl Moment {
    pub(super) fn now(&self) -> Sql {
        match self {
            Self::At(now) => Sql::new("?").bind(now.as_unix_millis()),
            Self::Asked(expression) => Sql::new(*expression),
        }
    }

    /// So much later.
    pub(super) fn later(&self, duration: Duration) -> Sql {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        match self {
            Self::At(now) => Sql::new("?").bind(now.saturating_add_millis(millis).as_unix_millis()),
            Self::Asked(expression) => {
                Sql::new(format!("({expression} + ?)")).bind(millis.min(CENTURY))
            }
        }
    }
}
