//! The API's description: for machines at `/openapi.json`, and as a page to read and to try requests on at `/docs`.

use std::sync::LazyLock;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use pennon_dashboard::components::mark::icon_url;
use tower_http::compression::CompressionLayer;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::openapi::{Answer, Answered, Routes, Schemas, WHEN_BUSY, route};
use super::{assets, dashboard};
use crate::state::Service;

/// The frame of the page. Swagger UI fills it in the browser (`dashboard/script/src/reference.ts`).
const PAGE: &str = include_str!("reference/page.html");

/// Swagger UI needs no inline scripts and no inline styles; the icons of its style sheet are `data:` images.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The route of the page, which is not part of the API.
pub(super) fn page() -> Router<Service> {
    Router::new()
        .route("/docs", get(show_page))
        .layer(CompressionLayer::new())
}

/// Shows the page in the theme that the visitor chose in the dashboard.
async fn show_page(headers: HeaderMap) -> impl IntoResponse {
    let page = PAGE
        .replace("@THEME@", dashboard::theme(&headers).as_str())
        .replace("@ICON@", &icon_url())
        .replace("@STYLE@", &assets::reference_style())
        .replace("@SCRIPT@", &assets::reference_script());
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    (
        [(CONTENT_TYPE, html), (CONTENT_SECURITY_POLICY, POLICY)],
        page,
    )
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
        vec![Answered::new(StatusCode::OK, "Done.", Some(object.into()))]
    }
}
