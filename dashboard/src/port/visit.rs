//! The request and the response, as a page needs them.

use async_trait::async_trait;
use pennon_core::model::time::Timestamp;

use crate::{error::AdminError, form::Form, model::Theme};

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

    /// The time at which the request arrived; what "2 h ago" counts from.
    fn now(&self) -> Timestamp;
}
