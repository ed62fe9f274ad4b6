//! The signed-in user's account.

use async_trait::async_trait;
use pennon_model::{
    environment::ProductName,
    grant::GrantScope,
    id::TokenId,
    token::{CreatedToken, Token},
};

use crate::error::AdminError;

/// The use cases for the user's own account.
#[async_trait]
pub trait OwnAccount: Send + Sync {
    /// Replaces the password and ends all other sessions.
    async fn change_password(&self, change: PasswordChange) -> Result<(), AdminError>;

    /// Returns the user's tokens, newest first, including expired ones.
    async fn tokens(&self) -> Result<Vec<Token>, AdminError>;

    /// Creates a token. Only this result contains its secret.
    async fn create_token(&self, new: NewToken) -> Result<CreatedToken, AdminError>;

    /// Returns the product to which the user has limited the dashboard, which may no longer exist; none for all
    /// products.
    async fn remembered_product(&self) -> Result<Option<String>, AdminError>;

    /// Remembers the product to which the user limits the dashboard; none for all products.
    async fn remember_product(&self, product: Option<&ProductName>) -> Result<(), AdminError>;

    /// Revokes a token, effective immediately.
    async fn revoke_token(&self, token: TokenId) -> Result<(), AdminError>;
}

/// A change of the user's own password, as typed.
#[derive(Clone, Default)]
pub struct PasswordChange {
    /// The current password; the form's field is called `currentPassword`.
    pub current: String,
    /// The new password; the form's field is called `newPassword`.
    pub new: String,
}

/// A token to create, as typed.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its name.
    pub name: String,
    /// Its role, as text.
    pub role: String,
    /// The product or environment in which it has the role, and elsewhere reads; none if it has the role everywhere.
    pub scope: Option<GrantScope>,
    /// Its lifetime in days; the form's field is called `expiresAt`.
    pub days: String,
}
