//! Personal access tokens, which let scripts act for a user.

use serde::Serialize;

use crate::grant::Grants;
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
    /// Its id, which the server assigns.
    pub id: TokenId,
    /// Its owner.
    pub user_id: UserId,
    /// Its name, unique among the tokens of its owner.
    pub name: TokenName,
    /// Its role everywhere, limited to the current role of its owner.
    pub role: Role,
    /// Its roles in single products and environments, limited to those of its owner there; absent if there are none.
    #[serde(skip_serializing_if = "Grants::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub grants: Grants,
    /// The first characters of the secret, to tell tokens apart.
    #[cfg_attr(feature = "schema", schema(example = "pnt_KcuZYI13"))]
    pub token_prefix: String,
    /// The time at which it was created.
    pub created_at: Timestamp,
    /// The time at which it expires.
    pub expires_at: Timestamp,
}

/// A token that was just created.
#[derive(Clone, Debug)]
pub struct CreatedToken {
    /// The token.
    pub token: Token,
    /// Its secret, which is shown once and cannot be read again.
    pub secret: Secret,
}

name! {
    /// A token's name: one line of 1 to 64 characters.
    pub struct TokenName = 64, "deploy"
}
