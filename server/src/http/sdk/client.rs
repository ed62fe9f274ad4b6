//! The client named by a request.

use std::convert::Infallible;
use std::sync::LazyLock;

use axum::extract::FromRequestParts;
use http::HeaderName;
use http::header::ORIGIN;
use http::request::Parts;
use pennon_model::client::{Client, Version};
use utoipa::openapi::path::ParameterIn;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::http::openapi::shape::{header, parameter};
use crate::http::openapi::{Input, OperationBuilder};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
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
        Ok(Self(named(value.and_then(|value| value.to_str().ok()))))
    }
}

/// True if a web page makes the request. Browsers send these headers, and scripts cannot remove them.
pub(super) struct FromPage(pub(super) bool);

impl<S: Sync> FromRequestParts<S> for FromPage {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let headers = &parts.headers;
        Ok(Self(
            headers.contains_key(ORIGIN) || headers.contains_key(SEC_FETCH_SITE),
        ))
    }
}

impl Input for FromPage {
    fn describe(_: &mut OperationBuilder<'_>) {}
}

/// The client in the parameter `client` of the query, for requests without headers of their own.
pub(super) struct ClientInQuery(pub(super) Client);

impl<S: Sync> FromRequestParts<S> for ClientInQuery {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(named(in_query(parts, "client").as_deref())))
    }
}

/// Returns the first parameter of the query with this name.
pub(super) fn in_query(parts: &Parts, name: &str) -> Option<String> {
    let query = parts.uri.query().unwrap_or_default();
    let mut given = form_urlencoded::parse(query.as_bytes());
    given.find_map(|(each, value)| (each == name).then(|| value.into_owned()))
}

fn named(value: Option<&str>) -> Client {
    value.map_or(Client::Other, |value| {
        Client::from_header(value, &SERVER_VERSION)
    })
}

const ABOUT: &str = "The npm package and version that make the request. Requests are counted by client, and never \
                     refused because of this name. If it is missing or invalid, they count as another client.";

impl Input for NamedClient {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let name = ObjectBuilder::new()
            .schema_type(Type::String)
            .examples(["@pennon/core/0.1.0"]);
        builder.parameter(header("X-Pennon-Client", ABOUT).schema(Some(name)));
    }
}

impl Input for ClientInQuery {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let name = ObjectBuilder::new().schema_type(Type::String);
        let client = parameter(ParameterIn::Query, "client", name);
        builder.parameter(client.description(Some(ABOUT)));
    }
}
