//! Personal access tokens: what scripts sign in with, in the name of a person.

use serde::Serialize;

use crate::id::{TokenId, UserId};
use crate::secret::Secret;
use crate::text::name;
use crate::time::Timestamp;
use crate::user::Role;

/// A personal access token, without the secret itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Token {
    /// Assigned by the service.
    pub id: TokenId,
    /// Whose it is.
    pub user_id: UserId,
    /// What it is for, unique among the tokens of its owner.
    pub name: TokenName,
    /// What it may do, as long as its owner may do that too.
    pub role: Role,
    /// The leading part of the secret, to tell tokens apart.
    #[cfg_attr(feature = "schema", schema(example = "pnt_KcuZYI13"))]
    pub token_prefix: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// A token that has just been created.
#[derive(Clone, Debug)]
pub struct CreatedToken {
    /// The token.
    pub token: Token,
    /// Its secret, which is shown once and can never be read again.
    pub secret: Secret,
}

name! {
    /// A token's name: one line of 1 to 64 characters.
    pub struct TokenName = 64, "deploy"
}
