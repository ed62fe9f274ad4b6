//! What keeps other sites out: of a write, of a frame, and of what a page may load.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY};
use http::{HeaderMap, HeaderValue, StatusCode};
use leptos::nonce::use_nonce;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

use crate::service::Service;

/// What holds for every answer: it is framed by nobody, and other sites do not learn where a link was followed. Pages have a
/// policy of their own; of the others only the script that hears what changes may do something, which is to ask this server.
pub(super) async fn headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let policy = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'";
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(policy));
    headers.insert(
        REFERRER_POLICY,
        // Leptos takes the visitor back by the referrer when a plain form fails.
        HeaderValue::from_static("same-origin"),
    );
    response
}

/// Allows a page what it consists of and nothing else. The nonce exists only while the page is rendered.
pub(super) fn content_security_policy() {
    let (Some(nonce), Some(response)) = (use_nonce(), use_context::<ResponseOptions>()) else {
        return;
    };
    let policy = format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; \
         img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.insert_header(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Refuses what another site has a visitor's browser send.
pub(super) async fn same_origin(
    State(service): State<Service>,
    request: Request,
    next: Next,
) -> Response {
    if request.method().is_safe() || is_same_origin(request.headers(), &service.settings.base_url())
    {
        return next.run(request).await;
    }
    let refusal = "This came from another site, so nothing was done.";
    (StatusCode::FORBIDDEN, refusal).into_response()
}

/// Browsers say it in `Sec-Fetch-Site`; over plain http they do not, and the origin must be this host.
fn is_same_origin(headers: &HeaderMap, base_url: &str) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = text(ORIGIN) else {
        return false;
    };
    let host = origin.split_once("://").map(|(_, host)| host);
    origin == base_url || (host.is_some() && host == text(HOST))
}

#[cfg(test)]
mod tests {
    use http::HeaderName;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_write_must_come_from_the_dashboard_itself() {
        let here = |pairs| is_same_origin(&headers(pairs), "https://flags.example.com");
        assert!(here(&[("sec-fetch-site", "same-origin")]));
        assert!(here(&[
            ("origin", "http://10.0.0.7:3000"),
            ("host", "10.0.0.7:3000")
        ]));
        assert!(here(&[
            ("origin", "https://flags.example.com"),
            ("host", "pennon:3000")
        ]));
        assert!(!here(&[
            ("sec-fetch-site", "same-site"),
            ("origin", "https://flags.example.com")
        ]));
        assert!(!here(&[("sec-fetch-site", "cross-site")]));
        assert!(!here(&[("origin", "null"), ("host", "10.0.0.7:3000")]));
        assert!(!here(&[
            ("origin", "http://evil.example"),
            ("host", "10.0.0.7:3000")
        ]));
        assert!(!here(&[("host", "10.0.0.7:3000")]));
    }
}
