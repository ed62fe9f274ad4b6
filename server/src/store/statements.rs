//! Statements on a connection that may go through a pooler.

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArguments, PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Describe, Either, Error, Execute, Executor, PgConnection, Postgres, SqlStr};

/// A connection that uses unnamed statements if names would outlive the session.
///
/// sqlx prepares each statement once, under a name. A pooler in transaction mode may run the next transaction on
/// another server connection, where the name is missing or belongs to a different statement. An unnamed statement is
/// prepared for each execution, so it must be used within a transaction, which has only one server connection.
#[derive(Debug)]
pub(crate) struct Statements<'c> {
    connection: &'c mut PgConnection,
    pooled: bool,
}

/// A statement that has no name if `unnamed` is true.
struct MaybeUnnamed<E> {
    query: E,
    unnamed: bool,
}

impl<'c> Statements<'c> {
    pub(super) fn on(connection: &'c mut PgConnection, pooled: bool) -> Self {
        Self { connection, pooled }
    }

    fn prepared<E>(&self, query: E) -> MaybeUnnamed<E> {
        MaybeUnnamed {
            query,
            unnamed: self.pooled,
        }
    }
}

impl<'c> Executor<'c> for Statements<'c> {
    type Database = Postgres;

    fn fetch_many<'e, 'q, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, Error>>
    where
        'c: 'e,
        E: Execute<'q, Postgres>,
        'q: 'e,
        E: 'q,
    {
        let query = self.prepared(query);
        self.connection.fetch_many(query)
    }

    fn fetch_optional<'e, 'q, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'c: 'e,
        E: Execute<'q, Postgres>,
        'q: 'e,
        E: 'q,
    {
        let query = self.prepared(query);
        self.connection.fetch_optional(query)
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'c: 'e,
    {
        self.connection.prepare_with(sql, parameters)
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, Error>>
    where
        'c: 'e,
    {
        self.connection.describe(sql)
    }
}

impl<'q, E: Execute<'q, Postgres>> Execute<'q, Postgres> for MaybeUnnamed<E> {
    fn sql(self) -> SqlStr {
        self.query.sql()
    }

    fn statement(&self) -> Option<&PgStatement> {
        self.query.statement()
    }

    fn take_arguments(&mut self) -> Result<Option<PgArguments>, BoxDynError> {
        self.query.take_arguments()
    }

    fn persistent(&self) -> bool {
        !self.unnamed && self.query.persistent()
    }
}
