//! Serves the embedded files that browsers load with the dashboard and the API reference.

use std::io::Read as _;
use std::sync::OnceLock;

use axum::body::Bytes;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, StatusCode};

use super::coding::accepts;

include!(concat!(env!("OUT_DIR"), "/site.rs"));

/// The path of the assets, without a leading slash, as Leptos requires.
pub(super) const FOLDER: &str = "dashboard/assets";

/// The compressed forms of a file, smallest first: the content coding and the suffix of the file name.
const CODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// Returns the prefix of the islands' file names.
pub(super) fn output_name() -> &'static str {
    OUTPUT_NAME.unwrap_or("pennon")
}

/// Returns the path of the style sheet.
pub(super) fn style() -> String {
    format!("/{FOLDER}/{}", STYLE.unwrap_or("pennon.css"))
}

/// Returns the path of the script that updates open pages; none if the site was not built.
pub(super) fn script() -> Option<String> {
    SCRIPT.map(|name| format!("/{FOLDER}/{name}"))
}

/// Returns the path of the API reference's style sheet.
pub(super) fn reference_style() -> String {
    format!("/{FOLDER}/{}", REFERENCE_STYLE.unwrap_or("reference.css"))
}

/// Returns the path of the API reference's script.
pub(super) fn reference_script() -> String {
    format!("/{FOLDER}/{}", REFERENCE_SCRIPT.unwrap_or("reference.js"))
}

/// The images, whose names do not change: the icon of a bookmark on a phone, and the preview of a link to the
/// dashboard.
const IMAGES: [(&str, &[u8]); 2] = [
    (
        "touch-icon.png",
        include_bytes!("../../../dashboard/images/touch-icon.png"),
    ),
    (
        "social-card.png",
        include_bytes!("../../../dashboard/images/social-card.png"),
    ),
];

/// Returns an image, which clients may cache for a day.
fn image(name: &str) -> Option<Response> {
    let (_, content) = IMAGES.into_iter().find(|(each, _)| *each == name)?;
    let headers = [
        (CONTENT_TYPE, "image/png"),
        (CACHE_CONTROL, "public, max-age=86400"),
    ];
    Some((headers, content).into_response())
}

/// Serves a file. Its name changes with its content, so clients may cache it forever.
pub(super) async fn serve(Path(name): Path<String>, headers: HeaderMap) -> Response {
    if let Some(image) = image(&name) {
        return image;
    }
    let kind = match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        // Compressed forms are served under the original name only.
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

/// The decompressed content of each of [`FILES`], for as long as the process runs.
static DECOMPRESSED: [OnceLock<Option<Bytes>>; FILES.len()] =
    [const { OnceLock::new() }; FILES.len()];

/// Returns a file for a client that accepts no compressed form: usually a program, rarely a browser. All such clients
/// share one copy, so that many slow ones need no more memory than one.
fn decompressed(name: &str) -> Option<Bytes> {
    let index = index(&format!("{name}.gz"))?;
    let content = DECOMPRESSED.get(index)?.get_or_init(|| {
        let mut content = Vec::new();
        let (_, compressed) = FILES.get(index)?;
        GzDecoder::new(*compressed).read_to_end(&mut content).ok()?;
        Some(Bytes::from(content))
    });
    content.clone()
}

fn file(name: &str) -> Option<&'static [u8]> {
    let (_, content) = FILES.get(index(name)?)?;
    Some(content)
}

fn index(name: &str) -> Option<usize> {
    FILES.iter().position(|(each, _)| *each == name)
}
