//! The API's description (OpenAPI 3.1), made of the very types that handlers take and answer.
//!
//! Each extractor says what it asks of callers and how it refuses ([`Input`]), each answer how it looks ([`Answer`]), and
//! a handler is the sum of its signature ([`Described`]). Its `#[utoipa::path]` adds path, method and the doc comment,
//! and [`Route::refuses`] the conflicts that its use case may find. [`route!`] is the only way to a route.

mod document;
mod operation;
mod parts;
mod problems;
mod routes;
mod schemas;
pub(super) mod shape;

pub(super) use self::document::document;
pub(super) use self::operation::{Answered, OperationBuilder};
pub(super) use self::parts::{API_KEY, Answer, Described, InBody, Input, WHEN_BUSY, unless_known};
pub(super) use self::routes::{Route, Routes, route};
pub(super) use self::schemas::Schemas;
