//! The OpenFeature Remote Evaluation Protocol, by which every OpenFeature SDK can ask
//! (<https://github.com/open-feature/protocol>, version 1).

mod answer;
mod evaluate;
mod question;

use super::cors::cors;
use super::openapi::{Routes, route};
use crate::error::Error;

pub(super) fn routes() -> Routes {
    Routes::group(
        "OpenFeature",
        "The OpenFeature Remote Evaluation Protocol, for the providers that OpenFeature publishes for many languages. \
         Pages of any origin may call.",
    )
    .with(route!(evaluate::one))
    .with(route!(evaluate::all))
    .below("/ofrep/v1", |router| {
        router
            .fallback(async || Error::NoSuchPath)
            .method_not_allowed_fallback(async || Error::MethodNotAllowed)
            .layer(cors())
    })
}
