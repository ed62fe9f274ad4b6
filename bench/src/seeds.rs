//! Adds many flags directly to the database.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::database::Database;
use crate::service::Service;

/// The time limit for the server to notice rows that were written directly to the database.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Adds the flags `seeded_<number>` to every environment, and waits until the server serves them.
pub(crate) async fn flags(
    service: &Service,
    database: &Database,
    numbers: RangeInclusive<usize>,
    sdk_key: &str,
) -> Result<()> {
    let (first, last) = (numbers.start(), numbers.end());
    let insert = match database {
        Database::Sqlite(_) => format!(
            "with recursive series (i) as (select {first} union all select i + 1 from series where i < {last})
             insert into flags (id, key, name, type, created_by, created_at)
             select randomblob(16), 'seeded_' || i, 'Seeded ' || i, 'boolean', 'bench', 1700000000000 + i from series"
        ),
        Database::Postgres(_) => format!(
            "insert into flags (id, key, name, type, created_by, created_at)
             select gen_random_uuid(), 'seeded_' || i, 'Seeded ' || i, 'boolean', 'bench', 1700000000000 + i
             from generate_series({first}, {last}) as i"
        ),
    };
    database
        .execute(&[
            &insert,
            "update environments set config_revision = config_revision + 1",
            "insert into flag_environments (flag_id, environment_id, config_revision)
             select flags.id, environments.id, environments.config_revision
             from flags cross join environments
             where flags.key like 'seeded%' and not exists (
                select 1 from flag_environments
                where flag_environments.flag_id = flags.id and flag_environments.environment_id = environments.id)",
        ])
        .await?;
    database.settle().await?;
    let began = Instant::now();
    let last = format!("seeded_{last}");
    while service.is_on(sdk_key, &last).await?.is_none() {
        if began.elapsed() > TIMEOUT {
            bail!("the server does not serve the new flags");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
