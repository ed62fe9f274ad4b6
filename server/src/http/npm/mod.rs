//! The read-only npm registry of the scope `@pennon`, which provides the packages that match this server
//! (<https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md>).
//!
//! It is not in the OpenAPI description, because only package managers use it, and its paths are standard.

mod access;
mod packument;
mod path;
mod refusal;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use http::request::Parts;
use http::{HeaderName, StatusCode};
use pennon_dashboard::port::Npmrc;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use self::access::Reader;
use self::path::Resource;
use self::refusal::Refusal;
use super::base_url::base_url;
use super::if_none_match::IfNoneMatch;
use super::respond::Json;
use crate::admin::packages::{self, Package};
use crate::auth::actor::Actor;
use crate::config::NpmAccess;
use crate::error::Error;
use crate::state::AppState;

/// The base path of the registry.
const FOLDER: &str = "/npm";

pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route(FOLDER, get(async || Refusal::no_resource()))
        .route(&format!("{FOLDER}/{{*path}}"), get(serve))
}

/// Returns the npm settings for installing packages from this server; none if the registry is off.
pub(super) fn npmrc(base_url: &str, access: NpmAccess) -> Option<Npmrc> {
    let host = base_url.split_once("://").map(|(_, host)| host)?;
    let token = format!("//{host}{FOLDER}/:_authToken=pnt_your_token");
    let home = match access {
        NpmAccess::Off => return None,
        NpmAccess::Open => None,
        NpmAccess::Token => Some(token),
    };
    Some(Npmrc {
        application: format!("@pennon:registry={base_url}{FOLDER}/"),
        home,
    })
}

/// Serves the resource at a path. Clients may encode the slash in a package's name as `%2f`.
async fn serve(
    State(state): State<AppState>,
    Path(path): Path<String>,
    reader: Reader,
    known: IfNoneMatch,
    parts: Parts,
) -> Result<Response, Refusal> {
    match Resource::at(&path).ok_or_else(Refusal::no_resource)? {
        Resource::Ping => Ok(Json(json!({})).into_response()),
        Resource::WhoAmI => whoami(&reader),
        Resource::Package(name) => {
            let package = find(&state, name).await?;
            let registry = registry(&parts, &state);
            let document = packument::of_package(name, &package, &registry)?;
            Ok(metadata(&state, &document, &known))
        }
        Resource::Version(name, version) => {
            let package = find(&state, name).await?;
            let version = packument::version(&package, version);
            let version = version.ok_or_else(|| Refusal::no_version(name, &package))?;
            let document = packument::of_version(version, &registry(&parts, &state))?;
            Ok(metadata(&state, &document, &known))
        }
        Resource::Tarball(name, version) => tarball(&state, name, version, &known).await,
    }
}

/// Returns the URL of the registry as the client reaches it, with a slash at the end.
fn registry(parts: &Parts, state: &AppState) -> String {
    format!("{}{FOLDER}/", base_url(parts, &state.runtime.settings))
}

async fn find(state: &AppState, name: &str) -> Result<Package, Refusal> {
    let package = packages::package(&state.admin, name).await?;
    package.ok_or_else(|| Refusal::no_package(name))
}

/// Returns the owner of the token, so that callers can check whether the token works.
fn whoami(reader: &Reader) -> Result<Response, Refusal> {
    let user = reader.actor.as_ref().and_then(Actor::user);
    let user = user.ok_or(Error::Unauthenticated)?;
    Ok(Json(json!({ "username": user.email })).into_response())
}

/// Returns a document about a package. Without a public URL, its URLs contain the host of the request, so no cache may
/// store it.
fn metadata(state: &AppState, document: &Value, known: &IfNoneMatch) -> Response {
    let body = document.to_string();
    let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&body));
    let etag = format!("\"{hash}\"");
    let caching = match state.runtime.settings.public_url {
        Some(_) => "no-cache",
        None => "no-store",
    };
    let headers = [(CACHE_CONTROL, caching.to_owned()), (ETAG, etag)];
    conditional(headers, known, ("application/json", body.into_bytes()))
}

async fn tarball(
    state: &AppState,
    name: &str,
    version: &str,
    known: &IfNoneMatch,
) -> Result<Response, Refusal> {
    let Some(tarball) = packages::tarball(&state.admin, name, version).await? else {
        let package = find(state, name).await?;
        return Err(Refusal::no_version(name, &package));
    };
    let audience = match state.runtime.settings.npm {
        NpmAccess::Open => "public",
        NpmAccess::Token | NpmAccess::Off => "private",
    };
    let caching = format!("{audience}, max-age=31536000, immutable");
    let etag = format!("\"{}\"", tarball.integrity);
    let headers = [(CACHE_CONTROL, caching), (ETAG, etag)];
    let body = ("application/octet-stream", tarball.content);
    Ok(conditional(headers, known, body))
}

/// Returns 200 with a body, or 304 if the client already has it.
fn conditional(
    headers: [(HeaderName, String); 2],
    known: &IfNoneMatch,
    (kind, body): (&'static str, impl IntoResponse),
) -> Response {
    let [_, (_, etag)] = &headers;
    if known.has(etag) {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else {
        (headers, [(CONTENT_TYPE, kind)], body).into_response()
    }
}
