//! Pages of the dashboard: how long they take and how much they weigh, among more and more flags.

use std::path::Path;

use anyhow::Result;

use crate::database::Database;
use crate::samples::Samples;
use crate::seeds;
use crate::service::Service;

/// How many flags there are, one size after the other.
const SIZES: [usize; 2] = [1_000, 10_000];

/// The environments; a flag is evaluated in all of them.
pub(crate) const ENVIRONMENTS: [&str; 3] = ["development", "staging", "production"];

/// Which pages are measured: what to call them, and their path.
const PAGES: [(&str, &str); 15] = [
    ("flags, the first page", "/dashboard/flags"),
    ("flags, the last page", "/dashboard/flags?page=20"),
    ("flags that contain a text", "/dashboard/flags?q=seeded_77"),
    ("flags that are on for some", "/dashboard/flags?is=partly"),
    ("flags by name", "/dashboard/flags?sort=name"),
    (
        "flags by last evaluation",
        "/dashboard/flags?sort=evaluated",
    ),
    ("stale flags", "/dashboard/flags?stale=yes"),
    ("a new flag", "/dashboard/flags/new"),
    ("a flag", "/dashboard/flags/seeded_7"),
    ("a new rule", "/dashboard/flags/seeded_7?edit=rule"),
    (
        "trying a flag",
        "/dashboard/try?flag=seeded_7&userId=u-1042&country=DE",
    ),
    (
        "the usage of a flag in 30 days",
        "/dashboard/flags/seeded_7/usage?period=30d",
    ),
    ("environments", "/dashboard/environments"),
    ("the audit log", "/dashboard/audit"),
    ("people", "/dashboard/people"),
];

/// Measures all pages on SQLite, and prints a table for each size.
pub(crate) async fn measure(server: &Path, database: &Database) -> Result<()> {
    let service = Service::start(server, database).await?;
    let mut sdk_key = String::new();
    for name in ENVIRONMENTS {
        (_, sdk_key) = service.environment(name).await?;
    }
    let mut first = 1;
    for size in SIZES {
        seeds::flags(&service, database, first..=size, &sdk_key).await?;
        use_flags(database).await?;
        first = size + 1;
        let cookie = service.cookie().await?;
        println!("\n### Pages among {size} flags\n");
        println!("| | samples | p50 ms | p99 ms | compressed |");
        println!("|---|--:|--:|--:|--:|");
        for (what, path) in PAGES {
            let bytes = service.page(path, &cookie).await?;
            let calls = Samples::of(50, async |_| service.page(path, &cookie).await.map(drop));
            let calls = calls.await?;
            println!(
                "| {what} | {} | {:.2} | {:.2} | {bytes} bytes |",
                calls.len(),
                calls.quantile(0.5),
                calls.quantile(0.99)
            );
        }
    }
    Ok(())
}

/// Switches two of three flags on, one of ten for some only, and gives every flag a use: in each environment, for two
/// reasons, in every hour of the last day, and for one of a hundred in every hour of the last month.
pub(crate) async fn use_flags(database: &Database) -> Result<()> {
    let hour = "(cast(strftime('%s', 'now') as integer) / 3600) * 3600000";
    let hours = format!(
        "with recursive series (i) as (select 0 union all select i + 1 from series where i < 719)
         insert or ignore into usage_hours (lineage_id, flag_id, hour, reason, evaluations)
         select environments.id, flags.id, {hour} - i * 3600000, reason.column1, 1000 + (flags.created_at * (i + 1)) % 997
         from flags cross join environments cross join series cross join (values ('flag_enabled'), ('rollout')) reason
         where i < 24 or flags.created_at % 100 = 7"
    );
    database
        .execute(&[
            "update flag_environments set is_enabled = true
             where flag_id in (select id from flags where created_at % 3 > 0)",
            "insert or ignore into rollouts (flag_id, environment_id, percentage, strategy, created_at, updated_at)
             select flag_id, environment_id, 25, 'per_user', 0, 0 from flag_environments
             where flag_id in (select id from flags where created_at % 10 = 1)",
            &hours,
            "insert or ignore into flags_last_seen (flag_id, lineage_id, evaluated_at)
             select flags.id, environments.id, cast(strftime('%s', 'now') as integer) * 1000 - flags.created_at % 1009
             from flags cross join environments",
        ])
        .await
}
