//! The config document, for clients that evaluate locally.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use pennon_core::FlagConfig;
use pennon_model::client::Client;
use utoipa::ToSchema;
use utoipa::openapi::path::{ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};

use super::client::{FromPage, NamedClient};
use crate::error::Error;
use crate::evaluation::sdk_environment::{RevealedEnvironment, SdkKey};
use crate::http::coding::Accepted;
use crate::http::if_none_match::{Caching, IfNoneMatch, caching};
use crate::http::openapi::shape::parameter;
use crate::http::openapi::{Answer, Answered, Input, OperationBuilder, Schemas, unless_known};
use crate::http::parts::{Pieces, in_parts};
use crate::http::respond::Json;
use crate::snapshot::{Content, Document, DocumentText, Encoding};

/// Returns the config document for local evaluation.
///
/// It contains all active flags of the environment, or only those in `keys[]`. If no flag matches `keys[]`, the result
/// is empty. The response may be compressed. In a public environment with the client rules `answers`, the response is
/// 403.
#[utoipa::path(get, path = "/config")]
pub(super) async fn config(
    key: SdkKey,
    wanted: Wanted,
    NamedClient(client): NamedClient,
    FromPage(is_page): FromPage,
) -> Result<Config, Error> {
    if is_page {
        key.warn_of_use_in_page();
    }
    let environment = key.for_client()?.revealed()?;
    let vary = "Authorization, Accept-Encoding, Origin";
    let document = wanted.document(&environment).await;
    let caching = caching(document.etag(), vary)?;
    wanted.answer(&environment, client, document, caching).await
}

/// The part of the config document that a request asks for, and the form of the response.
pub(super) struct Wanted {
    keys: Option<Vec<String>>,
    known: IfNoneMatch,
    method: Method,
    accepted: Encoding,
}

impl Wanted {
    pub(super) async fn document(&self, environment: &RevealedEnvironment) -> Arc<Document> {
        match &self.keys {
            Some(keys) => environment.snapshot().filtered_document(keys),
            None => environment.snapshot().document().await,
        }
    }

    /// Counts the fetch, and returns the response with the document.
    pub(super) async fn answer(
        self,
        environment: &RevealedEnvironment,
        client: Client,
        document: Arc<Document>,
        caching: Caching,
    ) -> Result<Config, Error> {
        let is_current = self.known.has(document.etag());
        // A HEAD request gets no flags to evaluate, so it does not count as a fetch.
        if self.method != Method::HEAD {
            environment.count_poll(self.known.poll_kind(is_current), client);
        }
        if is_current {
            return Ok(Config(
                (StatusCode::NOT_MODIFIED, caching, nothing(&self.method)).into_response(),
            ));
        }
        let worthwhile = document.worthwhile(self.accepted);
        let (encoding, length, body) = match document.encoded(worthwhile).await {
            Some(encoded) => (worthwhile, encoded.len(), encoded.into()),
            None => (Encoding::Identity, document.length(), plain(&document)),
        };
        let about = [
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (CONTENT_LENGTH, length.into()),
        ];
        Ok(Config(
            (caching, about, content_encoding(encoding), body).into_response(),
        ))
    }
}

impl<S: Sync> FromRequestParts<S> for Wanted {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let Accepted(accepted) = Accepted::from_request_parts(parts, state).await?;
        Ok(Self {
            keys: keys(parts.uri.query().unwrap_or_default()),
            known: IfNoneMatch::from_request_parts(parts, state).await?,
            method: parts.method.clone(),
            accepted,
        })
    }
}

impl Input for Wanted {
    fn describe(builder: &mut OperationBuilder<'_>) {
        // `keys` works too. Many generators of clients would use the same name for both.
        let about = "Only the flags with these keys. May be repeated.";
        let text = ObjectBuilder::new().schema_type(Type::String);
        let keys = ArrayBuilder::new().items(text);
        let keys = parameter(ParameterIn::Query, "keys[]", keys);
        let keys = keys.style(Some(ParameterStyle::Form)).explode(Some(true));
        builder.parameter(keys.description(Some(about)));
        IfNoneMatch::describe(builder);
    }
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

impl Pieces for DocumentText {
    fn append(&mut self, text: &mut Vec<u8>) -> Option<usize> {
        Self::append(self, text)
    }
}

/// Returns the keys to which a query limits the config document; none for all flags. The parameter is `keys[]` or
/// `keys`. Other parameters are ignored.
fn keys(query: &str) -> Option<Vec<String>> {
    let given = form_urlencoded::parse(query.as_bytes());
    let keys = given.filter(|(name, _)| is_keys(name));
    let keys: Vec<String> = keys.map(|(_, key)| key.into_owned()).collect();
    (!keys.is_empty()).then_some(keys)
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

fn plain(document: &Document) -> Body {
    match document.content() {
        Content::Whole(text) => text.clone().into(),
        Content::Written(text) => in_parts(text.clone()),
    }
}

fn content_encoding(encoding: Encoding) -> Option<[(HeaderName, HeaderValue); 1]> {
    let name = match encoding {
        Encoding::Identity => return None,
        Encoding::Gzip => "gzip",
        Encoding::Brotli => "br",
    };
    Some([(CONTENT_ENCODING, HeaderValue::from_static(name))])
}
