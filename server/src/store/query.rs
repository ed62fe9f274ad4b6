//! Queries that are built from parts, in one text for both databases.

use std::fmt::Display;

use sqlx::{Encode, Postgres, QueryBuilder, Sqlite, Type};
use uuid::Uuid;

/// A query that is being built for either database.
pub(super) trait QueryParts {
    /// Appends a part of the text.
    fn push(&mut self, sql: impl Display) -> &mut Self;

    /// Appends a parameter with this value.
    fn push_bind<'t, T>(&mut self, value: T) -> &mut Self
    where
        T: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>;
}

impl QueryParts for QueryBuilder<Sqlite> {
    fn push(&mut self, sql: impl Display) -> &mut Self {
        Self::push(self, sql)
    }

    fn push_bind<'t, T>(&mut self, value: T) -> &mut Self
    where
        T: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>,
    {
        Self::push_bind(self, value)
    }
}

impl QueryParts for QueryBuilder<Postgres> {
    fn push(&mut self, sql: impl Display) -> &mut Self {
        Self::push(self, sql)
    }

    fn push_bind<'t, T>(&mut self, value: T) -> &mut Self
    where
        T: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>,
    {
        Self::push_bind(self, value)
    }
}

/// Appends `in (…)` with these IDs.
pub(super) fn push_one_of(query: &mut impl QueryParts, ids: impl IntoIterator<Item = Uuid>) {
    query.push("in (");
    for (index, id) in ids.into_iter().enumerate() {
        if index > 0 {
            query.push(", ");
        }
        query.push_bind(id);
    }
    query.push(")");
}
