//! The dashboard's access to the account of the signed-in user.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::account::{NewToken, OwnAccount, PasswordChange};
use pennon_model::grant::Grants;
use pennon_model::id::TokenId;
use pennon_model::time::Timestamp;
use pennon_model::token::{CreatedToken, Token};
use pennon_model::user::Role;

use super::{Form, SignedIn};
use crate::admin::tokens;
use crate::admin::tokens::TokenSelector;
use crate::admin::users::{self, AccountSelector, CurrentPassword};
use crate::auth::password::NewPassword;

#[async_trait]
impl OwnAccount for SignedIn {
    async fn change_password(&self, change: PasswordChange) -> Result<(), AdminError> {
        let mut form = Form::default();
        let new = form.checked("newPassword", NewPassword::try_from(change.new));
        let change = users::PasswordChange {
            current: CurrentPassword {
                text: change.current,
                from: self.address,
            },
            new: new.ok_or_else(|| form.refused())?,
        };
        Ok(users::change_password(&self.admin, &self.actor, change).await?)
    }

    async fn tokens(&self) -> Result<Vec<Token>, AdminError> {
        Ok(tokens::list(&self.admin, &self.actor, AccountSelector::Mine).await?)
    }

    async fn create_token(&self, new: NewToken) -> Result<CreatedToken, AdminError> {
        let mut form = Form::default();
        let name = form.field("name", new.name.try_into());
        let role = form.field("role", Role::parse(&new.role));
        let end = form.checked("expiresAt", self.end(&new.days));
        let (Some(name), Some(role), Some(end)) = (name, role, end) else {
            return Err(form.refused());
        };
        let new = tokens::NewToken {
            name,
            role,
            grants: Grants::default(),
            expires_at: Some(end),
        };
        Ok(tokens::create(&self.admin, &self.actor, new).await?)
    }

    async fn revoke_token(&self, token: TokenId) -> Result<(), AdminError> {
        let which = TokenSelector {
            owner: AccountSelector::Mine,
            token: Some(token),
        };
        Ok(tokens::revoke(&self.admin, &self.actor, which).await?)
    }
}

impl SignedIn {
    fn end(&self, days: &str) -> Result<Timestamp, &'static str> {
        let days = days.parse().ok();
        let end = days.map(|days| self.admin.clock.now().plus_days(days));
        end.ok_or("must be a number of days")
    }
}
