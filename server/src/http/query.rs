//! Query strings: every bad and every unknown parameter is reported at once.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use http::request::Parts;
use pennon_core::model::Invalid;
use pennon_core::model::audit::AuditExtra;
use pennon_core::model::environment::EnvironmentStatus;
use pennon_core::model::flag::FlagOrder;
use pennon_core::model::page::{Limit, PageNumber, PageRequest};
use pennon_core::model::time::Timestamp;
use pennon_core::model::user::Role;

use crate::error::{Error, Fault};

/// The parameters of a query, in the order in which they were given.
pub(crate) struct Query<T = Untyped>(Vec<(String, String)>, PhantomData<fn() -> T>);

/// What a query holds that its handler reads by itself.
pub(crate) enum Untyped {}

/// A type that is read from the parameters of a query.
pub(crate) trait FromParameters: Sized {
    /// Asks for every parameter before it looks at any, so that all that is wrong is found at once; answers none after
    /// a fault has been reported.
    fn from_parameters(parameters: &mut Parameters) -> Option<Self>;
}

/// A selection out of a list, and the page of it that is asked for.
pub(crate) struct Paged<T>(pub(crate) T, pub(crate) PageRequest);

impl<T: FromParameters> FromParameters for Paged<T> {
    fn from_parameters(parameters: &mut Parameters) -> Option<Self> {
        let page = parameters.page();
        let selection = T::from_parameters(parameters);
        Some(Self(selection?, page?))
    }
}

impl<S: Sync, T> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        let query = parts.uri.query().unwrap_or_default();
        let given = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        Ok(Self(given, PhantomData))
    }
}

/// A path that knows no parameters: any is a fault, because a typo must not pass in silence.
pub(crate) struct NoQuery;

impl<S: Sync> FromRequestParts<S> for NoQuery {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let query = <Query>::from_request_parts(parts, state).await?;
        query.read_by(|_| Some(Self))
    }
}

impl<T: FromParameters> Query<T> {
    /// Reads the query.
    pub(crate) fn read(self) -> Result<T, Error> {
        self.read_by(T::from_parameters)
    }
}

impl<T> Query<T> {
    /// Reads the query by `reader`, which answers none after it has reported a fault.
    fn read_by<U>(self, reader: impl FnOnce(&mut Parameters) -> Option<U>) -> Result<U, Error> {
        let mut parameters = Parameters {
            given: self.0,
            faults: Vec::new(),
        };
        let input = reader(&mut parameters);
        let Parameters { given, mut faults } = parameters;
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
}

impl Query {
    /// The values of a parameter that may be repeated; none if it is absent. Others are ignored.
    pub(crate) fn repeated(self, names: &[&str]) -> Option<Vec<String>> {
        let values: Vec<String> = self
            .0
            .into_iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .map(|(_, value)| value)
            .collect();
        (!values.is_empty()).then_some(values)
    }
}

/// The parameters of a query, handed out one by one. What nobody asked for is a fault.
pub(crate) struct Parameters {
    given: Vec<(String, String)>,
    faults: Vec<Fault>,
}

impl Parameters {
    /// A parameter that may be absent; the outer none is a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none is a fault that has been recorded"
    )]
    pub(crate) fn optional<T: FromParameter>(&mut self, name: &str) -> Option<Option<T>> {
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
}

impl FromParameter for String {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        Ok(value)
    }
}

impl FromParameter for bool {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        value.parse().map_err(|_| "must be `true` or `false`")
    }
}

impl FromParameter for PageNumber {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        integer(&value).and_then(|number| Self::try_from(number).map_err(Invalid::detail))
    }
}

impl FromParameter for Limit {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        integer(&value).and_then(|number| Self::try_from(number).map_err(Invalid::detail))
    }
}

/// Words of a closed list.
macro_rules! from_word {
    ($($name:ty),+ $(,)?) => {$(
        impl FromParameter for $name {
            fn from_parameter(value: String) -> Result<Self, &'static str> {
                Self::parse(&value).map_err(Invalid::detail)
            }
        }
    )+};
}

from_word!(EnvironmentStatus, FlagOrder);

impl FromParameter for Role {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        Self::parse(&value).map_err(Invalid::detail)
    }
}

impl FromParameter for AuditExtra {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        Self::parse(&value).map_err(Invalid::detail)
    }
}

impl FromParameter for Timestamp {
    fn from_parameter(value: String) -> Result<Self, &'static str> {
        value.parse().map_err(|invalid: Invalid| invalid.detail())
    }
}

fn integer(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "must be an integer")
}
