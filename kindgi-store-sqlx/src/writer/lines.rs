//! Writes, lined up by what they lock: those of one lock one after another, others beside them.
//!
//! The database would line them up as well, each on a connection of its own; here a line takes one
//! connection, however long it is. Whoever finds nobody writing in a line starts a task that writes
//! until it is empty.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::Work;
use crate::{error::DbError, lock::Lock};

/// Commits works one by one.
#[async_trait]
pub(crate) trait CommitOne: Send + Sync + 'static {
    /// Does the work in one transaction, and answers it. Whether the next in line may be tried now:
    /// not when the database was busy for as long as it is waited for.
    async fn commit(&self, lock: &Lock, work: Box<dyn Work>) -> bool;
}

/// Works that wait for their turn. A line that is there has a task that writes, and will look
/// there again.
#[derive(Default)]
pub(crate) struct Lines(Mutex<HashMap<Lock, VecDeque<Box<dyn Work>>>>);

impl Lines {
    /// Puts work in line; it is done even if nobody waits for its answer.
    pub(crate) fn push(self: &Arc<Self>, lock: Lock, work: Box<dyn Work>, to: Arc<impl CommitOne>) {
        let mut lines = self.lock();
        if let Some(line) = lines.get_mut(&lock) {
            line.push_back(work);
            return;
        }
        lines.insert(lock.clone(), VecDeque::from([work]));
        drop(lines);
        let mut writing = Writing {
            lines: Arc::clone(self),
            lock,
            over: false,
        };
        tokio::spawn(async move {
            while let Some(work) = writing.next() {
                if !to.commit(&writing.lock, work).await {
                    writing.refuse_line();
                }
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Lock, VecDeque<Box<dyn Work>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one task that writes in a line.
struct Writing {
    lines: Arc<Lines>,
    lock: Lock,
    /// The line was found empty and is gone: from then on one of this lock is another task's.
    over: bool,
}

impl Writing {
    /// The work at the head of the line; with none, the line is gone.
    fn next(&mut self) -> Option<Box<dyn Work>> {
        let mut lines = self.lines.lock();
        let work = lines.get_mut(&self.lock).and_then(VecDeque::pop_front);
        if work.is_none() {
            lines.remove(&self.lock);
            self.over = true;
        }
        work
    }

    /// Tells all that wait that the database is busy: they would each wait as long again.
    fn refuse_line(&self) {
        let waiting = self.lines.lock().get_mut(&self.lock).map(std::mem::take);
        for work in waiting.into_iter().flatten() {
            work.answer(Err(DbError::Busy(
                "the database was busy for too long".into(),
            )));
        }
    }
}

/// A task that ends before its line is empty (its runtime is shut down, or it panicked) takes the
/// line with it: who waits is told, and the next one to come writes again.
impl Drop for Writing {
    fn drop(&mut self) {
        if !self.over {
            self.lines.lock().remove(&self.lock);
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

    fn tenant(name: &str) -> Lock {
        Lock::Tenant(name.to_owned())
    }

    /// Commits nothing, but tells of each lock, and waits to be let on. What the lock is called
    /// says what happens.
    struct Gate {
        locks: mpsc::UnboundedSender<Lock>,
        turns: Semaphore,
    }

    #[async_trait]
    impl CommitOne for Gate {
        async fn commit(&self, lock: &Lock, work: Box<dyn Work>) -> bool {
            self.locks.send(lock.clone()).unwrap();
            self.turns.acquire().await.unwrap().forget();
            if *lock == tenant("panics") {
                panic!("a bad name");
            }
            work.answer(Err(DbError::other("committed")));
            *lock != tenant("busy")
        }
    }

    fn gate() -> (Arc<Gate>, mpsc::UnboundedReceiver<Lock>) {
        let (locks, seen) = mpsc::unbounded_channel();
        let turns = Semaphore::new(0);
        (Arc::new(Gate { locks, turns }), seen)
    }

    #[tokio::test]
    async fn lines_of_several_locks_write_at_once_and_one_line_in_order() {
        let (gate, mut seen) = gate();
        let lines = Arc::new(Lines::default());
        let mut answers = Vec::new();
        for name in ["a", "a", "b", "a"] {
            let (work, answer) = work();
            lines.push(tenant(name), work, Arc::clone(&gate));
            answers.push(answer);
        }
        let mut first = [seen.recv().await.unwrap(), seen.recv().await.unwrap()];
        first.sort_by_key(|lock| format!("{lock:?}"));
        assert_eq!(first, [tenant("a"), tenant("b")]);
        assert!(seen.try_recv().is_err(), "one of a line at a time");
        gate.turns.add_permits(4);
        for answer in answers {
            let fate = answer.await.unwrap().unwrap_err();
            assert_eq!(fate.to_string(), "committed");
        }
        assert_eq!(seen.recv().await, Some(tenant("a")));
        assert_eq!(seen.recv().await, Some(tenant("a")));
    }

    #[tokio::test]
    async fn when_the_database_was_busy_all_in_that_line_are_told_at_once() {
        let (gate, mut seen) = gate();
        let lines = Arc::new(Lines::default());
        lines.push(tenant("busy"), work().0, Arc::clone(&gate));
        assert_eq!(seen.recv().await, Some(tenant("busy")));
        let mut answers = Vec::new();
        for _ in 0..5 {
            let (work, answer) = work();
            lines.push(tenant("busy"), work, Arc::clone(&gate));
            answers.push(answer);
        }
        gate.turns.add_permits(1);
        for answer in answers {
            assert!(matches!(answer.await, Ok(Err(DbError::Busy(_)))));
        }
        let (next, answer) = work();
        lines.push(tenant("busy"), next, Arc::clone(&gate));
        gate.turns.add_permits(1);
        assert_eq!(seen.recv().await, Some(tenant("busy")), "the next is tried");
        answer.await.unwrap().unwrap_err();
    }

    #[tokio::test]
    async fn after_an_empty_line_the_next_write_is_written_again_and_no_line_is_kept() {
        let (gate, mut seen) = gate();
        let lines = Arc::new(Lines::default());
        gate.turns.add_permits(100);
        for _ in 0..100 {
            let (work, answer) = work();
            lines.push(tenant("a"), work, Arc::clone(&gate));
            assert_eq!(seen.recv().await, Some(tenant("a")));
            answer.await.unwrap().unwrap_err();
        }
        while !lines.lock().is_empty() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_writer_that_ends_early_takes_its_line_with_it_and_no_other() {
        let (gate, mut seen) = gate();
        let lines = Arc::new(Lines::default());
        let mut answers = Vec::new();
        for _ in 0..3 {
            let (work, answer) = work();
            lines.push(tenant("panics"), work, Arc::clone(&gate));
            answers.push(answer);
        }
        assert_eq!(seen.recv().await, Some(tenant("panics")));
        let (other, told) = work();
        lines.push(tenant("a"), other, Arc::clone(&gate));
        assert_eq!(seen.recv().await, Some(tenant("a")));
        gate.turns.add_permits(2);
        for answer in answers {
            assert!(answer.await.is_err(), "who waits is told");
        }
        told.await.unwrap().unwrap_err();
        let (next, _) = work();
        lines.push(tenant("panics"), next, Arc::clone(&gate));
        assert_eq!(seen.recv().await, Some(tenant("panics")), "written again");
    }
}
