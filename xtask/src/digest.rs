//! Digests: names for content, and stamps that tell whether anything changed.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of several parts, in hexadecimal. Each part's length counts, so that no two lists of parts are alike.
pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_le_bytes());
        hasher.update(part);
    }
    let mut text = String::new();
    for byte in hasher.finalize() {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn moving_a_byte_from_one_part_to_the_next_changes_the_digest() {
        assert_ne!(of([b"ab".as_slice(), b"c"]), of([b"a".as_slice(), b"bc"]));
    }
}
