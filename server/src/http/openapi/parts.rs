//! Descriptions of the parts of handlers' signatures.

use axum::extract::State;
use http::{HeaderMap, Method, StatusCode, Uri};
use pennon_model::user::Role;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::shape::header;
use super::{Answered, OperationBuilder, Schemas};
use crate::admin::Admin;
use crate::auth::actor::{Actor, Person};
use crate::auth::authority::{Administrator, AnyAdministrator, AnyEditor, AnyRole};
use crate::error::Error;
use crate::evaluation::Serving;
use crate::evaluation::sdk_environment::SdkKey;
use crate::http::body::{Body, NoBody};
use crate::http::client_address::ClientAddress;
use crate::http::code::Code;
use crate::http::coding::Accepted;
use crate::http::existing::Existing;
use crate::http::fields::FromFields;
use crate::http::if_match::IfMatch;
use crate::http::path::{FromPath, Path};
use crate::http::query::{NoQuery, Query};
use crate::http::respond::{
    Changed, Created, Json, NoContent, OrDashboard, Put, Revised, Tagged, TaggedAs,
};
use crate::state::{AppState, Runtime};

/// The scheme of access tokens, for users and scripts.
pub(super) const ACCESS_TOKEN: &str = "accessToken";

/// The scheme of SDK keys, for applications.
pub(super) const SDK_KEY: &str = "sdkKey";

/// The scheme of SDK keys in a separate header.
pub(crate) const API_KEY: &str = "apiKey";

/// An extractor that describes its input and its refusals.
pub(crate) trait Input {
    fn describe(builder: &mut OperationBuilder<'_>);
}

/// A type that describes the successful responses of an operation.
pub(crate) trait Answer {
    fn answers(schemas: &mut Schemas) -> Vec<Answered>;
}

/// A type that a request body can contain.
pub(crate) trait InBody {
    fn schema(schemas: &mut Schemas) -> RefOr<Schema>;

    /// Returns the schema of a body that can also give the reason of a change.
    fn schema_with_reason(schemas: &mut Schemas) -> RefOr<Schema> {
        Self::schema(schemas)
    }
}

/// A handler, described by its signature `S`, which is inferred.
pub(crate) trait Described<S> {
    fn describe(builder: &mut OperationBuilder<'_>);
}

/// The codes with which any operation that takes time can be refused.
pub(crate) const WHEN_BUSY: [Code; 2] = [Code::Overloaded, Code::TimedOut];

macro_rules! handlers {
    ($(($($input:ident),*))+) => {$(
        impl<F, Answering, A, $($input,)*> Described<fn($($input),*) -> Answering> for F
        where
            F: Fn($($input),*) -> Answering,
            Answering: Future<Output = A>,
            A: Answer,
            $($input: Input,)*
        {
            fn describe(builder: &mut OperationBuilder<'_>) {
                $($input::describe(builder);)*
                for answered in A::answers(builder.schemas) {
                    builder.answers(answered);
                }
            }
        }
    )+};
}

handlers! {
    ()
    (I1)
    (I1, I2)
    (I1, I2, I3)
    (I1, I2, I3, I4)
    (I1, I2, I3, I4, I5)
    (I1, I2, I3, I4, I5, I6)
    (I1, I2, I3, I4, I5, I6, I7)
}

/// Implements [`Input`] for inputs that callers do not see.
macro_rules! unseen {
    ($($input:ty),+) => {$(
        impl Input for $input {
            fn describe(_: &mut OperationBuilder<'_>) {}
        }
    )+};
}

unseen!(
    Accepted,
    ClientAddress,
    HeaderMap,
    Method,
    State<AppState>,
    State<Admin>,
    State<Runtime>,
    State<Serving>,
    Uri
);

impl Input for Actor {
    fn describe(builder: &mut OperationBuilder<'_>) {
        builder.needs_credential(ACCESS_TOKEN);
        builder.refuses([
            Code::Unauthenticated,
            Code::WrongCredential,
            Code::DatabaseUnavailable,
            Code::StorageFull,
        ]);
        builder.refuses(WHEN_BUSY);
    }
}

/// The caller of a handler that checks something else first.
impl Input for Result<Actor, Error> {
    fn describe(builder: &mut OperationBuilder<'_>) {
        Actor::describe(builder);
    }
}

impl Input for Person {
    fn describe(builder: &mut OperationBuilder<'_>) {
        Actor::describe(builder);
        builder.takes_reason();
        builder.needs("Requires a session; a personal access token is refused.");
    }
}

impl Input for AnyRole {
    fn describe(builder: &mut OperationBuilder<'_>) {
        Actor::describe(builder);
        builder.takes_reason();
    }
}

impl Input for AnyEditor {
    fn describe(builder: &mut OperationBuilder<'_>) {
        Actor::describe(builder);
        role(builder, Role::Editor);
        builder.refuses([Code::ReasonRequired]);
    }
}

impl Input for AnyAdministrator {
    fn describe(builder: &mut OperationBuilder<'_>) {
        Actor::describe(builder);
        role(builder, Role::Admin);
        builder.refuses([Code::ReasonRequired]);
    }
}

impl Input for Administrator {
    fn describe(builder: &mut OperationBuilder<'_>) {
        Actor::describe(builder);
        role(builder, Role::Admin);
    }
}

fn role(builder: &mut OperationBuilder<'_>, role: Role) {
    builder.refuses([Code::Forbidden]);
    builder.needs(format!("Requires the role `{role}`."));
    builder.takes_reason();
}

impl Input for SdkKey {
    fn describe(builder: &mut OperationBuilder<'_>) {
        builder.needs_credential(SDK_KEY);
        builder.refuses([
            Code::Unauthenticated,
            Code::TooManyRequests,
            Code::DatabaseUnavailable,
        ]);
        builder.refuses(WHEN_BUSY);
    }
}

impl Input for Option<SdkKey> {
    fn describe(builder: &mut OperationBuilder<'_>) {
        SdkKey::describe(builder);
        builder.may_be_anonymous();
    }
}

impl<T: FromPath> Input for Path<T> {
    fn describe(builder: &mut OperationBuilder<'_>) {
        T::describe(builder);
    }
}

impl<T: FromPath> Input for Existing<T> {
    fn describe(builder: &mut OperationBuilder<'_>) {
        T::describe(builder);
    }
}

impl Input for NoQuery {
    fn describe(builder: &mut OperationBuilder<'_>) {
        builder.refuses([Code::InvalidInput]);
    }
}

impl<T: FromFields> Input for Query<T> {
    fn describe(builder: &mut OperationBuilder<'_>) {
        for parameter in T::shape(builder.schemas).into_parameters() {
            builder.parameter(parameter);
        }
        builder.refuses([Code::InvalidInput]);
    }
}

impl<T: FromFields> InBody for T {
    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        T::refer(schemas)
    }

    fn schema_with_reason(schemas: &mut Schemas) -> RefOr<Schema> {
        T::refer_with_reason(schemas)
    }
}

impl<T: InBody> Input for Body<T> {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let schema = if builder.is_change() {
            T::schema_with_reason(builder.schemas)
        } else {
            T::schema(builder.schemas)
        };
        builder.body(schema);
        builder.refuses([
            Code::InvalidInput,
            Code::MalformedBody,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::RequestTimeout,
        ]);
        builder.refuses(WHEN_BUSY);
    }
}

impl Input for NoBody {
    fn describe(builder: &mut OperationBuilder<'_>) {
        builder.refuses([
            Code::InvalidInput,
            Code::MalformedBody,
            Code::BodyTooLarge,
            Code::RequestTimeout,
        ]);
        builder.refuses(WHEN_BUSY);
    }
}

impl Input for IfMatch {
    fn describe(builder: &mut OperationBuilder<'_>) {
        // The reference page would send an example as the value of the header.
        let about = "The `ETag` of the object as you read it, in quotes: `\"3\"`. If it has changed since, the request is refused.";
        builder.parameter(header("If-Match", about));
        builder.refuses([Code::Stale]);
    }
}

impl<T: Answer, E> Answer for Result<T, E> {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        T::answers(schemas)
    }
}

