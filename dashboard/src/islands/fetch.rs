//! Pages of the dashboard, fetched to show parts of them in the one that is open.
//!
//! What a page says is drawn by the server alone; in this way islands have it without drawing it a second time.

use gloo_net::http::{Request, Response};
use leptos::{prelude::*, web_sys};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::dom::fields;

/// A page, and where it was found in the end.
pub(super) struct Fetched {
    /// Its address, after any redirect.
    pub(super) url: String,
    /// What it shows.
    pub(super) document: web_sys::Document,
}

/// Fetches a page; none if the service cannot be reached.
pub(super) async fn get(url: &str) -> Option<Fetched> {
    let request = Request::get(url).header("accept", "text/html");
    read(request.send().await.ok()?).await
}

/// Posts a form as the browser would; none if the service cannot be reached.
pub(super) async fn post(url: &str, form: &web_sys::HtmlFormElement) -> Option<Fetched> {
    let request = Request::post(url)
        .header("accept", "text/html")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(fields(form)?);
    read(request.ok()?.send().await.ok()?).await
}

async fn read(response: Response) -> Option<Fetched> {
    let text = response.text().await.ok()?;
    let parser = web_sys::DomParser::new().ok()?;
    let kind = web_sys::SupportedType::TextHtml;
    Some(Fetched {
        url: response.url(),
        document: parser.parse_from_string(&text, kind).ok()?,
    })
}

/// Brings the islands in a part to life that has come from another page.
pub(super) async fn hydrate(part: &web_sys::Element) {
    let Ok(islands) = part.query_selector_all("leptos-island") else {
        return;
    };
    let hydrate = js_sys::Reflect::get(&window(), &JsValue::from_str("__hydrateIsland"));
    let Ok(hydrate) = hydrate.and_then(JsCast::dyn_into::<js_sys::Function>) else {
        return;
    };
    for island in elements(&islands) {
        let name = island.get_attribute("data-component").unwrap_or_default();
        let brought = hydrate.call2(&JsValue::NULL, &island, &JsValue::from_str(&name));
        if let Ok(brought) = brought.and_then(JsCast::dyn_into::<js_sys::Promise>) {
            // What an island cannot do it says on the console itself.
            _ = JsFuture::from(brought).await;
        }
    }
}

/// The elements of a list of nodes.
pub(super) fn elements(nodes: &web_sys::NodeList) -> Vec<web_sys::Element> {
    (0..nodes.length())
        .filter_map(|place| nodes.item(place)?.dyn_into().ok())
        .collect()
}
