//! The shared schemas of operations.

use std::collections::BTreeMap;

use utoipa::ToSchema;
use utoipa::openapi::{Ref, RefOr, Schema};

/// The shared schemas, by name.
#[derive(Default)]
pub(crate) struct Schemas(BTreeMap<String, RefOr<Schema>>);

impl Schemas {
    /// Returns a reference to the schema of a type, and registers the schema with all schemas that it refers to.
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

    /// Returns a reference to a schema, which is created on first use.
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
