//! Conditional reading: `If-None-Match` (RFC 9110, section 13.1.2).

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::header::IF_NONE_MATCH;
use http::request::Parts;
use utoipa::openapi::Required;
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::openapi::{Input, OperationBuilder};

/// What the client has already, by its tags.
pub(crate) struct IfNoneMatch(Vec<String>);

impl IfNoneMatch {
    /// Whether the client has anything.
    pub(crate) fn is_anything(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether the client has what this tag identifies, by the weak comparison of RFC 9110, 8.8.3.2.
    pub(crate) fn has(&self, etag: &str) -> bool {
        let current = opaque(etag);
        self.0
            .iter()
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .any(|tag| tag == "*" || opaque(tag) == current)
    }
}

/// A tag without the mark of a weak one.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

impl<S: Sync> FromRequestParts<S> for IfNoneMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let values = parts.headers.get_all(IF_NONE_MATCH).iter();
        let values = values.filter_map(|value| value.to_str().ok());
        Ok(Self(values.map(str::to_owned).collect()))
    }
}

impl Input for IfNoneMatch {
    fn describe(builder: &mut OperationBuilder<'_>) {
        builder.parameter(
            ParameterBuilder::new()
                .name("If-None-Match")
                .parameter_in(ParameterIn::Header)
                .required(Required::False)
                .description(Some(
                    "The `ETag` of the last answer: 304 if nothing has changed.",
                ))
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .build(),
        );
    }
}
