//! The Evaluation API.

mod all;
mod bootstrap;
mod client;
mod config;
mod evaluate;
mod public;
mod questions;
mod stream;
mod usage;

use std::ops::RangeInclusive;

use pennon_model::json::Json;

use super::code::Code;
use super::openapi::{Routes, route};
use crate::error::Fault;

pub(super) fn routes() -> Routes {
    Routes::group(
        "Evaluation",
        "Evaluation by applications, with the SDK key of an environment. Pages of any origin can call these paths.",
    )
    .with(route!(evaluate::one).refuses(&[Code::FlagNotFound]))
    .with(route!(evaluate::batch))
    .with(route!(all::all).compressed())
    .with(
        route!(bootstrap::bootstrap)
            .compressed()
            .refuses(&[Code::ConfigNotPublic]),
    )
    .with(route!(evaluate::explain).refuses(&[Code::FlagNotFound, Code::ConfigNotPublic]))
    .with(route!(config::config).refuses(&[Code::ConfigNotPublic]))
    .with(route!(public::public_config).refuses(&[Code::ConfigNotPublic]))
    .with(route!(public::public_all).compressed().accepts_text())
    .with(
        route!(public::public_bootstrap)
            .compressed()
            .accepts_text()
            .refuses(&[Code::ConfigNotPublic]),
    )
    .with(route!(stream::stream))
    .with(route!(usage::report))
    .below("/sdk/v1")
}

/// Reads the items of a list at `pointer`, and reports all its faults.
fn items<'a, T>(
    list: Json<'a>,
    pointer: &str,
    bounds: &RangeInclusive<usize>,
    faults: &mut Vec<Fault>,
    reader: impl Fn(Json<'a>, &str, &mut Vec<Fault>) -> Option<T>,
) -> Vec<T> {
    let (least, most) = (bounds.start(), bounds.end());
    let wrong = match list {
        Json::Array(items) if bounds.contains(&items.len()) => {
            let items = items.into_iter().enumerate();
            let read = |(index, item)| reader(item, &format!("{pointer}/{index}"), faults);
            return items.filter_map(read).collect();
        }
        Json::Array(_) => format!("must have {least} to {most} items"),
        Json::Null => "is required".to_owned(),
        _ => "must be an array".to_owned(),
    };
    faults.push(Fault::pointer(pointer, wrong));
    Vec::new()
}
