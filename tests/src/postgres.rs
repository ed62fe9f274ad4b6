//! Databases on a PostgreSQL server. The server may be shared, so none of them remains after the tests.
//!
//! PostgreSQL waits 100 ms for the connections to a database that is removed, and those of a test close only after its
//! values have been dropped. So the database of a finished test is removed when the next one is created, or at once if
//! no other test has one.

use std::mem;
use std::sync::{Mutex, PoisonError};
use std::thread;

use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// A database that is removed some time after this value is dropped.
pub(crate) struct Created(Name);

/// A server and a database on it.
#[derive(Clone)]
struct Name {
    server: String,
    database: String,
}

/// The databases that this process has created and not yet removed.
struct Remaining {
    used: usize,
    finished: Vec<Name>,
    /// The database that others are copied from.
    template: Option<Name>,
}

static REMAINING: Mutex<Remaining> = Mutex::new(Remaining {
    used: 0,
    finished: Vec::new(),
    template: None,
});

/// Held by the test that makes the template, while others wait for it.
static MAKING_TEMPLATE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

impl Created {
    /// Creates an empty database.
    pub(crate) async fn empty(server: &str, database: String) -> Self {
        let created = Self::begin(server, database).await;
        created.0.create(None).await;
        created
    }

    /// Creates a copy of the template. If there is no template yet, `fill` is called with the URL of an empty database,
    /// which becomes the template.
    pub(crate) async fn copy(server: &str, database: String, fill: impl AsyncFnOnce(&str)) -> Self {
        let created = Self::begin(server, database).await;
        let making = MAKING_TEMPLATE.lock().await;
        let template = match with_remaining(|remaining| remaining.template.clone()) {
            Some(template) => template,
            None => created.0.make_template(fill).await,
        };
        drop(making);
        created.0.create(Some(&template)).await;
        created
    }

    /// Counts a database as used, and removes those of finished tests.
    async fn begin(server: &str, database: String) -> Self {
        let finished = with_remaining(|remaining| {
            remaining.used += 1;
            mem::take(&mut remaining.finished)
        });
        let server = server.to_owned();
        let created = Self(Name { server, database });
        remove(finished).await;
        created
    }

    /// Returns the URL of the server's first database.
    pub(crate) fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the URL of the database.
    pub(crate) fn url(&self) -> String {
        self.0.url()
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        let unused = with_remaining(|remaining| {
            remaining.used -= 1;
            remaining.finished.push(self.0.clone());
            let mut unused = Vec::new();
            if remaining.used == 0 {
                unused.append(&mut remaining.finished);
                unused.extend(remaining.template.take());
            }
            unused
        });
        if unused.is_empty() {
            return;
        }
        // Uses another thread, because a thread of an async runtime must not block.
        let removal = thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(remove(unused));
            Ok::<(), std::io::Error>(())
        });
        // A database that cannot be removed does not fail the test.
        drop(removal.join());
    }
}

impl Name {
    async fn make_template(&self, fill: impl AsyncFnOnce(&str)) -> Self {
        let template = Self {
            server: self.server.clone(),
            database: format!("{}_template", self.database),
        };
        template.create(None).await;
        fill(&template.url()).await;
        with_remaining(|remaining| remaining.template = Some(template.clone()));
        template
    }

    /// Creates the database on the server, empty or as a copy of another one.
    async fn create(&self, template: Option<&Self>) {
        let mut server = PgConnection::connect(&self.server)
            .await
            .expect("PostgreSQL answers");
        let template = template.map_or("template1", |template| &template.database);
        // Takes a quarter of the time of the default strategy. Versions before 15 have no other strategy and no such
        // option.
        let strategy = if server.server_version_num() >= Some(150_000) {
            "strategy file_copy"
        } else {
            ""
        };
        let create = format!(
            "create database \"{}\" template \"{template}\" {strategy}",
            self.database
        );
        sqlx::query(AssertSqlSafe(create))
            .execute(&mut server)
            .await
            .expect("the database is created");
    }

    fn url(&self) -> String {
        let (base, _) = self
            .server
            .rsplit_once('/')
            .expect("the URL names a database");
        format!("{base}/{}", self.database)
    }
}

fn with_remaining<T>(change: impl FnOnce(&mut Remaining) -> T) -> T {
    change(&mut REMAINING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes databases and their roles, as far as possible.
async fn remove(databases: Vec<Name>) {
    for Name { server, database } in databases {
        let Ok(mut server) = PgConnection::connect(&server).await else {
            continue;
        };
        for statement in [
            format!("drop database if exists \"{database}\" with (force)"),
            format!("drop role if exists \"{database}\""),
        ] {
            let removed = sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut server);
            let _remains = removed.await;
        }
    }
}
