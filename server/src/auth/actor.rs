//! Authenticated callers of the Admin API and the dashboard, and their roles.

use std::ops::Deref;

use axum::extract::{FromRef, FromRequestParts};
use http::Extensions;
use http::request::Parts;
use pennon_model::audit::{ChangeReason, RequestId};
use pennon_model::grant::Resource;
use pennon_model::id::{SessionId, TokenId, UserId};
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;
use pennon_model::token::Token;
use pennon_model::user::{Role, User};

use super::authority::Authorized;
use super::intent::{Intent, read_reason};
use super::secret::{TOKEN_PREFIX, is_sdk_key};
use super::{Auth, PresentedCredential, presented};
use crate::error::Error;
use crate::store::environments::Safeguards;
use crate::store::{self, Tx};

/// An authenticated caller with any role, who may read.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    credential: Credential,
    /// The request that the actor makes; none on the command line.
    request: Option<RequestId>,
    intent: Intent,
}

/// An actor and the actor's credential.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// A person who is signed in to the API or the dashboard.
    Session(User, SessionId),
    /// A script with a personal access token.
    Token(User, Token),
    /// An operator who runs the binary with access to the database.
    CommandLine,
}

/// An actor who has signed in with a password, which is required to manage the actor's own credentials.
#[derive(Clone)]
pub(crate) struct Person {
    actor: Authorized,
    user: User,
    session: SessionId,
}

impl Actor {
    /// Returns the actor for the command line. It needs no check, because an operator who can run it can also change
    /// the database directly.
    pub(crate) fn command_line() -> Self {
        Self::new(Credential::CommandLine)
    }

    fn new(credential: Credential) -> Self {
        Self {
            credential,
            request: None,
            intent: Intent::default(),
        }
    }

    /// Returns the account; none on the command line.
    pub(crate) fn user(&self) -> Option<&User> {
        match &self.credential {
            Credential::Session(user, _) | Credential::Token(user, ..) => Some(user),
            Credential::CommandLine => None,
        }
    }

    /// Returns the personal access token of a script.
    pub(crate) fn token(&self) -> Option<TokenId> {
        match &self.credential {
            Credential::Token(_, token) => Some(token.id),
            Credential::Session(..) | Credential::CommandLine => None,
        }
    }

    /// Adds the actor's request.
    fn with_request(self, extensions: &Extensions) -> Self {
        let request = extensions.get().cloned();
        Self { request, ..self }
    }

    /// Returns the request that the actor makes; none on the command line.
    pub(crate) fn request(&self) -> Option<&RequestId> {
        self.request.as_ref()
    }

    /// Adds the reason for the changes that the command line makes.
    pub(crate) fn with_reason(self, reason: Option<ChangeReason>) -> Self {
        let intent = Intent::of_user(reason, true);
        Self { intent, ..self }
    }

    /// Returns the intent behind the actor's changes.
    pub(super) fn intent(&self) -> &Intent {
        &self.intent
    }

    /// Returns the reason that the actor gives for the changes.
    pub(crate) fn reason(&self) -> Option<&ChangeReason> {
        self.intent.reason()
    }

    /// Fails if the actor lacks a reason or a confirmation that these safeguards require.
    pub(crate) fn check_safeguards<'s>(
        &self,
        safeguards: impl IntoIterator<Item = &'s Safeguards>,
    ) -> Result<(), Error> {
        self.intent.check(safeguards)
    }

    /// Returns the actor's role for a resource.
    pub(crate) fn role_for(&self, resource: &Resource) -> Role {
        self.credential.role_for(resource)
    }

    /// Returns the highest role that the actor may have for any resource.
    pub(crate) fn highest_role(&self) -> Role {
        self.credential.highest_role()
    }

    /// Returns true if this is the actor's own account.
    pub(crate) fn is(&self, user: UserId) -> bool {
        self.user().is_some_and(|own| own.id == user)
    }

    /// Returns the actor's name in the audit log.
    pub(crate) fn identity(&self) -> String {
        match &self.credential {
            Credential::Session(user, _) => user.email.clone(),
            Credential::Token(user, token) => format!("{} ({})", user.email, token.name),
            Credential::CommandLine => "cli".to_owned(),
        }
    }

    /// Returns the actor as a person, if they have signed in with a password.
    pub(crate) fn person(self) -> Result<Person, Error> {
        let Credential::Session(user, session) = &self.credential else {
            return Err(Error::WrongCredential);
        };
        Ok(Person {
            user: user.clone(),
            session: *session,
            actor: self.on_own_behalf(),
        })
    }

    /// Returns the actor with the rights that they have now. Fails if their credential has ended.
    pub(crate) async fn refreshed(&self, tx: &mut Tx, now: Timestamp) -> Result<Self, Error> {
        let credential = self.current_credential(tx, now).await?;
        Ok(Self {
            credential: credential.ok_or(Error::Unauthenticated)?,
            request: self.request.clone(),
            intent: self.intent.clone(),
        })
    }

    /// Returns the actor's credential with the rights that it has now; none if it has ended.
    pub(super) async fn current_credential(
        &self,
        tx: &mut Tx,
        now: Timestamp,
    ) -> Result<Option<Credential>, Error> {
        Ok(match &self.credential {
            Credential::Session(_, session) => store::sessions::by_id(tx, *session, now)
                .await?
                .map(|user| Credential::Session(user, *session)),
            Credential::Token(_, token) => store::tokens::by_id(tx, token.id, now)
                .await?
                .map(|(token, owner)| Credential::Token(owner, token)),
            Credential::CommandLine => Some(Credential::CommandLine),
        })
    }

    /// Authenticates a bearer credential of the Admin API.
    async fn from_bearer(auth: &Auth, credential: &str) -> Result<Self, Error> {
        if is_sdk_key(credential) {
            return Err(Error::WrongCredential);
        }
        if credential.starts_with(TOKEN_PREFIX) {
            return Self::from_token(auth, credential).await;
        }
        let now = auth.clock.now();
        let session = auth
            .access_tokens
            .session(credential, now)
            .ok_or(Error::Unauthenticated)?;
        let user = store::sessions::by_id(&mut auth.db.authenticate().await?, session, now).await?;
        Ok(Self::signed_in(
            user.ok_or(Error::Unauthenticated)?,
            session,
        ))
    }

    /// Authenticates a personal access token, which never allows more than its owner's current role.
    async fn from_token(auth: &Auth, token: &str) -> Result<Self, Error> {
        let (hash, now) = (SecretHash::of(token), auth.clock.now());
        let found = store::tokens::by_hash(&mut auth.db.authenticate().await?, hash, now).await?;
        let (token, owner) = found.ok_or(Error::Unauthenticated)?;
        Ok(Self::new(Credential::Token(owner, token)))
    }

    fn signed_in(user: User, session: SessionId) -> Self {
        Self::new(Credential::Session(user, session))
    }
}

