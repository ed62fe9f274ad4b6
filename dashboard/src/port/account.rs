//! What pages ask about the account of whoever is signed in.

use async_trait::async_trait;
use pennon_model::{
    id::TokenId,
    token::{CreatedToken, Token},
};

use crate::error::AdminError;

/// The use cases that concern one's own account.
#[async_trait]
pub trait OwnAccount: Send + Sync {
    /// Puts another password in the place of the current one and ends all other sessions.
    async fn change_password(&self, change: PasswordChange) -> Result<(), AdminError>;

    /// One's tokens, newest first, also those that have run out.
    async fn tokens(&self) -> Result<Vec<Token>, AdminError>;

    /// Creates a token; its secret is in this answer and nowhere else.
    async fn create_token(&self, new: NewToken) -> Result<CreatedToken, AdminError>;

    /// Revokes a token: it is refused from now on.
    async fn revoke_token(&self, token: TokenId) -> Result<(), AdminError>;
}

/// A password of one's own to change, as it was typed.
#[derive(Clone, Default)]
pub struct PasswordChange {
    /// The one so far; the form's field is called `currentPassword`.
    pub current: String,
    /// The one from now on; the form's field is called `newPassword`.
    pub new: String,
}

/// A token to create, as it was typed.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What it is for.
    pub name: String,
    /// The word for the role.
    pub role: String,
    /// For how many days it is good; the form's field is called `expiresAt`.
    pub days: String,
}
