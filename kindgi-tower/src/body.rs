//! Bodies: the request's, read under a cap; the answer's, opaque.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use kindgi_core::BoxError;

use crate::refusal::{Code, Refusal};

/// Reads a request's body, and stops as soon as it is over the cap.
pub(crate) async fn collect<B>(body: B, max_bytes: usize) -> Result<Bytes, Refusal>
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(Refusal::too_large(max_bytes));
    }
    // Frames become `Bytes` at once, so that nothing is asked of the host's `Data` type.
    let body =
        body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
    match Limited::new(body, max_bytes).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(e) if e.is::<LengthLimitError>() => Err(Refusal::too_large(max_bytes)),
        Err(_) => Err(Refusal::new(Code::BadInput, "the request's body broke off")),
    }
}

/// An answer's body.
#[derive(Debug, Default)]
pub struct ResponseBody(Full<Bytes>);

impl ResponseBody {
    pub(crate) fn len(&self) -> u64 {
        self.0.size_hint().lower()
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self(Full::new(bytes))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.0).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
