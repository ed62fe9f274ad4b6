//! The pages. They run on the server only.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a component owns its properties, even if it only reads them"
)]

pub mod account;
pub mod audit;
pub mod change_flags;
pub mod clone_environment;
pub mod environment;
pub mod environments;
pub mod flag;
pub mod flag_usage;
pub mod flags;
pub mod help;
pub mod history;
pub mod home;
pub mod incident;
pub mod live_evaluations;
pub mod new_environment;
pub mod new_flag;
pub mod new_person;
pub mod not_found;
mod paging;
pub mod people;
pub mod person;
pub mod playground;
pub mod revert;
pub mod revert_several;
pub mod sign_in;
pub mod undo;

use std::str::FromStr;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::error::AdminError;

/// Parses the ID of an object in the path of its page.
fn path_id<T: FromStr>(parameter: &str) -> Result<T, AdminError> {
    let id = use_params_map().read_untracked().get(parameter);
    let id = id.and_then(|id| id.parse().ok());
    id.ok_or(AdminError::NotFound)
}
