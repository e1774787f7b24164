//! Writes, grouped: where several wait, they share one commit, and each is answered after it.
//!
//! Whoever finds nobody writing starts a task that writes until nothing is waiting. So there is
//! no task while there is no work, and one writer at a time (SQLite has no more).

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::Work;
use crate::error::DbError;

/// How many writes share a commit at most.
const GROUP: usize = 64;

/// Commits groups of works.
#[async_trait]
pub(crate) trait Commit: Send + Sync + 'static {
    /// Runs each of the works, undoes those that fail, and commits the rest in one transaction;
    /// then answers them all. Whether others may be tried now: not when the database was busy
    /// for as long as it is waited for.
    async fn commit(&self, group: Vec<Box<dyn Work>>) -> bool;
}

/// Works that wait for their turn.
#[derive(Default)]
pub(crate) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    works: VecDeque<Box<dyn Work>>,
    /// Whether a task is writing, and will look here again.
    writing: bool,
}

impl Queue {
    /// Puts work in line; it is done even if nobody waits for its answer.
    pub(crate) fn push(self: &Arc<Self>, work: Box<dyn Work>, to: Arc<impl Commit>) {
        let mut waiting = self.lock();
        waiting.works.push_back(work);
        if !waiting.writing {
            waiting.writing = true;
            let mut writing = Writing {
                queue: Arc::clone(self),
                over: false,
            };
            drop(waiting);
            tokio::spawn(async move {
                while let Some(group) = writing.next_group() {
                    if !to.commit(group).await {
                        writing.refuse_line();
                    }
                }
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one task that writes.
struct Writing {
    queue: Arc<Queue>,
    /// The line was found empty: from then on another task may be the one that writes.
    over: bool,
}

impl Writing {
    /// Tells all that wait that the database is busy: they would each wait as long again.
    fn refuse_line(&self) {
        let works: Vec<_> = self.queue.lock().works.drain(..).collect();
        for work in works {
            work.answer(Err(DbError::Busy(
                "the database was busy for too long".into(),
            )));
        }
    }

    /// The works at the head of the line; with none, the writing is over.
    fn next_group(&mut self) -> Option<Vec<Box<dyn Work>>> {
        let mut waiting = self.queue.lock();
        let count = waiting.works.len().min(GROUP);
        let group: Vec<_> = waiting.works.drain(..count).collect();
        self.over = group.is_empty();
        waiting.writing = !self.over;
        waiting.writing.then_some(group)
    }
}

/// A task that ends before its line is empty (its runtime is shut down, or it panicked) takes
/// the line with it: who waits is told, and the next one to come writes again.
impl Drop for Writing {
    fn drop(&mut self) {
        if !self.over {
            let mut waiting = self.queue.lock();
            waiting.writing = false;
            waiting.works.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::{Semaphore, mpsc, oneshot};

    use super::{super::transition, *};

    /// Work that only answers.
    fn work() -> (Box<dyn Work>, oneshot::Receiver<Result<(), DbError>>) {
        transition(|_| Box::pin(async { Ok(()) }))
    }

    /// Commits nothing, but tells of each group, and waits to be let on.
    struct Gate {
        groups: mpsc::UnboundedSender<usize>,
        turns: Semaphore,
    }

    #[async_trait]
    impl Commit for Gate {
        async fn commit(&self, group: Vec<Box<dyn Work>>) -> bool {
            self.groups.send(group.len()).unwrap();
            self.turns.acquire().await.unwrap().forget();
            if group.len() == 13 {
                panic!("a bad number");
            }
            let go_on = group.len() != 7;
            for work in group {
                work.answer(Err(DbError::other("committed")));
            }
            go_on
        }
    }

    fn gate() -> (Arc<Gate>, mpsc::UnboundedReceiver<usize>) {
        let (groups, seen) = mpsc::unbounded_channel();
        let turns = Semaphore::new(0);
        (Arc::new(Gate { groups, turns }), seen)
    }

    #[tokio::test]
    async fn writes_that_wait_share_a_commit() {
        let (gate, mut seen) = gate();
        let queue = Arc::new(Queue::default());
        let (first, mut answers) = (work(), Vec::new());
        queue.push(first.0, Arc::clone(&gate));
        // The first is being committed; the others stand in line meanwhile.
        assert_eq!(seen.recv().await, Some(1));
        for _ in 0..GROUP + 6 {
            let (work, answer) = work();
            queue.push(work, Arc::clone(&gate));
            answers.push(answer);
        }
        gate.turns.add_permits(3);
        assert_eq!(seen.recv().await, Some(GROUP));
        assert_eq!(seen.recv().await, Some(6));
        for answer in answers {
            let fate = answer.await.unwrap().unwrap_err();
            assert_eq!(fate.to_string(), "committed");
        }
    }

    #[tokio::test]
    async fn when_the_database_was_busy_all_that_wait_are_told_at_once() {
        let (gate, mut seen) = gate();
        let queue = Arc::new(Queue::default());
        queue.push(work().0, Arc::clone(&gate));
        assert_eq!(seen.recv().await, Some(1));
        for _ in 0..7 {
            queue.push(work().0, Arc::clone(&gate));
        }
        gate.turns.add_permits(1);
        assert_eq!(seen.recv().await, Some(7));
        // These come while the seven wait for the database.
        let mut answers = Vec::new();
        for _ in 0..5 {
            let (work, answer) = work();
            queue.push(work, Arc::clone(&gate));
            answers.push(answer);
        }
        gate.turns.add_permits(1);
        for answer in answers {
            assert!(matches!(answer.await, Ok(Err(DbError::Busy(_)))));
        }
        let (next, answer) = work();
        queue.push(next, Arc::clone(&gate));
        gate.turns.add_permits(1);
        assert_eq!(seen.recv().await, Some(1), "the next one to come is tried");
        answer.await.unwrap().unwrap_err();
    }

    #[tokio::test]
    async fn after_an_empty_line_the_next_write_is_written_again() {
        let (gate, mut seen) = gate();
        let queue = Arc::new(Queue::default());
        gate.turns.add_permits(100);
        for _ in 0..100 {
            let (work, answer) = work();
            queue.push(work, Arc::clone(&gate));
            assert_eq!(seen.recv().await, Some(1));
            answer.await.unwrap().unwrap_err();
        }
    }

    #[tokio::test]
    async fn a_writer_that_ends_early_takes_its_line_with_it_and_no_more() {
        let (gate, mut seen) = gate();
        let queue = Arc::new(Queue::default());
        let (first, _) = work();
        queue.push(first, Arc::clone(&gate));
        assert_eq!(seen.recv().await, Some(1));
        let mut answers = Vec::new();
        for _ in 0..13 {
            let (work, answer) = work();
            queue.push(work, Arc::clone(&gate));
            answers.push(answer);
        }
        gate.turns.add_permits(1);
        assert_eq!(seen.recv().await, Some(13));
        let (late, told) = work();
        queue.push(late, Arc::clone(&gate));
        gate.turns.add_permits(1);
        for answer in answers {
            assert!(answer.await.is_err(), "who waits is told");
        }
        assert!(told.await.is_err(), "also behind the group that failed");
        let (next, answer) = work();
        queue.push(next, Arc::clone(&gate));
        gate.turns.add_permits(1);
        assert_eq!(seen.recv().await, Some(1));
        answer.await.unwrap().unwrap_err();
    }
}
