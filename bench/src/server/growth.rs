//! Growth of the costs with the number of rules, conditions and flags.

use std::path::Path;

use anyhow::Result;

use super::comparison::Comparison;
use super::fixture::{Fixture, RULE_FLAG};
use super::{CONNECTIONS, Yardsticks, header, row};
use crate::database::Database;
use crate::seeds;

/// Measures the cost of an evaluation by the number of rules.
pub(super) async fn rules(fixture: &Fixture, bare: &Yardsticks) -> Result<()> {
    println!("\n### Evaluate, by rules of 3 conditions\n");
    header();
    for rules in [0, 2, 10, 50] {
        let key = format!("rules_{rules}");
        fixture.rule_flag(&key, rules).await?;
        evaluate(&format!("rules: {rules}"), fixture, &key, bare).await?;
    }
    Ok(())
}

/// Measures the cost of an evaluation by the number of flags in the environment.
pub(super) async fn flags(server: &Path, database: &Database, bare: &Yardsticks) -> Result<()> {
    println!("\n### Evaluate, by flags in the environment\n");
    header();
    let fixture = Fixture::start(server, database, &[]).await?;
    let mut there = 0;
    for flags in [10, 1_000, 10_000] {
        seeds::flags(
            &fixture.service,
            database,
            there + 1..=flags,
            &fixture.sdk_key,
        )
        .await?;
        there = flags;
        evaluate(&format!("flags: {flags}"), &fixture, RULE_FLAG, bare).await?;
    }
    Ok(())
}

/// Measures the cost of an evaluation, and the memory, by the number of environments of 1,000 flags each.
pub(super) async fn environments(
    server: &Path,
    database: &Database,
    bare: &Yardsticks,
) -> Result<()> {
    println!("\n### Evaluate, by environments of 1,000 flags\n");
    header();
    let fixture = Fixture::start(server, database, &[]).await?;
    let service = &fixture.service;
    let empty = service.resident_mebibytes()?;
    seeds::flags(service, database, 1..=1_000, &fixture.sdk_key).await?;
    let mut keys = vec![fixture.sdk_key.clone()];
    let mut resident = Vec::new();
    for environments in [2, 10, 50] {
        while keys.len() < environments {
            let (_, key) = service.environment(&format!("env_{}", keys.len())).await?;
            keys.push(key);
        }
        resident.push((environments, service.resident_mebibytes()?));
        evaluate(
            &format!("environments: {environments}"),
            &fixture,
            RULE_FLAG,
            bare,
        )
        .await?;
    }
    for key in &keys {
        service.document(key).await?;
    }
    let documents = service.resident_mebibytes()?;

    println!("\n### Resident memory\n");
    println!("| | MiB |");
    println!("|---|--:|");
    println!("| an environment without flags | {empty:.0} |");
    for (environments, resident) in resident {
        println!("| {environments} environments of 1,000 flags | {resident:.0} |");
    }
    println!("| the same, after a client has fetched each config document | {documents:.0} |");
    Ok(())
}

/// Measures the cost of an evaluation with metrics, which measure each request.
pub(super) async fn metrics(server: &Path, database: &Database, bare: &Yardsticks) -> Result<()> {
    println!("\n### Evaluate, with metrics\n");
    header();
    let settings = [("PENNON_METRICS_LISTEN", "127.0.0.1:0")];
    let fixture = Fixture::start(server, database, &settings).await?;
    evaluate("with metrics", &fixture, RULE_FLAG, bare).await
}

async fn evaluate(what: &str, fixture: &Fixture, flag: &str, bare: &Yardsticks) -> Result<()> {
    let (bare, pennon) = (bare.evaluate()?, fixture.evaluate(flag));
    row(what, &Comparison::of(&bare, &pennon, CONNECTIONS).await?);
    Ok(())
}
