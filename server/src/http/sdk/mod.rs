//! The Evaluation API.

mod client;
mod config;
mod evaluate;
mod questions;
mod stream;
mod usage;

use super::code::Code;
use super::openapi::{Routes, route};

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
    .below("/sdk/v1")
}
