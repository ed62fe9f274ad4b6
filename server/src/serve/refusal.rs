//! Replaces hyper's own refusals by problem documents.
//!
//! If hyper cannot read a request's head, it responds with an empty body, and offers no hook to change that. So, while
//! no response of the server is in progress, this module replaces hyper's output.

use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::connection::{HEAD_LIMIT, UNWANTED_BYTES, UNWANTED_TIME};
use crate::http::refusal_of_head;
use crate::in_flight::Arriving;
use crate::state::AppState;

/// The maximum size of one read. hyper's buffer for each connection grows with the size of previous reads.
const READ_BYTES: usize = 16 * 1024;

/// The state of the last response. It shows whether bytes from hyper belong to a response of the server.
#[derive(Clone, Default)]
pub(super) struct ResponseProgress(Arc<AtomicU8>);

/// No request is in progress, and the last response is completely written.
const IDLE: u8 = 0;
/// A request is in progress, or its response is being generated.
const IN_PROGRESS: u8 = 1;
/// The whole response has been passed to hyper.
const PASSED_ON: u8 = 2;

impl ResponseProgress {
    /// Records that a request has arrived.
    pub(super) fn begin(&self) {
        self.0.store(IN_PROGRESS, Ordering::Relaxed);
    }

    /// Wraps a response, to record when hyper has all of it.
    pub(super) fn watch(&self, answer: Response) -> hyper::Response<Answer> {
        answer.map(|body| Answer {
            body,
            progress: self.clone(),
        })
    }

    /// Records that hyper's data has been written.
    fn flushed(&self) {
        let (from, to) = (PASSED_ON, IDLE);
        let _ = self
            .0
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn is_idle(&self) -> bool {
        self.0.load(Ordering::Relaxed) == IDLE
    }
}

/// The body of a response.
pub(super) struct Answer {
    body: Body,
    progress: ResponseProgress,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.progress.0.store(PASSED_ON, Ordering::Relaxed);
    }
}

/// A stream to a peer that replaces hyper's own refusals by problem documents.
pub(super) struct Refusing<S> {
    stream: S,
    progress: ResponseProgress,
    state: AppState,
    refusal: Option<Refusal>,
    /// The input to discard until the peer has read the refusal.
    unwanted: Option<Unwanted>,
    /// The head of the next request.
    head: Arriving,
}

struct Refusal {
    document: Vec<u8>,
    written: usize,
    /// The number of bytes that hyper tried to write.
    replaces: usize,
}

struct Unwanted {
    time: Pin<Box<Sleep>>,
    bytes: usize,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Refusing<S> {
    pub(super) fn new(stream: S, progress: ResponseProgress, state: AppState) -> Self {
        let head = Arriving::new(&state.runtime.in_flight.incomplete_heads);
        Self {
            stream,
            progress,
            state,
            refusal: None,
            unwanted: None,
            head,
        }
    }

    /// Returns the problem document that replaces hyper's output; none if that is not a refusal by hyper.
    fn replacement(&self, bytes: &[u8]) -> Option<Refusal> {
        let text = str::from_utf8(bytes).ok()?;
        let status = text.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
        let mut lines = text.split_inclusive("\r\n");
        let date = lines.find(|line| line.starts_with("date: "));
        let date = date.unwrap_or_default();
        let document = refusal_of_head(&self.state, status, HEAD_LIMIT, date)?;
        Some(Refusal {
            document,
            written: 0,
            replaces: bytes.len(),
        })
    }

    /// Returns true if the bytes are replaced.
    fn replaces(&mut self, bytes: &[u8]) -> bool {
        if self.refusal.is_none() && self.progress.is_idle() {
            self.refusal = self.replacement(bytes);
        }
        self.refusal.is_some()
    }

    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(refusal) = &mut self.refusal else {
            return Poll::Ready(Ok(0));
        };
        while let Some(rest) = refusal.document.get(refusal.written..)
            && !rest.is_empty()
        {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            refusal.written = refusal.written.saturating_add(written);
        }
        Poll::Ready(Ok(refusal.replaces))
    }

    fn poll_part(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() < READ_BYTES {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        // Fill one byte less than hyper offers, because hyper offers more after a read that fills its buffer.
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(READ_BYTES - 1));
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut part))?;
        let read = part.filled().len();
        buffer.advance(read);
        Poll::Ready(Ok(()))
    }

    /// Reads and discards the peer's remaining input for a while. If the connection were closed immediately, the peer's
    /// system would discard the refusal.
    fn poll_unwanted(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let unwanted = self.unwanted.get_or_insert_with(|| Unwanted {
            time: Box::pin(sleep(UNWANTED_TIME)),
            bytes: 0,
        });
        let mut some = [0; 4096];
        while unwanted.bytes < UNWANTED_BYTES && unwanted.time.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut some);
            let read = pin!(&mut self.stream).poll_read(context, &mut buffer);
            match ready!(read) {
                Ok(()) if !buffer.filled().is_empty() => {
                    unwanted.bytes = unwanted.bytes.saturating_add(buffer.filled().len());
                }
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Refusing<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = this.poll_part(context, buffer);
        if !this.progress.is_idle() {
            this.head.restart();
            return read;
        }
        let more = buffer.filled().len().saturating_sub(before);
        this.head.add(more);
        if read.is_pending() && !this.head.wait() {
            let error = io::Error::other("too many requests arrive slowly");
            return Poll::Ready(Err(error));
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Refusing<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // A response follows a complete head.
        self.head.restart();
        if self.replaces(bytes) {
            return self.poll_refusal(context);
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.head.restart();
        // A refusal by hyper consists of a head only.
        if let [head] = slices
            && self.replaces(head)
        {
            return self.poll_refusal(context);
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.progress.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.unwanted.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        }
        if self.refusal.is_some() {
            ready!(self.poll_unwanted(context));
        }
        Poll::Ready(Ok(()))
    }
}
