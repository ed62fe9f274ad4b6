//! The files that browsers load with the dashboard and the API's reference, embedded in the binary.

use std::io::Read as _;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, StatusCode};

use super::coding::accepts;

include!(concat!(env!("OUT_DIR"), "/site.rs"));

/// The path of the assets, without a slash at the beginning, as Leptos requires it.
pub(super) const FOLDER: &str = "dashboard/assets";

/// The compressed forms of a file, the smallest first: their coding and what is appended to the file's name.
const CODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// Returns the prefix of the islands' file names.
pub(super) fn output_name() -> &'static str {
    OUTPUT_NAME.unwrap_or("pennon")
}

/// The address of the style.
pub(super) fn style() -> String {
    format!("/{FOLDER}/{}", STYLE.unwrap_or("pennon.css"))
}

/// Returns the address of the script that updates open pages; none without a site.
pub(super) fn script() -> Option<String> {
    SCRIPT.map(|name| format!("/{FOLDER}/{name}"))
}

/// The address of the style of the API's reference.
pub(super) fn reference_style() -> String {
    format!("/{FOLDER}/{}", REFERENCE_STYLE.unwrap_or("reference.css"))
}

/// The address of the script of the API's reference.
pub(super) fn reference_script() -> String {
    format!("/{FOLDER}/{}", REFERENCE_SCRIPT.unwrap_or("reference.js"))
}

/// Serves a file. Its name changes with its content, so it may be kept for ever.
pub(super) async fn serve(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let kind = match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        // The compressed forms are served under the name of the original, never under their own.
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let always = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (VARY, "accept-encoding"),
    ];
    let accepted = CODINGS.into_iter().find_map(|(coding, suffix)| {
        let content = file(&format!("{name}{suffix}")).filter(|_| accepts(&headers, coding))?;
        Some((coding, content))
    });
    match accepted {
        Some((coding, content)) => (always, [(CONTENT_ENCODING, coding)], content).into_response(),
        None => match decompressed(&name) {
            Some(content) => (always, content).into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        },
    }
}

/// Returns a file for a client that takes no compressed form of it: programs, hardly ever browsers.
fn decompressed(name: &str) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    GzDecoder::new(file(&format!("{name}.gz"))?)
        .read_to_end(&mut content)
        .ok()?;
    Some(content)
}

fn file(name: &str) -> Option<&'static [u8]> {
    let (_, content) = FILES.iter().find(|(each, _)| *each == name)?;
    Some(content)
}
