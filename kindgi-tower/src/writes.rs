//! Detached writes: a client that hangs up can't cancel one halfway.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use kindgi_core::{Error, ErrorKind};
use tokio::sync::{Notify, Semaphore};

use crate::refusal::Refusal;

/// The writes in flight, and those in line.
pub(crate) struct Writes {
    line: Arc<Line>,
    turns: Arc<Semaphore>,
}

impl Writes {
    /// At most so many run at once, and so many more stand in line.
    pub(crate) fn new(in_flight: u32, in_line: u32) -> Self {
        let (in_flight, in_line) = (in_flight as usize, in_line as usize);
        Self {
            line: Arc::new(Line {
                most: in_flight.saturating_add(in_line),
                places: AtomicUsize::new(0),
                emptied: Notify::new(),
            }),
            turns: Arc::new(Semaphore::new(in_flight)),
        }
    }

    /// Runs the write on a task of its own, in the current span, once it is its turn. It goes on
    /// to its end, whether or not anyone waits for it. A panic in it is a server error.
    ///
    /// Where the line is full it doesn't run at all: the write is refused before any of it is
    /// done, so its idempotency key stays free.
    pub(crate) async fn run<F, T>(&self, write: F) -> Result<T, Refusal>
    where
        F: Future<Output = Result<T, Refusal>> + Send + 'static,
        T: Send + 'static,
    {
        let place = Place::in_line(&self.line).ok_or_else(full)?;
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

/// Only a read may be answered as busy, so this is a server error, whose cause the host sees.
fn full() -> Refusal {
    let error = Error::new(ErrorKind::Busy, "the line of writes is full");
    Refusal::from_engine(error, false)
}

/// How many writes there are, from the moment their bodies have arrived to their ends.
struct Line {
    /// How many there may be, those that run and those that wait together. As nobody waits
    /// while a turn is free, a place is refused only when all turns are taken and the line is full.
    most: usize,
    places: AtomicUsize,
    emptied: Notify,
}

/// One write's place.
struct Place(Arc<Line>);

impl Place {
    /// The next place, if one is free.
    fn in_line(line: &Arc<Line>) -> Option<Self> {
        let one_more = |places| (places < line.most).then_some(places + 1);
        line.places
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more)
            .is_ok()
            .then(|| Self(Arc::clone(line)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.0.places.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.emptied.notify_waiters();
        }
    }
}
