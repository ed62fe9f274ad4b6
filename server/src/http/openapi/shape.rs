//! What a reader of a JSON object asks for, noted instead of read.

use std::mem::{replace, take};

use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

/// The members of an object, in the order in which they are asked for.
#[derive(Default)]
pub(crate) struct Shape {
    members: Vec<Member>,
    /// One for each word of the member that decides on others.
    variants: Vec<Vec<Member>>,
    /// What belongs to every variant, while one is noted.
    common: Vec<Member>,
}

#[derive(Clone)]
struct Member {
    name: String,
    required: bool,
    schema: RefOr<Schema>,
}

impl Shape {
    /// Notes a member.
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
            schema: described(schema, about),
        });
    }

    /// Begins the members that belong to one word of `member`.
    pub(crate) fn begin_variant(&mut self, member: &str, word: &str) {
        self.common = take(&mut self.members);
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some([word]));
        self.member(member, true, None, schema.into());
    }

    /// Ends what [`Self::begin_variant`] began.
    pub(crate) fn end_variant(&mut self) {
        let variant = replace(&mut self.members, take(&mut self.common));
        self.variants.push(variant);
    }

    /// The schema of an object with these members and no others.
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
        let object = object.property(member.name.as_str(), member.schema);
        if member.required {
            object.required(member.name)
        } else {
            object
        }
    })
}

/// The schema with a description of its own, where it has one.
pub(crate) fn described(schema: RefOr<Schema>, about: Option<&'static str>) -> RefOr<Schema> {
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

/// The schema of a value that may be `null`, too.
pub(crate) fn nullable(schema: RefOr<Schema>) -> RefOr<Schema> {
    OneOfBuilder::new()
        .item(schema)
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .into()
}
