//! The members that a reader of a JSON object requests, recorded for OpenAPI.

use std::mem::{replace, take};

use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Required, Schema};

/// The members of an object, in the order of the requests.
#[derive(Default)]
pub(crate) struct Shape {
    members: Vec<Member>,
    /// The additional members for each value of the member that determines them.
    variants: Vec<Vec<Member>>,
    /// The common members of all variants, while a variant is recorded.
    common: Vec<Member>,
}

#[derive(Clone)]
struct Member {
    name: String,
    required: bool,
    about: Option<&'static str>,
    schema: RefOr<Schema>,
}

impl Shape {
    /// Records a member.
    pub(crate) fn member(
        &mut self,
        name: &str,
        required: bool,
        about: Option<&'static str>,
        schema: RefOr<Schema>,
    ) {
        self.members.push(Member {
            name: name.to_owned(),
            required,
            about,
            schema,
        });
    }

    /// Begins the members that exist only if `member` has the value `word`.
    pub(crate) fn begin_variant(&mut self, member: &str, word: &str) {
        self.common = take(&mut self.members);
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some([word]));
        self.member(member, true, None, schema.into());
    }

    /// Ends the variant of [`Self::begin_variant`].
    pub(crate) fn end_variant(&mut self) {
        let variant = replace(&mut self.members, take(&mut self.common));
        self.variants.push(variant);
    }

    /// Returns the members as query parameters.
    pub(crate) fn into_parameters(self) -> impl Iterator<Item = Parameter> {
        self.members.into_iter().map(|member| {
            parameter(ParameterIn::Query, &member.name, member.schema)
                .description(member.about)
                .build()
        })
    }

    /// Returns the schema of an object with these members and no others.
    pub(crate) fn into_schema(self, about: &str) -> Schema {
        let about = (!about.is_empty()).then_some(about);
        if self.variants.is_empty() {
            return object(self.members).description(about).build().into();
        }
        let variants = self.variants.into_iter().map(|variant| {
            let members = self.members.iter().cloned().chain(variant).collect();
            object(members)
        });
        variants
            .fold(OneOfBuilder::new().description(about), OneOfBuilder::item)
            .build()
            .into()
    }
}

fn object(members: Vec<Member>) -> ObjectBuilder {
    let closed = ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
    members.into_iter().fold(closed, |object, member| {
        let schema = described(member.schema, member.about);
        let object = object.property(member.name.as_str(), schema);
        if member.required {
            object.required(member.name)
        } else {
            object
        }
    })
}

/// Adds a description to a schema, if there is one.
fn described(schema: RefOr<Schema>, about: Option<&'static str>) -> RefOr<Schema> {
    let Some(about) = about.map(str::to_owned) else {
        return schema;
    };
    match schema {
        RefOr::Ref(mut reference) => {
            reference.description = about;
            reference.into()
        }
        RefOr::T(Schema::Object(mut object)) => {
            object.description = Some(about);
            Schema::from(object).into()
        }
        RefOr::T(Schema::Array(mut array)) => {
            array.description = Some(about);
            Schema::from(array).into()
        }
        RefOr::T(Schema::OneOf(mut one_of)) => {
            one_of.description = Some(about);
            Schema::from(one_of).into()
        }
        other @ RefOr::T(_) => other,
    }
}

/// Returns the schema of a string with this description.
pub(crate) fn text(about: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(about))
}

/// Returns a parameter. Only path parameters are required.
pub(crate) fn parameter(
    location: ParameterIn,
    name: &str,
    schema: impl Into<RefOr<Schema>>,
) -> ParameterBuilder {
    let required = match location {
        ParameterIn::Path => Required::True,
        _ => Required::False,
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(location)
        .required(required)
        .schema(Some(schema))
}

/// Returns an optional request header.
pub(crate) fn header(name: &str, about: &str) -> ParameterBuilder {
    let text = ObjectBuilder::new().schema_type(Type::String);
    parameter(ParameterIn::Header, name, text).description(Some(about))
}

/// Returns the schema of a value that may also be `null`.
pub(crate) fn nullable(schema: RefOr<Schema>) -> RefOr<Schema> {
    OneOfBuilder::new()
        .item(schema)
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .into()
}
