//! The config document as bytes: plain and compressed, with its entity tag.

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use pennon_core::config::FORMAT;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::environment::ActiveFlags;

/// The quality of Brotli. The result is about as small as that of gzip's best level, and takes a tenth of the time of
/// Brotli's best.
const BROTLI_QUALITY: i32 = 5;

/// The size of the encoder's buffer, in bytes.
const BROTLI_BUFFER: usize = 16 * 1024;

/// The minimum size to compress, in bytes. Compression does not make smaller bodies smaller.
pub(crate) const WORTH_COMPRESSING: u16 = 512;

/// A config document and its compressed forms.
pub(crate) struct Document {
    content: Content,
    /// The length of the content in bytes.
    length: usize,
    etag: String,
    gzip: OnceLock<Bytes>,
    brotli: OnceLock<Bytes>,
    /// Held while this document is compressed.
    own_turn: Arc<Semaphore>,
    /// Held while one of several documents is compressed.
    shared_turn: Option<Arc<Semaphore>>,
}

/// The uncompressed content of a document.
pub(crate) enum Content {
    /// The whole text, for a document that many clients request.
    Whole(Bytes),
    /// The text as it is written, for a document that only one client may request, and read slowly.
    Written(DocumentText),
}

/// Writes the text of a document, flag by flag.
#[derive(Clone)]
pub(crate) struct DocumentText {
    flags: ActiveFlags,
    /// The number of pieces that are written.
    written: usize,
}

/// The secret of the entity tags of documents that clients cannot read. It is the same for all instances.
#[derive(Clone, Copy, Default)]
pub(crate) struct TagSecret([u8; 32]);

impl TagSecret {
    /// Derives the secret from that of access tokens, which all instances share.
    pub(crate) fn derived_from(jwt_secret: &[u8]) -> Self {
        Self(authenticated_hash(jwt_secret, |hash| {
            Mac::update(hash, b"pennon entity tags");
        }))
    }

    fn hash(&self, flags: &ActiveFlags) -> [u8; 32] {
        authenticated_hash(&self.0, |hash| {
            identify(flags, |part| Mac::update(hash, part));
        })
    }
}

/// Passes to `update` what identifies the content of a document: the hashes of its flags, which exist before it does.
fn identify(flags: &ActiveFlags, mut update: impl FnMut(&[u8])) {
    update(&FORMAT.to_be_bytes());
    for (_, flag) in flags.iter() {
        update(flag.entry_hash());
    }
}

fn sha256(flags: &ActiveFlags) -> [u8; 32] {
    let mut hash = Sha256::new();
    identify(flags, |part| Digest::update(&mut hash, part));
    hash.finalize().into()
}

/// Returns the HMAC-SHA256 (RFC 2104) of the text with which `update` updates it.
fn authenticated_hash(key: &[u8], update: impl FnOnce(&mut Hmac<Sha256>)) -> [u8; 32] {
    let hash = Hmac::<Sha256>::new_from_slice(key).map(|mut mac| {
        update(&mut mac);
        mac.finalize().into_bytes().into()
    });
    // A key of any length is accepted.
    hash.unwrap_or_default()
}

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Brotli,
}

/// The text after the last flag.
const END: &str = "]}";

