//! The API's description, for machines and for people.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::openapi::{Answer, Answered, JSON, Routes, Schemas, WHEN_BUSY, route};

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
