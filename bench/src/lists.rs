//! Lists: the first page, a deep one, and one that is filtered.

use anyhow::Result;

use crate::database::Database;
use crate::samples::{Samples, Table, Yardstick};
use crate::service::Service;

/// Which lists are measured and explained: what to call them, and their path.
pub(crate) const LISTS: [(&str, &str); 7] = [
    ("the first page of 10,000 flags", "/flags"),
    ("the last page of 10,000 flags", "/flags?page=500"),
    ("flags that contain a text", "/flags?q=seeded_77"),
    ("a flag by its key", "/flags?key=seeded_7777"),
    ("the first page of 1,000,000 audit entries", "/audit"),
    (
        "the last page of 1,000,000 audit entries",
        "/audit?page=50000",
    ),
    (
        "the audit entries of a flag, among 1,000,000",
        "/audit?flagKey=seeded_7777",
    ),
];

pub(crate) async fn measure(
    service: &Service,
    database: &Database,
    table: &mut Table,
) -> Result<()> {
    seed_audit(database).await?;
    database.settle().await?;
    for (what, path) in LISTS {
        let calls = Samples::of(30, async |_| service.get(path).await.map(drop));
        table.add(what, &calls.await?, Yardstick::Exchange, None);
    }
    Ok(())
}

/// Adds 1,000,000 audit entries, over three years.
async fn seed_audit(database: &Database) -> Result<()> {
    let entries = database.text(
        r#"with recursive series (i) as (select 1 union all select i + 1 from series where i < 1000000)
           insert into audit_entries
              (id, action, actor_identity, occurred_at, flag_key, environment, product, old_value, new_value)
           select randomblob(16), 'FLAG_ENVIRONMENT_UPDATED', 'bench@example.com', 1600000000000 + i * 100000,
              'seeded_' || (i % 10000), 'env_' || (i % 20), 'bench', '{"isEnabled":false}', '{"isEnabled":true}'
           from series"#,
        r#"insert into audit_entries
              (id, action, actor_identity, occurred_at, flag_key, environment, product, old_value, new_value)
           select gen_random_uuid(), 'FLAG_ENVIRONMENT_UPDATED', 'bench@example.com', 1600000000000 + i::bigint * 100000,
              'seeded_' || (i % 10000), 'env_' || (i % 20), 'bench', '{"isEnabled":false}', '{"isEnabled":true}'
           from generate_series(1, 1000000) as i"#,
    );
    database.execute(&[entries]).await
}
