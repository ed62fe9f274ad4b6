//! Lists: the first page, the last page, and filtered pages.

use anyhow::Result;

use crate::database::Database;
use crate::samples::{Samples, Table, Yardstick};
use crate::service::Service;

/// The number of flags in the database, once the measurement of creations has added them.
pub(crate) const FLAGS: usize = 10_000;

/// The number of flags on a page, by default.
const PAGE_SIZE: usize = 20;

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

/// Returns all lists to measure and explain: the name and the path of each.
pub(crate) fn lists() -> impl Iterator<Item = (String, String)> {
    let audit_lists = AUDIT_LISTS.map(|(name, path)| (name.to_owned(), path.to_owned()));
    flag_lists(FLAGS).into_iter().chain(audit_lists)
}

/// Returns the lists of this many flags.
pub(crate) fn flag_lists(flags: usize) -> [(String, String); 4] {
    let last = flags.div_ceil(PAGE_SIZE);
    [
        (
            format!("the first page of {flags} flags"),
            "/flags".to_owned(),
        ),
        (
            format!("the last page of {flags} flags"),
            format!("/flags?page={last}"),
        ),
        (
            "flags that contain a text".to_owned(),
            "/flags?q=seeded_77".to_owned(),
        ),
        (
            "a flag by its key".to_owned(),
            "/flags?key=seeded_777".to_owned(),
        ),
    ]
}

pub(crate) async fn measure(
    service: &Service,
    database: &Database,
    table: &mut Table,
) -> Result<()> {
    seed_audit(database, AUDIT_ENTRIES).await?;
    database.settle().await?;
    table.measure_exchange(service).await?;
    for (what, path) in lists() {
        let calls = Samples::of(30, async |_| service.get(&path).await.map(drop));
        table.add(&what, &calls.await?, Yardstick::Exchange, None);
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
