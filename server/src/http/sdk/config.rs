//! The config document, for clients that evaluate themselves.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::auth::sdk_environment::SdkEnvironment;
use crate::error::Error;
use crate::http::coding::accepts;
use crate::http::query::Query;
use crate::snapshot::{Document, Encoding};

/// `GET /sdk/v1/config`. The filter may be called `keys[]` or `keys`; one that matches nothing is still a filter.
pub(super) async fn config(
    environment: SdkEnvironment,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Error> {
    let document = match query.repeated(&["keys[]", "keys"]) {
        Some(keys) => environment.snapshot().filtered_document(&keys),
        None => environment.snapshot().document().await,
    };
    let etag = HeaderValue::from_str(document.etag())
        .map_err(|error| Error::Internal(format!("an entity tag is no header: {error}")))?;
    let caching = [
        (ETAG, etag),
        (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (
            VARY,
            HeaderValue::from_static("Authorization, Accept-Encoding, Origin"),
        ),
    ];
    if is_current(&headers, document.etag()) {
        return Ok((StatusCode::NOT_MODIFIED, caching).into_response());
    }
    let encoding = document.worthwhile(accepted(&headers));
    let body = encoded(document, encoding).await?;
    let json = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok((caching, json, content_encoding(encoding), body).into_response())
}

/// The content in the coding, compressed away from the threads that serve requests.
async fn encoded(document: Arc<Document>, encoding: Encoding) -> Result<Bytes, Error> {
    if let Some(body) = document.ready(encoding) {
        return Ok(body);
    }
    tokio::task::spawn_blocking(move || document.encoded(encoding))
        .await
        .map_err(|error| Error::Internal(format!("compression was cut off: {error}")))
}

fn content_encoding(encoding: Encoding) -> Option<[(HeaderName, HeaderValue); 1]> {
    let name = match encoding {
        Encoding::Identity => return None,
        Encoding::Gzip => "gzip",
        Encoding::Brotli => "br",
    };
    Some([(CONTENT_ENCODING, HeaderValue::from_static(name))])
}

/// Whether `If-None-Match` has the tag, by the weak comparison of RFC 9110, 8.8.3.2.
fn is_current(headers: &HeaderMap, etag: &str) -> bool {
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let current = opaque(etag);
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || opaque(tag) == current)
}

/// The best coding that the client accepts.
fn accepted(headers: &HeaderMap) -> Encoding {
    if accepts(headers, "br") {
        Encoding::Brotli
    } else if accepts(headers, "gzip") {
        Encoding::Gzip
    } else {
        Encoding::Identity
    }
}
