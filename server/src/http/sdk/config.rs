//! The config document, for clients that evaluate locally.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use pennon_core::FlagConfig;
use utoipa::ToSchema;
use utoipa::openapi::path::{ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};

use super::client::NamedClient;
use super::poll_kind;
use crate::error::Error;
use crate::evaluation::sdk_environment::SdkKey;
use crate::http::coding::Accepted;
use crate::http::if_none_match::{IfNoneMatch, caching};
use crate::http::openapi::shape::parameter;
use crate::http::openapi::{Answer, Answered, Input, OperationBuilder, Schemas, unless_known};
use crate::http::respond::Json;
use crate::snapshot::{Document, Encoding};

/// Returns the config document for local evaluation.
///
/// It contains all active flags of the environment, or only those in `keys[]`. If no flag matches `keys[]`, the result
/// is empty. The response may be compressed. In a public environment with the client rules `answers`, the response is
/// 403.
#[utoipa::path(get, path = "/config")]
pub(super) async fn config(
    key: SdkKey,
    Keys(keys): Keys,
    known: IfNoneMatch,
    NamedClient(client): NamedClient,
    method: Method,
    Accepted(accepted): Accepted,
) -> Result<Config, Error> {
    let environment = key.for_client()?.revealed()?;
    let document = match keys {
        Some(keys) => environment.snapshot().filtered_document(&keys),
        None => environment.snapshot().document().await,
    };
    let caching = caching(document.etag(), "Authorization, Accept-Encoding, Origin")?;
    let is_current = known.has(document.etag());
    // A HEAD request gets no flags to evaluate, so it does not count as a fetch.
    if method != Method::HEAD {
        let kind = poll_kind(&known, is_current);
        environment.polled(kind, client);
    }
    if is_current {
        return Ok(Config(
            (StatusCode::NOT_MODIFIED, caching, nothing(&method)).into_response(),
        ));
    }
    let encoding = document.worthwhile(accepted);
    let body = encoded(document, encoding).await?;
    let json = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok(Config(
        (caching, json, content_encoding(encoding), body).into_response(),
    ))
}

/// Returns an empty body. For HEAD, its length is unknown: axum would otherwise send a length of zero, although
/// `Content-Length` of HEAD must be that of the document.
fn nothing(method: &Method) -> Body {
    match *method {
        Method::HEAD => Body::from_stream(stream::empty::<Result<Bytes, Infallible>>()),
        _ => Body::empty(),
    }
}

/// The config document, or 304 if it is unchanged.
pub(super) struct Config(Response);

/// The flags of an environment, in the form that clients evaluate.
#[derive(ToSchema)]
#[schema(as = Config)]
#[expect(
    dead_code,
    reason = "the document is stored as text; this type describes it"
)]
struct ConfigDocument {
    /// The version of the format. For example, versions above 1 can contain new operators.
    #[schema(minimum = 1, example = 1)]
    format: u32,
    /// The flags, by key.
    flags: Vec<FlagConfig>,
}

impl IntoResponse for Config {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Answer for Config {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        unless_known(
            Json::<ConfigDocument>::answers(schemas),
            "The content is unchanged since the response in `If-None-Match`.",
            "An identifier of exactly this content, for `If-None-Match`.",
        )
    }
}

/// The keys to which the config document is limited; none for all flags. The parameter is `keys[]` or `keys`. Other
/// parameters are ignored.
pub(super) struct Keys(Option<Vec<String>>);

impl<S: Sync> FromRequestParts<S> for Keys {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        let given = form_urlencoded::parse(query.as_bytes());
        let keys = given.filter(|(name, _)| is_keys(name));
        let keys: Vec<String> = keys.map(|(_, key)| key.into_owned()).collect();
        Ok(Self((!keys.is_empty()).then_some(keys)))
    }
}

/// Returns true for `keys`, `keys[]` and `keys[0]`: some clients number the items of a list.
fn is_keys(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("keys") else {
        return false;
    };
    let index = rest
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    rest.is_empty() || index.is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Input for Keys {
    fn describe(builder: &mut OperationBuilder<'_>) {
        for (name, about) in [
            ("keys[]", "Only the flags with these keys. May be repeated."),
            ("keys", "The same as `keys[]`."),
        ] {
            let text = ObjectBuilder::new().schema_type(Type::String);
            let keys = parameter(ParameterIn::Query, name, ArrayBuilder::new().items(text));
            let keys = keys.style(Some(ParameterStyle::Form)).explode(Some(true));
            builder.parameter(keys.description(Some(about)));
        }
    }
}

/// Returns the document in the coding. Compression runs outside the threads that serve requests.
async fn encoded(document: Arc<Document>, encoding: Encoding) -> Result<Bytes, Error> {
    if let Some(body) = document.ready(encoding) {
        return Ok(body);
    }
    tokio::task::spawn_blocking(move || document.encoded(encoding))
        .await
        .map_err(|error| Error::Internal(format!("the compression was aborted: {error}")))
}

fn content_encoding(encoding: Encoding) -> Option<[(HeaderName, HeaderValue); 1]> {
    let name = match encoding {
        Encoding::Identity => return None,
        Encoding::Gzip => "gzip",
        Encoding::Brotli => "br",
    };
    Some([(CONTENT_ENCODING, HeaderValue::from_static(name))])
}
