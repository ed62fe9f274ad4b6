//! Digests, which name content and detect changes.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of several parts, in hexadecimal. The digest includes the length of each part, so that different
/// lists of parts have different digests.
pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_le_bytes());
        hasher.update(part);
    }
    hexadecimal(&hasher.finalize())
}

/// Returns the SHA-256 of some content, as `sha256sum` prints it.
pub(crate) fn sha256(content: &[u8]) -> String {
    hexadecimal(&Sha256::digest(content))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{of, sha256};

    #[test]
    fn the_digest_of_abc_is_the_known_sha_256() {
        assert!(sha256(b"abc").starts_with("ba7816bf8f01cfea414140de5dae2223"));
    }

    #[test]
    fn moving_a_byte_from_one_part_to_the_next_changes_the_digest() {
        assert_ne!(of([b"ab".as_slice(), b"c"]), of([b"a".as_slice(), b"bc"]));
    }
}
