//! The dashboard's access to the account of the signed-in user.

use async_trait::async_trait;
use pennon_core::Invalid;
use pennon_dashboard::error::{AdminError, FieldErrors};
use pennon_dashboard::port::account::{NewToken, OwnAccount, PasswordChange};
use pennon_model::environment::ProductName;
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::id::TokenId;
use pennon_model::time::Timestamp;
use pennon_model::token::{CreatedToken, Token};
use pennon_model::user::Role;

use super::{SignedIn, scope_refused};
use crate::admin::precondition::Precondition;
use crate::admin::tokens::TokenSelector;
use crate::admin::users::{self, AccountSelector, CurrentPassword};
use crate::admin::{preferences, tokens};
use crate::auth::password::NewPassword;
use crate::error::Error;

#[async_trait]
impl OwnAccount for SignedIn {
    async fn change_password(&self, change: PasswordChange) -> Result<(), AdminError> {
        let new = NewPassword::try_from(change.new)
            .map_err(|detail| AdminError::invalid("newPassword", detail))?;
        let change = users::PasswordChange {
            current: CurrentPassword {
                text: change.current,
                from: self.address,
            },
            new,
        };
        Ok(users::change_password(&self.admin, &self.actor, &Precondition::None, change).await?)
    }

    async fn tokens(&self) -> Result<Vec<Token>, AdminError> {
        Ok(tokens::list(&self.admin, &self.actor, AccountSelector::Mine).await?)
    }

    async fn create_token(&self, new: NewToken) -> Result<CreatedToken, AdminError> {
        let mut errors = FieldErrors::default();
        let name = errors.keep("name", new.name.try_into());
        let rights = errors.keep("role", rights(&new.role, new.scope));
        let end = errors.keep("expiresAt", self.end(&new.days));
        let (Some(name), Some((role, grants)), Some(end)) = (name, rights, end) else {
            return Err(errors.into());
        };
        let new = tokens::NewToken {
            name,
            role,
            grants,
            expires_at: Some(end),
        };
        match tokens::create(&self.admin, &self.actor, new).await {
            Err(Error::Forbidden(_) | Error::ForbiddenFor(..)) => {
                Err(AdminError::invalid("role", "is higher than your own there"))
            }
            created => created.map_err(|error| scope_refused(error.into())),
        }
    }

    async fn remembered_product(&self) -> Result<Option<String>, AdminError> {
        Ok(preferences::product(&self.admin, &self.actor).await?)
    }

    async fn remember_product(&self, product: Option<&ProductName>) -> Result<(), AdminError> {
        Ok(preferences::remember_product(&self.admin, &self.actor, product).await?)
    }

    async fn revoke_token(&self, token: TokenId) -> Result<(), AdminError> {
        let which = TokenSelector {
            owner: AccountSelector::Mine,
            token: Some(token),
        };
        Ok(tokens::revoke(&self.admin, &self.actor, which).await?)
    }
}

/// Returns the role everywhere and the grants of a token with this role in a product or environment.
fn rights(role: &str, scope: Option<GrantScope>) -> Result<(Role, Grants), Invalid> {
    let role = Role::parse(role)?;
    match scope {
        None => Ok((role, Grants::default())),
        Some(scope) => {
            let grants = Grants::default().with(Grant::new(scope, role)?)?;
            Ok((Role::Viewer, grants))
        }
    }
}

impl SignedIn {
    fn end(&self, days: &str) -> Result<Timestamp, &'static str> {
        let days = days.parse().ok();
        let end = days.map(|days| self.admin.clock.now().plus_days(days));
        end.ok_or("must be a number of days")
    }
}
