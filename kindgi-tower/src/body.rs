//! Bodies: the request's, read under a cap; the answer's, opaque.

use std::{
    convert::Infallible,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use kindgi_core::BoxError;

use crate::refusal::{Code, Refusal};

/// How much more of a body that is over the cap is read, and thrown away, and for how long. A
/// client that is still sending when its connection is closed may never see the answer, so a body
/// not far over the cap is read to its end; but a client that waits for the answer gets it.
const DRAINED: usize = 1 << 20;
const DRAINED_FOR: Duration = Duration::from_millis(500);

/// Reads a request's body, and keeps no more of it than the cap.
pub(crate) async fn collect<B>(body: B, max_bytes: usize) -> Result<Vec<u8>, Refusal>
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    let is_over = body.size_hint().lower() > max_bytes as u64;
    // Frames become `Bytes` at once, so that nothing is asked of the host's `Data` type.
    let body =
        body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
    let mut body = pin!(body);
    if !is_over {
        let mut kept = Vec::new();
        loop {
            match next(body.as_mut()).await {
                None => return Ok(kept),
                Some(Ok(data)) if data.len() <= max_bytes - kept.len() => kept.extend(data),
                Some(Ok(_)) => break,
                Some(Err(BrokenOff)) => {
                    return Err(Refusal::new(Code::BadInput, "the request's body broke off"));
                }
            }
        }
    }
    let drain = async {
        let mut thrown_away = 0;
        while let Some(Ok(data)) = next(body.as_mut()).await {
            thrown_away += data.len();
            if thrown_away > DRAINED {
                break;
            }
        }
    };
    // Either way the answer is the same.
    let _ = tokio::time::timeout(DRAINED_FOR, drain).await;
    Err(Refusal::too_large(max_bytes))
}

struct BrokenOff;

/// The next piece of data. Trailers say nothing here.
async fn next<B>(mut body: Pin<&mut B>) -> Option<Result<Bytes, BrokenOff>>
where
    B: Body<Data = Bytes>,
{
    loop {
        match body.frame().await? {
            Ok(frame) => match frame.into_data() {
                Ok(data) => return Some(Ok(data)),
                Err(_) => continue,
            },
            Err(_) => return Some(Err(BrokenOff)),
        }
    }
}

/// An answer's body.
#[derive(Debug, Default)]
pub struct ResponseBody(Bytes);

impl ResponseBody {
    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = std::mem::take(&mut self.0);
        Poll::Ready((!data.is_empty()).then(|| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len())
    }
}
