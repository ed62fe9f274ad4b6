//! Response bodies that are made while they are sent.
//!
//! A body that is made at once occupies a thread until it is complete, and memory until a slow peer has read it. These
//! bodies are made in turns, between which the thread serves other requests, and only as far as the peer reads.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::task::yield_now;

/// The minimum size of each part of a body but the last, in bytes.
const PART: usize = 16 * 1024;

/// The amount of configuration to read before other requests get their turn, in bytes. To evaluate it takes a fraction
/// of a millisecond.
const TURN: usize = 64 * 1024;

/// A text that is made piece by piece.
pub(super) trait Pieces: Send + 'static {
    /// Appends the next piece to the text. Returns the number of bytes of configuration that had to be read for it;
    /// none at the end of the text.
    fn append(&mut self, text: &mut Vec<u8>) -> Option<usize>;
}

/// Returns a body with the pieces.
pub(super) fn in_parts(mut pieces: impl Pieces) -> Body {
    let mut text = Vec::new();
    if take_turn(&mut pieces, &mut text) {
        Body::from(text)
    } else {
        Body::from_stream(parts(text, pieces))
    }
}

/// Returns the parts of a text that has begun.
fn parts<P: Pieces>(begun: Vec<u8>, rest: P) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let parts = stream::unfold((begun, Some(rest)), async |(mut text, rest)| {
        let mut rest = rest?;
        while text.len() < PART {
            yield_now().await;
            if take_turn(&mut rest, &mut text) {
                let last = (!text.is_empty()).then(|| Ok(text.into()));
                return last.map(|last| (last, (Vec::new(), None)));
            }
        }
        Some((Ok(text.into()), (Vec::new(), Some(rest))))
    });
    // Compression asks for another part after the last one.
    parts.fuse()
}

/// Appends pieces until a part is complete or it is the turn of others. Returns true at the end of the text.
fn take_turn(pieces: &mut impl Pieces, text: &mut Vec<u8>) -> bool {
    let mut read: usize = 0;
    while text.len() < PART && read < TURN {
        match pieces.append(text) {
            Some(more) => read = read.saturating_add(more),
            None => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::body::HttpBody as _;
    use tokio::time::{Duration, timeout};

    use super::*;

    /// The same piece again and again. Counts how often it was asked for.
    struct Same {
        piece: &'static str,
        read: usize,
        left: usize,
        made: Arc<AtomicUsize>,
    }

    impl Pieces for Same {
        fn append(&mut self, text: &mut Vec<u8>) -> Option<usize> {
            self.left = self.left.checked_sub(1)?;
            self.made.fetch_add(1, Ordering::Relaxed);
            text.extend_from_slice(self.piece.as_bytes());
            Some(self.read)
        }
    }

    fn same(piece: &'static str, read: usize, left: usize) -> (Same, Arc<AtomicUsize>) {
        let made = Arc::new(AtomicUsize::new(0));
        let same = Same {
            piece,
            read,
            left,
            made: Arc::clone(&made),
        };
        (same, made)
    }

    #[test]
    fn a_small_body_has_a_known_length() {
        let (pieces, _) = same("abc", 1, 100);
        assert_eq!(in_parts(pieces).size_hint().exact(), Some(300));
    }

    #[tokio::test]
    async fn a_large_body_is_made_as_far_as_it_is_read() {
        let (pieces, made) = same("0123456789", 1, 100_000);
        let mut parts = in_parts(pieces).into_data_stream();
        let first = parts.next().await.expect("a part").expect("bytes");
        assert_eq!(first.len(), made.load(Ordering::Relaxed) * 10);
        assert!((PART..PART + 10).contains(&first.len()));
        let rest: Vec<Bytes> = parts.map(|part| part.expect("bytes")).collect().await;
        let (last, others) = rest.split_last().expect("parts");
        assert!(others.iter().all(|part| part.len() >= PART) && !last.is_empty());
        let length: usize = rest.iter().map(Bytes::len).sum();
        assert_eq!(first.len() + length, 1_000_000);
    }

    #[tokio::test]
    async fn other_tasks_run_between_the_turns_of_a_part_that_takes_long() {
        let (pieces, made) = same("x", TURN, 1000);
        let mut parts = in_parts(pieces).into_data_stream();
        let other = async {
            let mut seen = Vec::new();
            for _ in 0..10 {
                seen.push(made.load(Ordering::Relaxed));
                yield_now().await;
            }
            seen
        };
        let (part, seen) = tokio::join!(parts.next(), other);
        assert_eq!(part.expect("a part").expect("bytes").len(), 1000);
        // `join!` takes turns in which future it polls first.
        let mut steps = seen.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.all(|step| step <= 2), "{seen:?}");
        let end = timeout(Duration::from_secs(1), parts.next()).await;
        assert!(end.expect("the end").is_none());
    }
}
