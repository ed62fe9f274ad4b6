//! The audit log.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::id::{AuditId, EnvironmentId, FlagId, RuleId, TokenId, UserId};
use crate::text::{is_blank, text};
use crate::time::Timestamp;
use pennon_core::{Invalid, string_enum};

/// An audit entry: one change with its actor, action, and the object before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    /// Its id, which the server assigns.
    pub id: AuditId,
    /// The `id` of the first entry that the same action wrote, such as a copy or an import.
    pub group_id: AuditId,
    /// The action.
    pub action: AuditAction,
    /// The actor: an e-mail address, with the token's name if a token was used.
    #[cfg_attr(feature = "schema", schema(example = "ana@example.com (deploy)"))]
    pub actor_identity: String,
    /// The time of the change.
    pub occurred_at: Timestamp,
    /// The reason that the actor gave; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub reason: Option<ChangeReason>,
    /// The key of the flag.
    #[cfg_attr(feature = "schema", schema(required))]
    pub flag_key: Option<String>,
    /// The name of the environment after the change.
    #[cfg_attr(feature = "schema", schema(required))]
    pub environment: Option<String>,
    /// The product of that environment.
    #[cfg_attr(feature = "schema", schema(required))]
    pub product: Option<String>,
    /// The object before the change, without keys and hashes.
    #[cfg_attr(feature = "schema", schema(required, value_type = Option<Map<String, Value>>, additional_properties))]
    pub old_value: Option<Value>,
    /// The object after the change, without keys and hashes.
    #[cfg_attr(feature = "schema", schema(required, value_type = Option<Map<String, Value>>, additional_properties))]
    pub new_value: Option<Value>,
}

text! {
    /// The reason for a change, with 1 to 500 characters in one or more lines.
    #[cfg_attr(
        feature = "schema",
        schema(min_length = 1, max_length = 500, pattern = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*[^\s\u0000-\u001F\u007F-\u009F][^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$", example = "Payment errors, INC-481")
    )]
    pub struct ChangeReason = |text| {
        if text.chars().count() > 500 {
            return Err(Invalid::new("must have at most 500 characters"));
        }
        if text.chars().any(is_unprintable) {
            return Err(Invalid::new("must not contain control characters other than line breaks and tabs"));
        }
        if is_blank(text) {
            return Err(Invalid::new("must not be blank"));
        }
        Ok(())
    }
}

impl ChangeReason {
    /// Wraps a reason that is already stored, and may be older than the present rules.
    pub fn stored(text: String) -> Self {
        Self(text)
    }
}

fn is_unprintable(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\r' | '\t')
}

string_enum! {
    /// A change of a flag, an environment or an account.
    pub enum AuditAction {
        /// A flag was created.
        FlagCreated = "FLAG_CREATED",
        /// A member of a flag changed, such as its name, its products or its tags, or it was restored.
        FlagUpdated = "FLAG_UPDATED",
        /// A flag was archived.
        FlagArchived = "FLAG_ARCHIVED",
        /// An environment was created.
        EnvironmentCreated = "ENVIRONMENT_CREATED",
        /// A member of an environment changed, such as its name, its position or its safeguards, or its previous key ended.
        EnvironmentUpdated = "ENVIRONMENT_UPDATED",
        /// An environment was revoked.
        EnvironmentRevoked = "ENVIRONMENT_REVOKED",
        /// A flag was switched, or its TTL changed, in an environment; or the flag joined or left the environment
        /// because its products or `public` changed.
        FlagEnvironmentUpdated = "FLAG_ENVIRONMENT_UPDATED",
        /// A targeting rule was created.
        RuleCreated = "RULE_CREATED",
        /// A targeting rule was replaced.
        RuleUpdated = "RULE_UPDATED",
        /// A targeting rule was deleted.
        RuleDeleted = "RULE_DELETED",
        /// A rollout was created or changed.
        RolloutConfigured = "ROLLOUT_CONFIGURED",
        /// A rollout was deleted.
        RolloutDeleted = "ROLLOUT_DELETED",
        /// The key of an environment was rotated.
        SdkKeyRotated = "SDK_KEY_ROTATED",
        /// A user was created.
        UserCreated = "USER_CREATED",
        /// A user's role or grants changed, or an administrator reset the password.
        UserUpdated = "USER_UPDATED",
        /// A user was deleted, with all sessions and tokens.
        UserDeleted = "USER_DELETED",
        /// A user changed their own password.
        PasswordChanged = "PASSWORD_CHANGED",
        /// A user created a personal access token.
        TokenCreated = "TOKEN_CREATED",
        /// A personal access token was revoked.
        TokenRevoked = "TOKEN_REVOKED",
    }
    else "is not an audit action"
}

