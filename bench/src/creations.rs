//! Creations of objects that affect all others: of a flag among many environments, and of an environment among many
//! flags.

use anyhow::Result;

use crate::database::Database;
use crate::lists;
use crate::samples::{Samples, Table, Yardstick};
use crate::seeds;
use crate::service::Service;

const ENVIRONMENTS: usize = 20;

/// The number of flags from the measurement of writes and from this one.
const FLAGS: usize = 232;

pub(crate) async fn measure(
    service: &Service,
    database: &Database,
    table: &mut Table,
) -> Result<()> {
    let mut key = String::new();
    // One environment already exists.
    for index in 1..ENVIRONMENTS {
        (_, key) = service.environment(&format!("env_{index}")).await?;
    }
    let flags = Samples::of(200, async |index| {
        service.flag(&format!("created_{index}")).await.map(drop)
    });
    table.add(
        "creation of a flag in 20 environments",
        &flags.await?,
        Yardstick::Commit,
        None,
    );

    seeds::flags(service, database, FLAGS + 1..=lists::FLAGS, &key).await?;
    let environments = Samples::of(10, async |index| {
        service
            .environment(&format!("late_{index}"))
            .await
            .map(drop)
    });
    table.add(
        "creation of an environment with 10,000 flags",
        &environments.await?,
        Yardstick::Commit,
        None,
    );
    Ok(())
}
