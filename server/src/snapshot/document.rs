//! The config document as bytes: plain and compressed, with its entity tag.

use std::io::Write;
use std::sync::OnceLock;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use pennon_core::config::FORMAT;
use sha2::{Digest, Sha256};

/// The quality of Brotli. The result is about as small as that of gzip's best level, and takes a tenth of the time of
/// Brotli's best.
const BROTLI_QUALITY: i32 = 5;

/// The minimum size to compress, in bytes. Compression does not make smaller bodies smaller.
pub(crate) const WORTH_COMPRESSING: u16 = 512;

/// A config document and its compressed forms.
pub(crate) struct Document {
    plain: Bytes,
    etag: String,
    gzip: OnceLock<Bytes>,
    brotli: OnceLock<Bytes>,
}

/// The secret of the entity tags of documents that clients cannot read. It is the same for all instances.
#[derive(Clone, Copy, Default)]
pub(crate) struct TagSecret([u8; 32]);

impl TagSecret {
    /// Derives the secret from that of access tokens, which all instances share.
    pub(crate) fn derived_from(jwt_secret: &[u8]) -> Self {
        Self(authenticated_hash(jwt_secret, b"pennon entity tags"))
    }

    fn hash(&self, text: &[u8]) -> [u8; 32] {
        authenticated_hash(&self.0, text)
    }
}

/// Returns the HMAC-SHA256 of a text (RFC 2104).
fn authenticated_hash(key: &[u8], text: &[u8]) -> [u8; 32] {
    let hash = Hmac::<Sha256>::new_from_slice(key).map(|mut mac| {
        mac.update(text);
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

impl Document {
    /// Builds the document from these flag entries, in this order. A `secret` keeps the entity tag from revealing the
    /// content of a document that its clients cannot read: without the secret, nobody can compute the tag of a guess.
    pub(super) fn new<'e>(
        entries: impl Iterator<Item = &'e str>,
        secret: Option<&TagSecret>,
    ) -> Self {
        let mut text = format!(r#"{{"format":{FORMAT},"flags":["#);
        for (index, entry) in entries.enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(entry);
        }
        text.push_str("]}");
        let hash = match secret {
            Some(secret) => secret.hash(text.as_bytes()),
            None => Sha256::digest(&text).into(),
        };
        let etag = format!("W/\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(hash));
        Self {
            plain: text.into(),
            etag,
            gzip: OnceLock::new(),
            brotli: OnceLock::new(),
        }
    }

    /// Returns the entity tag: a hash of the plain content, which is the same for every coding and instance, and after
    /// a restart.
    pub(crate) fn etag(&self) -> &str {
        &self.etag
    }

    /// Returns the part of the entity tag between its quotation marks.
    pub(crate) fn id(&self) -> &str {
        self.etag.trim_start_matches("W/").trim_matches('"')
    }

    /// Returns the coding to send to a client that accepts `accepted`: plain if compression gains nothing.
    pub(crate) fn worthwhile(&self, accepted: Encoding) -> Encoding {
        if self.plain.len() < usize::from(WORTH_COMPRESSING) {
            Encoding::Identity
        } else {
            accepted
        }
    }

    /// Returns the content in a coding, if it is already encoded.
    pub(crate) fn ready(&self, encoding: Encoding) -> Option<Bytes> {
        match encoding {
            Encoding::Identity => Some(self.plain.clone()),
            Encoding::Gzip => self.gzip.get().cloned(),
            Encoding::Brotli => self.brotli.get().cloned(),
        }
    }

    /// Returns the content in a coding, and encodes it first if necessary, which may take many milliseconds.
    pub(crate) fn encoded(&self, encoding: Encoding) -> Bytes {
        match encoding {
            Encoding::Identity => self.plain.clone(),
            Encoding::Gzip => self.gzip.get_or_init(|| gzip(&self.plain)).clone(),
            Encoding::Brotli => self.brotli.get_or_init(|| brotli(&self.plain)).clone(),
        }
    }
}

fn gzip(plain: &[u8]) -> Bytes {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory does not fail.
    let written = encoder.write_all(plain).and_then(|()| encoder.finish());
    written.unwrap_or_default().into()
}

fn brotli(plain: &[u8]) -> Bytes {
    let params = brotli::enc::BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        ..Default::default()
    };
    let mut compressed = Vec::new();
    // Writing to memory does not fail.
    let _written = brotli::BrotliCompress(&mut &*plain, &mut compressed, &params);
    compressed.into()
}
