//! Failures outside of the dashboard's pages, such as that of an overloaded server, as pages.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use http::header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, Method};
use pennon_dashboard::app::failure_document;
use pennon_dashboard::describe::sentence;
use serde::Deserialize;

use super::super::assets;
use super::super::error::PROBLEM;
use super::{FORM_LIMIT, wants_html};

/// A request for a page of the dashboard by a browser.
pub(in super::super) struct PageRequest {
    /// True if it posts a form.
    is_form: bool,
}

/// The parts of a problem that a page shows.
#[derive(Deserialize)]
struct Problem {
    title: String,
    detail: String,
}

impl PageRequest {
    /// Returns none if a request is not for a page.
    pub(in super::super) fn of(request: &Request) -> Option<Self> {
        let is_page = request.uri().path().starts_with("/dashboard");
        (is_page && wants_html(request.headers())).then(|| Self {
            is_form: request.method() == Method::POST,
        })
    }

    /// Converts a problem to a page. Other responses stay as they are.
    pub(in super::super) async fn show_problem(self, response: Response) -> Response {
        let content_type = response.headers().get(CONTENT_TYPE);
        if content_type.is_none_or(|content_type| content_type != PROBLEM) {
            return response;
        }
        let (mut parts, body) = response.into_parts();
        let body = to_bytes(body, FORM_LIMIT).await.unwrap_or_default();
        let Ok(Problem { title, detail }) = serde_json::from_slice(&body) else {
            return Response::from_parts(parts, Body::from(body));
        };
        let text = sentence(&detail);
        let page = failure_document(assets::style(), &title, &text, self.is_form);
        let policy =
            "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'";
        let headers = &mut parts.headers;
        headers.remove(CONTENT_LENGTH);
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        );
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        Response::from_parts(parts, Body::from(page))
    }
}
