//! The OpenFeature Remote Evaluation Protocol, which every OpenFeature SDK supports
//! (<https://github.com/open-feature/protocol>, version 1).

mod answer;
mod evaluate;
mod question;
mod refusal;

use super::openapi::{Routes, route};

/// The beginning of the paths of evaluations of one flag. The rest is the flag key.
pub(super) const ONE_FLAG: &str = "/ofrep/v1/evaluate/flags/";

pub(super) fn routes() -> Routes {
    Routes::group(
        "OpenFeature",
        "The OpenFeature Remote Evaluation Protocol, for the providers that OpenFeature publishes for many languages. \
         Here, problems also have `errorCode`, `errorDetails` and an empty `metadata`. \
         Pages of any origin can call these paths.",
    )
    .with(route!(evaluate::one).open_ended())
    .with(route!(evaluate::all).compressed())
    .below("/ofrep/v1")
}
