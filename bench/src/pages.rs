//! The duration and the size of dashboard pages, with increasing numbers of flags.

use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::Result;

use crate::database::Database;
use crate::lists::{flag_lists, seed_audit};
use crate::samples::Samples;
use crate::seeds;
use crate::service::Service;

/// The numbers of flags, measured in this order.
const SIZES: [usize; 2] = [1_000, 10_000];

/// The environments. Each flag is evaluated in all of them.
pub(crate) const ENVIRONMENTS: [&str; 3] = ["development", "staging", "production"];

/// The number of flags on a page.
const PAGE_SIZE: usize = 30;

/// The number of audit entries.
pub(crate) const AUDIT_ENTRIES: usize = 100_000;

/// The pages to measure: the name and the path of each. `{last}` is the number of the last page of flags.
const PAGES: [(&str, &str); 15] = [
    ("flags, the first page", "/dashboard/flags"),
    ("flags, the last page", "/dashboard/flags?page={last}"),
    ("flags that contain a text", "/dashboard/flags?q=seeded_77"),
    ("flags that are on for some", "/dashboard/flags?is=partly"),
    ("flags by name", "/dashboard/flags?sort=name"),
    (
        "flags by last evaluation",
        "/dashboard/flags?sort=evaluated",
    ),
    ("stale flags", "/dashboard/flags?stale=yes"),
    ("a new flag", "/dashboard/new-flag"),
    ("a flag", "/dashboard/flags/seeded_7"),
    ("a new rule", "/dashboard/flags/seeded_7?edit=rule"),
    (
        "the playground",
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

/// The numbers of products, of environments of each, and of flags in a large company.
const MANY_PRODUCTS: usize = 8;
const ENVIRONMENTS_OF_EACH: usize = 5;
const MANY_FLAGS: [usize; 2] = [2_000, 10_000];

/// The pages that show all environments.
const WIDE_PAGES: [(&str, &str); 6] = [
    ("flags", "/dashboard/flags"),
    ("flags of a product", "/dashboard/flags?product=product-3"),
    ("flags that contain a text", "/dashboard/flags?q=seeded_77"),
    ("flags that are on for some", "/dashboard/flags?is=partly"),
    ("a flag", "/dashboard/flags/seeded_7"),
    ("environments", "/dashboard/environments"),
];

/// Measures pages on SQLite, and prints a table for each number of flags and of environments.
pub(crate) async fn measure(server: &Path, folder: &Path) -> Result<()> {
    let database = Database::sqlite(folder);
    let service = Service::start(server, &database).await?;
    let sdk_key = environments(&service, ENVIRONMENTS).await?;
    seed_audit(&database, AUDIT_ENTRIES).await?;
    let mut first = 1;
    for size in SIZES {
        seeds::flags(&service, &database, first..=size, &sdk_key).await?;
        use_flags(&database).await?;
        first = size + 1;
        let last = size.div_ceil(PAGE_SIZE).to_string();
        let pages = PAGES.map(|(name, path)| (name, path.replace("{last}", &last)));
        table(&service, &format!("{size} flags"), &pages).await?;
    }
    drop(service);

    let database = database.beside("company").await?;
    let service = Service::start(server, &database).await?;
    let sdk_key = products(&service).await?;
    let environments = MANY_PRODUCTS.saturating_mul(ENVIRONMENTS_OF_EACH);
    let mut first = 1;
    for size in MANY_FLAGS {
        company(&service, &database, first..=size, &sdk_key).await?;
        first = size + 1;
        let among =
            format!("{size} flags in {environments} environments of {MANY_PRODUCTS} products");
        table(&service, &among, &WIDE_PAGES).await?;
        lists(&service, size, &among).await?;
    }
    Ok(())
}

/// Creates the environments of a large company, and returns the key of the last one.
pub(crate) async fn products(service: &Service) -> Result<String> {
    let mut sdk_key = String::new();
    for product in 1..=MANY_PRODUCTS {
        for number in 1..=ENVIRONMENTS_OF_EACH {
            let (product, name) = (
                format!("product-{product}"),
                format!("environment-{number}"),
            );
            (_, sdk_key) = service.environment_of(&product, &name).await?;
        }
    }
    Ok(sdk_key)
}

/// Adds the flags of a large company, which has used them.
pub(crate) async fn company(
    service: &Service,
    database: &Database,
    numbers: RangeInclusive<usize>,
    sdk_key: &str,
) -> Result<()> {
    seeds::flags(service, database, numbers, sdk_key).await?;
    database.execute(&[ENABLE, ROLL_OUT, SEE]).await
}

/// Measures the lists of the API.
async fn lists(service: &Service, flags: usize, among: &str) -> Result<()> {
    println!("\n### Lists among {among}\n");
    println!("| | samples | p50 ms | p99 ms |");
    println!("|---|--:|--:|--:|");
    for (what, path) in flag_lists(flags) {
        let calls = Samples::of(50, async |_| service.get(&path).await.map(drop));
        let calls = calls.await?;
        let (p50, p99) = (calls.percentile(50), calls.p99());
        println!("| {what} | {} | {p50:.2} | {p99} |", calls.len());
    }
    Ok(())
}

/// Creates environments, and returns the key of the last one.
async fn environments(
    service: &Service,
    names: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<String> {
    let mut sdk_key = String::new();
    for name in names {
        (_, sdk_key) = service.environment(name.as_ref()).await?;
    }
    Ok(sdk_key)
}

async fn table(service: &Service, among: &str, pages: &[(&str, impl AsRef<str>)]) -> Result<()> {
    let cookie = service.cookie().await?;
    println!("\n### Pages among {among}\n");
    println!("| | samples | p50 ms | p99 ms | compressed | HTML | elements |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (what, path) in pages {
        let path = path.as_ref();
        let html = service.html(path, &cookie).await?;
        let bytes = service.page(path, &cookie).await?;
        let calls = Samples::of(50, async |_| service.page(path, &cookie).await.map(drop));
        let calls = calls.await?;
        println!(
            "| {what} | {} | {:.2} | {} | {bytes} bytes | {} bytes | {} |",
            calls.len(),
            calls.percentile(50),
            calls.p99(),
            html.len(),
            elements(&html)
        );
    }
    Ok(())
}

/// Counts the elements of a page by their start tags.
fn elements(html: &str) -> usize {
    let tags = html.split('<').skip(1);
    tags.filter(|tag| tag.starts_with(|first: char| first.is_ascii_alphabetic()))
        .count()
}

/// Turns on two of three flags.
const ENABLE: &str = "update flag_environments set is_enabled = true
    where flag_id in (select id from flags where created_at % 3 > 0)";

/// Limits one flag of ten to some users.
const ROLL_OUT: &str = "insert or ignore into rollouts
        (flag_id, environment_id, percentage, strategy, created_at, updated_at)
    select flag_id, environment_id, 25, 'per_user', 0, 0 from flag_environments
    where flag_id in (select id from flags where created_at % 10 = 1)";

/// Adds the time of the last evaluation of every flag in each environment.
const SEE: &str = "insert or ignore into flags_last_seen (flag_id, lineage_id, evaluated_at)
    select flags.id, environments.id, cast(strftime('%s', 'now') as integer) * 1000 - flags.created_at % 1009
    from flags cross join environments";

/// Turns on two of three flags, and one of ten only for some users. Adds usage counts for every flag, in each
/// environment, with two reasons, in every hour of the last day, and for one flag of a hundred in every hour of the
/// last month.
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
            ENABLE,
            ROLL_OUT,
            &hours,
            "insert or replace into flag_hours (flag_id, hour, evaluations)
             select flag_id, hour, sum(evaluations) from usage_hours group by flag_id, hour",
            "insert or replace into environment_hours (lineage_id, hour, evaluations, reported)
             select lineage_id, hour, sum(evaluations), sum(reported) from usage_hours group by lineage_id, hour",
            SEE,
        ])
        .await
}
