//! Futures that are dropped before they are done.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

/// How often a future that is dropped is polled at most.
pub(super) const MAX_POLLS: usize = 40;

/// A future that is dropped after some polls; `None` if it wasn't done by then.
pub(super) struct AtMost<F> {
    future: Pin<Box<F>>,
    polls: usize,
}

impl<F> AtMost<F> {
    pub(super) fn new(polls: usize, future: F) -> Self {
        let future = Box::pin(future);
        Self { future, polls }
    }
}

impl<F: Future> Future for AtMost<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.polls = self.polls.saturating_sub(1);
        match self.future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.polls == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}
