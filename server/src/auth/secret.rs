//! Secrets that the server shows once and stores only as hashes.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use pennon_model::environment::Visibility;
use pennon_model::secret::{MaskedSecret, Secret};
use sha2::Sha256;

use crate::clock::Entropy;

/// The prefix of an SDK key that servers keep secret.
const SERVER_KEY_PREFIX: &str = "pnk_";

/// The prefix of the SDK key of a public environment.
const PUBLIC_KEY_PREFIX: &str = "pnp_";

/// Returns true if this is the SDK key of a public environment.
pub(crate) fn is_public(sdk_key: &str) -> bool {
    sdk_key.starts_with(PUBLIC_KEY_PREFIX)
}

/// The prefix of a personal access token.
pub(crate) const TOKEN_PREFIX: &str = "pnt_";

/// Returns true if the text begins like an SDK key or a personal access token.
pub(crate) fn is_credential(text: &str) -> bool {
    [SERVER_KEY_PREFIX, PUBLIC_KEY_PREFIX, TOKEN_PREFIX]
        .iter()
        .any(|prefix| text.starts_with(prefix))
}

/// The number of characters of a key or token to show, to distinguish it from others.
const SHOWN_CHARACTERS: usize = 12;

/// Generates a secret of 256 random bits in 43 characters.
pub(crate) fn generate(entropy: &Entropy) -> Secret {
    written(entropy.bytes::<32>())
}

fn written(bytes: [u8; 32]) -> Secret {
    Secret::new(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// Generates a secret that only the holder of `key` can read. It is masked by exclusive or with an HMAC-SHA256 (RFC
/// 2104) that is keyed by `key`. Each key masks one secret, so the mask is a one-time pad.
pub(crate) fn generate_masked(key: &str, entropy: &Entropy) -> (MaskedSecret, Secret) {
    let bytes = entropy.bytes::<32>();
    (MaskedSecret::new(masked(key, bytes)), written(bytes))
}

/// Unmasks a secret. The result is the original only if `key` is the key that masked it.
pub(crate) fn reveal(secret: MaskedSecret, key: &str) -> Secret {
    written(masked(key, *secret.as_bytes()))
}

/// Masks or unmasks a secret.
fn masked(key: &str, bytes: [u8; 32]) -> [u8; 32] {
    // A key of any length is accepted: longer ones are hashed first.
    let mask = Hmac::<Sha256>::new_from_slice(key.as_bytes()).map(|mut mac| {
        mac.update(b"pennon refresh token successor");
        <[u8; 32]>::from(mac.finalize().into_bytes())
    });
    let mask = mask.unwrap_or_default();
    std::array::from_fn(|index| bytes[index] ^ mask[index])
}

/// A secret with a prefix for its kind, and the part of it to show.
pub(crate) struct PrefixedSecret {
    pub(crate) secret: Secret,
    pub(crate) prefix: String,
}

impl PrefixedSecret {
    /// Generates an SDK key.
    pub(crate) fn sdk_key(visibility: Visibility, entropy: &Entropy) -> Self {
        Self::generate(sdk_key_prefix(visibility), entropy)
    }

    /// Generates a personal access token.
    pub(crate) fn token(entropy: &Entropy) -> Self {
        Self::generate(TOKEN_PREFIX, entropy)
    }

    fn generate(prefix: &str, entropy: &Entropy) -> Self {
        Self::new(format!("{prefix}{}", generate(entropy).expose()))
    }

    /// Parses a secret that was generated elsewhere. Returns `None` unless it has the prefix and 256 bits.
    fn parse(prefix: &str, secret: String) -> Option<Self> {
        let bits = BASE64_URL_SAFE_NO_PAD.decode(secret.strip_prefix(prefix)?);
        (bits.ok()?.len() == 32).then(|| Self::new(secret))
    }

    fn new(secret: String) -> Self {
        Self {
            prefix: secret.chars().take(SHOWN_CHARACTERS).collect(),
            secret: Secret::new(secret),
        }
    }
}

/// Returns true if a credential is meant as an SDK key, whether or not it exists.
pub(crate) fn is_sdk_key(credential: &str) -> bool {
    let mut visibilities = Visibility::ALL.iter();
    visibilities.any(|visibility| credential.starts_with(sdk_key_prefix(*visibility)))
}

fn sdk_key_prefix(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Server => SERVER_KEY_PREFIX,
        Visibility::Public => PUBLIC_KEY_PREFIX,
    }
}

/// An SDK key that was generated elsewhere.
pub(crate) struct GivenSdkKey {
    pub(crate) key: PrefixedSecret,
    /// The environments that the key fits.
    pub(crate) visibility: Visibility,
}

impl TryFrom<String> for GivenSdkKey {
    type Error = &'static str;

    fn try_from(key: String) -> Result<Self, Self::Error> {
        let mut visibilities = Visibility::ALL.iter();
        let given = visibilities.find_map(|&visibility| {
            let key = PrefixedSecret::parse(sdk_key_prefix(visibility), key.clone())?;
            Some(Self { key, visibility })
        });
        given.ok_or("must be an SDK key of 256 bits; `pennon generate sdk-key` prints one")
    }
}

/// A personal access token that was generated elsewhere.
pub(crate) struct GivenToken(pub(crate) PrefixedSecret);

impl TryFrom<String> for GivenToken {
    type Error = &'static str;

    fn try_from(token: String) -> Result<Self, Self::Error> {
        PrefixedSecret::parse(TOKEN_PREFIX, token).map(Self).ok_or(
            "must be a personal access token of 256 bits; `pennon generate personal-access-token` prints one",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_secret_is_revealed_only_by_the_key_that_masked_it() {
        let (masked, secret) = generate_masked("key", &Entropy::from_seed(1));
        assert_eq!(reveal(masked, "key").expose(), secret.expose());
        assert_ne!(reveal(masked, "another key").expose(), secret.expose());
        assert_ne!(written(*masked.as_bytes()).expose(), secret.expose());
    }
}
