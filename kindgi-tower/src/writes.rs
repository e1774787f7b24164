//! Detached writes: a client that hangs up can't cancel one halfway.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::{Notify, Semaphore};

use crate::refusal::Refusal;

/// The writes in flight, and those in line.
pub(crate) struct Writes {
    line: Arc<Line>,
    turns: Arc<Semaphore>,
}

impl Writes {
    /// At most so many run at once.
    pub(crate) fn new(cap: u32) -> Self {
        Self {
            line: Arc::default(),
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
        let place = Place::in_line(&self.line);
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
        loop {
            let mut emptied = pin!(self.line.emptied.notified());
            // Before the look, so that the last one to leave in between is noticed.
            emptied.as_mut().enable();
            if self.line.places.load(Ordering::SeqCst) == 0 {
                return;
            }
            emptied.await;
        }
    }
}

/// How many writes there are, from the moment their bodies have arrived to their ends.
#[derive(Default)]
struct Line {
    places: AtomicUsize,
    emptied: Notify,
}

/// One write's place.
struct Place(Arc<Line>);

impl Place {
    fn in_line(line: &Arc<Line>) -> Self {
        line.places.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(line))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.0.places.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.emptied.notify_waiters();
        }
    }
}
