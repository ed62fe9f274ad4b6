//! The public certificate authorities that sqlx trusts by itself: none.
//!
//! sqlx adds the certificates of `sslrootcert` to those of the crate `webpki-roots`. `sslmode=verify-ca` does not
//! compare names, so it would then accept every certificate of every public authority. This crate takes the place of
//! the real one (`[patch.crates-io]` in the workspace's manifest), and Pennon names the authorities to trust.

use rustls_pki_types::TrustAnchor;

/// The authorities that are trusted without being named.
pub const TLS_SERVER_ROOTS: &[TrustAnchor<'static>] = &[];
