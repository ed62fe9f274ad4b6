//! The request and the response, as a page needs them.

use async_trait::async_trait;
use pennon_model::time::Timestamp;

use crate::{error::AdminError, form::Form, model::Theme};

/// The settings of npm with which packages are installed from this service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Npmrc {
    /// The lines for the `.npmrc` of an application, which may be public.
    pub application: String,
    /// The lines for the `.npmrc` in the home folder, if a token is needed.
    pub home: Option<String>,
}

/// A moment, as clocks in a time zone show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// The date: `2026-03-01`.
    pub date: String,
    /// The date as a number, of which the next day has the next.
    pub day: i64,
    /// The time of the day: `09:30:00`.
    pub clock: String,
}

impl LocalTime {
    /// A moment in UTC.
    pub fn in_utc(at: Timestamp) -> Self {
        let exact = at.to_string();
        let (date, clock) = exact.split_once('T').unwrap_or_default();
        Self {
            date: date.to_owned(),
            day: at.millis().div_euclid(24 * 60 * 60 * 1000),
            clock: clock.chars().take(8).collect(),
        }
    }

    /// The time of the day without seconds: `09:30`.
    pub fn hour_and_minute(&self) -> &str {
        self.clock.get(..5).unwrap_or(&self.clock)
    }
}

/// The request at hand and the response that is being written.
#[async_trait]
pub trait Visit: Send + Sync {
    /// The fields of a form that was posted to this page; none when the page was merely asked for.
    fn form(&self) -> Option<Form>;

    /// The parameters of the address that was asked for.
    fn query(&self) -> Form;

    /// Checks e-mail and password; when they hold, begins a session and sets its cookie.
    ///
    /// Otherwise [`AdminError::WrongCredentials`] or [`AdminError::TooManyAttempts`].
    async fn sign_in(&self, email: &str, password: &str) -> Result<(), AdminError>;

    /// Ends the session, if there is one, and clears its cookie.
    async fn sign_out(&self) -> Result<(), AdminError>;

    /// The theme that the visitor chose.
    fn theme(&self) -> Theme;

    /// Remembers the theme that the visitor chose.
    fn set_theme(&self, theme: Theme);

    /// Sends the visitor to another page, instead of what is being rendered.
    fn redirect(&self, path: &str);

    /// Has the browser send the same form to another address of the dashboard, instead of what is being rendered.
    fn send_on(&self, path: &str);

    /// Answers with this status code instead of 200.
    fn set_status(&self, status: u16);

    /// The address at which applications reach this service, such as `https://flags.example.com`.
    fn base_url(&self) -> String;

    /// The settings of npm with which packages are installed from this service; none if it offers none.
    fn npmrc(&self) -> Option<Npmrc>;

    /// The time at which the request arrived; what "2 h ago" counts from.
    fn now(&self) -> Timestamp;

    /// The name of the visitor's time zone, such as `Asia/Tokyo`; `UTC` where it is not known.
    fn zone(&self) -> &str;

    /// A moment in the visitor's time zone.
    fn local(&self, at: Timestamp) -> LocalTime;

    /// The first and the last moment of a date such as `2026-03-01` in the visitor's time zone; none if it is no date.
    fn day(&self, date: &str) -> Option<(Timestamp, Timestamp)>;
}
