//! Writes: what is done in one transaction, on a task of its own, so that no write is on a future
//! that a caller could drop.
//!
//! How they are lined up is the database's: [`group`] for one that has a single writer, [`lines`]
//! for one that locks by name.

#[cfg(any(feature = "sqlite", test))]
pub(crate) mod group;
#[cfg(any(feature = "postgres", test))]
pub(crate) mod lines;

use std::{future::Future, pin::Pin};

use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::{drivers::Connection, error::DbError};

/// A future on a connection.
pub(crate) type OnConnection<'c, T> = Pin<Box<dyn Future<Output = Result<T, DbError>> + Send + 'c>>;

/// Something to do in a transaction.
#[async_trait]
pub(crate) trait Work: Send {
    /// Does it. After an error nothing of it may stay; it may then be done again.
    async fn run(&mut self, connection: &mut dyn Connection) -> Result<(), DbError>;

    /// Answers: what was done is committed, or this befell it.
    fn answer(self: Box<Self>, fate: Result<(), DbError>);
}

/// A transition, what it came to, and who waits for it.
struct Transition<F, T> {
    step: F,
    outcome: Option<T>,
    reply: oneshot::Sender<Result<T, DbError>>,
}

#[async_trait]
impl<F, T> Work for Transition<F, T>
where
    F: for<'c> FnOnce(&'c mut dyn Connection) -> OnConnection<'c, T> + Clone + Send,
    T: Send,
{
    async fn run(&mut self, connection: &mut dyn Connection) -> Result<(), DbError> {
        let step = self.step.clone();
        self.outcome = Some(step(connection).await?);
        Ok(())
    }

    fn answer(self: Box<Self>, fate: Result<(), DbError>) {
        let Self { outcome, reply, .. } = *self;
        let never = || DbError::other("the write was not done");
        // Nobody may be waiting any more.
        let _ = reply.send(fate.and_then(|()| outcome.ok_or_else(never)));
    }
}

/// A transition as work, and where its outcome will come.
pub(crate) fn transition<F, T>(step: F) -> (Box<dyn Work>, oneshot::Receiver<Result<T, DbError>>)
where
    F: for<'c> FnOnce(&'c mut dyn Connection) -> OnConnection<'c, T> + Clone + Send + 'static,
    T: Send + 'static,
{
    let (reply, outcome) = oneshot::channel();
    let work = Transition {
        step,
        outcome: None,
        reply,
    };
    (Box::new(work), outcome)
}
