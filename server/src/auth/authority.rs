//! The rights of an actor for a change, as types.
//!
//! A change takes the type of actor that it requires, so a forgotten check does not compile. A request first gives
//! [`AnyEditor`] or [`AnyAdministrator`], who have the role for something. Once the subject of the request is known,
//! they become an [`Editor`], a [`FlagEditor`] or an [`EnvironmentAdministrator`], if they have the role for it.

use std::ops::Deref;

use axum::extract::{FromRef, FromRequestParts};
use http::request::Parts;
use pennon_model::environment::{Environment, ProductName};
use pennon_model::flag::FlagProducts;
use pennon_model::grant::Resource;
use pennon_model::time::Timestamp;
use pennon_model::user::Role;

use super::Auth;
use super::actor::Actor;
use super::intent::read_reason;
use crate::error::Error;
use crate::store::Tx;

/// An actor who may make a change. The right is checked again in the transaction that makes it.
#[derive(Clone)]
pub(crate) struct Authorized {
    actor: Actor,
    /// The required role, and the resources for which it is required.
    required: (Role, Vec<Resource>),
}

/// An actor who makes a change that requires no particular role everywhere.
pub(crate) struct AnyRole {
    actor: Actor,
}

/// An actor who is an editor of something: of everything, or of a product or environment.
pub(crate) struct AnyEditor {
    actor: Actor,
}

/// An actor who may change the configurations, rules and rollouts of an environment.
pub(crate) struct Editor {
    actor: Authorized,
}

/// An actor who may change a flag itself: an editor of all products that it names, or of everything if it names none.
pub(crate) struct FlagEditor {
    actor: Authorized,
}

/// An actor who is an administrator of something: of everything, or of a product or environment.
pub(crate) struct AnyAdministrator {
    actor: Actor,
}

/// An actor who may change an environment itself, or create one in a product.
pub(crate) struct EnvironmentAdministrator {
    actor: Authorized,
}

/// An actor who may do everything.
pub(crate) struct Administrator {
    actor: Authorized,
}

impl Authorized {
    /// Checks, within the transaction that writes, that the actor still has the rights that were checked before. In the
    /// meantime, the session or token may have ended, or the role may have been lowered.
    pub(crate) async fn confirm(&self, tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
        let current = self.actor.current_credential(tx, now).await?;
        let current = current.ok_or(Error::Unauthenticated)?;
        let (role, resources) = &self.required;
        check(*role, resources, |resource| current.role_for(resource))
    }
}

/// Fails if the role is lower for one of the resources.
fn check(
    role: Role,
    resources: &[Resource],
    role_for: impl Fn(&Resource) -> Role,
) -> Result<(), Error> {
    match resources.iter().find(|each| role_for(each) < role) {
        Some(refused) => Err(Error::ForbiddenFor(role, refused.clone())),
        None => Ok(()),
    }
}

impl Actor {
    /// Returns the actor with the right to manage their own credentials.
    pub(crate) fn on_own_behalf(self) -> Authorized {
        Authorized {
            actor: self,
            required: (Role::Viewer, Vec::new()),
        }
    }

    /// Returns the actor with whatever role it has.
    pub(crate) fn any_role(&self) -> Result<AnyRole, Error> {
        let actor = self.with_any(Role::Viewer)?;
        Ok(AnyRole { actor })
    }

    /// Returns the actor as an editor of something.
    pub(crate) fn any_editor(&self) -> Result<AnyEditor, Error> {
        let actor = self.with_any(Role::Editor)?;
        Ok(AnyEditor { actor })
    }

    /// Returns the actor as an administrator of something.
    pub(crate) fn any_administrator(&self) -> Result<AnyAdministrator, Error> {
        let actor = self.with_any(Role::Admin)?;
        Ok(AnyAdministrator { actor })
    }

