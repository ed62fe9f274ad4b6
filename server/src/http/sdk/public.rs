//! Access by the key of a public environment in the path, for web pages.
//!
//! Pages of other origins can send these requests without a preflight request, because they need no header. Such a key
//! is no secret, but nothing here logs or repeats it.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, State};
use http::HeaderValue;
use http::request::Parts;
use pennon_core::context::MAX_CONTEXT_BYTES;
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::all::{ContextBody, FlagResults, answer};
use super::bootstrap::Bootstrap;
use super::client::{ClientInQuery, in_query};
use super::config::{Config, Wanted};
use crate::error::Error;
use crate::evaluation::sdk_environment::PublicSdkKey;
use crate::http::all_results::AllResults;
use crate::http::body::Body;
use crate::http::code::Code;
use crate::http::if_none_match::{Caching, IfNoneMatch, caching_by};
use crate::http::openapi::shape::parameter;
use crate::http::openapi::{Input, OperationBuilder, WHEN_BUSY};
use crate::state::Runtime;

/// Returns the config document to a page.
///
/// The response is that of `GET /sdk/v1/config`, but needs no header: a page of another origin gets it without a
/// preflight request, and caches may keep it for 10 seconds (`PENNON_PUBLIC_MAX_AGE`), and serve it for another 10 while
/// they ask for a new one. They may therefore serve it for 20 seconds after the key was revoked. Other keys than those
/// of public environments are refused.
#[utoipa::path(get, path = "/public/{key}/config")]
pub(super) async fn public_config(
    PublicSdkKey(key): PublicSdkKey,
    State(runtime): State<Runtime>,
    wanted: Wanted,
    Announced(revision): Announced,
    ClientInQuery(client): ClientInQuery,
) -> Result<Config, Error> {
    let environment = key.for_client()?.revealed()?;
    let document = wanted.document(&environment).await;
    // Another instance has announced a change that this one does not know yet, or a newer one has followed.
    let is_other = revision.is_some_and(|revision| revision != document.etag());
    let max_age = runtime.settings.public_max_age;
    let control = cache_control(if is_other { 0 } else { max_age })?;
    let caching = caching_by(control, document.etag(), "Accept-Encoding")?;
    wanted.answer(&environment, client, document, caching).await
}

/// Evaluates all active flags for a context of a page.
///
/// The same as `POST /sdk/v1/evaluate/all`. The body may be declared as `text/plain`: a page of another origin then
/// gets the response without a preflight request. No cache keeps the response.
#[utoipa::path(post, path = "/public/{key}/evaluate/all")]
pub(super) async fn public_all(
    PublicSdkKey(key): PublicSdkKey,
    known: IfNoneMatch,
    ClientInQuery(client): ClientInQuery,
    body: Body<ContextBody>,
) -> Result<AllResults<FlagResults>, Error> {
    let environment = key.for_all_results()?;
    let bytes = body.bytes_of_json_or_text(MAX_CONTEXT_BYTES).await?;
    answer(&environment, &known, client, &bytes, not_cached).await
}

/// Evaluates all active flags for the start of a page.
///
/// The same as `POST /sdk/v1/bootstrap`, with the body and the caching of `POST /sdk/v1/public/{key}/evaluate/all`.
#[utoipa::path(post, path = "/public/{key}/bootstrap")]
pub(super) async fn public_bootstrap(
    PublicSdkKey(key): PublicSdkKey,
    known: IfNoneMatch,
    ClientInQuery(client): ClientInQuery,
    body: Body<ContextBody>,
) -> Result<AllResults<Bootstrap>, Error> {
    let environment = key.for_all_results()?.revealed()?;
    let bytes = body.bytes_of_json_or_text(MAX_CONTEXT_BYTES).await?;
    let environment = environment.environment();
    answer(environment, &known, client, &bytes, not_cached).await
}

/// Returns the headers of a response that no cache keeps, because it is one to a `POST`.
fn not_cached(etag: &str) -> Result<Caching, Error> {
    caching_by(
        HeaderValue::from_static("no-store"),
        etag,
        "Accept-Encoding, Origin",
    )
}

/// Returns the header that lets caches serve a response for this many seconds, and for as long again while they ask for
/// a new one.
fn cache_control(max_age: u32) -> Result<HeaderValue, Error> {
    let control = match max_age {
        0 => "public, no-cache".to_owned(),
        _ => format!("public, max-age={max_age}, stale-while-revalidate={max_age}"),
    };
    HeaderValue::from_str(&control)
        .map_err(|error| Error::Internal(format!("invalid `Cache-Control` value: {error}")))
}

/// The `etag` of an event of the stream, in the parameter `revision` of the query.
pub(super) struct Announced(Option<String>);

impl<S: Sync> FromRequestParts<S> for Announced {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(in_query(parts, "revision")))
    }
}

impl Input for Announced {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let revision = parameter(ParameterIn::Query, "revision", text);
        let about = "The `etag` of an event of the stream. No cache has a response for it from before the event. If \
                     the response has another `ETag`, caches do not serve it without asking the server again.";
        builder.parameter(revision.description(Some(about)));
    }
}

impl Input for PublicSdkKey {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let key = parameter(ParameterIn::Path, "key", text);
        let about = "The SDK key of a public environment, which begins with `pnp_`.";
        builder.parameter(key.description(Some(about)));
        builder.refuses([
            Code::Unauthenticated,
            Code::TooManyRequests,
            Code::DatabaseUnavailable,
        ]);
        builder.refuses(WHEN_BUSY);
    }
}
