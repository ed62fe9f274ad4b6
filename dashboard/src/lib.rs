//! Pennon's dashboard: pages rendered on the server, islands in the browser.
//!
//! Feature `ssr` is the server side: [`app`] with the shell and the routes, [`pages`], and the [`port`] through which
//! they access the server. Feature `hydrate` is the browser side, where only [`islands`] and the server functions of
//! [`api`] exist: a page never runs there, so a page may call the port directly.
//!
//! Pages read. Forms and server functions write: a page posts forms to itself, and islands call server functions, to
//! which plain forms can post, too. The response to a form is a redirect, or the same page with the errors, so that no
//! input is lost and no URL contains a secret. All of it works without scripts.

// Types of Leptos views nest as deeply as the markup, which overflows the default limit in release builds.
#![recursion_limit = "256"]

pub mod api;
#[cfg(feature = "ssr")]
pub mod app;
#[cfg(feature = "ssr")]
pub mod audit;
mod choices;
#[cfg(feature = "ssr")]
mod commands;
#[cfg(feature = "ssr")]
pub mod components;
pub mod context_form;
pub mod describe;
#[cfg(feature = "ssr")]
mod destinations;
pub mod error;
pub mod evaluated;
#[cfg(feature = "ssr")]
pub mod form;
#[cfg(feature = "ssr")]
mod form_page;
#[cfg(feature = "ssr")]
pub mod html;
pub mod islands;
pub mod model;
#[cfg(feature = "ssr")]
pub mod pages;
#[cfg(feature = "ssr")]
pub mod port;
pub mod preview;
#[cfg(feature = "ssr")]
pub mod recipe_form;
pub mod routes;
#[cfg(feature = "ssr")]
mod scope;
pub mod targeting_form;

/// The address of the documentation.
#[cfg(feature = "ssr")]
const DOCUMENTATION: &str = env!("CARGO_PKG_HOMEPAGE");

/// Hydrates the islands of the page. The browser calls it once, after loading the module.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_islands();
}
