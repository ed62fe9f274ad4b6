//! The schema of a page, whose JSON form depends on its items.

use std::borrow::Cow;

use pennon_core::schema::{NamedSchemas, add_schema, reference};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::page::{Page, Pagination};

impl<T: ToSchema> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Page", T::name()).into()
    }

    fn schemas(schemas: &mut NamedSchemas) {
        add_schema::<T>(schemas);
        add_schema::<Pagination>(schemas);
    }
}

impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("One page of a list, with its position in the list."))
            .property("items", ArrayBuilder::new().items(reference::<T>()))
            .required("items")
            .property("pagination", reference::<Pagination>())
            .required("pagination")
            .into()
    }
}
