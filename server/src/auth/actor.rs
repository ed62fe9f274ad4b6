//! A person who administers: signed in, and with a role.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use http::request::Parts;
use pennon_core::model::id::SessionId;
use pennon_core::model::user::{Role, User};

use super::secret::{SDK_KEY_PREFIX, SecretHash};
use super::{Presented, presented};
use crate::error::Error;
use crate::service::Service;
use crate::store;

/// Somebody who is signed in, in any role: may read.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    user: User,
    session: SessionId,
}

/// An actor who may also write flags, rules, rollouts and configurations.
pub(crate) struct Editor(Actor);

/// An actor who may do everything.
pub(crate) struct Administrator(Actor);

impl Actor {
    /// The account.
    pub(crate) fn user(&self) -> &User {
        &self.user
    }

    /// The session in which the actor is signed in.
    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// The name under which the audit log knows the actor.
    pub(crate) fn identity(&self) -> &str {
        &self.user.email
    }

    /// The actor as an editor, if the role suffices.
    pub(crate) fn editor(self) -> Result<Editor, Error> {
        self.at_least(Role::Editor).map(Editor)
    }

    /// The actor as an administrator, if the role suffices.
    pub(crate) fn administrator(self) -> Result<Administrator, Error> {
        self.at_least(Role::Admin).map(Administrator)
    }

    fn at_least(self, role: Role) -> Result<Self, Error> {
        if self.user.role < role {
            Err(Error::Forbidden(role))
        } else {
            Ok(self)
        }
    }

    /// The actor whom a bearer credential of the Admin API proves.
    async fn from_bearer(service: &Service, credential: &str) -> Result<Self, Error> {
        if credential.starts_with(SDK_KEY_PREFIX) {
            return Err(Error::WrongCredential);
        }
        let now = service.clock.now();
        let session = service
            .access_tokens
            .session(credential, now)
            .ok_or(Error::Unauthenticated)?;
        let user = store::sessions::by_id(&mut service.db.read().await?, session, now).await?;
        Ok(Self {
            user: user.ok_or(Error::Unauthenticated)?,
            session,
        })
    }

    /// The actor whom the dashboard's cookie proves.
    pub(crate) async fn from_cookie(service: &Service, cookie: &str) -> Result<Self, Error> {
        let (cookie, now) = (SecretHash::of(cookie), service.clock.now());
        let found = store::sessions::by_cookie(&mut service.db.read().await?, cookie, now).await?;
        let (session, user) = found.ok_or(Error::Unauthenticated)?;
        Ok(Self { user, session })
    }
}

impl FromRequestParts<Service> for Actor {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        match presented(&parts.headers) {
            Presented::Bearer(credential) => Self::from_bearer(service, credential).await,
            Presented::Nothing | Presented::Unusable => Err(Error::Unauthenticated),
        }
    }
}

impl FromRequestParts<Service> for Editor {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        Actor::from_request_parts(parts, service).await?.editor()
    }
}

impl FromRequestParts<Service> for Administrator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Error> {
        Actor::from_request_parts(parts, service)
            .await?
            .administrator()
    }
}

impl Deref for Editor {
    type Target = Actor;

    fn deref(&self) -> &Actor {
        &self.0
    }
}

impl Deref for Administrator {
    type Target = Actor;

    fn deref(&self) -> &Actor {
        &self.0
    }
}
