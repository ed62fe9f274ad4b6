//! The API's description, for machines and for people.

mod example;
mod html;
mod operation;
mod page;
mod shapes;

use std::sync::LazyLock;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use bytes::Bytes;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use sha2::{Digest, Sha256};
use tower_http::compression::CompressionLayer;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::openapi::{Answer, Answered, JSON, Routes, Schemas, WHEN_BUSY, route};

use crate::state::Service;

/// The style of the page: the dashboard's tokens, and what is made of them.
const STYLE: &str = concat!(
    include_str!("../../../../dashboard/style/tokens.css"),
    include_str!("style.css")
);

/// The page, which is none of the API's paths.
pub(super) fn page() -> Router<Service> {
    Router::new()
        .route("/docs", get(async || Page))
        .layer(CompressionLayer::new())
}

pub(super) fn routes() -> Routes {
    Routes::group("Description", "What this is made of.").with(route!(document).refuses(&WHEN_BUSY))
}

/// The document, made once.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| super::description().into());

/// Describes the API: this document.
#[utoipa::path(get, path = "/openapi.json")]
async fn document() -> Document {
    Document
}

struct Document;

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        let json = HeaderValue::from_static("application/json");
        ([(CONTENT_TYPE, json)], DOCUMENT.clone()).into_response()
    }
}

impl Answer for Document {
    fn answers(_: &mut Schemas) -> Vec<Answered> {
        let object = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("A document in the form of OpenAPI 3.1."));
        vec![Answered {
            status: StatusCode::OK,
            about: "Done.",
            media_type: JSON,
            schema: Some(object.into()),
            headers: Vec::new(),
        }]
    }
}

/// The page, drawn once, and the policy that allows its style and nothing else.
static PAGE: LazyLock<(Bytes, HeaderValue)> = LazyLock::new(|| {
    let page = page::page(&super::openapi::document(super::api()), STYLE);
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    );
    let policy = HeaderValue::try_from(policy);
    let nothing = HeaderValue::from_static("default-src 'none'");
    (page.into(), policy.unwrap_or(nothing))
});

struct Page;

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let (page, policy) = &*PAGE;
        let headers = [
            (
                CONTENT_TYPE,
                HeaderValue::from_static("text/html; charset=utf-8"),
            ),
            (CONTENT_SECURITY_POLICY, policy.clone()),
        ];
        (headers, page.clone()).into_response()
    }
}
