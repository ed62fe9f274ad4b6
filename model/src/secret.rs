//! Secrets and their hashes.

use std::fmt;

use sha2::{Digest, Sha256};

/// A secret that cannot be printed by accident: `Debug` hides it from logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the secret in plain text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// The SHA-256 of a secret. Secrets have 256 random bits, so a plain hash suffices to store and find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// Hashes a secret.
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Returns the 32 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl TryFrom<&[u8]> for SecretHash {
    type Error = &'static str;

    fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
        let bytes = bytes.try_into().map(Self);
        bytes.map_err(|_| "a SHA-256 has 32 bytes")
    }
}

/// A 256-bit secret that only the holder of another secret can read.
#[derive(Clone, Copy)]
pub struct MaskedSecret([u8; 32]);

impl MaskedSecret {
    /// Wraps the masked bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 masked bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl TryFrom<&[u8]> for MaskedSecret {
    type Error = &'static str;

    fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
        let bytes = bytes.try_into().map(Self);
        bytes.map_err(|_| "a masked secret has 32 bytes")
    }
}
