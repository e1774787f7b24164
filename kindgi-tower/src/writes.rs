//! Detached writes: a client that hangs up can't cancel one halfway.

use std::{future::Future, sync::Arc};

use tokio::sync::Semaphore;

use crate::refusal::Refusal;

/// More writes than there ever are in line: the most that one acquisition can ask for is 2^32.
const LINE: u32 = u32::MAX >> 3;

/// The writes in flight, and those in line.
pub(crate) struct Writes {
    /// A place in line, from the moment a write's body has arrived to its end.
    line: Arc<Semaphore>,
    /// A turn.
    turns: Arc<Semaphore>,
}

impl Writes {
    /// At most so many run at once.
    pub(crate) fn new(cap: u32) -> Self {
        Self {
            line: Arc::new(Semaphore::new(LINE as usize)),
            turns: Arc::new(Semaphore::new(cap as usize)),
        }
    }

    /// Runs the write on a task of its own, in the current span, once it is its turn. It goes on
    /// to its end, whether or not anyone waits for it. A panic in it is a server error.
    pub(crate) async fn run<F, T>(&self, write: F) -> Result<T, Refusal>
    where
        F: Future<Output = Result<T, Refusal>> + Send + 'static,
        T: Send + 'static,
    {
        // At once, except while someone waits for the line to be empty.
        let Ok(place) = Arc::clone(&self.line).acquire_owned().await else {
            return Err(Refusal::internal());
        };
        let turns = Arc::clone(&self.turns);
        let write = async move {
            let _place = place;
            let Ok(_turn) = turns.acquire_owned().await else {
                return Err(Refusal::internal());
            };
            write.await
        };
        #[cfg(feature = "tracing")]
        let write = tracing::Instrument::in_current_span(write);
        match tokio::spawn(write).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Refusal::internal()),
        }
    }

    /// Waits until no write is in flight or in line.
    pub(crate) async fn drained(&self) {
        // Taking every place there is means that no write has one.
        let _ = self.line.acquire_many(LINE).await;
    }
}
