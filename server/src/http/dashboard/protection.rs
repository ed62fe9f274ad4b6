//! Protection against other sites: cross-origin writes, framing, and external content.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use leptos::nonce::use_nonce;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

use crate::config::Settings;
use crate::state::AppState;

const CROSS_ORIGIN_OPENER_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-opener-policy");

/// Adds the headers of every response. They prevent framing, deny sites that open the dashboard a reference to its
/// window, and send no referrer to other sites. Pages have a separate content security policy. Other responses permit
/// only connections to this server, which the script that follows changes needs.
pub(super) async fn headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let policy = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'";
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(policy));
    headers.insert(
        REFERRER_POLICY,
        // After a failed plain form, Leptos redirects the visitor to the referrer.
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        CROSS_ORIGIN_OPENER_POLICY,
        HeaderValue::from_static("same-origin"),
    );
    response
}

/// Sets a content security policy that allows only the page's own content. The nonce is only available during
/// rendering.
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

/// Refuses writes that another site causes a visitor's browser to send.
pub(super) async fn same_origin(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let settings = &state.runtime.settings;
    if request.method().is_safe() || is_same_origin(request.headers(), settings) {
        return next.run(request).await;
    }
    let mut refusal = "This request came from another site, so nothing was changed.".to_owned();
    if settings.public_url.is_some() {
        refusal = format!("{refusal} The dashboard is at {}.", settings.base_url());
    }
    (StatusCode::FORBIDDEN, refusal).into_response()
}

/// Returns true if a request has the same origin as the dashboard. Browsers report this in `Sec-Fetch-Site`, but not
/// over plain http. Then the origin must be the public URL or, without one, the host of the request.
fn is_same_origin(headers: &HeaderMap, settings: &Settings) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = text(ORIGIN) else {
        return false;
    };
    if settings.public_url.is_some() {
        return origin == settings.base_url();
    }
    let host = origin.split_once("://").map(|(_, host)| host);
    host.is_some() && host == text(HOST)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::CommandLine;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        pairs.iter().map(pair).collect()
    }

    fn settings(arguments: &[&str]) -> Settings {
        let arguments = ["pennon"].iter().chain(arguments);
        CommandLine::try_parse_from(arguments).unwrap().settings
    }

    #[test]
    fn a_write_must_come_from_the_host_that_was_asked() {
        let settings = settings(&[]);
        let here = |pairs| is_same_origin(&headers(pairs), &settings);
        assert!(here(&[("sec-fetch-site", "same-origin")]));
        assert!(here(&[
            ("origin", "http://10.0.0.7:3000"),
            ("host", "10.0.0.7:3000")
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

    #[test]
    fn a_write_must_come_from_the_public_url_if_there_is_one() {
        for url in [
            "https://flags.example.com",
            "HTTPS://Flags.Example.com:443/",
        ] {
            let settings = settings(&["--public-url", url]);
            let here = |pairs| is_same_origin(&headers(pairs), &settings);
            assert!(here(&[("sec-fetch-site", "same-origin")]));
            assert!(here(&[
                ("origin", "https://flags.example.com"),
                ("host", "pennon:3000")
            ]));
            // A host name of an attacker that resolves to this server.
            assert!(!here(&[
                ("origin", "http://evil.example"),
                ("host", "evil.example")
            ]));
            assert!(!here(&[
                ("origin", "http://flags.example.com"),
                ("host", "flags.example.com")
            ]));
        }
    }
}
