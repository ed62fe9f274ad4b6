//! The OpenAPI 3.1 description, derived from the types that handlers take and return.
//!
//! Each extractor describes its input and its refusals ([`Input`]), and each response its form ([`Answer`]). A handler
//! combines the parts of its signature ([`Described`]). Its `#[utoipa::path]` adds path, method and doc comment.
//! [`Route::refuses`] adds the conflicts of its use case. [`route!`] is the only way to create a route.

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
