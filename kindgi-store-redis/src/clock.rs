//! The clock that judges deadlines.

use std::sync::Arc;

use kindgi_core::Clock;

/// The server's, unless a test gives another.
#[derive(Clone, Default)]
pub(crate) struct StoreClock(Option<Arc<dyn Clock>>);

impl StoreClock {
    pub(crate) fn given(clock: impl Clock) -> Self {
        Self(Some(Arc::new(clock)))
    }

    /// Milliseconds since the Unix epoch, or nothing for a script to look at the server's.
    pub(crate) fn millis(&self) -> String {
        self.given_millis()
            .map(|millis| millis.to_string())
            .unwrap_or_default()
    }

    /// The same as seconds and microseconds.
    pub(crate) fn micros(&self) -> [String; 2] {
        let parts = |millis: i64| {
            let (seconds, rest) = (millis.div_euclid(1000), millis.rem_euclid(1000));
            [seconds.to_string(), (rest * 1000).to_string()]
        };
        self.given_millis().map(parts).unwrap_or_default()
    }

    fn given_millis(&self) -> Option<i64> {
        let clock = self.0.as_ref()?;
        Some(clock.now().as_unix_millis())
    }
}
