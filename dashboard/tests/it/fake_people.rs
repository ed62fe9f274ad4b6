//! The fake port's accounts: the signed-in user, who is the only one.

use async_trait::async_trait;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::port::Expected;
use pennon_dashboard::port::account::{NewToken, OwnAccount, PasswordChange};
use pennon_dashboard::port::people::{NewGrant, NewPerson, PeopleAdmin, UserCredentials, UserRow};
use pennon_model::{
    environment::ProductName,
    grant::GrantScope,
    id::{TokenId, UserId},
    page::{Page, PageRequest},
    secret::Secret,
    token::{CreatedToken, Token},
    user::{Role, User},
};
use uuid::Uuid;

use crate::fake::{Fake, NOW};

impl Fake {
    /// Returns the signed-in user.
    pub(crate) fn user(&self) -> User {
        User {
            id: UserId::new(Uuid::nil()),
            email: "ana@example.com".to_owned(),
            role: self.role,
            grants: self.grants.clone(),
            created_at: NOW,
            revision: 1,
        }
    }

    /// Returns a token with the grants of the signed-in user.
    fn token(&self) -> Token {
        Token {
            id: TokenId::new(Uuid::nil()),
            user_id: self.user().id,
            name: "deploy".to_owned().try_into().expect("a token's name"),
            role: Role::Viewer,
            grants: self.grants.clone(),
            token_prefix: "pnt_AAAAAAAA".to_owned(),
            created_at: NOW,
            expires_at: NOW,
        }
    }
}

#[async_trait]
impl PeopleAdmin for Fake {
    async fn people(&self, page: PageRequest) -> Result<Page<UserRow>, AdminError> {
        self.record_call("people".to_owned())?;
        let row = UserRow {
            user: self.user(),
            signed_in_at: None,
        };
        Ok(page.page_of(vec![row], 1))
    }

    async fn find_people(&self, text: &str) -> Result<Vec<User>, AdminError> {
        self.record_call(format!("find people {text}"))?;
        Ok(vec![self.user()])
    }

    async fn person(&self, _id: UserId) -> Result<(User, Vec<Token>), AdminError> {
        Ok((self.user(), vec![self.token()]))
    }

    async fn invite(&self, new: NewPerson) -> Result<UserCredentials, AdminError> {
        self.record_call(format!("invite {}", new.email))?;
        Ok(UserCredentials {
            user: self.user(),
            generated_password: None,
        })
    }

    async fn set_role(&self, which: Expected<UserId>, role: Role) -> Result<User, AdminError> {
        self.record_call(format!("{} becomes {role}", which.id))?;
        Ok(self.user())
    }

    async fn grant(&self, which: Expected<UserId>, new: NewGrant) -> Result<User, AdminError> {
        let Expected { id, revision } = which;
        let NewGrant { scope, role } = new;
        self.record_call(format!("grant {id}@{revision} {role} in {scope:?}"))?;
        Ok(self.user())
    }

    async fn remove_grant(
        &self,
        which: Expected<UserId>,
        scope: GrantScope,
    ) -> Result<User, AdminError> {
        let Expected { id, revision } = which;
        self.record_call(format!("remove grant of {id}@{revision} in {scope:?}"))?;
        Ok(self.user())
    }

    async fn reset_password(
        &self,
        which: Expected<UserId>,
        _password: String,
    ) -> Result<UserCredentials, AdminError> {
        self.record_call(format!("reset the password of {}", which.id))?;
        Ok(UserCredentials {
            user: self.user(),
            generated_password: None,
        })
    }

    async fn delete_person(&self, which: Expected<UserId>) -> Result<(), AdminError> {
        self.record_call(format!("delete {}", which.id))
    }

    async fn revoke_token_of(&self, owner: UserId, token: TokenId) -> Result<(), AdminError> {
        self.record_call(format!("revoke {token} of {owner}"))
    }
}

#[async_trait]
impl OwnAccount for Fake {
    async fn change_password(&self, _change: PasswordChange) -> Result<(), AdminError> {
        self.record_call("change the password".to_owned())
    }

    async fn tokens(&self) -> Result<Vec<Token>, AdminError> {
        Ok(vec![self.token()])
    }

    async fn create_token(&self, new: NewToken) -> Result<CreatedToken, AdminError> {
        let NewToken {
            name,
            role,
            scope,
            days,
        } = new;
        self.record_call(format!("token {name}, {role} in {scope:?}, {days} days"))?;
        Ok(CreatedToken {
            token: self.token(),
            secret: Secret::new("pnt_A".to_owned()),
        })
    }

    async fn remembered_product(&self) -> Result<Option<String>, AdminError> {
        Ok(None)
    }

    async fn remember_product(&self, product: Option<&ProductName>) -> Result<(), AdminError> {
        let product = product.map(ProductName::as_str);
        self.record_call(format!("remember {product:?}"))
    }

    async fn revoke_token(&self, token: TokenId) -> Result<(), AdminError> {
        self.record_call(format!("revoke {token}"))
    }
}
