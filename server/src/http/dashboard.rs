//! The dashboard's pages and server functions on the wire.
//!
//! The dashboard itself knows neither axum nor cookies: here its routes are mounted, its [`Visit`] is implemented, and
//! what must hold for all of it is enforced: a session for every page, the same origin for every write, a content
//! security policy, and a status that says what happened.

use std::sync::Arc;

use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use http::header::{
    ACCEPT, CONTENT_SECURITY_POLICY, COOKIE, HOST, LOCATION, ORIGIN, REFERER, REFERRER_POLICY,
    RETRY_AFTER, SET_COOKIE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use leptos::config::LeptosOptions;
use leptos::nonce::use_nonce;
use leptos::prelude::{provide_context, use_context};
use leptos_axum::{
    LeptosRoutes, ResponseOptions, generate_route_list, render_app_async_with_context,
};
use pennon_core::model::time::Timestamp;
use pennon_dashboard::app::{App, shell};
use pennon_dashboard::error::AdminError;
use pennon_dashboard::form::Form;
use pennon_dashboard::model::Theme;
use pennon_dashboard::port::Visit;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;

use super::client_address::ClientAddress;
use super::error::RETRY_WHEN_UNAVAILABLE;
use super::events::Events;
use super::{assets, audit_export};
use crate::auth::actor::{Actor, Person};
use crate::dashboard::{SignedIn, told};
use crate::error::Error;
use crate::service::Service;
use crate::service::sessions::{self, Credentials, SESSION_DAYS, SessionKind};

/// The page at which one signs in: the only one that needs no session.
const SIGN_IN: &str = "/dashboard/login";

/// Where a page hears what others change.
const EVENTS: &str = "/dashboard/events";

/// What works without a session, or says itself that there is none.
const WITHOUT_SESSION: [&str; 4] = [
    SIGN_IN,
    EVENTS,
    "/dashboard/api/sign-out",
    "/dashboard/api/set-theme",
];

/// The parameter by which the sign-in knows the page on which an interrupted form stands.
const FROM: &str = "from";

/// The most that a form may have, in bytes.
const FORM_LIMIT: usize = 256 * 1024;

/// The cookie of the session. Over https its prefix has browsers refuse it from anywhere but this very host.
const SESSION_COOKIE: &str = "pennon_session";
const SECURE_SESSION_COOKIE: &str = "__Host-pennon_session";

/// The cookie of the theme.
const THEME_COOKIE: &str = "pennon_theme";

/// The headers by which Leptos tells its client that a server function failed, and that it should go elsewhere.
const FAILED: HeaderName = HeaderName::from_static("serverfnerror");
const GO_ELSEWHERE: HeaderName = HeaderName::from_static("serverfnredirect");

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Pages, server functions and assets.
pub(super) fn router(service: &Service) -> Router<Service> {
    let options = LeptosOptions::builder()
        .output_name(assets::output_name())
        .site_pkg_dir(assets::FOLDER)
        .build();
    let context = {
        let service = service.clone();
        move || provide_ports(&service)
    };
    let page = {
        let options = options.clone();
        move || {
            content_security_policy();
            shell(options.clone(), assets::style(), assets::script())
        }
    };
    let pages = generate_route_list(App);
    let render = render_app_async_with_context(context.clone(), page.clone());
    let mut router =
        Router::new().leptos_routes_with_context(&options, pages.clone(), context, page);
    for each in &pages {
        let render = render.clone();
        let take = move |request: Request| take_form(request, render.clone());
        router = router.route(each.path(), post(take));
    }
    let export = {
        let service = service.clone();
        move |request: Request| export(service.clone(), request)
    };
    let listening = service.clone();
    let events = async move |Extension(session): Extension<Session>| events(listening, session);
    router
        .route("/dashboard/audit/export", get(export))
        .route(EVENTS, get(events))
        .route("/dashboard/{*nowhere}", any(render))
        .layer(from_fn_with_state(service.clone(), session))
        .layer(from_fn(tell_status))
        .layer(map_response(tell_when_to_return))
        .layer(from_fn_with_state(service.clone(), same_origin))
        .layer(CompressionLayer::new().quality(CompressionLevel::Precise(3)))
        .layer(RequestBodyLimitLayer::new(FORM_LIMIT))
        .route(&format!("/{}/{{name}}", assets::FOLDER), get(assets::serve))
        .layer(map_response(protect))
        .with_state(options)
}

/// The stream of changes, for whoever is signed in.
fn events(service: Service, Session(session): Session) -> Response {
    match session {
        Ok(person) => Events::new(service, person).into_response(),
        Err(error) => StatusCode::from_u16(error.status())
            .unwrap_or(StatusCode::UNAUTHORIZED)
            .into_response(),
    }
}

/// What holds for every answer: it is framed by nobody, and other sites do not learn where a link was followed. Pages have a
/// policy of their own; of the others only the script that hears what changes may do something, which is to ask this server.
async fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let policy = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'";
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(policy));
    headers.insert(
        REFERRER_POLICY,
        // Leptos takes the visitor back by the referrer when a plain form fails.
        HeaderValue::from_static("same-origin"),
    );
    response
}

