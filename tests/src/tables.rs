//! The tables of a database, and the changes that break the last release while it still uses them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};

use crate::TestDatabase;

/// The table that lists the applied migrations.
const MIGRATIONS: &str = "_sqlx_migrations";

const SQLITE_COLUMNS: &str = "
    select t.name, c.name, lower(c.type), c.\"notnull\" or c.pk > 0, c.dflt_value is not null
    from sqlite_schema t join pragma_table_info(t.name) c where t.type = 'table'";

const SQLITE_UNIQUE: &str = "
    select t.name, c.name, i.name
    from sqlite_schema t join pragma_index_list(t.name) i join pragma_index_info(i.name) c
    where t.type = 'table' and i.\"unique\" and c.name is not null";

const POSTGRES_COLUMNS: &str = "
    select c.table_name::text, c.column_name::text, c.data_type::text, c.is_nullable = 'NO', c.column_default is not null
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where table_schema = 'public' and t.table_type = 'BASE TABLE'";

const POSTGRES_UNIQUE: &str = "
    select t.relname::text, a.attname::text, n.relname::text
    from pg_index i
    join pg_class t on t.oid = i.indrelid
    join pg_class n on n.oid = i.indexrelid
    join pg_attribute a on a.attrelid = t.oid and a.attnum = any (i.indkey)
    where i.indisunique and t.relnamespace = 'public'::regnamespace";

/// The tables of a database.
#[derive(Debug)]
pub struct Tables {
    columns: BTreeMap<ColumnName, Column>,
    /// The columns of each unique index, by table. `on conflict (…)` needs such an index.
    unique: BTreeSet<(String, BTreeSet<String>)>,
}

/// The name of a column with its table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ColumnName {
    table: String,
    column: String,
}

#[derive(Debug, PartialEq, Eq)]
struct Column {
    kind: String,
    is_required: bool,
    has_default: bool,
}

impl Display for ColumnName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.table, self.column)
    }
}

impl Tables {
    /// Reads the tables of a database.
    pub async fn of(database: &TestDatabase) -> Self {
        let (columns, unique): (Vec<ColumnRow>, Vec<UniqueRow>) = if database.is_postgres() {
            let mut connection = database.postgres().await;
            (
                sqlx::query_as(POSTGRES_COLUMNS)
                    .fetch_all(&mut connection)
                    .await
                    .expect("columns"),
                sqlx::query_as(POSTGRES_UNIQUE)
                    .fetch_all(&mut connection)
                    .await
                    .expect("indexes"),
            )
        } else {
            let mut connection = database.sqlite().await;
            (
                sqlx::query_as(SQLITE_COLUMNS)
                    .fetch_all(&mut connection)
                    .await
                    .expect("columns"),
                sqlx::query_as(SQLITE_UNIQUE)
                    .fetch_all(&mut connection)
                    .await
                    .expect("indexes"),
            )
        };
        let mut indexes = BTreeMap::<_, BTreeSet<String>>::new();
        for (table, column, index) in unique {
            indexes.entry((table, index)).or_default().insert(column);
        }
        let columns = columns
            .into_iter()
            .filter(|(table, ..)| table != MIGRATIONS);
        Self {
            columns: columns.map(column).collect(),
            unique: indexes
                .into_iter()
                .map(|((table, _), columns)| (table, columns))
                .collect(),
        }
    }

    /// Removes columns that the release does not use.
    pub fn without(mut self, unused: &[String]) -> Self {
        for name in unused {
            let before = self.columns.len();
            self.columns.retain(|column, _| column.to_string() != *name);
            assert!(self.columns.len() < before, "there is no column {name}");
        }
        self
    }

    /// Returns a sentence for each difference of `newer` that breaks a release made for these tables.
    pub fn breaks(&self, newer: &Self) -> Vec<String> {
        let mut breaks = Vec::new();
        for (name, column) in &self.columns {
            match newer.columns.get(name) {
                None => breaks.push(format!("column {name} is gone")),
                Some(new) => breaks.extend(column.breaks(name, new)),
            }
        }
        let is_known_table = |table: &str| self.columns.keys().any(|name| name.table == table);
        for (name, column) in &newer.columns {
            let is_new = !self.columns.contains_key(name) && is_known_table(&name.table);
            if is_new && column.is_required && !column.has_default {
                breaks.push(format!(
                    "column {name} is new and `not null` without a default"
                ));
            }
        }
        breaks.extend(self.broken_indexes(newer));
        breaks
    }

    fn broken_indexes(&self, newer: &Self) -> Vec<String> {
        let is_used = |(table, columns): &&(String, BTreeSet<String>)| {
            columns.iter().all(|column| {
                let name = ColumnName {
                    table: table.clone(),
                    column: column.clone(),
                };
                self.columns.contains_key(&name)
            })
        };
        let named = |(table, columns): &(String, BTreeSet<String>), problem: &str| {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            format!(
                "the unique index of table {table} on {} is {problem}",
                columns.join(", ")
            )
        };
        let gone = self.unique.difference(&newer.unique).filter(is_used);
        let new = newer.unique.difference(&self.unique).filter(is_used);
        gone.map(|index| named(index, "gone"))
            .chain(new.map(|index| named(index, "new")))
            .collect()
    }

    /// Returns statements that delete every row and insert it again, as a release made for these tables would.
    pub fn insert_again(&self) -> String {
        let mut tables = BTreeMap::<&str, Vec<String>>::new();
        for ColumnName { table, column } in self.columns.keys() {
            tables
                .entry(table)
                .or_default()
                .push(format!("\"{column}\""));
        }
        let statements = tables.iter().map(|(table, columns)| {
            let columns = columns.join(", ");
            format!(
                "create temporary table kept as select {columns} from {table}; delete from {table};
                 insert into {table} ({columns}) select {columns} from kept; drop table kept;\n"
            )
        });
        statements.collect()
    }
}

impl Column {
    fn breaks(&self, name: &ColumnName, new: &Self) -> Vec<String> {
        let mut breaks = Vec::new();
        if self.kind != new.kind {
            breaks.push(format!(
                "column {name} was {} and is {}",
                self.kind, new.kind
            ));
        }
        match (self.is_required, new.is_required) {
            (true, false) => breaks.push(format!("column {name} may be null now")),
            (false, true) => breaks.push(format!("column {name} must not be null any more")),
            _ => {}
        }
        if self.has_default && !new.has_default && new.is_required {
            breaks.push(format!("column {name} has lost its default"));
        }
        breaks
    }
}

/// Table, column, type, and whether the column is required and has a default.
type ColumnRow = (String, String, String, bool, bool);

/// Table, column and index.
type UniqueRow = (String, String, String);

fn column((table, column, kind, is_required, has_default): ColumnRow) -> (ColumnName, Column) {
    (
        ColumnName { table, column },
        Column {
            kind,
            is_required,
            has_default,
        },
    )
}
