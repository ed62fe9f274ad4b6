//! Changes of objects that must exist: one that does not is refused before the body is.

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::path::{FromPath, Path};
use crate::admin::{Admin, Existence};
use crate::auth::actor::Actor;
use crate::error::Error;

/// The identifier of the object that a path names and a body changes.
///
/// The use case reads the object in its own transaction. So existence is checked separately only when the body is
/// refused, and a change reads its object once.
pub(crate) struct Existing<Id>(Id);

impl<Id: Existence + Copy> Existing<Id> {
    /// The identifier. The object may be missing.
    pub(crate) fn id(&self) -> Id {
        self.0
    }

    /// Reads a body. If it is refused and the object does not exist, the latter is the error.
    pub(crate) async fn with<T>(
        self,
        admin: &Admin,
        actor: &Actor,
        reading: impl Future<Output = Result<T, Error>>,
    ) -> Result<(Id, T), Error> {
        match reading.await {
            Ok(content) => Ok((self.0, content)),
            Err(refusal) => {
                self.0.check(admin, actor).await?;
                Err(refusal)
            }
        }
    }
}

impl<S: Send + Sync, Id: FromPath> FromRequestParts<S> for Existing<Id> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path(id) = Path::from_request_parts(parts, state).await?;
        Ok(Self(id))
    }
}
