//! The Admin API: one file for each resource.

mod audit;
mod auth;
mod configurations;
mod environments;
mod flags;
mod rollouts;
mod rules;
mod tokens;
mod users;

use axum::Router;

use crate::service::Service;

pub(super) fn router() -> Router<Service> {
    Router::new()
        .merge(audit::router())
        .merge(auth::router())
        .merge(configurations::router())
        .merge(environments::router())
        .merge(flags::router())
        .merge(rollouts::router())
        .merge(rules::router())
        .merge(tokens::router())
        .merge(users::router())
}
