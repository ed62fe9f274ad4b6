//! `pennon generate`: new secrets, from the generator that the server uses.

use std::error::Error;
use std::io::Write;

use clap::{Args, ValueEnum};

use crate::auth::secret::{self, PrefixedSecret};
use crate::clock::Entropy;

/// The secret to generate.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The kind of secret
    kind: Kind,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// The SDK key of an environment, for a bootstrap file
    SdkKey,
    /// A personal access token, for a bootstrap file
    PersonalAccessToken,
    /// A value of `PENNON_JWT_SECRET`
    JwtSecret,
}

/// Prints the secret and keeps nothing of it.
pub(super) fn run(Arguments { kind }: &Arguments) -> Result<(), Box<dyn Error>> {
    let entropy = Entropy::from_system()?;
    let secret = match kind {
        Kind::SdkKey => PrefixedSecret::sdk_key(&entropy).secret,
        Kind::PersonalAccessToken => PrefixedSecret::token(&entropy).secret,
        Kind::JwtSecret => secret::generate(&entropy),
    };
    writeln!(std::io::stdout(), "{}", secret.expose())?;
    Ok(())
}
