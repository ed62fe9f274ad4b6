//! Changes of existing objects. If the object is missing, that is the error, even if the body is also invalid.

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::path::{FromPath, Path};
use crate::admin::{Admin, Existence};
use crate::error::Error;

/// The ID of an object that the path names and the body changes.
///
/// The use case reads the object in its own transaction. A separate check for existence happens only if the body is
/// invalid, so a successful change reads the object once.
pub(crate) struct Existing<Id>(Id);

impl<Id: Copy> Existing<Id> {
    /// Returns the ID. The object may not exist.
    pub(crate) fn id(&self) -> Id {
        self.0
    }

    /// Reads a body. If the body is invalid, and the object does not exist or the actor has no right to it, returns the
    /// error about the object.
    pub(crate) async fn with<T, By>(
        self,
        admin: &Admin,
        actor: &By,
        reading: impl Future<Output = Result<T, Error>>,
    ) -> Result<(Id, T), Error>
    where
        Id: Existence<By>,
    {
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
