//! What the pages and server functions ask of the service around them.
//!
//! Two ports: [`Admin`] speaks for a person who is signed in, [`Visit`] for the request and response at hand. The server
//! implements both and provides them as Leptos context; a test provides a fake.

use std::sync::Arc;

use async_trait::async_trait;
use leptos::prelude::use_context;
use pennon_core::model::{
    environment::Environment,
    flag::Flag,
    id::{EnvironmentId, FlagId},
    page::{Page, PageRequest},
    time::Timestamp,
    user::User,
};

use crate::{error::AdminError, form::Form, model::Theme};

/// The use cases of the service, bound to the person who is signed in.
///
/// There is one of these in context only when somebody is signed in, so [`signed_in_admin`] is both the way to it and
/// the check. What that person may do is decided behind it: every method may answer [`AdminError::Forbidden`].
#[async_trait]
pub trait Admin: Send + Sync {
    /// Who is signed in.
    fn user(&self) -> &User;

    /// One page of flags, newest first, with what each does in every active environment.
    async fn flags(&self, query: FlagQuery) -> Result<FlagTable, AdminError>;

    /// Creates a flag, disabled everywhere.
    async fn create_flag(&self, new: NewFlag) -> Result<Flag, AdminError>;

    /// Switches a flag in one environment and answers how it stands afterwards.
    async fn set_enabled(
        &self,
        flag: FlagId,
        environment: EnvironmentId,
        enabled: bool,
    ) -> Result<bool, AdminError>;

    /// One page of environments, newest first, revoked ones included.
    async fn environments(&self, page: PageRequest) -> Result<Page<Environment>, AdminError>;

    /// Creates an environment; its key is in this answer and nowhere else.
    async fn create_environment(
        &self,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError>;
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

    /// Answers with this status code instead of 200.
    fn set_status(&self, status: u16);

    /// The address at which applications reach this service, such as `https://flags.example.com`.
    fn base_url(&self) -> String;

    /// The time at which the request arrived; what "2 h ago" counts from.
    fn now(&self) -> Timestamp;
}

/// The service, for the person who is signed in. Pages and server functions have no other way to it.
///
/// Otherwise why there is nobody, if the server left such an error in context, or that there is nobody.
pub fn signed_in_admin() -> Result<Arc<dyn Admin>, AdminError> {
    use_context::<Arc<dyn Admin>>()
        .ok_or_else(|| use_context::<AdminError>().unwrap_or(AdminError::SignedOut))
}

/// The request at hand. There is none while the list of routes is made.
pub fn visit() -> Result<Arc<dyn Visit>, AdminError> {
    use_context::<Arc<dyn Visit>>().ok_or(AdminError::Internal)
}

/// The parameters of the address that was asked for; none while the list of routes is being made.
pub(crate) fn query() -> Form {
    visit().map(|visit| visit.query()).unwrap_or_default()
}

/// Which flags to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagQuery {
    /// Text that the name or the key contains, in any case; empty for all.
    pub search: String,
    /// Which state the flags are in.
    pub state: FlagState,
    /// Which page of them.
    pub page: PageRequest,
}

/// The states that a list of flags can be narrowed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlagState {
    /// Flags in use.
    #[default]
    Active,
    /// Flags that were archived.
    Archived,
    /// Both.
    All,
}

/// Flags against environments.
#[derive(Clone, Debug)]
pub struct FlagTable {
    /// The active environments, by product and name.
    pub environments: Vec<EnvironmentColumn>,
    /// The flags that were asked for.
    pub flags: Page<FlagRow>,
}

/// An environment as the heading of a column.
#[derive(Clone, Debug)]
pub struct EnvironmentColumn {
    /// Its id.
    pub id: EnvironmentId,
    /// The product it belongs to.
    pub product: String,
    /// Its name.
    pub name: String,
}

/// A flag with what it does in each environment.
#[derive(Clone, Debug)]
pub struct FlagRow {
    /// The flag.
    pub flag: Flag,
    /// One for each column, in their order; none where the flag was archived before the environment existed.
    pub cells: Vec<Option<Cell>>,
}

/// What a flag does in one environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Whether it is switched on.
    pub enabled: bool,
    /// How many targeting rules it has there.
    pub rules: u32,
    /// The percentage of its rollout, if it has one.
    pub rollout: Option<u8>,
}

/// A flag to create, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct NewFlag {
    /// The key that applications ask for.
    pub key: String,
    /// The name that people read.
    pub name: String,
    /// What it is for; empty for nothing.
    pub description: String,
    /// `boolean`, `string` or `multivariate`; the form's field is called `type`.
    pub kind: String,
}

/// An environment to create, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct NewEnvironment {
    /// The product it belongs to.
    pub product: String,
    /// Its name.
    pub name: String,
}

/// An environment that has just been created.
#[derive(Clone)]
pub struct CreatedEnvironment {
    /// The environment.
    pub environment: Environment,
    /// Its key, in full; it is shown once and can never be read again.
    pub sdk_key: String,
}
