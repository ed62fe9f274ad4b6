//! Users.

use async_trait::async_trait;
use pennon_model::{
    grant::GrantScope,
    id::{TokenId, UserId},
    page::{Page, PageRequest},
    time::Timestamp,
    token::Token,
    user::{Role, User},
};

use super::Expected;
use crate::error::AdminError;

/// The use cases for other users' accounts, which require an administrator.
#[async_trait]
pub trait PeopleAdmin: Send + Sync {
    /// Returns one page of users, newest first.
    async fn people(&self, page: PageRequest) -> Result<Page<UserRow>, AdminError>;

    /// Returns the newest few users whose e-mail addresses contain a text, ignoring case.
    async fn find_people(&self, text: &str) -> Result<Vec<User>, AdminError>;

    /// Returns one user and their personal access tokens.
    async fn person(&self, id: UserId) -> Result<(User, Vec<Token>), AdminError>;

    /// Creates an account.
    async fn invite(&self, new: NewPerson) -> Result<UserCredentials, AdminError>;

    /// Changes the role of a user, effective from their next request.
    async fn set_role(&self, expected: Expected<UserId>, role: Role) -> Result<User, AdminError>;

    /// Gives a user a role in a product or environment, which replaces the one that they had there.
    ///
    /// [`AdminError::Invalid`] names the fields `scope` and `role`.
    async fn grant(&self, expected: Expected<UserId>, new: NewGrant) -> Result<User, AdminError>;

    /// Removes the role of a user in a product or environment.
    async fn remove_grant(
        &self,
        expected: Expected<UserId>,
        scope: GrantScope,
    ) -> Result<User, AdminError>;

    /// Replaces the password of a user, or generates one if it is empty, and ends all their sessions.
    async fn reset_password(
        &self,
        expected: Expected<UserId>,
        password: String,
    ) -> Result<UserCredentials, AdminError>;

    /// Deletes an account, with its sessions and tokens.
    async fn delete_person(&self, expected: Expected<UserId>) -> Result<(), AdminError>;

    /// Revokes a token of a user.
    async fn revoke_token_of(&self, owner: UserId, token: TokenId) -> Result<(), AdminError>;
}

/// A user in a list.
#[derive(Clone, Debug)]
pub struct UserRow {
    /// The account.
    pub user: User,
    /// The last sign-in; none if no session of the user is stored.
    pub signed_in_at: Option<Timestamp>,
}

/// A user to invite, as typed.
#[derive(Clone, Debug, Default)]
pub struct NewPerson {
    /// The address to sign in with.
    pub email: String,
    /// The role, as text.
    pub role: String,
    /// The first password; empty to generate one.
    pub password: String,
}

/// A role in a product or environment.
#[derive(Clone, Debug)]
pub struct NewGrant {
    /// The product or environment.
    pub scope: GrantScope,
    /// The role, as text.
    pub role: String,
}

/// A user after an invitation or a password reset.
#[derive(Clone)]
pub struct UserCredentials {
    /// The account.
    pub user: User,
    /// The password, if it was generated. It is shown once and cannot be read again.
    pub generated_password: Option<String>,
}
