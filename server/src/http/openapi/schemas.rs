//! The schemas that operations refer to.

use std::collections::BTreeMap;

use utoipa::ToSchema;
use utoipa::openapi::{Ref, RefOr, Schema};

/// Schemas by name, each written once however many operations refer to it.
#[derive(Default)]
pub(crate) struct Schemas(BTreeMap<String, RefOr<Schema>>);

impl Schemas {
    /// A reference to the schema of a type, which is taken in with all that it refers to.
    pub(crate) fn refer<T: ToSchema>(&mut self) -> RefOr<Schema> {
        let name = T::name();
        if !self.0.contains_key(&*name) {
            let mut needed = Vec::new();
            T::schemas(&mut needed);
            self.0.extend(needed);
            self.0.insert(name.clone().into_owned(), T::schema());
        }
        Ref::from_schema_name(name).into()
    }

    /// Returns a reference to a schema, which is created at the first request for it.
    pub(crate) fn define(
        &mut self,
        name: &str,
        make: impl FnOnce(&mut Self) -> Schema,
    ) -> RefOr<Schema> {
        if !self.0.contains_key(name) {
            let schema = make(self);
            self.0.insert(name.to_owned(), schema.into());
        }
        Ref::from_schema_name(name).into()
    }

    pub(super) fn into_inner(self) -> BTreeMap<String, RefOr<Schema>> {
        self.0
    }
}
