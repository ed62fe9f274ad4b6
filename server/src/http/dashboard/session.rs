//! The dashboard's session, and redirects to and from the sign-in page.

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::REFERER;
use http::{HeaderMap, HeaderValue, Method};
use leptos::server_fn::ServerFn;
use pennon_dashboard::api::session::{SetTheme, SignOut};
use pennon_dashboard::error::AdminError;
use pennon_dashboard::form::Form;
use pennon_dashboard::routes::{EVALUATION_EVENTS, EVENTS, SIGN_IN};

use super::super::body::received;
use super::super::held_body::held_until_sent;
use super::{cookie, not_received, wants_html};
use crate::auth::actor::Person;
use crate::state::AppState;

/// The maximum size of a form without a session, in bytes. It allows for a long form that was begun before the session
/// ended.
const LIMIT: usize = 64 * 1024;

/// The paths that need no session, or that report a missing session themselves.
const WITHOUT_SESSION: [&str; 5] = [
    SIGN_IN,
    EVENTS,
    EVALUATION_EVENTS,
    <SignOut as ServerFn>::PATH,
    <SetTheme as ServerFn>::PATH,
];

/// The query parameter of the sign-in page for the page with the interrupted form.
const FROM: &str = "from";

/// The signed-in user, or the reason that nobody is signed in.
#[derive(Clone)]
pub(super) struct Session(pub(super) Result<Person, AdminError>);

/// Finds the session of a request. Without a session, pages that need one redirect to the sign-in page. A form that was
/// begun before the session ended is also redirected with its content, and is submitted again after the sign-in.
pub(super) async fn find(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    let session = match cookie::value(
        request.headers(),
        cookie::of_session(&state.runtime.settings),
    ) {
        Some(secret) => Person::from_cookie(&state.auth, secret, request.extensions())
            .await
            .map_err(AdminError::from),
        None => Err(AdminError::SignedOut),
    };
    let path = request.uri().path();
    let signed_out = matches!(session, Err(AdminError::SignedOut));
    if signed_out && !WITHOUT_SESSION.contains(&path) {
        if [Method::GET, Method::HEAD].contains(request.method()) {
            return Redirect::to(&sign_in_for(&request)).into_response();
        }
        if request.method() == Method::POST && wants_html(request.headers()) {
            return Redirect::temporary(&sign_in_for(&request)).into_response();
        }
    }
    restore_referrer(&mut request);
    // The bytes are counted until the response is sent: a page that keeps a form is as large as the form.
    let mut held = session
        .is_err()
        .then(|| state.runtime.in_flight.unauthenticated.hold());
    if held.is_some() && !request.body().is_end_stream() {
        let (parts, body) = request.into_parts();
        let body = match received(body, LIMIT, held.as_mut()).await {
            Ok(body) => body,
            Err(error) => return not_received(&error),
        };
        request = Request::from_parts(parts, Body::from(body));
    }
    request.extensions_mut().insert(Session(session));
    let response = next.run(request).await;
    match held.filter(|held| !held.is_empty()) {
        Some(held) => {
            let counted = held_until_sent(response, held).await;
            counted.unwrap_or_else(|error| not_received(&error))
        }
        None => response,
    }
}

/// Returns the path of the sign-in page that continues to the requested page.
fn sign_in_for(request: &Request) -> String {
    let requested = request
        .uri()
        .path_and_query()
        .map_or("", |requested| requested.as_str());
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", requested);
    if let Some(page) = referrer(request.headers()) {
        query.append_pair(FROM, page);
    }
    format!("{SIGN_IN}?{}", query.finish())
}

/// Restores the referrer after a sign-in, because Leptos redirects a plain form of a server function to its referrer.
/// The referrer is then the sign-in page, and its query contains the page of this site with the form.
fn restore_referrer(request: &mut Request) {
    let by = referrer(request.headers()).and_then(|page| page.split_once(SIGN_IN));
    let Some((site, query)) = by else {
        return;
    };
    let page = Form::parse(query.trim_start_matches('?').as_bytes()).text(FROM);
    if let Some(Ok(page)) = page
        .starts_with(&format!("{site}/dashboard/"))
        .then(|| HeaderValue::from_str(&page))
    {
        request.headers_mut().insert(REFERER, page);
    }
}

fn referrer(headers: &HeaderMap) -> Option<&str> {
    headers.get(REFERER).and_then(|page| page.to_str().ok())
}
