//! JSON values as domain types.

use pennon_core::Invalid;
use pennon_core::rollout::{Percentage, Strategy};
use pennon_core::rule::{Attribute, Integer, Logic, OperandText, Operator, Priority, ValueType};
use pennon_core::ttl::Ttl;
use pennon_model::environment::{EnvironmentName, ProductName};
use pennon_model::flag::{FlagKey, FlagName, FlagType};
use pennon_model::id::RuleId;
use pennon_model::json::Json;
use pennon_model::text::{Description, NewName};
use pennon_model::time::Timestamp;
use pennon_model::token::TokenName;
use pennon_model::user::{Email, Role};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};

use super::openapi::Schemas;

use crate::admin::tokens::{MOST_DAYS, TokenDays};
use crate::auth::password::{CHARACTERS, NewPassword};
use crate::auth::secret::{GivenSdkKey, GivenToken};

/// A type that can be read from a JSON value; the error is a sentence about the member.
pub(crate) trait FromJson: Sized {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str>;

    /// The schema of such values, or a reference to it.
    fn schema(schemas: &mut Schemas) -> RefOr<Schema>;
}

impl FromJson for bool {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        match value {
            Json::Boolean(boolean) => Ok(boolean),
            _ => Err("must be a boolean"),
        }
    }

    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Boolean).into()
    }
}

impl FromJson for String {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        match value {
            Json::String(text) => Ok(text.into_owned()),
            _ => Err("must be a string"),
        }
    }

    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).into()
    }
}

impl FromJson for RuleId {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        let text = String::from_json(value)?;
        text.parse().map_err(|_| "must be the id of a rule")
    }

    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.refer::<Self>()
    }
}

impl FromJson for NewPassword {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        String::from_json(value)?.try_into()
    }

    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.define("NewPassword", |_| {
            ObjectBuilder::new()
                .schema_type(Type::String)
                .description(Some("A password of 12 to 256 characters."))
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Password)))
                .min_length(Some(*CHARACTERS.start()))
                .max_length(Some(*CHARACTERS.end()))
                .pattern(Some(r"^[^\u0000]*$"))
                .examples(["correct horse battery staple"])
                .into()
        })
    }
}

/// Secrets that were generated elsewhere, which files have and the API does not.
macro_rules! from_secret {
    ($($name:ty: $label:literal),+ $(,)?) => {$(
        impl FromJson for $name {
            fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
                String::from_json(value)?.try_into()
            }

            fn schema(_: &mut Schemas) -> RefOr<Schema> {
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .pattern(Some(concat!("^", $label, "[A-Za-z0-9_-]{43}$")))
                    .into()
            }
        }
    )+};
}

from_secret!(GivenSdkKey: "pnk_", GivenToken: "pnt_");

impl FromJson for TokenDays {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        integer(&value).ok_or("must be an integer")?.try_into()
    }

    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(MOST_DAYS))
            .into()
    }
}

impl<T: FromJson + AsRef<str>> FromJson for NewName<T> {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        let name = T::from_json(value)?;
        Self::new(name).map_err(Invalid::detail)
    }

    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        T::schema(schemas)
    }
}

impl FromJson for Timestamp {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        let time = String::from_json(value)?.parse();
        time.map_err(|invalid: Invalid| invalid.detail())
    }

    fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.refer::<Self>()
    }
}

/// Texts that check themselves.
macro_rules! from_text {
    ($($name:ty: $text:ty),+ $(,)?) => {$(
        impl FromJson for $name {
            fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
                let text: $text = String::from_json(value)?.into();
                Self::try_from(text).map_err(|invalid| invalid.detail())
            }

            fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
                schemas.refer::<Self>()
            }
        }
    )+};
}

/// Words of a closed list.
macro_rules! from_word {
    ($($name:ty),+ $(,)?) => {$(
        impl FromJson for $name {
            fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
                Self::parse(&String::from_json(value)?).map_err(|invalid| invalid.detail())
            }

            fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
                schemas.refer::<Self>()
            }
        }
    )+};
}

/// Integers with bounds. A number such as `25.0` is an integer in JSON, which knows one kind of number.
macro_rules! from_integer {
    ($($name:ty),+ $(,)?) => {$(
        impl FromJson for $name {
            fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
                let integer = integer(&value).ok_or("must be an integer")?;
                Self::try_from(integer).map_err(|invalid| invalid.detail())
            }

            fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
                schemas.refer::<Self>()
            }
        }
    )+};
}

from_text!(
    Attribute: Box<str>,
    Description: String,
    Email: String,
    EnvironmentName: String,
    FlagKey: String,
    FlagName: String,
    OperandText: Box<str>,
    ProductName: String,
    TokenName: String,
);
from_word!(FlagType, Logic, Operator, Role, Strategy, ValueType);
from_integer!(Integer, Percentage, Priority, Ttl);

fn integer(value: &Json<'_>) -> Option<i64> {
    match value {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the cast saturates, beyond every bound that there is"
        )]
        Json::Number(number) if number.fract() == 0.0 => Some(*number as i64),
        _ => None,
    }
}
