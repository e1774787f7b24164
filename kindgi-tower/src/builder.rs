//! Puts a service together.

use std::{fmt, sync::Arc, time::Duration};

use kindgi_core::{engine::Engine, rate_limit::RateLimiter};

use crate::{
    auth::Authenticator,
    cursor::{CursorKey, CursorKeys},
    pipeline::Shared,
    route::Routes,
    service::KindgiService,
    writes::Writes,
};

/// Puts a [`KindgiService`] together: see [`KindgiService::builder`].
#[must_use]
pub struct KindgiServiceBuilder {
    engine: Engine,
    authenticator: Option<Arc<dyn Authenticator>>,
    cursor_keys: Vec<CursorKey>,
    rate_limiter: Option<Arc<dyn RateLimiter>>,
    base_path: String,
    max_body_bytes: usize,
    time_limit: Duration,
    max_writes_in_flight: u32,
    max_writes_in_line: u32,
    trust_request_id_header: bool,
}

impl KindgiServiceBuilder {
    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            engine,
            authenticator: None,
            cursor_keys: Vec::new(),
            rate_limiter: None,
            base_path: String::new(),
            max_body_bytes: 1 << 20,
            time_limit: Duration::from_secs(30),
            max_writes_in_flight: 1024,
            max_writes_in_line: 4096,
            trust_request_id_header: false,
        }
    }

    /// Resolves bearer tokens. Without one, only a principal in the request's extensions gets
    /// in, and every other request is answered 401.
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.authenticator = Some(Arc::new(authenticator));
        self
    }

    /// The keys of cursors: the first seals, and every one opens, so that a new one is put first and
    /// an old one taken out a day later. Several nodes need the same ones.
    ///
    /// Unset, the service makes one at its start: a cursor is then good only for the node that gave
    /// it, and until that is started anew; with any other, a client is told to begin the list again.
    pub fn cursor_keys(mut self, keys: impl IntoIterator<Item = CursorKey>) -> Self {
        self.cursor_keys = keys.into_iter().collect();
        self
    }

    /// Limits how often a caller may ask; a request that comes too soon is answered 429. Off unless
    /// said. Requests that aren't authenticated count for nobody.
    ///
    /// ```
    /// # use std::num::NonZeroU32;
    /// # use kindgi_core::rate_limit::LocalRateLimiter;
    /// # fn example(builder: kindgi_tower::KindgiServiceBuilder) -> kindgi_tower::KindgiServiceBuilder {
    /// let a_hundred = NonZeroU32::new(100).unwrap();
    /// builder.rate_limiter(LocalRateLimiter::per_second(a_hundred))
    /// # }
    /// ```
    pub fn rate_limiter(mut self, limiter: impl RateLimiter) -> Self {
        self.rate_limiter = Some(Arc::new(limiter));
        self
    }

    /// Where the service is mounted, for a host that leaves the prefix on the path, such as
    /// `/kindgi`. It is taken off where it is there, so it must not be how the API's own paths
    /// begin (`/v1`). The OpenAPI document says it, too, so a host whose router takes the prefix
    /// off may name it all the same. Unset: no prefix.
    pub fn base_path(mut self, path: &str) -> Self {
        let path = path.trim_matches('/');
        self.base_path = match path {
            "" => String::new(),
            _ => format!("/{path}"),
        };
        self
    }

    /// The most bytes a request's body may have: 1 MiB unless said. A larger one is answered 413;
    /// at most 1 MiB more of it is read, for at most half a second, and thrown away, so that a
    /// client that is still sending gets to see that.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = bytes;
        self
    }

    /// How long the host and the store may take for one request, once its body is there: 30 s
    /// unless said. A read that takes longer is answered 503 (`database-busy`). So that a host
    /// that never answers can't hold a turn for ever, a write is cut off, too, and answered 500;
    /// whether it took effect is then unknown, as after any 500.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// How many writes may run at once: 1024 unless said, at least 1. Further ones whose bodies
    /// have arrived stand in line, and finish, too, when their clients hang up. How many may do
    /// that: [`max_writes_in_line`](Self::max_writes_in_line).
    pub fn max_writes_in_flight(mut self, writes: u32) -> Self {
        // The semaphore's own limit is far beyond, but there is one.
        self.max_writes_in_flight = writes.clamp(1, 1 << 20);
        self
    }

    /// How many writes may stand in line for their turn: 4096 unless said; with 0, none waits.
    /// Once so many do, a further one is answered 500 when its body has arrived: a write is never
    /// answered 503. Nothing of it was done, its `Idempotency-Key` stays free, and the host finds
    /// the [`Cause`](crate::Cause). Reads stand in no line.
    ///
    /// Every write that runs or waits holds its body, so they hold at most the sum of both
    /// numbers times [`max_body_bytes`](Self::max_body_bytes). Bodies that are still arriving
    /// count for neither: the host bounds them, by a limit on its connections or requests.
    pub fn max_writes_in_line(mut self, writes: u32) -> Self {
        self.max_writes_in_line = writes;
        self
    }

    /// Whether a client's own `X-Request-Id` counts: no, unless said. Say so only behind a proxy
    /// that sets it.
    pub fn trust_request_id_header(mut self, trust: bool) -> Self {
        self.trust_request_id_header = trust;
        self
    }

    /// The service.
    #[must_use]
    pub fn build(self) -> KindgiService {
        KindgiService::new(Shared {
            engine: self.engine,
            authenticator: self.authenticator,
            cursor_keys: Arc::new(CursorKeys::new(&self.cursor_keys)),
            rate_limiter: self.rate_limiter,
            routes: Routes::new(),
            #[cfg(feature = "openapi")]
            document: crate::openapi::Document::default(),
            writes: Writes::new(self.max_writes_in_flight, self.max_writes_in_line),
            base_path: self.base_path,
            max_body_bytes: self.max_body_bytes,
            time_limit: self.time_limit,
            trust_request_id_header: self.trust_request_id_header,
        })
    }
}

impl fmt::Debug for KindgiServiceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindgiServiceBuilder")
            .field("base_path", &self.base_path)
            .field("max_body_bytes", &self.max_body_bytes)
            .field("time_limit", &self.time_limit)
            .field("max_writes_in_flight", &self.max_writes_in_flight)
            .field("max_writes_in_line", &self.max_writes_in_line)
            .field("trust_request_id_header", &self.trust_request_id_header)
            .finish_non_exhaustive()
    }
}
