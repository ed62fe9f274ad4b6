//! An operation, described by the parts of a handler's signature.

use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use serde_json::Value;
use utoipa::openapi::content::{Content, ContentBuilder};
use utoipa::openapi::path::{HttpMethod, Operation, Parameter};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{HeaderBuilder, Ref, RefOr, Required, Response, Schema, SecurityRequirement};

use super::Schemas;
use super::problems::Problems;
use super::shape::header;
use crate::http::code::Code;

/// The media type of bodies, except errors and files.
const JSON: &str = "application/json";

/// The media type with which pages of other origins send a body without a preflight request.
const TEXT: &str = "text/plain";

/// An operation under construction.
pub(crate) struct OperationBuilder<'d> {
    /// The schemas to which parts refer.
    pub(crate) schemas: &'d mut Schemas,
    problems: &'d mut Problems,
    operation: Operation,
    needs: Vec<String>,
    refusals: BTreeSet<Code>,
    is_read: bool,
    is_change: bool,
    body_options: BodyOptions,
}

/// Properties of a body that do not follow from its type.
#[derive(Default)]
pub(super) struct BodyOptions {
    /// An example.
    pub(super) example: Option<Value>,
    /// True if the body may be declared as text.
    pub(super) accepts_text: bool,
}

/// A successful response of an operation.
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) about: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) schema: Option<RefOr<Schema>>,
    /// Header names and their descriptions.
    pub(crate) headers: Vec<(&'static str, &'static str)>,
}

impl Answered {
    /// Creates a response with a JSON body, or without a body.
    pub(crate) fn new(
        status: StatusCode,
        about: &'static str,
        schema: Option<RefOr<Schema>>,
    ) -> Self {
        Self {
            status,
            about,
            media_type: JSON,
            schema,
            headers: Vec::new(),
        }
    }
}

impl<'d> OperationBuilder<'d> {
    pub(super) fn new(
        method: &HttpMethod,
        operation: Operation,
        body_options: BodyOptions,
        schemas: &'d mut Schemas,
        problems: &'d mut Problems,
    ) -> Self {
        Self {
            schemas,
            problems,
            operation,
            needs: Vec::new(),
            refusals: BTreeSet::from([Code::InternalError]),
            is_read: *method == HttpMethod::Get,
            is_change: false,
            body_options,
        }
    }

    /// Adds refusals with these codes.
    pub(crate) fn refuses(&mut self, codes: impl IntoIterator<Item = Code>) {
        self.refusals.extend(codes);
    }

    /// Accepts the reason of a change, in a header and in the body, unless the operation reads.
    pub(crate) fn takes_reason(&mut self) {
        if self.is_read {
            return;
        }
        let about = "The reason for the change, for the audit log: 1 to 500 characters of percent-encoded UTF-8. A JSON body can give it as `reason` instead.";
        let text = ObjectBuilder::new().schema_type(Type::String);
        let reason = header("X-Change-Reason", about).schema(Some(text.min_length(Some(1))));
        self.parameter(reason);
        self.refuses([Code::InvalidInput]);
        self.is_change = true;
    }

    /// Returns true if the operation accepts the reason of a change.
    pub(crate) fn is_change(&self) -> bool {
        self.is_change
    }

    /// Requires a credential of this scheme.
    pub(crate) fn needs_credential(&mut self, scheme: &str) {
        let requirement = SecurityRequirement::new(scheme, Vec::<String>::new());
        self.operation
            .security
            .get_or_insert_default()
            .push(requirement);
    }

    /// Makes the credential optional.
    pub(crate) fn may_be_anonymous(&mut self) {
        self.operation
            .security
            .get_or_insert_default()
            .push(SecurityRequirement::default());
    }

    /// Adds a sentence about requirements to the end of the description.
    pub(crate) fn needs(&mut self, sentence: impl Into<String>) {
        self.needs.push(sentence.into());
    }

    /// Adds a parameter.
    pub(crate) fn parameter(&mut self, parameter: impl Into<Parameter>) {
        let parameters = self.operation.parameters.get_or_insert_default();
        parameters.push(parameter.into().into());
    }

    /// Adds a JSON body.
    pub(crate) fn body(&mut self, schema: RefOr<Schema>) {
        let BodyOptions {
            example,
            accepts_text,
        } = std::mem::take(&mut self.body_options);
        let content = ContentBuilder::new().schema(Some(schema)).example(example);
        let content = content.build();
        let mut body = RequestBodyBuilder::new().required(Some(Required::True));
        if accepts_text {
            body = body.content(TEXT, content.clone());
        }
        let body: RequestBody = body.content(JSON, content).build();
        self.operation.request_body = Some(body.into());
    }

    /// Adds a successful response.
    pub(crate) fn answers(&mut self, answered: Answered) {
        let mut response = ResponseBuilder::new().description(answered.about);
        if let Some(schema) = answered.schema {
            response = response.content(answered.media_type, content(schema));
        }
        for (name, about) in answered.headers {
            response = response.header(name, text_header(about));
        }
        self.respond(answered.status, with_request_id(response).build());
    }

    /// Adds a response with its own description.
    pub(crate) fn respond(&mut self, status: StatusCode, response: impl Into<RefOr<Response>>) {
        self.operation
            .responses
            .responses
            .insert(status.as_str().to_owned(), response.into());
    }

    pub(super) fn into_operation(mut self) -> Operation {
        // An empty list states that the operation needs no credential.
        self.operation.security.get_or_insert_default();
        let mut by_status = BTreeMap::<u16, Vec<Code>>::new();
        for code in std::mem::take(&mut self.refusals) {
            by_status
                .entry(code.status().as_u16())
                .or_default()
                .push(code);
        }
        for codes in by_status.into_values() {
            let status = codes.first().map_or(StatusCode::OK, |code| code.status());
            let response = self.problems.refer(&codes, self.schemas);
            self.respond(status, response);
        }
        if !self.needs.is_empty() {
            let needs = self.needs.join(" ");
            let description = self.operation.description.get_or_insert_default();
            if !description.is_empty() {
                description.push_str("\n\n");
            }
            description.push_str(&needs);
        }
        self.operation
    }
}

fn content(schema: RefOr<Schema>) -> Content {
    ContentBuilder::new().schema(Some(schema)).build()
}

/// Returns a header with a string value.
pub(super) fn text_header(about: &str) -> utoipa::openapi::Header {
    HeaderBuilder::new()
        .description(Some(about))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

/// Adds the header of every response.
pub(super) fn with_request_id(response: ResponseBuilder) -> ResponseBuilder {
    response.header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId"))
}
