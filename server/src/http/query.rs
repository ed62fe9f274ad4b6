//! Query strings. All invalid and unknown parameters are reported at once.

use axum::extract::FromRequestParts;
use http::request::Parts;
use pennon_model::page::PageRequest;

use super::fields::{Fields, FromFields, from_fields};
use crate::error::Error;

/// A parsed query, or its faults. Permission is checked before they are reported.
pub(crate) struct Query<T>(Result<T, Error>);

impl<S: Sync, T: FromFields> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Ok(Self(read(parts)))
    }
}

impl<T> Query<T> {
    /// Returns the parameters.
    pub(crate) fn read(self) -> Result<T, Error> {
        self.0
    }
}

/// Reads the query of a request.
pub(crate) fn read<T: FromFields>(parts: &Parts) -> Result<T, Error> {
    Fields::read_query(parts.uri.query().unwrap_or_default(), T::from_fields)
        .map_err(Error::Invalid)
}

/// The query of a path without parameters. Every parameter is a fault, so that typos are noticed.
pub(crate) struct NoQuery;

impl<S: Sync> FromRequestParts<S> for NoQuery {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        read(parts)
    }
}

impl FromFields for NoQuery {
    fn from_fields(_: &mut Fields<'_>) -> Option<Self> {
        Some(Self)
    }
}

/// A filter of a list, and the requested page.
pub(crate) struct Paged<T>(pub(crate) T, pub(crate) PageRequest);

impl<T: FromFields> FromFields for Paged<T> {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let page = PageRequest::from_fields(fields);
        let selection = T::from_fields(fields);
        Some(Self(selection?, page?))
    }
}

from_fields! {
    PageRequest {
        page: or_default("page"),
        limit: or_default("limit"),
    }
}
