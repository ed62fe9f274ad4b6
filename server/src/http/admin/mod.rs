//! The Admin API: one file for each resource.

mod audit;
mod auth;
mod bulk;
mod configurations;
mod dry_run;
mod environment_order;
mod environments;
mod flags;
mod preview;
mod previous_keys;
mod revert;
mod rollouts;
mod rules;
mod tokens;
mod usage;
mod users;

use super::openapi::Routes;

fn environment_routes() -> Routes {
    let routes = previous_keys::added_to(environments::routes());
    environment_order::added_to(routes)
}

fn flag_routes() -> Routes {
    bulk::added_to(flags::routes())
}

pub(super) fn routes() -> Routes {
    auth::routes()
        .and(environment_routes())
        .and(flag_routes())
        .and(configurations::routes())
        .and(rules::routes())
        .and(rollouts::routes())
        .and(usage::routes())
        .and(users::routes())
        .and(tokens::routes())
        .and(audit::routes())
}
