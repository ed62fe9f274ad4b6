//! Creating objects that affect all others: a flag with many environments, an environment with many flags.

use anyhow::Result;

use crate::database::Database;
use crate::samples::{Samples, Table, Yardstick};
use crate::seeds;
use crate::service::Service;

const ENVIRONMENTS: usize = 20;

/// The number of flags that exist already, created by the measurement of writes and by this one.
const FLAGS: usize = 232;

pub(crate) async fn measure(
    service: &Service,
    database: &Database,
    table: &mut Table,
) -> Result<()> {
    let mut key = String::new();
    // One exists already.
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

    seeds::flags(service, database, FLAGS + 1..=10_000, &key).await?;
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
