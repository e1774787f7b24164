//! All laws of all suites that memory can keep, on any backend there is.

use std::{
    num::NonZeroU32,
    panic, process,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use kindgi_core::{
    BoxError, ManualClock,
    conformance::{
        self, Backend, Report,
        archive::{self, ArchiveBackend, House},
        idempotency::{self, KeyBackend},
        rate_limit::{self, Limit, LimitBackend},
    },
    idempotency::IdempotencyStore,
    rate_limit::RateLimiter,
    store::Store,
};

/// How the backends are made.
#[derive(Clone, Copy)]
pub struct Made {
    pub house: fn() -> House,
    pub keys: fn(Arc<ManualClock>) -> Arc<dyn IdempotencyStore>,
    /// Of so many a second, with such a burst, that remembers so many.
    pub limiter: fn([u32; 3], Arc<ManualClock>) -> Arc<dyn RateLimiter>,
}

struct Stores(Made);

impl Backend for Stores {
    type Guard = ();

    async fn build(&self) -> Result<((), Arc<dyn Store>), BoxError> {
        Ok(((), (self.0.house)().store))
    }

    async fn reopen(&self, _: &mut (), store: Arc<dyn Store>) -> Result<Arc<dyn Store>, BoxError> {
        Ok(store)
    }
}

struct Houses(Made);

impl ArchiveBackend for Houses {
    type Guard = ();

    async fn build(&self) -> Result<((), House), BoxError> {
        Ok(((), (self.0.house)()))
    }
}

struct Keys(Made);

impl KeyBackend for Keys {
    type Guard = ();

    async fn build(
        &self,
        clock: Arc<ManualClock>,
    ) -> Result<((), Arc<dyn IdempotencyStore>), BoxError> {
        Ok(((), (self.0.keys)(clock)))
    }
}

struct Limiters(Made, [u32; 3]);

impl LimitBackend for Limiters {
    type Guard = ();

    async fn build(&self, clock: Arc<ManualClock>) -> Result<((), Arc<dyn RateLimiter>), BoxError> {
        Ok(((), (self.0.limiter)(self.1, clock)))
    }

    fn limit(&self) -> Limit {
        let times = |n| NonZeroU32::new(n).unwrap();
        Limit::new(times(self.1[0]), Duration::from_secs(1)).burst(times(self.1[1]))
    }

    fn callers(&self) -> usize {
        self.1[2].try_into().unwrap()
    }
}

type Law = fn(Made) -> Result<(), Report>;

fn laws() -> Vec<Law> {
    let mut all: Vec<Law> = Vec::new();
    macro_rules! add {
        ([$suite:ident, $Backend:ident] $($law:ident)*) => {
            $(all.push(|made| $suite::laws::$law(&$Backend(made)));)*
        };
    }
    macro_rules! moves {
        ($($law:ident)*) => {
            $(all.push(|made| archive::laws::$law(&Houses(made), &Houses(made)));)*
        };
    }
    macro_rules! local {
        ($law:ident, $limit:expr) => {
            all.push(|made| rate_limit::laws::$law(&Limiters(made, $limit)))
        };
    }
    macro_rules! limits {
        ($($law:ident)*) => {$(
            local!($law, [3, 5, 100]);
            local!($law, [1, 1, 64]);
            local!($law, [7_000, 40, 1_000]);
        )*};
    }
    // What notices most comes first.
    conformance::for_each_law! { (add) [conformance, Stores] }
    idempotency::for_each_law! { (add) [idempotency, Keys] }
    rate_limit::for_each_law! { (limits) }
    archive::for_each_law! { (moves) }
    all
}

/// Tries the laws until one doesn't hold, on threads of its own; ends the process then.
pub fn all_hold(made: Made) {
    let laws = laws();
    assert!(laws.len() > 90, "{}", laws.len());
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some(law) = laws.get(next.fetch_add(1, Ordering::Relaxed)) {
            // A panic of the backend is as good as a broken law.
            let held = panic::catch_unwind(|| law(made));
            match held {
                Ok(Ok(())) => {}
                Ok(Err(report)) => fail(&report.to_string()),
                Err(_) => fail("a law panicked"),
            }
        }
    };
    thread::scope(|scope| {
        (0..2).for_each(|_| drop(scope.spawn(run)));
    });
}

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    process::exit(101)
}
