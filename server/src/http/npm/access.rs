//! Access to the npm registry.

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::refusal::Refusal;
use crate::auth::actor::Actor;
use crate::auth::{PresentedCredential, presented};
use crate::config::NpmAccess;
use crate::state::AppState;

/// A caller that may install packages according to `PENNON_NPM`.
pub(super) struct Reader {
    /// The owner of the token; none if the registry is open and the request has no token.
    pub(super) actor: Option<Actor>,
}

impl FromRequestParts<AppState> for Reader {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Refusal> {
        let is_anonymous = matches!(presented(&parts.headers), PresentedCredential::Nothing);
        match state.runtime.settings.npm {
            NpmAccess::Off => Err(Refusal::off()),
            NpmAccess::Open if is_anonymous => Ok(Self { actor: None }),
            NpmAccess::Open | NpmAccess::Token => Ok(Self {
                actor: Some(Actor::from_request_parts(parts, state).await?),
            }),
        }
    }
}
