//! The dashboard's access to user accounts.

use async_trait::async_trait;
use pennon_dashboard::error::{AdminError, FieldErrors};
use pennon_dashboard::port::Expected;
use pennon_dashboard::port::people::{NewGrant, NewPerson, PeopleAdmin, UserCredentials, UserRow};
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::id::{TokenId, UserId};
use pennon_model::page::{Page, PageRequest};
use pennon_model::token::Token;
use pennon_model::user::{Role, User};

use super::{SignedIn, expected, scope_refused};
use crate::admin::tokens::TokenSelector;
use crate::admin::users::{AccountSelector, NewUser, UserPatch};
use crate::admin::{tokens, users};
use crate::auth::password::NewPassword;

/// The maximum number of people that a search finds.
const MOST_FOUND: i64 = 8;

#[async_trait]
impl PeopleAdmin for SignedIn {
    async fn people(&self, page: PageRequest) -> Result<Page<UserRow>, AdminError> {
        let actor = self.actor.administrator()?;
        let people = users::with_sign_ins(&self.admin, &actor, page).await?;
        Ok(people.map(|(user, signed_in_at)| UserRow { user, signed_in_at }))
    }

    async fn find_people(&self, text: &str) -> Result<Vec<User>, AdminError> {
        let actor = self.actor.administrator()?;
        Ok(users::search(&self.admin, &actor, text, MOST_FOUND).await?)
    }

    async fn person(&self, id: UserId) -> Result<(User, Vec<Token>), AdminError> {
        let actor = self.actor.administrator()?;
        let account = AccountSelector::Of(Some(id));
        let user = users::get(&self.admin, &actor, account).await?;
        let tokens = tokens::list(&self.admin, &actor, account).await?;
        Ok((user, tokens))
    }

    async fn invite(&self, new: NewPerson) -> Result<UserCredentials, AdminError> {
        let actor = self.actor.administrator()?;
        let mut errors = FieldErrors::default();
        let email = errors.keep("email", new.email.try_into());
        let role = errors.keep("role", Role::parse(&new.role));
        let password = errors.keep("password", self.password(new.password));
        let (Some(email), Some(role), Some((password, generated_password))) =
            (email, role, password)
        else {
            return Err(errors.into());
        };
        let new = NewUser {
            email,
            password,
            role,
            grants: Grants::default(),
        };
        let user = users::create(&self.admin, &actor, new).await?;
        Ok(UserCredentials {
            user,
            generated_password,
        })
    }

    async fn set_role(&self, which: Expected<UserId>, role: Role) -> Result<User, AdminError> {
        let patch = UserPatch {
            role: Some(role),
            ..UserPatch::default()
        };
        self.update(which, patch).await
    }

    async fn grant(&self, which: Expected<UserId>, new: NewGrant) -> Result<User, AdminError> {
        let grants = self.grants_of(which.id).await?;
        let role = Role::parse(&new.role);
        let grant = role
            .and_then(|role| Grant::new(new.scope, role))
            .map_err(|error| AdminError::invalid("role", error))?;
        let grants = grants
            .with(grant)
            .map_err(|error| AdminError::invalid("scope", error))?;
        self.set_grants(which, grants).await.map_err(scope_refused)
    }

    async fn remove_grant(
        &self,
        which: Expected<UserId>,
        scope: GrantScope,
    ) -> Result<User, AdminError> {
        let grants = self.grants_of(which.id).await?;
        self.set_grants(which, grants.without(&scope)).await
    }

    async fn reset_password(
        &self,
        which: Expected<UserId>,
        password: String,
    ) -> Result<UserCredentials, AdminError> {
        let (password, generated_password) = self
            .password(password)
            .map_err(|detail| AdminError::invalid("password", detail))?;
        let patch = UserPatch {
            password: Some(password),
            ..UserPatch::default()
        };
        let user = self.update(which, patch).await?;
        Ok(UserCredentials {
            user,
            generated_password,
        })
    }

    async fn delete_person(&self, which: Expected<UserId>) -> Result<(), AdminError> {
        let actor = self.actor.administrator()?;
        let (account, expected) = (
            AccountSelector::Of(Some(which.id)),
            expected(which.revision),
        );
        Ok(users::delete(&self.admin, &actor, account, &expected).await?)
    }

    async fn revoke_token_of(&self, owner: UserId, token: TokenId) -> Result<(), AdminError> {
        let which = TokenSelector {
            owner: AccountSelector::Of(Some(owner)),
            token: Some(token),
        };
        Ok(tokens::revoke(&self.admin, &self.actor, which).await?)
    }
}

impl SignedIn {
    /// The password that was entered, or a generated one to show.
    fn password(&self, entered: String) -> Result<(NewPassword, Option<String>), &'static str> {
        if entered.is_empty() {
            let generated_password = NewPassword::generate(&self.admin.entropy);
            let shown = generated_password.expose().to_owned();
            return Ok((generated_password, Some(shown)));
        }
        let password = NewPassword::try_from(entered)?;
        Ok((password, None))
    }

    /// Returns the grants of a user. The expected revision protects them from concurrent changes.
    async fn grants_of(&self, id: UserId) -> Result<Grants, AdminError> {
        let actor = self.actor.administrator()?;
        let user = users::get(&self.admin, &actor, AccountSelector::Of(Some(id))).await?;
        Ok(user.grants)
    }

    async fn set_grants(
        &self,
        which: Expected<UserId>,
        grants: Grants,
    ) -> Result<User, AdminError> {
        let patch = UserPatch {
            grants: Some(grants),
            ..UserPatch::default()
        };
        self.update(which, patch).await
    }

    async fn update(&self, which: Expected<UserId>, patch: UserPatch) -> Result<User, AdminError> {
        let actor = self.actor.administrator()?;
        let (account, expected) = (
            AccountSelector::Of(Some(which.id)),
            expected(which.revision),
        );
        Ok(users::update(&self.admin, &actor, account, &expected, patch).await?)
    }
}
