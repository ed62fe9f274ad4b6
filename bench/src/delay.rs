//! The delay from the response to a write until another instance on the same database serves the change.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _};

use crate::database::Database;
use crate::samples::{Samples, Table, Yardstick};
use crate::service::Service;

const SAMPLES: u64 = 200;

pub(crate) async fn measure(
    server: &Path,
    writing: &Service,
    database: &Database,
    table: &mut Table,
) -> Result<()> {
    let other = Service::start(server, database).await?;
    let (environment, key) = writing.environment("delay").await?;
    let flag = writing.flag("delay").await?;
    let instances = Instances {
        writing,
        other: &other,
        flag,
        environment,
        key,
    };
    let notified = instances.samples().await?;
    table.add(
        "delay until another instance serves a change",
        &notified,
        Yardstick::Exchange,
        None,
    );

    let mut connection = PgConnection::connect(&database.url()).await?;
    let cutting = tokio::spawn(async move {
        loop {
            let cut = "select pg_terminate_backend(pid) from pg_stat_activity
                       where datname = current_database() and application_name like 'pennon % listening'";
            if connection.execute(cut).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
    let deaf = instances.samples().await;
    cutting.abort();
    table.add(
        "the same, with its `LISTEN` connection cut",
        &deaf?,
        Yardstick::Exchange,
        None,
    );
    Ok(())
}

/// Two instances on the same database, and the flag that is switched on one of them.
struct Instances<'a> {
    writing: &'a Service,
    other: &'a Service,
    flag: String,
    environment: String,
    key: String,
}

impl Instances<'_> {
    async fn samples(&self) -> Result<Samples> {
        let mut samples = Samples::default();
        for index in 0..SAMPLES {
            // Spreads the writes over the interval between two comparisons of revisions.
            tokio::time::sleep(Duration::from_millis(index * 307 % 500)).await;
            let enabled = self.other.is_on(&self.key, "delay").await? != Some(true);
            self.writing
                .switch(&self.flag, &self.environment, enabled)
                .await?;
            let responded = Instant::now();
            while self.other.is_on(&self.key, "delay").await? != Some(enabled) {}
            samples.push(responded.elapsed());
        }
        Ok(samples)
    }
}
