//! Query strings: every bad and every unknown parameter is reported at once.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use http::request::Parts;
use pennon_core::Invalid;
use pennon_model::audit::AuditExtra;
use pennon_model::environment::EnvironmentStatus;
use pennon_model::flag::FlagOrder;
use pennon_model::page::{Limit, PageNumber, PageRequest};
use pennon_model::time::Timestamp;
use pennon_model::user::Role;

use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Required, Schema};

use super::openapi::Schemas;
use crate::error::{Error, Fault};

/// The parameters of a query, in the order in which they were given.
pub(crate) struct Query<T>(Vec<(String, String)>, PhantomData<fn() -> T>);

/// A type that is read from the parameters of a query.
pub(crate) trait FromParameters: Sized {
    /// Asks for every parameter before it looks at any, so that all that is wrong is found at once; answers none after
    /// a fault has been reported.
    fn from_parameters(parameters: &mut Parameters<'_>) -> Option<Self>;
}

/// A selection out of a list, and the page of it that is asked for.
pub(crate) struct Paged<T>(pub(crate) T, pub(crate) PageRequest);

impl<T: FromParameters> FromParameters for Paged<T> {
    fn from_parameters(parameters: &mut Parameters<'_>) -> Option<Self> {
        let page = parameters.page();
        let selection = T::from_parameters(parameters);
        Some(Self(selection?, page?))
    }
}

impl<S: Sync, T> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Ok(Self(given(parts), PhantomData))
    }
}

/// The names and values of a query, in the order in which they were given.
pub(crate) fn given(parts: &Parts) -> Vec<(String, String)> {
    let query = parts.uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

impl<T: FromParameters> Query<T> {
    /// Reads the query.
    pub(crate) fn read(self) -> Result<T, Error> {
        read(self.0, T::from_parameters)
    }
}

/// Reads all parameters of a request.
pub(crate) fn read_all<T: FromParameters>(parts: &Parts) -> Result<T, Error> {
    read(given(parts), T::from_parameters)
}

/// A path that knows no parameters: any is a fault, because a typo must not pass in silence.
pub(crate) struct NoQuery;

impl<S: Sync> FromRequestParts<S> for NoQuery {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        read(given(parts), |_| Some(Self))
    }
}

/// Reads a query by `reader`, which answers none after it has reported a fault.
fn read<T>(
    given: Vec<(String, String)>,
    reader: impl FnOnce(&mut Parameters<'_>) -> Option<T>,
) -> Result<T, Error> {
    let mut parameters = Parameters {
        given,
        faults: Vec::new(),
        about: None,
        notes: None,
    };
    let input = reader(&mut parameters);
    let Parameters {
        given, mut faults, ..
    } = parameters;
    faults.extend(
        given
            .into_iter()
            .map(|(name, _)| Fault::parameter(name, "is not known here")),
    );
    match input {
        Some(input) if faults.is_empty() => Ok(input),
        _ => Err(Error::Invalid(faults)),
    }
}

/// The parameters of a query, handed out one by one. What nobody asked for is a fault.
///
/// The same readers describe the parameters: then nothing is read, and what they ask for is noted.
pub(crate) struct Parameters<'p> {
    given: Vec<(String, String)>,
    faults: Vec<Fault>,
    /// What the next parameter is for.
    about: Option<&'static str>,
    notes: Option<Notes<'p>>,
}

/// What a reader asks for.
struct Notes<'p> {
    schemas: &'p mut Schemas,
    parameters: Vec<Parameter>,
}

impl Parameters<'_> {
    /// The parameters that a type is read from.
    pub(crate) fn noted<T: FromParameters>(schemas: &mut Schemas) -> Vec<Parameter> {
        let mut parameters = Parameters {
            given: Vec::new(),
            faults: Vec::new(),
            about: None,
            notes: Some(Notes {
                schemas,
                parameters: Vec::new(),
            }),
        };
        T::from_parameters(&mut parameters);
        parameters
            .notes
            .map(|notes| notes.parameters)
            .unwrap_or_default()
    }

    /// Says what the next parameter is for, where its name and type do not.
    pub(crate) fn about(&mut self, about: &'static str) -> &mut Self {
        self.about = Some(about);
        self
    }

    /// A parameter that may be absent; the outer none is a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none is a fault that has been recorded"
    )]
    pub(crate) fn optional<T: FromParameter>(&mut self, name: &str) -> Option<Option<T>> {
        let about = self.about.take();
        if let Some(notes) = &mut self.notes {
            let schema = T::schema(notes.schemas);
            notes.parameters.push(parameter(name, about, schema));
            return None;
        }
        let Some(index) = self.given.iter().position(|(given, _)| given == name) else {
            return Some(None);
        };
        let (_, value) = self.given.remove(index);
        let parsed = T::from_parameter(value);
        let twice = self.given.iter().any(|(given, _)| given == name);
        self.given.retain(|(given, _)| given != name);
        match parsed {
            _ if twice => self.fault(name, "must be given once"),
            Ok(value) => Some(Some(value)),
            Err(detail) => self.fault(name, detail),
        }
    }

    /// Which page is asked for.
    pub(crate) fn page(&mut self) -> Option<PageRequest> {
        let page = self.optional::<PageNumber>("page");
        let limit = self.optional::<Limit>("limit");
        Some(PageRequest {
            page: page?.unwrap_or_default(),
            limit: limit?.unwrap_or_default(),
        })
    }

    fn fault<T>(&mut self, name: &str, detail: &'static str) -> Option<T> {
        self.faults.push(Fault::parameter(name, detail));
        None
    }
}

/// A type that can be read from a parameter; the error is a sentence about it.
pub(crate) trait FromParameter: Sized {
    fn from_parameter(value: String) -> Result<Self, &'static str>;

    /// The schema of such values, or a reference to it.
    fn schema(schemas: &mut Schemas) -> RefOr<Schema>;
}

impl FromParameter for String {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        Ok(value)
    }

    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).into()
    }
}

/// Text to search for. It has a bound because databases have one on patterns.
pub(crate) struct Search(pub(crate) String);

impl Search {
    /// The most that a search may have, in characters.
    pub(crate) const MAX: usize = 200;
}

impl FromParameter for Search {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        if value.chars().count() > Self::MAX {
            return Err("must have at most 200 characters");
        }
        Ok(Self(value))
    }

    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .max_length(Some(Self::MAX))
            .into()
    }
}

impl FromParameter for bool {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        value.parse().map_err(|_| "must be `true` or `false`")
    }

    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Boolean).into()
    }
}

impl FromParameter for PageNumber {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        integer(&value).and_then(|number| Self::try_from(number).map_err(Invalid::detail))
    }

    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.refer::<Self>()
    }
}

impl FromParameter for Limit {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        integer(&value).and_then(|number| Self::try_from(number).map_err(Invalid::detail))
    }

    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.refer::<Self>()
    }
}

/// Words of a closed list.
macro_rules! from_word {
    ($($name:ty),+ $(,)?) => {$(
        impl FromParameter for $name {
            fn from_parameter(value: String) -> Result<Self, &'static str> {
                Self::parse(&value).map_err(Invalid::detail)
            }

            fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
                schemas.refer::<Self>()
            }
        }
    )+};
}

from_word!(AuditExtra, EnvironmentStatus, FlagOrder, Role);

impl FromParameter for Timestamp {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        value.parse().map_err(|invalid: Invalid| invalid.detail())
    }

    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.refer::<Self>()
    }
}

fn integer(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "must be an integer")
}

fn parameter(name: &str, about: Option<&str>, schema: RefOr<Schema>) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(about)
        .schema(Some(schema))
        .build()
}
