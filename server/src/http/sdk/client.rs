//! The client named by a request.

use std::convert::Infallible;
use std::sync::LazyLock;

use axum::extract::FromRequestParts;
use http::HeaderName;
use http::request::Parts;
use pennon_model::client::{Client, Version};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::http::openapi::shape::header;
use crate::http::openapi::{Input, OperationBuilder};

const X_PENNON_CLIENT: HeaderName = HeaderName::from_static("x-pennon-client");

/// The version of this server. Clients are released with the same version.
static SERVER_VERSION: LazyLock<Version> =
    LazyLock::new(|| Version::parse(env!("CARGO_PKG_VERSION")).unwrap_or(Version::new(0, 0, 0)));

/// The client in the header `X-Pennon-Client`. A header of any other form is neither stored nor logged.
pub(super) struct NamedClient(pub(super) Client);

impl<S: Sync> FromRequestParts<S> for NamedClient {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let value = parts.headers.get(X_PENNON_CLIENT);
        let value = value.and_then(|value| value.to_str().ok());
        let client = value.map(|value| Client::from_header(value, &SERVER_VERSION));
        Ok(Self(client.unwrap_or(Client::Other)))
    }
}

impl Input for NamedClient {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let about = "The npm package and version that make the request. Requests are counted by client, and never \
                     refused because of this header. If it is missing or invalid, they count as another client.";
        let name = ObjectBuilder::new()
            .schema_type(Type::String)
            .examples(["@pennon/core/0.1.0"]);
        builder.parameter(header("X-Pennon-Client", about).schema(Some(name)));
    }
}
