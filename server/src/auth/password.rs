//! Passwords: argon2id with 19 MiB, 2 passes and 1 lane, as the OWASP cheat sheet recommends.

use std::ops::RangeInclusive;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::password_hash::{self, CustomizedPasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use pennon_model::secret::Secret;

use super::queue::{Class, HashPermit, QueuePermit, Queues};
use super::secret;
use crate::clock::Entropy;
use crate::error::Error;

/// The allowed length of a new password, in characters.
pub(crate) const CHARACTERS: RangeInclusive<usize> = 12..=256;

/// The length of a generated password, in characters: 144 random bits.
const GENERATED_CHARACTERS: usize = 24;

/// Hashes and verifies passwords, on threads that do not serve requests.
pub(crate) struct Passwords {
    queues: Queues,
    /// A hash that no password matches, so that refusing an unknown account takes as long as refusing a wrong password.
    decoy: String,
}

/// A new password for an account.
pub(crate) struct NewPassword(Secret);

impl NewPassword {
    /// Generates a password.
    pub(crate) fn generate(entropy: &Entropy) -> Self {
        let secret = secret::generate(entropy);
        let characters = secret.expose().chars().take(GENERATED_CHARACTERS);
        Self(Secret::new(characters.collect()))
    }

    /// Returns the password, to show it to its owner.
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

impl Passwords {
    pub(crate) fn new(entropy: &Entropy) -> Result<Self, Error> {
        let salt = entropy.bytes::<16>();
        let decoy = describe(Algorithm::Argon2id, Version::V0x13, &params()?, &salt);
        // Random bytes instead of the hash of a random password: nobody knows a password for either.
        let random = Output::new(&entropy.bytes::<{ Params::DEFAULT_OUTPUT_LEN }>());
        let decoy = PasswordHash {
            hash: Some(random.map_err(internal)?),
            ..decoy.map_err(internal)?
        };
        Ok(Self {
            queues: Queues::default(),
            decoy: decoy.to_string(),
        })
    }

    /// Returns the hash to store for a password that a signed-in caller sets. It includes the salt and the parameters.
    pub(crate) async fn hash(
        &self,
        password: &NewPassword,
        entropy: &Entropy,
    ) -> Result<String, Error> {
        let (password, salt) = (password.expose().as_bytes().to_vec(), entropy.bytes::<16>());
        let turn = self.enter(Class::Authenticated)?.turn().await?;
        let (hash, _) = in_turn(turn, move || hash(&password, &salt)).await?;
        hash
    }

    /// Enters the queue for verifying a password.
    pub(crate) fn enter(&self, class: Class) -> Result<QueuePermit, Error> {
        self.queues.enter(class)
    }

    /// Returns true if the password matches the hash, and the turn. Without a hash, it takes as long to return false.
    /// The caller ends the turn once it has recorded a success, so that the next attempt is not counted beside this
    /// one.
    pub(crate) async fn verify(
        &self,
        turn: HashPermit,
        password: &str,
        hash: Option<&str>,
    ) -> Result<(bool, HashPermit), Error> {
        let known = hash.is_some();
        let (password, hash) = (
            password.as_bytes().to_vec(),
            hash.unwrap_or(&self.decoy).to_owned(),
        );
        let (verified, turn) = in_turn(turn, move || verify(&password, &hash)).await?;
        Ok((verified? && known, turn))
    }
}

/// Does the work on another thread. The turn lasts until the work is done, even if the caller is canceled.
async fn in_turn<T: Send + 'static>(
    turn: HashPermit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<(T, HashPermit), Error> {
    let result = tokio::task::spawn_blocking(move || (work(), turn));
    result
        .await
        .map_err(|error| Error::Internal(format!("password hashing stopped: {error}")))
}

fn hash(password: &[u8], salt: &[u8]) -> Result<String, Error> {
    let hash = Hasher.hash_password_customized(password, salt, None, None, params()?);
    Ok(hash.map_err(internal)?.to_string())
}

/// Returns the parameters of new hashes.
fn params() -> Result<Params, Error> {
    Params::new(19 * 1024, 2, 1, None).map_err(internal)
}

/// Returns everything that is stored with a hash, without the hash itself.
fn describe(
    algorithm: Algorithm,
    version: Version,
    params: &Params,
    salt: &[u8],
) -> password_hash::Result<PasswordHash> {
    Ok(PasswordHash {
        algorithm: algorithm.ident(),
        version: Some(version.into()),
        params: ParamsString::try_from(params)?,
        salt: Some(Salt::new(salt)?),
        hash: None,
    })
}

fn verify(password: &[u8], hash: &str) -> Result<bool, Error> {
    let hash = PasswordHash::new(hash).map_err(internal)?;
    Ok(Hasher.verify_password(password, &hash).is_ok())
}

/// Argon2 with memory that is returned to the system after each hash.
///
/// glibc keeps freed blocks of up to 32 MiB for each thread that used one, so 38 MiB would stay in use after the first
/// sign-ins. It requests larger blocks from the system and returns them. Memory that is requested but never touched
/// costs nothing.
struct Hasher;

/// The minimum allocation, in blocks of 1 KiB.
const MIN_BLOCKS: usize = 33 * 1024;

impl CustomizedPasswordHasher<PasswordHash> for Hasher {
    type Params = Params;

    fn hash_password_customized(
        &self,
        password: &[u8],
        salt: &[u8],
        algorithm: Option<&str>,
        version: Option<u32>,
        params: Params,
    ) -> password_hash::Result<PasswordHash> {
        let algorithm = algorithm.map_or(Ok(Algorithm::Argon2id), Algorithm::try_from)?;
        let version = version.map_or(Ok(Version::V0x13), Version::try_from)?;
        let mut memory = Vec::with_capacity(params.block_count().max(MIN_BLOCKS));
        memory.resize(params.block_count(), Block::default());
        let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let mut output = vec![0; length];
        let described = describe(algorithm, version, &params, salt)?;
        Argon2::new(algorithm, version, params).hash_password_into_with_memory(
            password,
            salt,
            &mut output,
            memory,
        )?;
        Ok(PasswordHash {
            hash: Some(Output::new(&output)?),
            ..described
        })
    }
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::Internal(format!("password hashing failed: {error}"))
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::PasswordHasher;

    use super::*;

    #[test]
    fn hashes_are_those_of_argon2_with_the_usual_memory() {
        let params = Params::new(19 * 1024, 2, 1, None).unwrap();
        let usual = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let (password, salt) = (b"correct horse", [7; 16]);
        let expected: PasswordHash = usual.hash_password_with_salt(password, &salt).unwrap();
        let hash = hash(password, &salt).unwrap();
        assert_eq!(hash, expected.to_string());
        assert!(verify(password, &hash).unwrap());
        assert!(!verify(b"battery staple", &hash).unwrap());
        assert!(verify(password, "no hash").is_err());
    }
}
