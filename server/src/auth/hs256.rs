//! HS256, the only algorithm that Pennon needs, for `jsonwebtoken`.
//!
//! The library's own backends also contain RSA and three elliptic curves.

use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::Algorithm;
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Signer, Verifier};
use sha2::Sha256;

/// The provider to install before the first token is signed or verified.
pub(super) static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(Hs256::new(*algorithm, key.as_bytes())?)),
    verifier_factory: |algorithm, key| {
        Ok(Box::new(Hs256::new(*algorithm, key.try_get_as_bytes()?)?))
    },
    key_utils: KeyUtils::new_unimplemented(),
};

/// HMAC with SHA-256 (RFC 7518, section 3.2) and its key.
struct Hs256(Hmac<Sha256>);

impl Hs256 {
    fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        if algorithm != Algorithm::HS256 {
            return Err(ErrorKind::InvalidAlgorithm.into());
        }
        let hmac =
            Hmac::new_from_slice(key).map_err(|_| Error::from(ErrorKind::InvalidKeyFormat))?;
        Ok(Self(hmac))
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        let hmac = self.0.clone().chain_update(message);
        Ok(hmac.finalize().into_bytes().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let hmac = self.0.clone().chain_update(message);
        hmac.verify_slice(signature)
            .map_err(signature::Error::from_source)
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}
