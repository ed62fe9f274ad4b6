//! The HTTP side of the dashboard's pages and server functions.
//!
//! The dashboard depends on neither axum nor cookies. This module mounts its routes, implements its [`Visit`], and
//! enforces common rules: a session for every page, same-origin writes, a content security policy, and meaningful
//! status codes.

mod cookie;
mod failure;
mod intent;
mod protection;
mod session;
mod status;
mod visit;
mod zone;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, Request, State};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use http::header::ACCEPT;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use leptos::config::LeptosOptions;
use leptos::prelude::{provide_context, use_context};
use leptos_axum::{
    LeptosRoutes, ResponseOptions, generate_route_list, render_app_async_with_context,
};
use pennon_dashboard::app::{App, shell};
use pennon_dashboard::error::AdminError;
use pennon_dashboard::form::Form;
use pennon_dashboard::port::Visit;
use pennon_dashboard::routes;
use tower_http::limit::RequestBodyLimitLayer;

pub(super) use self::cookie::theme;
pub(super) use self::failure::PageRequest;
use self::session::Session;
use self::visit::CurrentVisit;
use super::body::received;
use super::client_address::ClientAddress;
use super::coding::compression;
use super::events::Events;
use super::live_evaluations::LiveEvaluations;
use super::{assets, audit_export};
use crate::auth::actor::Actor;
use crate::dashboard::SignedIn;
use crate::error::Error;
use crate::state::AppState;

/// The maximum size of a form, in bytes. The largest rule has 0.7 MiB.
const FORM_LIMIT: usize = 1024 * 1024;

/// Returns the routes of pages, server functions and assets.
pub(super) fn router(state: &AppState) -> Router<AppState> {
    let options = LeptosOptions::builder()
        .output_name(assets::output_name())
        .site_pkg_dir(assets::FOLDER)
        .build();
    pages(&options, state)
        .merge(endpoints(state))
        .layer(from_fn_with_state(state.clone(), session::find))
        .layer(from_fn(status::of_failure))
        .layer(map_response(status::add_retry_after))
        .layer(from_fn_with_state(state.clone(), protection::same_origin))
        .layer(compression())
        .layer(RequestBodyLimitLayer::new(FORM_LIMIT))
        .route(&format!("/{}/{{name}}", assets::FOLDER), get(assets::serve))
        .layer(map_response(protection::headers))
        .with_state(options)
}

/// Returns the routes of pages, which also take the forms that are posted to them, and of server functions. Every other
/// path of the dashboard is a page that says so.
fn pages(options: &LeptosOptions, state: &AppState) -> Router<LeptosOptions> {
    let context = {
        let state = state.clone();
        move || provide_ports(&state)
    };
    let page = {
        let options = options.clone();
        move || {
            protection::content_security_policy();
            shell(&options, assets::style(), assets::script())
        }
    };
    let pages = generate_route_list(App);
    let render = render_app_async_with_context(context.clone(), page.clone());
    let mut router =
        Router::new().leptos_routes_with_context(options, pages.clone(), context, page);
    for each in &pages {
        let render = render.clone();
        let take = move |request: Request| take_form(request, render.clone());
        router = router.route(each.path(), post(take));
    }
    router.route("/dashboard/{*nowhere}", any(render))
}

/// Returns the routes that are neither pages nor server functions.
fn endpoints(state: &AppState) -> Router<LeptosOptions> {
    Router::new()
        .route(routes::AUDIT_EXPORT, get(export))
        .route(routes::EVENTS, get(events))
        .route(routes::EVALUATION_EVENTS, get(evaluations))
        .with_state(state.clone())
}

/// Returns the stream of changes, for signed-in users.
async fn events(
    State(state): State<AppState>,
    Extension(Session(session)): Extension<Session>,
) -> Response {
    match session {
        Ok(person) => Events::new(state, person).into_response(),
        Err(error) => refused(&error),
    }
}

/// Returns the stream of live evaluations, for editors of the environment in the query.
async fn evaluations(
    State(state): State<AppState>,
    Extension(Session(session)): Extension<Session>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = Form::parse(query.unwrap_or_default().as_bytes());
    let begun = match session {
        Ok(person) => LiveEvaluations::begin(state, person, &query).await,
        Err(error) => Err(error),
    };
    match begun {
        Ok(evaluations) => evaluations.into_response(),
        Err(error) => refused(&error),
    }
}

/// Returns a refusal as plain text.
fn refused(error: &AdminError) -> Response {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::UNAUTHORIZED);
    (status, error.to_string()).into_response()
}

/// Reads a form that was posted to a page, then renders the page, which gets the form from its [`Visit`].
async fn take_form<R>(request: Request, render: impl Fn(Request) -> R) -> Response
where
    R: Future<Output = Response>,
{
    let (mut parts, body) = request.into_parts();
    let body = match received(body, FORM_LIMIT, None).await {
        Ok(body) => body,
        Err(error) => return not_received(&error),
    };
    parts.extensions.insert(Form::parse(&body));
    render(Request::from_parts(parts, Body::empty())).await
}

/// Returns the response to a form that cannot be read.
fn not_received(error: &Error) -> Response {
    match error {
        Error::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "The form is too long."),
        Error::TooSlow(_) => (
            StatusCode::REQUEST_TIMEOUT,
            "The form took too long to arrive.",
        ),
        Error::Overloaded => return refused(&AdminError::Overloaded),
        _ => (StatusCode::BAD_REQUEST, "The form did not arrive."),
    }
    .into_response()
}

/// Returns the audit log as a file, for signed-in users.
async fn export(
    State(state): State<AppState>,
    Extension(Session(session)): Extension<Session>,
    parts: Parts,
) -> Result<Response, Error> {
    let person = session.map_err(|_| Error::Unauthenticated)?;
    let actor = Actor::clone(&person);
    audit_export::export(state.admin.clone(), actor, &parts).await
}

/// Provides the server to pages and server functions. Full access requires a session.
fn provide_ports(state: &AppState) {
    let (Some(parts), Some(response)) = (use_context::<Parts>(), use_context::<ResponseOptions>())
    else {
        return;
    };
    let session = parts.extensions.get::<Session>().cloned();
    let actor = match session {
        Some(Session(Ok(actor))) => {
            let ClientAddress(address) =
                ClientAddress::of(&parts, &state.runtime.settings.trusted_proxies);
            let person = actor.with_intent(intent::of(&parts));
            SignedIn::provide(state.admin.clone(), person, address);
            Some(actor)
        }
        Some(Session(Err(error))) => {
            provide_context(error);
            None
        }
        None => None,
    };
    provide_context::<Arc<dyn Visit>>(Arc::new(CurrentVisit {
        state: state.clone(),
        actor,
        parts,
        response,
    }));
}

/// Returns true if a browser requests a page, as opposed to an island requesting data.
fn wants_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}
