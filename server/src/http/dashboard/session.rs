//! The dashboard's session, and the way to the sign-in and back without one.

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::REFERER;
use http::{HeaderMap, HeaderValue, Method};
use pennon_dashboard::error::AdminError;
use pennon_dashboard::form::Form;
use pennon_dashboard::routes::{EVENTS, SIGN_IN};

use super::super::body::received;
use super::{cookie, not_received, wants_html};
use crate::auth::actor::Person;
use crate::state::Service;

/// The maximum size of a form that is sent without a session, in bytes. It may be a long one that was begun before the
/// session ended.
const LIMIT: usize = 64 * 1024;

/// The paths that work without a session, or report its absence themselves.
const WITHOUT_SESSION: [&str; 4] = [
    SIGN_IN,
    EVENTS,
    "/dashboard/api/sign-out",
    "/dashboard/api/set-theme",
];

/// The parameter by which the sign-in finds the page of an interrupted form.
const FROM: &str = "from";

/// The signed-in user, or the reason that nobody is signed in.
#[derive(Clone)]
pub(super) struct Session(pub(super) Result<Person, AdminError>);

/// Finds the session of a request. Without one, a page that needs it redirects to the sign-in. So does a form that was
/// filled in before the session ended: it comes along, and is submitted again afterwards.
pub(super) async fn find(
    State(service): State<Service>,
    mut request: Request,
    next: Next,
) -> Response {
    let session = match cookie::value(
        request.headers(),
        cookie::of_session(&service.runtime.settings),
    ) {
        Some(secret) => Person::from_cookie(&service.auth, secret, request.extensions())
            .await
            .map_err(AdminError::from),
        None => Err(AdminError::SignedOut),
    };
    let path = request.uri().path();
    let signed_out = matches!(session, Err(AdminError::SignedOut));
    if signed_out && !WITHOUT_SESSION.contains(&path) {
        if request.method() == Method::GET {
            return Redirect::to(&sign_in_for(&request)).into_response();
        }
        if request.method() == Method::POST && wants_html(request.headers()) {
            return Redirect::temporary(&sign_in_for(&request)).into_response();
        }
    }
    came_by_sign_in(&mut request);
    // Held until the response is ready.
    let mut held = session
        .is_err()
        .then(|| service.runtime.in_flight.unauthenticated.hold());
    if held.is_some() && !request.body().is_end_stream() {
        let (parts, body) = request.into_parts();
        let body = match received(body, LIMIT, held.as_mut()).await {
            Ok(body) => body,
            Err(error) => return not_received(&error),
        };
        request = Request::from_parts(parts, Body::from(body));
    }
    request.extensions_mut().insert(Session(session));
    next.run(request).await
}

/// The sign-in page, which leads on to the requested page.
fn sign_in_for(request: &Request) -> String {
    let asked = request
        .uri()
        .path_and_query()
        .map_or("", |asked| asked.as_str());
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", asked);
    if let Some(page) = referrer(request.headers()) {
        query.append_pair(FROM, page);
    }
    format!("{SIGN_IN}?{}", query.finish())
}

/// Leptos redirects a plain form of a server function to its referrer. After an intermediate sign-in, the referrer is
/// the sign-in page, which still knows the page of this site that contains the form.
fn came_by_sign_in(request: &mut Request) {
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
