//! Passwords: argon2id with 19 MiB, 2 passes and 1 lane, as the OWASP cheat sheet recommends.

use std::ops::RangeInclusive;
use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use pennon_core::model::text::Secret;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::secret;
use crate::clock::Entropy;
use crate::error::Error;

/// How long a password can be that an account gets, in characters.
pub(crate) const CHARACTERS: RangeInclusive<usize> = 12..=256;

/// How many characters a password has that is made up: 144 random bits.
const MADE_UP_CHARACTERS: usize = 24;

/// How many hashes are computed at once: each takes a core and 19 MiB.
const AT_ONCE: usize = 2;

/// Hashes and verifies passwords away from the threads that serve requests.
pub(crate) struct Passwords {
    turns: Arc<Semaphore>,
    /// The hash of no password, so that an unknown account takes as long as a wrong password.
    decoy: String,
}

/// A password that an account can get.
pub(crate) struct NewPassword(Secret);

impl NewPassword {
    /// Makes up a password.
    pub(crate) fn made_up(entropy: &Entropy) -> Self {
        let secret = secret::generate(entropy);
        let characters = secret.expose().chars().take(MADE_UP_CHARACTERS);
        Self(Secret::new(characters.collect()))
    }

    /// The password itself, to tell it to its owner.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl TryFrom<String> for NewPassword {
    type Error = &'static str;

    fn try_from(password: String) -> Result<Self, Self::Error> {
        if !CHARACTERS.contains(&password.chars().count()) {
            return Err("must have 12 to 256 characters");
        }
        if password.contains('\0') {
            return Err("must not contain U+0000");
        }
        Ok(Self(Secret::new(password)))
    }
}

/// The right to compute a hash now.
pub(crate) struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Passwords {
    pub(crate) fn new(entropy: &Entropy) -> Result<Self, Error> {
        let decoy = hash(&entropy.bytes::<32>(), &entropy.bytes::<16>())?;
        Ok(Self {
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            decoy,
        })
    }

    /// The hash to store for a password, with its salt and parameters.
    pub(crate) async fn hash(
        &self,
        password: &NewPassword,
        entropy: &Entropy,
    ) -> Result<String, Error> {
        let (password, salt) = (password.expose().as_bytes().to_vec(), entropy.bytes::<16>());
        in_turn(self.turn().await, move || hash(&password, &salt)).await?
    }

    /// Waits until it is this caller's turn to have a password verified.
    pub(crate) async fn turn(&self) -> Turn {
        Turn {
            _permit: Arc::clone(&self.turns).acquire_owned().await.ok(),
        }
    }

    /// Whether the password belongs to the hash; without a hash it takes just as long to say no.
    pub(crate) async fn verify(
        &self,
        turn: Turn,
        password: &str,
        hash: Option<&str>,
    ) -> Result<bool, Error> {
        let known = hash.is_some();
        let (password, hash) = (
            password.as_bytes().to_vec(),
            hash.unwrap_or(&self.decoy).to_owned(),
        );
        Ok(in_turn(turn, move || verify(&password, &hash)).await?? && known)
    }
}

async fn in_turn<T: Send + 'static>(
    turn: Turn,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let result = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    result
        .await
        .map_err(|error| Error::Internal(format!("password hashing stopped: {error}")))
}

fn argon2() -> Result<Argon2<'static>, Error> {
    let params = Params::new(19 * 1024, 2, 1, None).map_err(internal)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(password: &[u8], salt: &[u8]) -> Result<String, Error> {
    let hash: PasswordHash = argon2()?
        .hash_password_with_salt(password, salt)
        .map_err(internal)?;
    Ok(hash.to_string())
}

fn verify(password: &[u8], hash: &str) -> Result<bool, Error> {
    let hash = PasswordHash::new(hash).map_err(internal)?;
    Ok(argon2()?.verify_password(password, &hash).is_ok())
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::Internal(format!("password hashing failed: {error}"))
}
