//! Detached writes: a client that hangs up can't cancel one halfway.

use std::{future::Future, sync::Arc};

use tokio::sync::Semaphore;

use crate::refusal::Refusal;

/// The writes in flight.
pub(crate) struct Writes {
    permits: Arc<Semaphore>,
    cap: u32,
}

impl Writes {
    pub(crate) fn new(cap: u32) -> Self {
        let permits = Arc::new(Semaphore::new(cap as usize));
        Self { permits, cap }
    }

    /// Waits for its turn, then runs the write on a task of its own, in the current span. From
    /// then on it goes on to its end, whether or not anyone waits for it. A panic in it is a
    /// server error.
    pub(crate) async fn run<F, T>(&self, write: F) -> Result<T, Refusal>
    where
        F: Future<Output = Result<T, Refusal>> + Send + 'static,
        T: Send + 'static,
    {
        let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await else {
            return Err(Refusal::internal());
        };
        let write = async move {
            let outcome = write.await;
            drop(permit);
            outcome
        };
        #[cfg(feature = "tracing")]
        let write = tracing::Instrument::in_current_span(write);
        match tokio::spawn(write).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Refusal::internal()),
        }
    }

    /// Waits until no write is in flight.
    pub(crate) async fn drained(&self) {
        // Taking every turn there is means that no write has one. The queue is fair, so this
        // comes to its turn however many are waiting.
        let _ = self.permits.acquire_many(self.cap).await;
    }
}
