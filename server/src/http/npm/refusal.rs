//! Error responses that package managers show.

use axum::response::{IntoResponse, Response};
use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::admin::packages::{OWN_VERSION, Package};
use crate::error::Error;
use crate::http::error::extended;

/// The authentication challenge. npm prints it instead of the body.
const CHALLENGE: &str =
    "Bearer realm=\"a personal access token of this Pennon server as _authToken in .npmrc\"";

/// An API error with the additional member that package managers show.
#[derive(Debug)]
pub(super) struct Refusal {
    error: Error,
    /// The text to show; by default, the text of the error.
    shown: Option<String>,
}

#[derive(Serialize)]
struct Shown<'a> {
    error: &'a str,
}

impl Refusal {
    /// The response to a path without a resource.
    pub(super) fn no_resource() -> Self {
        Self::not_found(
            "this npm registry has packages of the scope @pennon only: write \
             `@pennon:registry=` and the address of /npm/ to .npmrc",
        )
    }

    /// The response to every request while the registry is off.
    pub(super) fn off() -> Self {
        Self::not_found("this server offers no npm packages: PENNON_NPM is off")
    }

    /// The package does not exist, or this binary was built without packages.
    pub(super) fn no_package(name: &str) -> Self {
        Self::not_found(format!("this server has no package {name}"))
    }

    /// The package does not have this version, or no longer has it.
    pub(super) fn no_version(name: &str, package: &Package) -> Self {
        let versions = package.versions.iter().map(|each| each.version.as_str());
        let versions: Vec<&str> = versions.collect();
        Self::not_found(format!(
            "this server, Pennon {OWN_VERSION}, offers {name} in the versions {}",
            versions.join(", ")
        ))
    }

    fn not_found(shown: impl Into<String>) -> Self {
        Self {
            error: Error::NoSuchPath,
            shown: Some(shown.into()),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { error, shown: None }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let text = match (self.shown, &self.error) {
            (Some(text), _) => text,
            (None, Error::Internal(_)) => return self.error.into_response(),
            (None, Error::WrongCredential) => {
                "this is not a personal access token: create one in the dashboard, under Account"
                    .to_owned()
            }
            (None, error) => error.to_string(),
        };
        let mut response = extended(&self.error, Shown { error: &text });
        if response.status() == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static(CHALLENGE);
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
