//! Conversion of JSON values to domain types.

use pennon_core::Invalid;
use pennon_core::rollout::{Percentage, Strategy};
use pennon_core::rule::{Attribute, Integer, Logic, OperandText, Operator, Priority, ValueType};
use pennon_core::ttl::Ttl;
use pennon_model::audit::{AuditAction, AuditExtra, ChangeReason};
use pennon_model::bulk::BulkActionName;
use pennon_model::configuration::ConfigurationPart;
use pennon_model::environment::{
    ClientRules, EnvironmentName, EnvironmentSort, EnvironmentStatus, ProductName, Visibility,
};
use pennon_model::flag::{FlagKey, FlagName, FlagOrder, FlagType};
use pennon_model::flag_table::{FlagExtra, FlagState};
use pennon_model::id::{EnvironmentId, FlagId, RuleId};
use pennon_model::json::Json;
use pennon_model::metadata::{Expiry, FlagKind, FlagOwner, FlagTag, FlagTags};
use pennon_model::page::{Limit, PageNumber};
use pennon_model::previous_key::OverlapSeconds;
use pennon_model::text::{Description, NewName};
use pennon_model::time::Timestamp;
use pennon_model::token::TokenName;
use pennon_model::user::{Email, Role};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};

use super::openapi::Schemas;

use crate::admin::tokens::{MAX_DAYS, TokenDays};
use crate::auth::password::{CHARACTERS, NewPassword};
use crate::auth::secret::{GivenSdkKey, GivenToken};

/// A type that can be read from a JSON value or a query parameter. The error describes the rule that was broken.
pub(crate) trait FromJson: Sized {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str>;

    /// Reads the value of a query parameter.
    fn from_text(text: String) -> Result<Self, &'static str> {
        Self::from_json(Json::String(text.into()))
    }

    /// Returns the schema of the values, or a reference to it.
    fn schema(schemas: &mut Schemas) -> RefOr<Schema>;
}

impl FromJson for bool {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        match value {
            Json::Boolean(boolean) => Ok(boolean),
            _ => Err("must be a boolean"),
        }
    }

    fn from_text(text: String) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "must be `true` or `false`")
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

/// Implements [`FromJson`] for secrets that were generated elsewhere. Bootstrap files contain them, the API does not.
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

from_secret!(GivenSdkKey: "pn[kp]_", GivenToken: "pnt_");

impl FromJson for TokenDays {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        integer(&value)?.try_into()
    }

    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(MAX_DAYS))
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

/// Implements [`FromJson`] for the IDs of objects.
macro_rules! id_from_json {
    ($($id:ty: $refusal:literal),+) => {$(
        impl FromJson for $id {
            fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
                let id = String::from_json(value)?.parse();
                id.map_err(|_| $refusal)
            }

            /// Returns a schema without an example: the reference page would send the example as the value of the
            /// parameter.
            fn schema(_: &mut Schemas) -> RefOr<Schema> {
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .format(Some(SchemaFormat::Custom("uuid".to_owned())))
                    .into()
            }
        }
    )+};
}

id_from_json!(EnvironmentId: "must be the id of an environment", FlagId: "must be the id of a flag");

/// Tags to search for, separated by commas.
pub(crate) struct TagList(pub(crate) FlagTags);

impl FromJson for TagList {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        let tags = FlagTags::parse_list(&String::from_json(value)?).map_err(Invalid::detail)?;
        if tags.is_empty() {
            return Err("must have at least one tag");
        }
        Ok(Self(tags))
    }

    /// Returns a schema without an example: the reference page would send the example as the value of the parameter.
    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).into()
    }
}

/// A time in a query.
pub(crate) struct QueryTime(pub(crate) Timestamp);

impl FromJson for QueryTime {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        Timestamp::from_json(value).map(Self)
    }

    /// Returns a schema without an example: the reference page would send the example as the value of the parameter.
    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .into()
    }
}

/// Text to search for. Its length is limited because databases limit patterns.
pub(crate) struct Search(pub(crate) String);

impl Search {
    /// The maximum length of a search text, in characters.
    pub(crate) const MAX: usize = 200;
}

impl FromJson for Search {
    fn from_json(value: Json<'_>) -> Result<Self, &'static str> {
        let text = String::from_json(value)?;
        if text.chars().count() > Self::MAX {
            return Err("must have at most 200 characters");
        }
        Ok(Self(text))
    }

    fn schema(_: &mut Schemas) -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .max_length(Some(Self::MAX))
            .into()
    }
}

/// Implements [`FromJson`] for types that validate and describe themselves.
macro_rules! from_json {
    ($(|$value:ident| $read:expr => $($name:ty),+;)+) => {$($(
        impl FromJson for $name {
            fn from_json($value: Json<'_>) -> Result<Self, &'static str> {
                $read
            }

            fn schema(schemas: &mut Schemas) -> RefOr<Schema> {
                schemas.refer::<Self>()
            }
        }
    )+)+};
}

from_json! {
    // Strings.
    |value| Self::try_from(String::from_json(value)?).map_err(Invalid::detail) =>
        ChangeReason, Description, Email, EnvironmentName, Expiry, FlagKey, FlagName, FlagOwner, FlagTag, ProductName,
        TokenName;
    |value| Self::try_from(Box::<str>::from(String::from_json(value)?)).map_err(Invalid::detail) =>
        Attribute, OperandText;
    |value| String::from_json(value)?.parse().map_err(Invalid::detail) => Timestamp;
    |value| String::from_json(value)?.parse().map_err(|_| "must be the id of a rule") => RuleId;
    // Enumerations.
    |value| Self::parse(&String::from_json(value)?).map_err(Invalid::detail) =>
        AuditAction, AuditExtra, BulkActionName, ClientRules, ConfigurationPart, EnvironmentSort, EnvironmentStatus, FlagExtra, FlagKind,
        FlagOrder, FlagState, FlagType, Logic, Operator, Role, Strategy, ValueType, Visibility;
    // Integers with a range.
    |value| Self::try_from(integer(&value)?).map_err(Invalid::detail) => Integer, Percentage, Priority, Ttl;
    // Integers of queries.
    |value| Self::try_from(parsed_integer(&String::from_json(value)?)?).map_err(Invalid::detail) =>
        Limit, OverlapSeconds, PageNumber;
}

/// Parses an integer in a query.
fn parsed_integer(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "must be an integer")
}

/// Reads an integer in a body. `25.0` is an integer, too, because JSON has only one kind of number.
fn integer(value: &Json<'_>) -> Result<i64, &'static str> {
    match value {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the cast saturates beyond all permitted ranges"
        )]
        Json::Number(number) if number.fract() == 0.0 => Ok(*number as i64),
        _ => Err("must be an integer"),
    }
}

/// An enumeration whose value determines the members of an object.
pub(crate) trait Variant: FromJson + Copy + 'static {
    /// Every value.
    const ALL: &'static [Self];

    /// Returns the value as it is in JSON.
    fn name(self) -> &'static str;
}

macro_rules! variant {
    ($($type:ty),+) => {$(
        impl Variant for $type {
            const ALL: &'static [Self] = Self::ALL;

            fn name(self) -> &'static str {
                self.as_str()
            }
        }
    )+};
}

variant!(BulkActionName, ValueType);