impl AuditAction {
    /// Returns true if the action concerns accounts. The log shows such entries only to administrators, and only on
    /// request.
    pub const fn is_about_accounts(self) -> bool {
        matches!(
            self,
            Self::UserCreated
                | Self::UserUpdated
                | Self::UserDeleted
                | Self::PasswordChanged
                | Self::TokenCreated
                | Self::TokenRevoked
        )
    }

    /// Returns true if the action concerns an environment itself, not the flags in it.
    pub const fn is_about_environments(self) -> bool {
        matches!(
            self,
            Self::EnvironmentCreated
                | Self::EnvironmentUpdated
                | Self::EnvironmentRevoked
                | Self::SdkKeyRotated
        )
    }
}

string_enum! {
    /// Entries that the log omits unless they are requested.
    pub enum AuditExtra {
        /// Changes of users and of their tokens.
        Accounts = "accounts",
    }
    else "must be `accounts`"
}

/// The identifier of a request, as in the `X-Request-Id` header of its response and in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// Creates an identifier from its text.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The ids of the objects of an entry, which remain valid when names change.
#[derive(Clone, Debug, Default)]
pub struct AuditSubjects {
    /// The account that made the change.
    pub actor: Option<UserId>,
    /// The token that the actor used.
    pub actor_token: Option<TokenId>,
    /// The request that made the change; none for the command line.
    pub request: Option<RequestId>,
    /// The flag.
    pub flag: Option<FlagId>,
    /// The environment.
    pub environment: Option<EnvironmentId>,
    /// The rule.
    pub rule: Option<RuleId>,
    /// The account.
    pub user: Option<UserId>,
    /// The token.
    pub token: Option<TokenId>,
}

/// The entries to list. Filters match exactly, and both ends of the period are inclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The key of the flag.
    pub flag_key: Option<String>,
    /// The name of the environment.
    pub environment: Option<String>,
    /// The product of the environment.
    pub product: Option<String>,
    /// The identity of the actor, as in the entries.
    pub actor: Option<String>,
    /// The action.
    pub action: Option<AuditAction>,
    /// True to include entries about flags themselves, if the flags are configured in the environments of the product.
    pub flags_of_product: bool,
    /// The start of the period, inclusive.
    pub from: Option<Timestamp>,
    /// The end of the period, inclusive.
    pub to: Option<Timestamp>,
    /// True to include entries about accounts.
    pub accounts: bool,
}

/// An entry with the ids of its objects.
#[derive(Clone, Debug)]
pub struct AuditRecord {
    /// The entry.
    pub entry: AuditEntry,
    /// The flag.
    pub flag: Option<FlagId>,
    /// The environment.
    pub environment: Option<EnvironmentId>,
    /// The rule.
    pub rule: Option<RuleId>,
}

/// A committed change, without the objects themselves.
#[derive(Clone, Debug)]
pub struct ChangeEvent {
    /// The id of its audit entry.
    pub id: AuditId,
    /// The kind of change.
    pub action: AuditAction,
    /// The actor, as in the audit log.
    pub actor: String,
    /// The time of the change.
    pub occurred_at: Timestamp,
    /// The key of the flag.
    pub flag: Option<String>,
    /// The environment.
    pub environment: Option<EnvironmentId>,
    /// The request that made the change.
    pub request: Option<RequestId>,
    /// The product of that environment, if there are active environments of several products.
    pub product: Option<String>,
    /// The name of that environment.
    pub environment_name: Option<String>,
    /// The account.
    pub user: Option<UserId>,
}