/// Reads a form that was posted to a page, then renders the page, which finds it in its [`Visit`].
async fn take_form<R>(request: Request, render: impl Fn(Request) -> R) -> Response
where
    R: Future<Output = Response>,
{
    let (mut parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, FORM_LIMIT).await else {
        return (StatusCode::PAYLOAD_TOO_LARGE, "The form is too long.").into_response();
    };
    parts.extensions.insert(Form::parse(&body));
    render(Request::from_parts(parts, Body::empty())).await
}

/// The audit log as a file, for whoever is signed in.
async fn export(service: Service, request: Request) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    match parts.extensions.get::<Session>() {
        Some(Session(Ok(person))) => {
            let actor = Actor::clone(person);
            audit_export::export(service, actor, &parts).await
        }
        _ => Err(Error::Unauthenticated),
    }
}

/// Who is signed in, or why nobody is.
#[derive(Clone)]
struct Session(Result<Person, AdminError>);

/// Finds out who is signed in. A page that needs a session and has none leads to the sign-in, and so does a form that was
/// typed before the session ended: it comes along, and is sent once more afterwards.
async fn session(State(service): State<Service>, mut request: Request, next: Next) -> Response {
    let session = match cookie(request.headers(), session_cookie(&service)) {
        Some(secret) => Person::from_cookie(&service, secret).await.map_err(told),
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
    request.extensions_mut().insert(Session(session));
    next.run(request).await
}

/// The sign-in that leads on to what was asked for.
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

/// Leptos leads a plain form of a server function back to its referrer. After a sign-in in between that is the sign-in,
/// which still knows the page of this very site that the form stands on.
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

/// Refuses what another site has a visitor's browser send.
async fn same_origin(State(service): State<Service>, request: Request, next: Next) -> Response {
    if request.method().is_safe() || is_same_origin(request.headers(), &service.settings.base_url())
    {
        return next.run(request).await;
    }
    let refusal = "This came from another site, so nothing was done.";
    (StatusCode::FORBIDDEN, refusal).into_response()
}

/// Browsers say it in `Sec-Fetch-Site`; over plain http they do not, and the origin must be this host.
fn is_same_origin(headers: &HeaderMap, base_url: &str) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = text(ORIGIN) else {
        return false;
    };
    let host = origin.split_once("://").map(|(_, host)| host);
    origin == base_url || (host.is_some() && host == text(HOST))
}

/// Gives the error of a server function its status: Leptos answers every one with 500, or sends a plain form back to
/// the page that it came from.
async fn tell_status(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if !response.headers().contains_key(FAILED)
        || response.status() != StatusCode::INTERNAL_SERVER_ERROR
    {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, FORM_LIMIT).await.unwrap_or_default();
    let status = serde_json::from_slice(&body).map(|error: AdminError| error.status());
    parts.status = status
        .ok()
        .and_then(|status| StatusCode::from_u16(status).ok())
        .unwrap_or(parts.status);
    Response::from_parts(parts, Body::from(body))
}

/// Says of pages and server functions, too, when it is worth while to ask again.
async fn tell_when_to_return(mut response: Response) -> Response {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        let headers = response.headers_mut();
        headers.insert(RETRY_AFTER, RETRY_WHEN_UNAVAILABLE.into());
    }
    response
}

