//! The Evaluation API.

mod config;
mod evaluate;
mod questions;
mod stream;
mod usage;

use super::code::Code;
use super::cors::cors;
use super::openapi::{Routes, route};
use crate::error::Error;

pub(super) fn routes() -> Routes {
    Routes::group(
        "Evaluation",
        "What applications ask, with the SDK key of their environment. Pages of any origin may call.",
    )
    .with(route!(evaluate::one).refuses(&[Code::FlagNotFound]))
    .with(route!(evaluate::batch))
    .with(route!(evaluate::explain).refuses(&[Code::FlagNotFound]))
    .with(route!(config::config))
    .with(route!(stream::stream))
    .with(route!(usage::report))
    .below("/sdk/v1", |router| {
        // The fallbacks stand here too, inside the layer, so that browsers may read these errors as well.
        router
            .fallback(async || Error::NoSuchPath)
            .method_not_allowed_fallback(async || Error::MethodNotAllowed)
            .layer(cors())
    })
}
