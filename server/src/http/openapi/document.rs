//! The complete OpenAPI document.

use std::collections::BTreeMap;

use utoipa::openapi::path::{PathItem, Paths};
use utoipa::openapi::schema::{Components, ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{HeaderBuilder, Info, License, OpenApi, OpenApiBuilder, RefOr, Server};

use super::parts::{ACCESS_TOKEN, API_KEY, SDK_KEY};
use super::problems::Problems;
use super::routes::{Group, Route, Routes};
use super::{OperationBuilder, Schemas};

const ABOUT: &str = include_str!("about.md");

/// Creates the OpenAPI document of the routes.
pub(crate) fn document(routes: Routes) -> OpenApi {
    let (mut schemas, mut problems) = (Schemas::default(), Problems::default());
    let (mut paths, mut tags) = (Paths::new(), Vec::new());
    for Group {
        name,
        about,
        routes,
    } in routes.groups
    {
        tags.push(
            TagBuilder::new()
                .name(name)
                .description(Some(about))
                .build(),
        );
        for route in routes {
            add(&mut paths, name, route, &mut schemas, &mut problems);
        }
    }
    let mut info = Info::new("Pennon", env!("CARGO_PKG_VERSION"));
    info.description = Some(ABOUT.to_owned());
    let mut license = License::new("MIT OR Apache-2.0");
    license.identifier = Some(license.name.clone());
    info.license = Some(license);
    let mut components = Components::new();
    components.schemas = schemas.into_inner();
    components.responses = problems.into_inner();
    components.headers = BTreeMap::from([("RequestId".to_owned(), request_id())]);
    components.security_schemes = security_schemes();
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new("/")]))
        .paths(paths)
        .components(Some(components))
        .tags(Some(tags))
        .build()
}

fn add(
    paths: &mut Paths,
    group: &str,
    route: Route,
    schemas: &mut Schemas,
    problems: &mut Problems,
) {
    let mut operation = route.operation;
    let name = operation.operation_id.take().unwrap_or_default();
    operation.operation_id = Some(format!("{}.{name}", slug(group)));
    operation.tags = Some(vec![group.to_owned()]);
    let options = route.body_options;
    let mut builder = OperationBuilder::new(&route.method, operation, options, schemas, problems);
    (route.describe)(&mut builder);
    builder.refuses(route.refusals);
    let item = PathItem::new(route.method, builder.into_operation());
    match paths.paths.get_mut(&route.path) {
        Some(existing) => existing.merge_operations(item),
        None => drop(paths.paths.insert(route.path, item)),
    }
}

/// Returns the name of a group for operation IDs.
fn slug(group: &str) -> String {
    group.to_ascii_lowercase().replace(' ', "-")
}

fn request_id() -> RefOr<utoipa::openapi::Header> {
    HeaderBuilder::new()
        .description(Some(
            "The identifier of the request in the log. It is the caller's `X-Request-Id` if that consists of up to \
             128 letters, digits and `-_.:/+=`, otherwise a new one.",
        ))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
        .into()
}

fn api_key() -> SecurityScheme {
    SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(
        "X-API-Key",
        "The `sdkKey` of an environment, for OpenFeature providers that send it in this header.",
    )))
}

fn security_schemes() -> BTreeMap<String, RefOr<SecurityScheme>> {
    let bearer = |format: &str, about: &str| {
        let mut scheme = Http::new(HttpAuthScheme::Bearer);
        scheme.bearer_format = Some(format.to_owned());
        scheme.description = Some(about.to_owned());
        SecurityScheme::Http(scheme).into()
    };
    BTreeMap::from([
        (
            ACCESS_TOKEN.to_owned(),
            bearer(
                "JWT, or pnt_…",
                "The credential of users and scripts: the `access_token` of `POST /auth/login`, or a personal access \
                 token.",
            ),
        ),
        (
            SDK_KEY.to_owned(),
            bearer(
                "pnk_…, or pnp_…",
                "The credential of applications: the `sdkKey` of an environment, returned when it is created or its \
                 key is replaced.",
            ),
        ),
        (API_KEY.to_owned(), api_key().into()),
    ])
}