/// Allows a page what it consists of and nothing else. The nonce exists only while the page is rendered.
fn content_security_policy() {
    let (Some(nonce), Some(response)) = (use_nonce(), use_context::<ResponseOptions>()) else {
        return;
    };
    let policy = format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; \
         img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.insert_header(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Gives pages and server functions their way to the service: to the service as such only when somebody is signed in.
fn provide_ports(service: &Service) {
    let (Some(parts), Some(response)) = (use_context::<Parts>(), use_context::<ResponseOptions>())
    else {
        return;
    };
    let session = parts.extensions.get::<Session>().cloned();
    let actor = match session {
        Some(Session(Ok(actor))) => {
            let ClientAddress(address) =
                ClientAddress::of(&parts, &service.settings.trusted_proxies);
            SignedIn::provide(service.clone(), actor.clone(), address);
            Some(actor)
        }
        Some(Session(Err(error))) => {
            provide_context(error);
            None
        }
        None => None,
    };
    provide_context::<Arc<dyn Visit>>(Arc::new(CurrentVisit {
        service: service.clone(),
        actor,
        parts,
        response,
    }));
}

/// The request at hand and the response that is being written.
struct CurrentVisit {
    service: Service,
    actor: Option<Person>,
    parts: Parts,
    response: ResponseOptions,
}

impl CurrentVisit {
    /// Has the browser keep a cookie for so long; for no time at all to forget it.
    fn set_cookie(&self, name: &str, value: &str, seconds: i64, attributes: &str) {
        let secure = if self.service.settings.is_https() {
            "; Secure"
        } else {
            ""
        };
        let cookie =
            format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Lax{attributes}{secure}");
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            self.response.append_header(SET_COOKIE, cookie);
        }
    }

    fn set_session(&self, secret: &str, seconds: i64) {
        let name = session_cookie(&self.service);
        self.set_cookie(name, secret, seconds, "; HttpOnly");
    }
}

#[async_trait]
impl Visit for CurrentVisit {
    fn form(&self) -> Option<Form> {
        self.parts.extensions.get::<Form>().cloned()
    }

    fn query(&self) -> Form {
        Form::parse(self.parts.uri.query().unwrap_or_default().as_bytes())
    }

    async fn sign_in(&self, email: &str, password: &str) -> Result<(), AdminError> {
        let credentials = Credentials {
            email: email.to_owned(),
            password: password.to_owned(),
        };
        let ClientAddress(address) =
            ClientAddress::of(&self.parts, &self.service.settings.trusted_proxies);
        let signed_in =
            sessions::sign_in(&self.service, credentials, address, SessionKind::Dashboard)
                .await
                .map_err(told)?;
        let seconds = SESSION_DAYS.saturating_mul(DAY_SECONDS);
        self.set_session(signed_in.secret.expose(), seconds);
        Ok(())
    }

    async fn sign_out(&self) -> Result<(), AdminError> {
        if let Some(actor) = &self.actor {
            sessions::sign_out(&self.service, actor)
                .await
                .map_err(told)?;
        }
        self.set_session("", 0);
        Ok(())
    }

    fn theme(&self) -> Theme {
        cookie(&self.parts.headers, THEME_COOKIE).map_or(Theme::System, Theme::from_cookie)
    }

    fn set_theme(&self, theme: Theme) {
        let year = DAY_SECONDS.saturating_mul(365);
        self.set_cookie(THEME_COOKIE, theme.as_str(), year, "");
    }

    fn redirect(&self, path: &str) {
        let Ok(path) = HeaderValue::from_str(path) else {
            return;
        };
        self.response.insert_header(LOCATION, path);
        if wants_html(&self.parts.headers) {
            self.response.set_status(StatusCode::SEE_OTHER);
        } else {
            let empty = HeaderValue::from_static("");
            self.response.insert_header(GO_ELSEWHERE, empty);
        }
    }

    fn send_on(&self, path: &str) {
        if let Ok(path) = HeaderValue::from_str(path) {
            self.response.insert_header(LOCATION, path);
            self.response.set_status(StatusCode::TEMPORARY_REDIRECT);
        }
    }

    fn set_status(&self, status: u16) {
        if let Ok(status) = StatusCode::from_u16(status) {
            self.response.set_status(status);
        }
    }

    fn base_url(&self) -> String {
        let settings = &self.service.settings;
        let host = self.parts.headers.get(HOST);
        match (
            &settings.public_url,
            host.and_then(|host| host.to_str().ok()),
        ) {
            (None, Some(host)) => format!("http://{host}"),
            _ => settings.base_url(),
        }
    }

    fn now(&self) -> Timestamp {
        self.service.clock.now()
    }
}

fn session_cookie(service: &Service) -> &'static str {
    if service.settings.is_https() {
        SECURE_SESSION_COOKIE
    } else {
        SESSION_COOKIE
    }
}

/// The value of a cookie.
fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers
        .get_all(COOKIE)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(each, value)| (each == name).then_some(value))
}

/// Whether a browser asks for a page, as opposed to an island for an answer.
fn wants_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_write_must_come_from_the_dashboard_itself() {
        let here = |pairs| is_same_origin(&headers(pairs), "https://flags.example.com");
        assert!(here(&[("sec-fetch-site", "same-origin")]));
        assert!(here(&[
            ("origin", "http://10.0.0.7:3000"),
            ("host", "10.0.0.7:3000")
        ]));
        assert!(here(&[
            ("origin", "https://flags.example.com"),
            ("host", "pennon:3000")
        ]));
        assert!(!here(&[
            ("sec-fetch-site", "same-site"),
            ("origin", "https://flags.example.com")
        ]));
        assert!(!here(&[("sec-fetch-site", "cross-site")]));
        assert!(!here(&[("origin", "null"), ("host", "10.0.0.7:3000")]));
        assert!(!here(&[
            ("origin", "http://evil.example"),
            ("host", "10.0.0.7:3000")
        ]));
        assert!(!here(&[("host", "10.0.0.7:3000")]));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let headers = headers(&[("cookie", "a=1; pennon_session=x=y;pennon_theme=dark")]);
        assert_eq!(cookie(&headers, SESSION_COOKIE), Some("x=y"));
        assert_eq!(cookie(&headers, THEME_COOKIE), Some("dark"));
        assert_eq!(cookie(&headers, "a "), None);
    }
}
