//! Request ids: one for each answer, made by the server.

use std::{fmt, sync::Arc};

use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use kindgi_core::Clock;

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request: 1 to 128 visible ASCII characters.
///
/// The service makes one for each request. A host whose middleware has one already puts it into
/// the request's extensions, and the service takes it over.
///
/// ```
/// use kindgi_tower::RequestId;
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(RequestId::new("req-1").unwrap());
/// assert!(RequestId::new("two words").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId {
    text: Arc<str>,
    header: HeaderValue,
}

impl RequestId {
    /// The id, or `None` if it is empty, longer than 128 or not all visible ASCII.
    pub fn new(id: impl Into<Arc<str>>) -> Option<Self> {
        let text = id.into();
        let fits = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        let header = HeaderValue::from_str(&text).ok().filter(|_| fits)?;
        Some(Self { text, header })
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn header_value(&self) -> HeaderValue {
        self.header.clone()
    }

    /// The host's, the client's where that is trusted, or a new one.
    pub(crate) fn of(
        extensions: &Extensions,
        headers: &HeaderMap,
        trust_header: bool,
        clock: &dyn Clock,
    ) -> Self {
        if let Some(id) = extensions.get::<Self>() {
            return id.clone();
        }
        let header = headers.get(X_REQUEST_ID).filter(|_| trust_header);
        let trusted = header.and_then(|h| h.to_str().ok()).and_then(Self::new);
        trusted
            .or_else(|| Self::new(clock.new_id()))
            .unwrap_or_else(|| Self {
                // Only a clock of the host's own whose ids aren't visible ASCII gets here.
                text: Arc::from("unknown"),
                header: HeaderValue::from_static("unknown"),
            })
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
