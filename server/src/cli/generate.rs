//! `pennon generate`: generates secrets in the same way as the server.

use std::error::Error;

use clap::{Args, ValueEnum};
use pennon_model::environment::Visibility;

use crate::auth::secret::{self, PrefixedSecret};
use crate::clock::Entropy;

/// The secret to generate.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Kind of secret
    kind: Kind,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// The SDK key of an environment, for a bootstrap file
    SdkKey,
    /// The SDK key of a public environment, for a bootstrap file
    PublicSdkKey,
    /// A personal access token, for a bootstrap file
    PersonalAccessToken,
    /// A signing secret for `PENNON_JWT_SECRET`
    JwtSecret,
}

/// Prints the secret without storing it.
pub(super) fn run(Arguments { kind }: &Arguments) -> Result<(), Box<dyn Error>> {
    let entropy = Entropy::from_system()?;
    let secret = match kind {
        Kind::SdkKey => PrefixedSecret::sdk_key(Visibility::Server, &entropy).secret,
        Kind::PublicSdkKey => PrefixedSecret::sdk_key(Visibility::Public, &entropy).secret,
        Kind::PersonalAccessToken => PrefixedSecret::token(&entropy).secret,
        Kind::JwtSecret => secret::generate(&entropy),
    };
    Ok(super::print(secret.expose())?)
}
