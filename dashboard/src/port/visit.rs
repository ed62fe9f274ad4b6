//! The current request and response, as pages access them.

use async_trait::async_trait;
use pennon_model::{id::EnvironmentId, time::Timestamp};

use crate::{error::AdminError, form::Form, model::Theme};

/// The npm settings that installing packages from this server requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Npmrc {
    /// The lines for the `.npmrc` of an application, which may be public.
    pub application: String,
    /// The lines for the `.npmrc` in the home folder, if a token is needed.
    pub home: Option<String>,
}

/// A time in a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// The date: `2026-03-01`.
    pub date: String,
    /// The number of the day. Consecutive days have consecutive numbers.
    pub day: i64,
    /// The time of the day: `09:30:00`.
    pub clock: String,
}

impl LocalTime {
    /// Returns a time in UTC.
    pub fn in_utc(at: Timestamp) -> Self {
        let exact = at.to_string();
        let (date, clock) = exact.split_once('T').unwrap_or_default();
        Self {
            date: date.to_owned(),
            day: at.millis().div_euclid(24 * 60 * 60 * 1000),
            clock: clock.chars().take(8).collect(),
        }
    }

    /// Returns the time of day without seconds: `09:30`.
    pub fn hour_and_minute(&self) -> &str {
        self.clock.get(..5).unwrap_or(&self.clock)
    }
}

/// The current request and its response.
#[async_trait]
pub trait Visit: Send + Sync {
    /// Returns the fields of a form that was posted to this page; none for a GET request.
    fn form(&self) -> Option<Form>;

    /// Returns the query parameters.
    fn query(&self) -> Form;

    /// Checks e-mail and password. If they are correct, starts a session and sets its cookie.
    ///
    /// Otherwise returns [`AdminError::WrongCredentials`] or [`AdminError::TooManyAttempts`].
    async fn sign_in(&self, email: &str, password: &str) -> Result<(), AdminError>;

    /// Ends the session, if one exists, and clears its cookie.
    async fn sign_out(&self) -> Result<(), AdminError>;

    /// Returns the visitor's theme.
    fn theme(&self) -> Theme;

    /// Stores the visitor's theme.
    fn set_theme(&self, theme: Theme);

    /// Redirects to another page, instead of the one that is being rendered.
    fn redirect(&self, path: &str);

    /// Makes the pages of the next seconds offer to undo the user's last change.
    fn offer_undo(&self);

    /// Returns true if the user made a change in the last seconds.
    fn offers_undo(&self) -> bool;

    /// Returns true if this browser has copied or stored an SDK key from the page that shows it.
    fn has_stored_key(&self) -> bool;

    /// Makes the lists of flags in this browser show this environment where they have space for one.
    fn prefer_environment(&self, id: EnvironmentId);

    /// Returns the environment to show where there is space for one.
    fn preferred_environment(&self) -> Option<EnvironmentId>;

    /// Makes the browser submit the same form to another address of the dashboard, instead of the page that is being
    /// rendered.
    fn forward_form(&self, path: &str);

    /// Sets the status code of the response, which is 200 by default, to that of an error. The response then also tells
    /// the time after which another attempt is possible, if the error has one.
    fn set_error(&self, error: &AdminError);

    /// Returns the address at which applications reach this server, such as `https://flags.example.com`.
    fn base_url(&self) -> String;

    /// Returns the npm settings that installing packages from this server requires; none if it serves no packages.
    fn npmrc(&self) -> Option<Npmrc>;

    /// Returns the time at which the request arrived; the reference for "2 h ago".
    fn now(&self) -> Timestamp;

    /// Returns the name of the visitor's time zone, such as `Asia/Tokyo`; `UTC` if it is unknown.
    fn zone(&self) -> &str;

    /// Converts a time to the visitor's time zone.
    fn local(&self, at: Timestamp) -> LocalTime;

    /// Returns the first and the last moment of a date such as `2026-03-01` in the visitor's time zone; none if it is
    /// invalid.
    fn day(&self, date: &str) -> Option<(Timestamp, Timestamp)>;

    /// Returns the first and the last moment of a minute such as `2026-03-01T09:30` in the visitor's time zone; none if
    /// it is invalid.
    fn minute(&self, minute: &str) -> Option<(Timestamp, Timestamp)>;
}
