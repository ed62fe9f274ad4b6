//! Authenticated callers of the Admin API and the dashboard, and their roles.

use std::ops::Deref;

use axum::extract::{FromRef, FromRequestParts};
use http::Extensions;
use http::request::Parts;
use pennon_model::audit::RequestId;
use pennon_model::id::{SessionId, TokenId, UserId};
use pennon_model::secret::SecretHash;
use pennon_model::time::Timestamp;
use pennon_model::token::TokenName;
use pennon_model::user::{Role, User};

use super::secret::{TOKEN_PREFIX, is_sdk_key};
use super::{Auth, PresentedCredential, presented};
use crate::error::Error;
use crate::store::{self, Tx};

/// An authenticated caller with any role, who may read.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    credential: Credential,
    /// The effective role: that of the account, or that of the token if it is lower.
    role: Role,
    /// The role that the request requires, which is checked again when it writes.
    needed: Role,
    /// The request that the actor makes; none on the command line.
    request: Option<RequestId>,
}

/// An actor and the actor's credential.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// A person who is signed in to the API or the dashboard.
    Session(User, SessionId),
    /// A script with a personal access token.
    Token(User, TokenId, TokenName),
    /// An operator who runs the binary with access to the database.
    CommandLine,
}

/// An actor who may also write flags, rules, rollouts and configurations.
pub(crate) struct Editor {
    actor: Actor,
}

/// An actor who may do everything.
pub(crate) struct Administrator {
    actor: Actor,
}

/// An actor who has signed in with a password, which is required to manage the actor's own credentials.
#[derive(Clone)]
pub(crate) struct Person {
    actor: Actor,
    user: User,
    session: SessionId,
}

impl Actor {
    /// Returns the actor for the command line. It needs no check, because an operator who can run it can also change
    /// the database directly.
    pub(crate) fn command_line() -> Self {
        Self::new(Credential::CommandLine, Role::Admin)
    }

    fn new(credential: Credential, role: Role) -> Self {
        Self {
            credential,
            role,
            needed: Role::Viewer,
            request: None,
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
        match self.credential {
            Credential::Token(_, token, _) => Some(token),
            Credential::Session(..) | Credential::CommandLine => None,
        }
    }

    /// Adds the actor's request.
    fn requesting(self, extensions: &Extensions) -> Self {
        let request = extensions.get().cloned();
        Self { request, ..self }
    }

    /// Returns the request that the actor makes; none on the command line.
    pub(crate) fn request(&self) -> Option<&RequestId> {
        self.request.as_ref()
    }

    /// Returns the effective role of the actor.
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Returns true if this is the actor's own account.
    pub(crate) fn is(&self, user: UserId) -> bool {
        self.user().is_some_and(|own| own.id == user)
    }

    /// Returns the actor's name in the audit log.
    pub(crate) fn identity(&self) -> String {
        match &self.credential {
            Credential::Session(user, _) => user.email.clone(),
            Credential::Token(user, _, name) => format!("{} ({name})", user.email),
            Credential::CommandLine => "cli".to_owned(),
        }
    }

    /// Returns the actor as an editor, if the role suffices.
    pub(crate) fn editor(&self) -> Result<Editor, Error> {
        let actor = self.at_least(Role::Editor)?;
        Ok(Editor { actor })
    }

    /// Returns the actor as an administrator, if the role suffices.
    pub(crate) fn administrator(&self) -> Result<Administrator, Error> {
        let actor = self.at_least(Role::Admin)?;
        Ok(Administrator { actor })
    }

    /// Returns the actor as a person, if they have signed in with a password.
    pub(crate) fn person(self) -> Result<Person, Error> {
        let Credential::Session(user, session) = &self.credential else {
            return Err(Error::WrongCredential);
        };
        Ok(Person {
            user: user.clone(),
            session: *session,
            actor: self,
        })
    }

    /// Returns the actor with the obligation to have this role when it writes, if the role suffices now.
    pub(crate) fn at_least(&self, needed: Role) -> Result<Self, Error> {
        if self.role < needed {
            return Err(Error::Forbidden(needed));
        }
        Ok(Self {
            needed,
            ..self.clone()
        })
    }

    /// Checks, within the transaction that writes, that the actor still has the rights that were checked at the start
    /// of the request. In the meantime, the session or token may have ended, or the role may have been lowered.
    pub(crate) async fn confirm(&self, tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
        let role = match self.credential {
            Credential::Session(_, session) => store::sessions::by_id(tx, session, now)
                .await?
                .map(|user| user.role),
            Credential::Token(_, token, _) => store::tokens::living(tx, token, now).await?,
            Credential::CommandLine => Some(Role::Admin),
        };
        match role {
            None => Err(Error::Unauthenticated),
            Some(role) if role < self.needed => Err(Error::Forbidden(self.needed)),
            Some(_) => Ok(()),
        }
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
        let user = store::sessions::by_id(&mut auth.db.read().await?, session, now).await?;
        Ok(Self::signed_in(
            user.ok_or(Error::Unauthenticated)?,
            session,
        ))
    }

    /// Authenticates a personal access token, which never allows more than its owner's current role.
    async fn from_token(auth: &Auth, token: &str) -> Result<Self, Error> {
        let (hash, now) = (SecretHash::of(token), auth.clock.now());
        let found = store::tokens::by_hash(&mut auth.db.read().await?, hash, now).await?;
        let (token, owner) = found.ok_or(Error::Unauthenticated)?;
        let role = token.role.min(owner.role);
        let credential = Credential::Token(owner, token.id, token.name);
        Ok(Self::new(credential, role))
    }

    fn signed_in(user: User, session: SessionId) -> Self {
        let role = user.role;
        Self::new(Credential::Session(user, session), role)
    }
}

impl Person {
    /// Returns the account.
    pub(crate) fn user(&self) -> &User {
        &self.user
    }

    /// Returns the person's session.
    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// Returns true if the session is still valid: it has not ended, and the role is the same.
    pub(crate) async fn is_signed_in(&self, auth: &Auth) -> Result<bool, Error> {
        let now = auth.clock.now();
        let user = store::sessions::by_id(&mut auth.db.read().await?, self.session, now).await?;
        Ok(user.is_some_and(|user| user.role == self.user.role))
    }

    /// Authenticates the dashboard's cookie, in the request that has these extensions.
    pub(crate) async fn from_cookie(
        auth: &Auth,
        cookie: &str,
        extensions: &Extensions,
    ) -> Result<Self, Error> {
        let (cookie, now) = (SecretHash::of(cookie), auth.clock.now());
        let found = store::sessions::by_cookie(&mut auth.db.read().await?, cookie, now).await?;
        let (session, user) = found.ok_or(Error::Unauthenticated)?;
        Actor::signed_in(user, session)
            .requesting(extensions)
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
                Ok(actor.requesting(&parts.extensions))
            }
            PresentedCredential::Nothing | PresentedCredential::Unusable => {
                Err(Error::Unauthenticated)
            }
        }
    }
}

/// Makes caller types extractors, which check the rights of the request's actor, and lets them dereference to that
/// actor.
macro_rules! from_actor {
    ($($caller:ty: $proof:ident),+) => {$(
        impl<S> FromRequestParts<S> for $caller
        where
            Auth: FromRef<S>,
            S: Send + Sync,
        {
            type Rejection = Error;

            async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
                Actor::from_request_parts(parts, state).await?.$proof()
            }
        }

        impl Deref for $caller {
            type Target = Actor;

            fn deref(&self) -> &Actor {
                &self.actor
            }
        }
    )+};
}

from_actor!(Editor: editor, Administrator: administrator, Person: person);