impl<T: ToSchema> Answer for Json<T> {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let schema = schemas.refer::<T>();
        vec![Answered::new(StatusCode::OK, "Done.", Some(schema))]
    }
}

impl<T: ToSchema + Revised> Answer for Tagged<T> {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let answers = Json::<T>::answers(schemas);
        with_header(answers, "ETag", "The object's revision, for `If-Match`.")
    }
}

impl<T: ToSchema> Answer for TaggedAs<T> {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let answers = Json::<T>::answers(schemas);
        with_header(answers, "ETag", "The revision, for `If-Match`.")
    }
}

impl<T: Answer> Answer for Created<T> {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let about = "The path of the created object.";
        let mut answers = with_header(T::answers(schemas), "Location", about);
        for answered in &mut answers {
            answered.status = StatusCode::CREATED;
            answered.about = "Created.";
        }
        answers
    }
}

impl Answer for NoContent {
    fn answers(_: &mut Schemas) -> Vec<Answered> {
        vec![Answered::new(StatusCode::NO_CONTENT, "Done.", None)]
    }
}

impl Answer for Changed {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let answers = NoContent::answers(schemas);
        with_header(
            answers,
            "ETag",
            "The object's new revision, for `If-Match`.",
        )
    }
}

impl<T: Answer> Answer for Put<T> {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let mut answers = Created::<T>::answers(schemas);
        answers.extend(T::answers(schemas));
        answers
    }
}

impl<T: Answer> Answer for OrDashboard<T> {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let mut answers = T::answers(schemas);
        let about = "A redirect to a dashboard page, for browsers without a credential.";
        let mut redirect = Answered::new(StatusCode::SEE_OTHER, about, None);
        redirect.headers.push(("Location", "The path of the page."));
        answers.push(redirect);
        answers
    }
}

/// Returns the responses and a 304 for a client that already has the content, each with the content's tag.
pub(crate) fn unless_known(
    mut answers: Vec<Answered>,
    unchanged: &'static str,
    etag: &'static str,
) -> Vec<Answered> {
    answers.push(Answered::new(StatusCode::NOT_MODIFIED, unchanged, None));
    with_header(answers, "ETag", etag)
}

/// Returns the responses with an additional header.
fn with_header(
    mut answers: Vec<Answered>,
    name: &'static str,
    about: &'static str,
) -> Vec<Answered> {
    for answered in &mut answers {
        answered.headers.push((name, about));
    }
    answers
}
