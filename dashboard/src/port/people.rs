//! What pages ask about the people who have accounts.

use async_trait::async_trait;
use pennon_model::{
    id::{TokenId, UserId},
    page::{Page, PageRequest},
    time::Timestamp,
    token::Token,
    user::{Role, User},
};

use super::Expected;
use crate::error::AdminError;

/// The use cases that concern other people's accounts; they are for administrators.
#[async_trait]
pub trait PeopleAdmin: Send + Sync {
    /// One page of people, newest first.
    async fn people(&self, page: PageRequest) -> Result<Page<Colleague>, AdminError>;

    /// One of them, with the tokens that scripts use in their name.
    async fn person(&self, id: UserId) -> Result<(User, Vec<Token>), AdminError>;

    /// Creates an account.
    async fn invite(&self, new: NewPerson) -> Result<Admission, AdminError>;

    /// Gives a person another role, which counts from their next request on.
    async fn set_role(&self, expected: Expected<UserId>, role: Role) -> Result<User, AdminError>;

    /// Gives a person another password and ends all their sessions. An empty one is made up.
    async fn reset_password(
        &self,
        expected: Expected<UserId>,
        password: String,
    ) -> Result<Admission, AdminError>;

    /// Deletes an account, with its sessions and tokens.
    async fn delete_person(&self, expected: Expected<UserId>) -> Result<(), AdminError>;

    /// Revokes a token of a person.
    async fn revoke_token_of(&self, owner: UserId, token: TokenId) -> Result<(), AdminError>;
}

/// A person in a list.
#[derive(Clone, Debug)]
pub struct Colleague {
    /// The account.
    pub user: User,
    /// When the person last signed in, as far back as that is known.
    pub signed_in_at: Option<Timestamp>,
}

/// A person to invite, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct NewPerson {
    /// The address to sign in with.
    pub email: String,
    /// The word for the role.
    pub role: String,
    /// The first password; empty for one that is made up.
    pub password: String,
}

/// Somebody who can sign in from now on.
#[derive(Clone)]
pub struct Admission {
    /// The account.
    pub user: User,
    /// The password, if it was made up: it is shown once and can never be read again.
    pub made_up: Option<String>,
}