impl Credential {
    /// Returns the role for a resource. A token never gives more than its owner's.
    pub(super) fn role_for(&self, resource: &Resource) -> Role {
        match self {
            Self::Session(user, _) => user.role_for(resource),
            Self::Token(owner, token) => {
                let limit = owner.role_for(resource);
                token.grants.role_for(resource, token.role).min(limit)
            }
            Self::CommandLine => Role::Admin,
        }
    }

    /// Returns the highest role that the credential may give for any resource.
    fn highest_role(&self) -> Role {
        match self {
            Self::Session(user, _) => user.highest_role(),
            Self::Token(owner, token) => {
                let highest = token.grants.highest(token.role);
                highest.min(owner.highest_role())
            }
            Self::CommandLine => Role::Admin,
        }
    }
}

impl Person {
    /// Returns the account.
    pub(crate) fn user(&self) -> &User {
        &self.user
    }

    /// Returns the person with the intent behind their changes.
    pub(crate) fn with_intent(&self, intent: Intent) -> Self {
        let actor = Actor {
            intent,
            ..Actor::clone(&self.actor)
        };
        Self {
            user: self.user.clone(),
            session: self.session,
            actor: actor.on_own_behalf(),
        }
    }

    /// Returns the person's session.
    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// Returns true if the session is still valid: it has not ended, and the role and the grants are the same.
    pub(crate) async fn is_signed_in(&self, auth: &Auth) -> Result<bool, Error> {
        let now = auth.clock.now();
        let user =
            store::sessions::by_id(&mut auth.db.authenticate().await?, self.session, now).await?;
        Ok(user
            .is_some_and(|user| (user.role, &user.grants) == (self.user.role, &self.user.grants)))
    }

    /// Authenticates the dashboard's cookie, in the request that has these extensions.
    pub(crate) async fn from_cookie(
        auth: &Auth,
        cookie: &str,
        extensions: &Extensions,
    ) -> Result<Self, Error> {
        let (cookie, now) = (SecretHash::of(cookie), auth.clock.now());
        let found =
            store::sessions::by_cookie(&mut auth.db.authenticate().await?, cookie, now).await?;
        let (session, user) = found.ok_or(Error::Unauthenticated)?;
        Actor::signed_in(user, session)
            .with_request(extensions)
            .person()
    }
}

impl<S> FromRequestParts<S> for Actor
where
    Auth: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match presented(&parts.headers) {
            PresentedCredential::Bearer(credential) => {
                let actor = Self::from_bearer(&Auth::from_ref(state), credential).await?;
                Ok(actor.with_request(&parts.extensions))
            }
            PresentedCredential::Nothing | PresentedCredential::Unusable => {
                Err(Error::Unauthenticated)
            }
        }
    }
}

impl<S> FromRequestParts<S> for Person
where
    Auth: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let person = Actor::from_request_parts(parts, state).await?.person()?;
        read_reason(parts, &person)?;
        Ok(person)
    }
}

impl Deref for Person {
    type Target = Authorized;

    /// A person may always change their own credentials.
    fn deref(&self) -> &Authorized {
        &self.actor
    }
}
