//! The OpenAPI description: for machines at `/openapi.json`, and at `/docs` as a page that can also send requests.

use std::sync::LazyLock;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use pennon_dashboard::components::mark::icon_url;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::coding::compression;
use super::openapi::{Answer, Answered, Routes, Schemas, WHEN_BUSY, route};
use super::{assets, dashboard};
use crate::state::AppState;

/// The HTML of the page. Swagger UI fills it in the browser (`dashboard/script/src/reference.ts`).
const PAGE: &str = include_str!("reference/page.html");

/// The content security policy. Swagger UI needs no inline scripts or styles; its style sheet has icons as `data:`
/// URLs.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// Returns the route of the page, which is not part of the API.
pub(super) fn page() -> Router<AppState> {
    Router::new()
        .route("/docs", get(show_page))
        .layer(compression())
}

/// Shows the page in the theme chosen in the dashboard.
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
    Routes::group("Description", "This description of the API.")
        .with(route!(document).refuses(&WHEN_BUSY))
}

/// The document, serialized once.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| super::description().into());

/// Returns this description of the API.
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
            .description(Some("An OpenAPI 3.1 document."));
        vec![Answered::new(StatusCode::OK, "Done.", Some(object.into()))]
    }
}
