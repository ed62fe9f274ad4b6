//! The OpenFeature Remote Evaluation Protocol, which every OpenFeature SDK supports
//! (<https://github.com/open-feature/protocol>, version 1).

mod answer;
mod evaluate;
mod question;
mod refusal;

use super::openapi::{Routes, route};

pub(super) fn routes() -> Routes {
    Routes::group(
        "OpenFeature",
        "The OpenFeature Remote Evaluation Protocol, for the providers that OpenFeature publishes for many languages. \
         Here, problems also have `errorCode` and `errorDetails`. \
         Pages of any origin can call these paths.",
    )
    .with(route!(evaluate::one))
    .with(route!(evaluate::all).compressed())
    .below("/ofrep/v1")
}
