//! What browsers load of the dashboard: its style, its islands and their glue, embedded in the binary.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, StatusCode};

include!(concat!(env!("OUT_DIR"), "/site.rs"));

/// Where the assets stand, without a slash at the beginning, as Leptos wants it.
pub(super) const FOLDER: &str = "dashboard/assets";

/// The compressed forms of a file, the smallest first: their coding and what is appended to the file's name.
const CODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// What the names of the islands' files begin with.
pub(super) fn output_name() -> &'static str {
    OUTPUT_NAME.unwrap_or("pennon")
}

/// The address of the style.
pub(super) fn style() -> String {
    format!("/{FOLDER}/{}", STYLE.unwrap_or("pennon.css"))
}

/// Serves a file. Its name changes with its content, so it may be kept for ever.
pub(super) async fn serve(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(whole) = file(&name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        // The compressed forms are served in place of the whole, not by themselves.
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let always = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (VARY, "accept-encoding"),
    ];
    let compressed = CODINGS.into_iter().find_map(|(coding, suffix)| {
        let content = file(&format!("{name}{suffix}")).filter(|_| accepts(&headers, coding))?;
        Some((coding, content))
    });
    match compressed {
        Some((coding, content)) => (always, [(CONTENT_ENCODING, coding)], content).into_response(),
        None => (always, whole).into_response(),
    }
}

fn file(name: &str) -> Option<&'static [u8]> {
    let (_, content) = FILES.iter().find(|(each, _)| *each == name)?;
    Some(content)
}

/// Whether the browser takes a coding: it names it, and not with a weight of zero.
fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|item| {
            let (name, weight) = item.split_once(';').unwrap_or((item, ""));
            let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
            name.trim().eq_ignore_ascii_case(coding)
                && weight.parse::<f32>().is_ok_and(|weight| weight > 0.0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coding_counts_when_it_is_named_with_some_weight() {
        let accepted = |value: &'static str, coding| {
            let header = http::HeaderValue::from_static(value);
            accepts(&HeaderMap::from_iter([(ACCEPT_ENCODING, header)]), coding)
        };
        assert!(accepted("gzip, deflate, br, zstd", "br"));
        assert!(accepted("GZIP;q=0.5", "gzip"));
        assert!(!accepted("br;q=0, gzip", "br"));
        assert!(!accepted("broken", "br"));
    }
}
