//! The npm packages that the server serves.

use crate::time::Timestamp;

/// A version of a package, without its tarball.
#[derive(Clone, Debug)]
pub struct PackageVersion {
    /// The name, such as `@pennon/core`.
    pub name: String,
    /// The version.
    pub version: String,
    /// The package.json in the tarball.
    pub manifest: String,
    /// The SHA-512 of the tarball in Base64, after `sha512-` (W3C Subresource Integrity).
    pub integrity: String,
    /// The SHA-1 of the tarball in hexadecimal, for Yarn 1.
    pub shasum: String,
    /// The time at which it was stored.
    pub stored_at: Timestamp,
}
