//! Bodies: the request's, read under a cap; the answer's, opaque.

use std::{
    convert::Infallible,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use kindgi_core::BoxError;

use crate::refusal::{Code, Refusal};

/// How much more of a body that is over the cap is read, and thrown away. A client that is still
/// sending when its connection is closed may never see the answer, so a body not far over the cap
/// is read to its end.
const DRAINED: usize = 1 << 20;

/// Reads a request's body, and keeps no more of it than the cap.
pub(crate) async fn collect<B>(body: B, max_bytes: usize) -> Result<Vec<u8>, Refusal>
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut is_over = body.size_hint().lower() > max_bytes as u64;
    // Frames become `Bytes` at once, so that nothing is asked of the host's `Data` type.
    let body =
        body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
    let mut body = pin!(body);
    let mut kept = Vec::new();
    let mut thrown_away = 0;
    while let Some(frame) = body.frame().await {
        let data = match frame.map(Frame::into_data) {
            Ok(Ok(data)) => data,
            // Trailers say nothing here.
            Ok(Err(_)) => continue,
            Err(_) if is_over => break,
            Err(_) => return Err(Refusal::new(Code::BadInput, "the request's body broke off")),
        };
        is_over |= data.len() > max_bytes - kept.len();
        if is_over {
            kept = Vec::new();
            thrown_away += data.len();
        } else {
            kept.extend_from_slice(&data);
        }
        if thrown_away > DRAINED {
            break;
        }
    }
    if is_over {
        return Err(Refusal::too_large(max_bytes));
    }
    Ok(kept)
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
