//! The config document as bytes: plain and compressed, with its entity tag.

use std::io::Write;
use std::sync::OnceLock;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
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

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Brotli,
}

impl Document {
    /// Builds the document from these flag entries, in this order.
    pub(super) fn new<'e>(entries: impl Iterator<Item = &'e str>) -> Self {
        let mut text = format!(r#"{{"format":{FORMAT},"flags":["#);
        for (index, entry) in entries.enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(entry);
        }
        text.push_str("]}");
        let hash = Sha256::digest(&text);
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
