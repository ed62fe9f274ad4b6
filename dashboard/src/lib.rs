//! Pennon's dashboard: pages drawn on the server, islands in the browser.
//!
//! Feature `ssr` is the side of the server: [`app`] with the shell and the routes, [`pages`], and the [`port`] through
//! which they reach the service. Feature `hydrate` is the side of the browser, where only [`islands`] and the server
//! functions of [`api`] exist: a page never runs there, so a page may ask the port directly.
//!
//! Reading is a page. Writing is either a form that a page posts to itself, answered by a redirect or by the same page
//! with what was wrong (nothing that was typed is lost, and nothing secret goes through a URL), or a server function
//! that an island calls and that a plain form can post to as well. All of it works without scripts.

// Types of Leptos views nest as deeply as the markup, which overflows the default limit in release builds.
#![recursion_limit = "256"]

pub mod api;
#[cfg(feature = "ssr")]
pub mod app;
#[cfg(feature = "ssr")]
pub mod audit_text;
#[cfg(feature = "ssr")]
pub mod components;
pub mod context_form;
pub mod describe;
#[cfg(feature = "ssr")]
mod destinations;
pub mod effect;
pub mod error;
#[cfg(feature = "ssr")]
pub mod form;
#[cfg(feature = "ssr")]
pub mod html;
pub mod islands;
pub mod model;
#[cfg(feature = "ssr")]
pub mod pages;
pub mod playground;
#[cfg(feature = "ssr")]
pub mod port;
#[cfg(feature = "ssr")]
mod posted;
pub mod routes;
pub mod rule_form;

/// Brings the islands of the page to life; the browser calls it once the module is loaded.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_islands();
}
