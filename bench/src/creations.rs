//! Creating what concerns everything else: a flag where there are many environments, an environment where there are many
//! flags.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::database::Database;
use crate::samples::{Samples, Table, Yardstick};
use crate::service::Service;

const ENVIRONMENTS: usize = 20;

/// How long the server may take to notice what was written past it.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) async fn measure(
    service: &Service,
    database: &Database,
    table: &mut Table,
) -> Result<()> {
    let mut key = String::new();
    // One is there from before.
    for index in 1..ENVIRONMENTS {
        (_, key) = service.environment(&format!("env_{index}")).await?;
    }
    let flags = Samples::of(200, async |index| {
        service.flag(&format!("created_{index}")).await.map(drop)
    });
    table.add(
        "a flag is created in 20 environments",
        &flags.await?,
        Yardstick::Commit,
        None,
    );

    seed_flags(database).await?;
    database.settle().await?;
    let began = Instant::now();
    while service.is_on(&key, "seeded_9999").await?.is_none() {
        if began.elapsed() > PATIENCE {
            bail!("the server does not notice the flags");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let environments = Samples::of(10, async |index| {
        service
            .environment(&format!("late_{index}"))
            .await
            .map(drop)
    });
    table.add(
        "an environment is created for 10,000 flags",
        &environments.await?,
        Yardstick::Commit,
        None,
    );
    Ok(())
}

/// Fills the database up to 10,000 flags, in every environment.
async fn seed_flags(database: &Database) -> Result<()> {
    let flags = database.text(
        "with recursive series (i) as (select 233 union all select i + 1 from series where i < 10000)
         insert into flags (id, key, name, type, created_by, created_at)
         select randomblob(16), 'seeded_' || i, 'Seeded ' || i, 'boolean', 'bench', 1700000000000 + i from series",
        "insert into flags (id, key, name, type, created_by, created_at)
         select gen_random_uuid(), 'seeded_' || i, 'Seeded ' || i, 'boolean', 'bench', 1700000000000 + i
         from generate_series(233, 10000) as i",
    );
    database
        .execute(&[
            flags,
            "update environments set config_revision = config_revision + 1",
            "insert into flag_environments (flag_id, environment_id, config_revision)
             select flags.id, environments.id, environments.config_revision
             from flags cross join environments where flags.key like 'seeded%'",
        ])
        .await
}