/// Returns the text before the first flag.
fn beginning() -> String {
    format!(r#"{{"format":{FORMAT},"flags":["#)
}

impl DocumentText {
    fn of(flags: ActiveFlags) -> Self {
        Self { flags, written: 0 }
    }

    /// Returns the length of the whole text, in bytes.
    fn length(&self) -> usize {
        let entries = self.flags.iter().map(|(_, flag)| flag.entry().len());
        let commas = self.flags.len().saturating_sub(1);
        beginning().len() + entries.sum::<usize>() + commas + END.len()
    }

    /// Appends the next piece to the text. Returns its length in bytes; none at the end of the text.
    pub(crate) fn append(&mut self, text: &mut Vec<u8>) -> Option<usize> {
        let length = text.len();
        match self.written.checked_sub(1) {
            // Writing to memory does not fail.
            None => text.extend_from_slice(beginning().as_bytes()),
            Some(position) => match self.flags.get(position) {
                Some((_, flag)) => {
                    if position > 0 {
                        text.push(b',');
                    }
                    text.extend_from_slice(flag.entry().as_bytes());
                }
                None if position == self.flags.len() => text.extend_from_slice(END.as_bytes()),
                None => return None,
            },
        }
        self.written = self.written.saturating_add(1);
        Some(text.len() - length)
    }
}

impl Content {
    /// Passes the text to `read`, piece by piece.
    fn read(&self, mut read: impl FnMut(&[u8])) {
        match self {
            Self::Whole(text) => read(text),
            Self::Written(text) => {
                let (mut text, mut piece) = (text.clone(), Vec::new());
                while text.append(&mut piece).is_some() {
                    read(&piece);
                    piece.clear();
                }
            }
        }
    }

    /// Returns the whole text.
    pub(super) fn text(&self) -> Bytes {
        match self {
            Self::Whole(text) => text.clone(),
            Self::Written(_) => {
                let mut text = Vec::new();
                self.read(|piece| text.extend_from_slice(piece));
                text.into()
            }
        }
    }

    /// Passes the text to an encoder.
    fn encode(&self, encoder: &mut impl Write) -> io::Result<()> {
        let mut result = Ok(());
        self.read(|piece| {
            if result.is_ok() {
                result = encoder.write_all(piece);
            }
        });
        result
    }
}

impl Document {
    /// Builds the document of these flags, with its text in memory. A `secret` keeps the entity tag from revealing the
    /// content of a document that its clients cannot read: without the secret, nobody can compute the tag of a guess.
    pub(super) fn whole(flags: ActiveFlags, secret: Option<TagSecret>) -> Self {
        let etag = etag(&flags, secret);
        let text = Content::Written(DocumentText::of(flags)).text();
        Self::new(text.len(), Content::Whole(text), etag, None)
    }

    /// Like [`whole`](Self::whole), but the document takes no memory for its text, and of all documents with the same
    /// `turn`, only one is compressed at a time.
    pub(super) fn written(
        flags: ActiveFlags,
        secret: Option<TagSecret>,
        turn: Arc<Semaphore>,
    ) -> Self {
        let etag = etag(&flags, secret);
        let text = DocumentText::of(flags);
        Self::new(text.length(), Content::Written(text), etag, Some(turn))
    }

    fn new(
        length: usize,
        content: Content,
        etag: String,
        shared_turn: Option<Arc<Semaphore>>,
    ) -> Self {
        Self {
            content,
            length,
            etag,
            gzip: OnceLock::new(),
            brotli: OnceLock::new(),
            own_turn: Arc::new(Semaphore::new(1)),
            shared_turn,
        }
    }

    /// Returns the entity tag: a hash of the flags, which is the same for every coding and instance, and after a
    /// restart.
    pub(crate) fn etag(&self) -> &str {
        &self.etag
    }

    /// Returns the part of the entity tag between its quotation marks.
    pub(crate) fn id(&self) -> &str {
        self.etag.trim_start_matches("W/").trim_matches('"')
    }

    /// Returns the length of the uncompressed content in bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Returns the uncompressed content.
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// Returns the coding to send to a client that accepts `accepted`: plain if compression gains nothing.
    pub(crate) fn worthwhile(&self, accepted: Encoding) -> Encoding {
        if self.length < usize::from(WORTH_COMPRESSING) {
            Encoding::Identity
        } else {
            accepted
        }
    }

    /// Returns the content in a coding. Compresses it first if necessary, on another thread. Returns none if it must be
    /// sent as it is, for example while another document has the shared turn: callers can ask for any number of these.
    pub(crate) async fn encoded(self: &Arc<Self>, encoding: Encoding) -> Option<Bytes> {
        if encoding == Encoding::Identity {
            return None;
        }
        if let Some(ready) = self.ready(encoding) {
            return Some(ready);
        }
        let own_turn = Arc::clone(&self.own_turn).acquire_owned().await.ok()?;
        if let Some(ready) = self.ready(encoding) {
            return Some(ready);
        }
        let shared_turn = match &self.shared_turn {
            Some(turn) => Some(Arc::clone(turn).try_acquire_owned().ok()?),
            None => None,
        };
        let document = Arc::clone(self);
        // The turns last until the work is done, even if the caller is canceled.
        let compress = move || {
            let _turns = (own_turn, shared_turn);
            document.compressed(encoding)
        };
        tokio::task::spawn_blocking(compress).await.ok()?
    }

    fn ready(&self, encoding: Encoding) -> Option<Bytes> {
        match encoding {
            Encoding::Identity => None,
            Encoding::Gzip => self.gzip.get().cloned(),
            Encoding::Brotli => self.brotli.get().cloned(),
        }
    }

    fn compressed(&self, encoding: Encoding) -> Option<Bytes> {
        match encoding {
            Encoding::Identity => None,
            Encoding::Gzip => Some(self.gzip.get_or_init(|| gzip(&self.content)).clone()),
            Encoding::Brotli => Some(self.brotli.get_or_init(|| brotli(&self.content)).clone()),
        }
    }
}

fn etag(flags: &ActiveFlags, secret: Option<TagSecret>) -> String {
    let hash = match secret {
        Some(secret) => secret.hash(flags),
        None => sha256(flags),
    };
    format!("W/\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(hash))
}

fn gzip(content: &Content) -> Bytes {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory does not fail.
    let written = content.encode(&mut encoder).and_then(|()| encoder.finish());
    written.unwrap_or_default().into()
}

fn brotli(content: &Content) -> Bytes {
    let params = brotli::enc::BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        ..Default::default()
    };
    let mut encoder = brotli::CompressorWriter::with_params(Vec::new(), BROTLI_BUFFER, &params);
    // Writing to memory does not fail.
    let _written = content.encode(&mut encoder);
    encoder.into_inner().into()
}
