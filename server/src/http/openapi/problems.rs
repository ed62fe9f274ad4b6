//! Refusals: problem documents with the codes that they can have.

use std::collections::BTreeMap;

use http::StatusCode;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Response};

use super::Schemas;
use super::operation::{text_header, with_request_id};
use crate::http::code::Code;
use crate::http::error::Problem;

/// The responses with problem documents, by name. Operations with the same refusals share them.
#[derive(Default)]
pub(super) struct Problems(BTreeMap<String, RefOr<Response>>);

impl Problems {
    /// Returns a reference to the response with these codes, which all have the same status.
    pub(super) fn refer(&mut self, codes: &[Code], schemas: &mut Schemas) -> RefOr<Response> {
        let names: Vec<String> = codes.iter().map(|code| format!("{code:?}")).collect();
        let name = names.join("Or");
        let reference = Ref::new(format!("#/components/responses/{name}"));
        self.0
            .entry(name)
            .or_insert_with(|| response(codes, schemas).into());
        reference.into()
    }

    pub(super) fn into_inner(self) -> BTreeMap<String, RefOr<Response>> {
        self.0
    }
}

fn response(codes: &[Code], schemas: &mut Schemas) -> Response {
    let status = codes.first().map_or(StatusCode::OK, |code| code.status());
    let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let narrowed = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property(
            "status",
            ObjectBuilder::new()
                .schema_type(Type::Integer)
                .enum_values(Some([status.as_u16()])),
        )
        .property(
            "code",
            ObjectBuilder::new()
                .schema_type(Type::String)
                .enum_values(Some(words)),
        );
    let schema = AllOfBuilder::new()
        .item(schemas.refer::<Problem<'_>>())
        .item(narrowed);
    let content = ContentBuilder::new()
        .schema(Some(schema))
        .example(codes.first().map(|code| Problem::example(*code)))
        .build();
    let mut titles: Vec<&str> = codes.iter().map(|code| code.title()).collect();
    titles.dedup();
    let mut response = ResponseBuilder::new()
        .description(titles.join(", or "))
        .content("application/problem+json", content);
    for (name, about) in headers(status) {
        response = response.header(*name, text_header(about));
    }
    with_request_id(response).build()
}

/// The headers of responses with a status.
fn headers(status: StatusCode) -> &'static [(&'static str, &'static str)] {
    match status {
        StatusCode::UNAUTHORIZED => &[("WWW-Authenticate", "`Bearer`.")],
        StatusCode::PRECONDITION_FAILED => &[(
            "ETag",
            "The current revision of the object; absent if it does not exist, or if the request has no `If-Match`.",
        )],
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            &[("Retry-After", "The number of seconds to wait.")]
        }
        _ => &[],
    }
}
