//! Lists: the first page, the last page, and filtered pages.

use anyhow::Result;

use crate::database::Database;
use crate::samples::{Samples, Table, Yardstick};
use crate::service::Service;

/// The lists of flags to measure and explain: the name and the path of each.
pub(crate) const FLAG_LISTS: [(&str, &str); 4] = [
    ("the first page of 10,000 flags", "/flags"),
    ("the last page of 10,000 flags", "/flags?page=500"),
    ("flags that contain a text", "/flags?q=seeded_77"),
    ("a flag by its key", "/flags?key=seeded_7777"),
];

/// The lists of audit entries.
const AUDIT_LISTS: [(&str, &str); 6] = [
    ("the first page of 1,000,000 audit entries", "/audit"),
    (
        "the last page of 1,000,000 audit entries",
        "/audit?page=50000",
    ),
    (
        "the audit entries of a flag, among 1,000,000",
        "/audit?flagKey=seeded_7777",
    ),
    (
        "the audit entries by a user, among 1,000,000",
        "/audit?actor=person_777@example.com",
    ),
    (
        "the audit entries of an action, among 1,000,000",
        "/audit?action=FLAG_ARCHIVED",
    ),
    (
        "the 100,000 audit entries of a product, among 1,000,000",
        "/audit?product=bench_7",
    ),
];

const AUDIT_ENTRIES: usize = 1_000_000;

/// Returns all lists.
pub(crate) fn lists() -> impl Iterator<Item = (&'static str, &'static str)> {
    FLAG_LISTS.into_iter().chain(AUDIT_LISTS)
}

pub(crate) async fn measure(
    service: &Service,
    database: &Database,
    table: &mut Table,
) -> Result<()> {
    seed_audit(database, AUDIT_ENTRIES).await?;
    database.settle().await?;
    for (what, path) in lists() {
        let calls = Samples::of(30, async |_| service.get(path).await.map(drop));
        table.add(what, &calls.await?, Yardstick::Exchange, None);
    }
    Ok(())
}

/// Adds audit entries, 100 seconds apart, by 1,000 users, about 10 products. One of 1,000 has another action than the
/// others.
pub(crate) async fn seed_audit(database: &Database, entries: usize) -> Result<()> {
    let (series, id, time) = match database {
        Database::Sqlite(_) => (
            format!(
                "with recursive series (i) as (select 1 union all select i + 1 from series where i < {entries})"
            ),
            "randomblob(16)",
            "1600000000000 + i * 100000",
        ),
        Database::Postgres(_) => (
            format!("with series (i) as (select * from generate_series(1, {entries}))"),
            "gen_random_uuid()",
            "1600000000000 + i::bigint * 100000",
        ),
    };
    let insert = format!(
        r#"insert into audit_entries
              (id, action, actor_identity, occurred_at, flag_key, environment, product, old_value, new_value)
           {series}
           select {id}, case when i % 1000 = 0 then 'FLAG_ARCHIVED' else 'FLAG_ENVIRONMENT_UPDATED' end,
              'person_' || (i % 1000) || '@example.com', {time}, 'seeded_' || (i % 10000), 'env_' || (i % 20), 'bench_' || (i % 10),
              '{{"isEnabled":false}}', '{{"isEnabled":true}}'
           from series"#
    );
    database.execute(&[&insert]).await
}
