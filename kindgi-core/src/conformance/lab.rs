//! Where a law is tried: a runtime, a store, and tenants that nobody used before.

use std::{
    cell::{Cell, RefCell},
    fmt::Debug,
    future::Future,
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};
use tokio::runtime::{Builder, Handle, Runtime};

use super::{Backend, Report, report::told};
use crate::{BoxError, Clock, SystemClock, model::TenantId, store::Store};

/// How many candidates are tried to make a failing case smaller, unless the environment says.
const SHRINKS: u32 = 400;

/// What a law works with.
pub(crate) struct Lab<S: ?Sized = dyn Store> {
    pub(crate) store: Arc<S>,
    runtime: Runtime,
    name: String,
    tenants: AtomicU64,
}

impl Lab {
    /// Builds the backend and tries a law on it.
    pub(crate) fn hold(
        law: &'static str,
        backend: &impl Backend,
        holds: impl FnOnce(&Self) -> Result<(), Report>,
    ) -> Result<(), Report> {
        Self::hold_on(law, || backend.build(), holds)
    }
}

impl<S: ?Sized> Lab<S> {
    /// Builds a store of any kind and tries a law on it.
    pub(crate) fn hold_on<G, F: Future<Output = Result<(G, Arc<S>), BoxError>>>(
        law: &'static str,
        build: impl FnOnce() -> F,
        holds: impl FnOnce(&Self) -> Result<(), Report>,
    ) -> Result<(), Report> {
        let attempt = || {
            let (lab, guard) = Self::open(build)?;
            let held = holds(&lab);
            lab.close(guard);
            held
        };
        attempt().map_err(|report: Report| report.of_law(law))
    }

    fn open<G, F: Future<Output = Result<(G, Arc<S>), BoxError>>>(
        build: impl FnOnce() -> F,
    ) -> Result<(Self, G), Report> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let runtime = runtime.map_err(|e| Report::new(format!("no runtime: {e}")))?;
        let (guard, store) = runtime.block_on(async { build().await })?;
        let lab = Self {
            store,
            runtime,
            name: SystemClock.new_id(),
            tenants: AtomicU64::new(0),
        };
        Ok((lab, guard))
    }

    /// Drops the store, then what it needs, within the runtime.
    fn close<G>(self, guard: G) {
        let Self { store, runtime, .. } = self;
        let within = runtime.enter();
        drop(store);
        drop(guard);
        drop(within);
    }

    /// A tenant that nobody used before, on a shared database either.
    pub(crate) fn tenant(&self) -> Result<TenantId, Report> {
        let number = self.tenants.fetch_add(1, Ordering::Relaxed);
        Ok(TenantId::new(format!("{}-{number}", self.name))?)
    }

    /// Where threads of a law's own wait for futures.
    pub(crate) fn handle(&self) -> Handle {
        self.runtime.handle().clone()
    }

    /// Waits for a future.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// [`property`], said of the store.
    pub(crate) fn property<T: Strategy>(
        &self,
        cases: u32,
        strategy: &T,
        check: impl Fn(&T::Value, bool) -> Result<(), Report>,
    ) -> Result<(), Report>
    where
        T::Value: Case,
    {
        property(cases, strategy, check)
    }

    /// Runs `each` on so many OS threads, `rounds` times, each time let loose at once. The
    /// answers are by round, then by thread.
    pub(crate) fn race<T: Send>(
        &self,
        threads: usize,
        rounds: usize,
        each: impl Fn(&Handle, usize, usize) -> T + Sync,
    ) -> Result<Vec<Vec<T>>, Report> {
        let handle = self.runtime.handle();
        let barrier = Barrier::new(threads);
        // A barrier wakes its threads one by one, too slowly for a race in memory: they meet
        // again on their way out of it.
        let out: Vec<AtomicUsize> = (0..rounds).map(|_| AtomicUsize::new(0)).collect();
        let run = |thread| {
            let one = |(round, out): (usize, &AtomicUsize)| {
                barrier.wait();
                out.fetch_add(1, Ordering::SeqCst);
                while out.load(Ordering::SeqCst) < threads {
                    thread::yield_now();
                }
                each(handle, round, thread)
            };
            out.iter().enumerate().map(one).collect::<Vec<T>>()
        };
        let run = &run;
        let by_thread: Vec<Vec<T>> = thread::scope(|scope| {
            let all: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || run(thread)))
                .collect();
            all.into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect::<Result<_, _>>()
        })
        .map_err(|_| Report::new("the store panicked"))?;
        let mut by_round: Vec<Vec<T>> = (0..rounds).map(|_| Vec::new()).collect();
        for answers in by_thread {
            for (round, answer) in by_round.iter_mut().zip(answers) {
                round.push(answer);
            }
        }
        Ok(by_round)
    }
}