    /// Returns the actor as an administrator of everything.
    pub(crate) fn administrator(&self) -> Result<Administrator, Error> {
        let everything = vec![Resource::Everything];
        let actor = self.authorized(Role::Admin, everything);
        let actor = actor.map_err(|_| Error::Forbidden(Role::Admin))?;
        Ok(Administrator { actor })
    }

    fn with_any(&self, role: Role) -> Result<Self, Error> {
        if self.highest_role() < role {
            return Err(Error::Forbidden(role));
        }
        Ok(self.clone())
    }

    fn authorized(&self, role: Role, resources: Vec<Resource>) -> Result<Authorized, Error> {
        check(role, &resources, |resource| self.role_for(resource))?;
        Ok(Authorized {
            actor: self.clone(),
            required: (role, resources),
        })
    }
}

impl AnyEditor {
    /// Returns the actor as an editor of an environment.
    pub(crate) fn of(&self, environment: &Environment) -> Result<Editor, Error> {
        let resources = vec![Resource::of(environment)];
        let actor = self.actor.authorized(Role::Editor, resources)?;
        Ok(Editor { actor })
    }

    /// Returns the actor as an editor of a flag with these products; none means every product.
    pub(crate) fn of_flag(&self, products: Option<&FlagProducts>) -> Result<FlagEditor, Error> {
        let resources = Resource::of_flag(products);
        let actor = self.actor.authorized(Role::Editor, resources)?;
        Ok(FlagEditor { actor })
    }
}

impl FlagEditor {
    /// Returns the actor as an editor of the same flag with these products as well; none means every product.
    pub(crate) fn also_of(&self, products: Option<&FlagProducts>) -> Result<Self, Error> {
        let (role, mut resources) = self.actor.required.clone();
        resources.extend(Resource::of_flag(products));
        let actor = self.actor.authorized(role, resources)?;
        Ok(Self { actor })
    }
}

impl AnyAdministrator {
    /// Returns the actor as an administrator of an environment.
    pub(crate) fn of(&self, environment: &Environment) -> Result<EnvironmentAdministrator, Error> {
        let resources = vec![Resource::of(environment)];
        let actor = self.actor.authorized(Role::Admin, resources)?;
        Ok(EnvironmentAdministrator { actor })
    }

    /// Returns the actor as an administrator of a product, who may create environments in it.
    pub(crate) fn of_product(
        &self,
        product: &ProductName,
    ) -> Result<EnvironmentAdministrator, Error> {
        let resources = vec![Resource::Product(product.clone())];
        let actor = self.actor.authorized(Role::Admin, resources)?;
        Ok(EnvironmentAdministrator { actor })
    }
}

impl Deref for Authorized {
    type Target = Actor;

    fn deref(&self) -> &Actor {
        &self.actor
    }
}

/// Lets types of actors dereference to what they contain.
macro_rules! deref_to_actor {
    ($($name:ty: $target:ty),+) => {$(
        impl Deref for $name {
            type Target = $target;

            fn deref(&self) -> &$target {
                &self.actor
            }
        }
    )+};
}

deref_to_actor!(
    AnyRole: Actor,
    AnyEditor: Actor,
    AnyAdministrator: Actor,
    Editor: Authorized,
    FlagEditor: Authorized,
    EnvironmentAdministrator: Authorized,
    Administrator: Authorized
);

/// Makes types of actors extractors, which check the rights of the request's actor and read the reason for its changes.
macro_rules! from_actor {
    ($($name:ty: $check:ident),+) => {$(
        impl<S> FromRequestParts<S> for $name
        where
            Auth: FromRef<S>,
            S: Send + Sync,
        {
            type Rejection = Error;

            async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
                let actor = Actor::from_request_parts(parts, state).await?.$check()?;
                read_reason(parts, &actor)?;
                Ok(actor)
            }
        }
    )+};
}

from_actor!(
    AnyRole: any_role,
    AnyEditor: any_editor,
    AnyAdministrator: any_administrator,
    Administrator: administrator
);
