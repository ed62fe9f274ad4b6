//! Query plans of the lists. The server logs its queries, and the database explains them.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::database::Database;
use crate::lists::lists;
use crate::service::Service;

/// The query plans of one request on one database.
pub(crate) struct Plan {
    title: String,
    lines: Vec<String>,
}

impl Plan {
    pub(crate) fn print(&self) {
        println!("\n#### {}\n\n```text", self.title);
        for line in &self.lines {
            println!("{line}");
        }
        println!("```");
    }
}

/// Returns the plans of all lists.
pub(crate) async fn of(server: &Path, database: &Database) -> Result<Vec<Plan>> {
    let mut plans = Vec::new();
    for (what, path) in lists() {
        let log = tempfile::NamedTempFile::new()?;
        let service =
            Service::start_logging_statements(server, database, File::create(log.path())?).await?;
        let before = fs::read_to_string(log.path())?.len();
        service.get(&path).await?;
        drop(service);
        let logged = fs::read_to_string(log.path())?;
        let logged = logged.get(before..).unwrap_or_default();
        let of_page = |query: &str| query.contains("limit $") || query.contains("limit ?");
        let of_list = |query: &&String| of_page(query) || query.contains("count(*)");
        let mut lines = Vec::new();
        for query in queries(logged)?.iter().filter(of_list) {
            let is_page = of_page(query);
            lines.push(
                if is_page {
                    "-- the page"
                } else {
                    "-- the total"
                }
                .to_owned(),
            );
            lines.extend(database.plan(&with_values(query, &path)).await?);
        }
        plans.push(Plan {
            title: format!("{database}: {what}"),
            lines,
        });
    }
    Ok(plans)
}

/// Returns the statements with which the server switches a flag, in a database beside this one.
pub(crate) async fn of_a_switch(server: &Path, database: &Database) -> Result<Plan> {
    let other = database.beside("statements").await?;
    let logged = log_of_a_switch(server, &other).await;
    other.remove(&database.url()).await?;
    let logged = logged?;
    let of_the_switch: Vec<&str> = logged
        .lines()
        .filter(|line| line.contains("method=PUT"))
        .collect();
    // A commit has no text in the log. Waiting for the write lock is part of `begin`.
    let bounds = ["begin", "rollback", "set local"];
    let is_bound = |text: &str| bounds.iter().any(|bound| text.starts_with(bound));
    let mut statements = queries(&of_the_switch.join("\n"))?;
    statements.retain(|text| !text.is_empty() && !is_bound(&text.trim_start().to_lowercase()));
    Ok(Plan {
        title: format!(
            "{database}: the {} statements of a switch",
            statements.len()
        ),
        lines: statements.iter().map(|text| on_one_line(text)).collect(),
    })
}

/// Switches a flag, and returns the log of the server.
async fn log_of_a_switch(server: &Path, database: &Database) -> Result<String> {
    let log = tempfile::NamedTempFile::new()?;
    let service =
        Service::start_logging_statements(server, database, File::create(log.path())?).await?;
    let (environment, _) = service.environment("statements").await?;
    let flag = service.flag("statements").await?;
    service.switch(&flag, &environment, true).await?;
    drop(service);
    Ok(fs::read_to_string(log.path())?)
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the texts of the queries in a log.
fn queries(log: &str) -> Result<Vec<String>> {
    let mut queries = Vec::new();
    for line in log.lines() {
        let Some((_, quoted)) = line.split_once("db.statement=") else {
            continue;
        };
        let mut texts = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
        queries.push(texts.next().context("a statement has no text")??);
    }
    Ok(queries)
}

/// Returns the query with the values that the request binds. Filters that the request does not set are null.
fn with_values(query: &str, path: &str) -> String {
    let parameter = |name: &str| {
        let (_, parameters) = path.split_once('?')?;
        let mut pairs = parameters
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    };
    let quoted = |name: &str| parameter(name).map(|value| format!("'{value}'"));
    let page: u64 = parameter("page")
        .and_then(|page| page.parse().ok())
        .unwrap_or(1);
    let pattern = parameter("q").map(|text| format!("'%{}%'", text.replace('_', "\\_")));
    let values = [
        ("limit ", Some("20".to_owned())),
        ("offset ", Some(((page - 1) * 20).to_string())),
        (" key = ", quoted("key")),
        ("flag_key = ", quoted("flagKey")),
        ("actor_identity = ", quoted("actor")),
        ("action = ", quoted("action")),
        (" product = ", quoted("product")),
        // In quotation marks, so that the column determines the type of the number.
        ("occurred_at >= ", Some(format!("'{}'", i64::MIN))),
        ("occurred_at <= ", Some(format!("'{}'", i64::MAX))),
        ("like lower(", pattern),
    ];
    let mut text = query.to_owned();
    for (before, value) in values {
        let Some(value) = value else { continue };
        // Finds the parameter's number in the comparison, and then replaces the parameter everywhere.
        if let Some(number) = number_after(&text, before) {
            text = replaced(&text, number, &value);
        }
        text = text.replace(&format!("{before}?"), &format!("{before}{value}"));
    }
    while let Some(number) = number_after(&text, "") {
        text = replaced(&text, number, "null");
    }
    text.replace('?', "null")
}

fn number_after(text: &str, before: &str) -> Option<u32> {
    let (_, after) = text.split_once(&format!("{before}$"))?;
    let digits = after.split(|next: char| !next.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Replaces a parameter. All numbers have one digit, so none is a prefix of another.
fn replaced(text: &str, number: u32, value: &str) -> String {
    text.replace(&format!("${number}"), value)
}

#[cfg(test)]
mod tests {
    use super::{queries, with_values};

    #[test]
    fn a_logged_query_is_filled_in_with_its_values() {
        let log = r#"DEBUG sqlx::query: summary="select 1 …" db.statement="\n\nselect *\nfrom flags" rows_affected=0"#;
        assert_eq!(queries(log).unwrap(), ["\n\nselect *\nfrom flags"]);
        let query =
            "where ($1 is null or flag_key = $1) and ($2 is null or x = $2) limit $3 offset $4";
        assert_eq!(
            with_values(query, "/audit?flagKey=a&page=3"),
            "where ('a' is null or flag_key = 'a') and (null is null or x = null) limit 20 offset 40"
        );
        let query = "where x = ? and flag_key = ? limit ? offset ?";
        assert_eq!(
            with_values(query, "/audit?flagKey=a&page=3"),
            "where x = null and flag_key = 'a' limit 20 offset 40"
        );
    }
}