/// A store that is opened again and again, when it was closed or never open.
pub(crate) struct Reopening<'b, B: Backend> {
    backend: &'b B,
    open: RefCell<Option<(Lab, B::Guard)>>,
}

impl<'b, B: Backend> Reopening<'b, B> {
    pub(crate) fn new(backend: &'b B) -> Self {
        let open = RefCell::new(None);
        Self { backend, open }
    }

    /// Does something with the open store.
    pub(crate) fn opened<T>(
        &self,
        with: impl FnOnce(&Lab) -> Result<T, Report>,
    ) -> Result<T, Report> {
        let mut open = self.open.borrow_mut();
        let (lab, guard) = match open.take() {
            Some(open) => open,
            None => Lab::open(|| self.backend.build())?,
        };
        let done = with(&lab);
        *open = Some((lab, guard));
        done
    }

    /// Opens the store again.
    pub(crate) fn reopen(&self) -> Result<(), Report> {
        let mut open = self.open.borrow_mut();
        let Some((lab, mut guard)) = open.take() else {
            return Ok(());
        };
        let Lab { store, runtime, .. } = lab;
        let reopened = runtime.block_on(async { self.backend.reopen(&mut guard, store).await });
        match reopened {
            Ok(store) => {
                let lab = Lab {
                    store,
                    runtime,
                    name: lab.name,
                    tenants: lab.tenants,
                };
                *open = Some((lab, guard));
                Ok(())
            }
            Err(e) => {
                let within = runtime.enter();
                drop(guard);
                drop(within);
                Err(Report::new(format!(
                    "the store could not be opened again: {}",
                    told(&*e)
                )))
            }
        }
    }

    pub(crate) fn close(self) {
        if let Some((lab, guard)) = self.open.into_inner() {
            lab.close(guard);
        }
    }
}

/// Tries generated cases and, of one that fails, smaller ones; reports the smallest that failed.
/// `check` is told whether it is looking for a smaller one.
pub(crate) fn property<T: Strategy>(
    cases: u32,
    strategy: &T,
    check: impl Fn(&T::Value, bool) -> Result<(), Report>,
) -> Result<(), Report>
where
    T::Value: Case,
{
    let shrinks = wanted("KINDGI_SHRINKS", 0)?.unwrap_or(SHRINKS);
    let config = Config {
        cases: wanted("KINDGI_CASES", 1)?.unwrap_or(cases),
        failure_persistence: None,
        max_shrink_iters: shrinks,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let failed: RefCell<Option<(T::Value, Report)>> = RefCell::new(None);
    let tried = Cell::new(0);
    let outcome = TestRunner::new_with_rng(config, rng).run(strategy, |case| {
        let shrinking = failed.borrow().is_some();
        tried.set(tried.get() + u32::from(!shrinking));
        check(&case, shrinking).map_err(|report| {
            failed.replace(Some((case, report)));
            TestCaseError::fail("the law doesn't hold")
        })
    });
    match (outcome, failed.take()) {
        (Ok(()), None) => Ok(()),
        (_, Some((case, report))) => {
            let smallest = match shrinks {
                0 => report,
                _ => with_fewer(case, report, |case| check(case, true)),
            };
            Err(smallest.of_case(tried.get()))
        }
        (Err(e), None) => Err(Report::new(format!("the suite failed: {e}"))),
    }
}

/// A generated case.
pub(crate) trait Case: Clone + Debug {
    /// The cases with one call less.
    fn fewer(&self) -> Vec<Self>;
}

/// Leaves out what a case fails without: shrinking leaves some, since it passes but once.
fn with_fewer<C: Case>(
    mut case: C,
    mut report: Report,
    check: impl Fn(&C) -> Result<(), Report>,
) -> Report {
    'smaller: loop {
        for fewer in case.fewer() {
            if let Err(smaller) = check(&fewer) {
                (case, report) = (fewer, smaller);
                continue 'smaller;
            }
        }
        return report;
    }
}

/// The number that the environment has under this name, if it has one.
fn wanted(name: &str, least: u32) -> Result<Option<u32>, Report> {
    let Ok(text) = std::env::var(name) else {
        return Ok(None);
    };
    let number = text.parse().ok().filter(|number| *number >= least);
    let wrong = || {
        Report::new(format!(
            "{name} must be a number from {least}, but is {text:?}"
        ))
    };
    number.map(Some).ok_or_else(wrong)
}
