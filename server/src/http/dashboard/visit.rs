//! The request and response of the dashboard, as its pages see them.

use async_trait::async_trait;
use http::header::{LOCATION, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};
use jiff::tz::TimeZone;
use leptos_axum::ResponseOptions;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::form::Form;
use pennon_dashboard::model::Theme;
use pennon_dashboard::port::{LocalTime, Npmrc, Visit};
use pennon_model::id::EnvironmentId;
use pennon_model::time::Timestamp;

use super::super::base_url::{base_url, is_https};
use super::super::client_address::ClientAddress;
use super::super::npm::npmrc;
use super::{cookie, wants_html, zone};
use crate::admin::sessions::{self, Credentials, SessionKind};
use crate::auth::SESSION_DAYS;
use crate::auth::actor::Person;
use crate::state::AppState;

/// The header that redirects Leptos's client.
const REDIRECT: HeaderName = HeaderName::from_static("serverfnredirect");

const DAY_SECONDS: i64 = 24 * 60 * 60;
const YEAR_SECONDS: i64 = 365 * DAY_SECONDS;

/// The time for which pages offer to undo a change.
const UNDO_SECONDS: i64 = 10;

/// The current request and its response.
pub(super) struct CurrentVisit {
    pub(super) state: AppState,
    pub(super) actor: Option<Person>,
    pub(super) parts: Parts,
    pub(super) response: ResponseOptions,
}

impl CurrentVisit {
    /// Sets a cookie for this number of seconds; zero removes it.
    fn set_cookie(&self, name: &str, value: &str, seconds: i64, attributes: &str) {
        let secure = if is_https(&self.parts, &self.state.runtime.settings) {
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

    fn time_zone(&self) -> TimeZone {
        zone::named(cookie::value(&self.parts.headers, cookie::ZONE))
    }

    fn set_session(&self, secret: &str, seconds: i64) {
        let name = cookie::of_session(&self.state.runtime.settings);
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
            ClientAddress::of(&self.parts, &self.state.runtime.settings.trusted_proxies);
        let signed_in = sessions::sign_in(
            &self.state.admin,
            credentials,
            address,
            SessionKind::Dashboard,
        )
        .await?;
        let seconds = SESSION_DAYS.saturating_mul(DAY_SECONDS);
        self.set_session(signed_in.secret.expose(), seconds);
        Ok(())
    }

    async fn sign_out(&self) -> Result<(), AdminError> {
        if let Some(actor) = &self.actor {
            sessions::sign_out(&self.state.admin, actor).await?;
        }
        self.set_session("", 0);
        Ok(())
    }

    fn theme(&self) -> Theme {
        cookie::theme(&self.parts.headers)
    }

    fn set_theme(&self, theme: Theme) {
        self.set_cookie(cookie::THEME, theme.as_str(), YEAR_SECONDS, "");
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
            self.response.insert_header(REDIRECT, empty);
        }
    }

    fn offer_undo(&self) {
        self.set_cookie(cookie::CHANGED, "1", UNDO_SECONDS, "; HttpOnly");
    }

    fn offers_undo(&self) -> bool {
        cookie::value(&self.parts.headers, cookie::CHANGED).is_some()
    }

    fn has_stored_key(&self) -> bool {
        cookie::value(&self.parts.headers, cookie::STORED_KEY).is_some()
    }

    fn prefer_environment(&self, id: EnvironmentId) {
        self.set_cookie(
            cookie::ENVIRONMENT,
            &id.to_string(),
            YEAR_SECONDS,
            "; HttpOnly",
        );
    }

    fn preferred_environment(&self) -> Option<EnvironmentId> {
        cookie::value(&self.parts.headers, cookie::ENVIRONMENT)?
            .parse()
            .ok()
    }

    fn forward_form(&self, path: &str) {
        if let Ok(path) = HeaderValue::from_str(path) {
            self.response.insert_header(LOCATION, path);
            self.response.set_status(StatusCode::TEMPORARY_REDIRECT);
        }
    }

    fn set_error(&self, error: &AdminError) {
        if let Ok(status) = StatusCode::from_u16(error.status()) {
            self.response.set_status(status);
        }
        if let Some(seconds) = error.retry_after() {
            self.response.insert_header(RETRY_AFTER, seconds.into());
        }
    }

    fn base_url(&self) -> String {
        base_url(&self.parts, &self.state.runtime.settings)
    }

    fn npmrc(&self) -> Option<Npmrc> {
        npmrc(&self.base_url(), self.state.runtime.settings.npm)
    }

    fn now(&self) -> Timestamp {
        self.state.admin.clock.now()
    }

    fn zone(&self) -> &str {
        zone::name(cookie::value(&self.parts.headers, cookie::ZONE))
    }

    fn local(&self, at: Timestamp) -> LocalTime {
        zone::local(self.time_zone(), at)
    }

    fn day(&self, date: &str) -> Option<(Timestamp, Timestamp)> {
        zone::day(&self.time_zone(), date)
    }

    fn minute(&self, minute: &str) -> Option<(Timestamp, Timestamp)> {
        zone::minute(&self.time_zone(), minute)
    }
}
