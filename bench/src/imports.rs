//! The duration of imports into new databases, and of other writes meanwhile.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::database::Database;
use crate::samples::{Samples, Table, Yardstick};
use crate::service::Service;

/// The number of flags in each document.
const FLAGS: [usize; 4] = [250, 500, 1_000, 3_000];

const ENVIRONMENTS: usize = 10;

/// The number of imports of each document.
const TIMES: usize = 3;

/// The interval at which flags are switched during an import. A switch does not wait for the previous one.
const INTERVAL: Duration = Duration::from_millis(20);

/// The number of flags that are switched. The document does not contain them.
const SWITCHED: usize = 64;

pub(crate) async fn measure(server: &Path, database: &Database, table: &mut Table) -> Result<()> {
    let (mut per_flag, mut waited) = (Vec::new(), Samples::default());
    for flags in FLAGS {
        let mut samples = Samples::default();
        for time in 0..TIMES {
            let other = database.beside(&format!("import_{flags}_{time}")).await?;
            let imported = import(server, &other, flags).await;
            other.remove(&database.url()).await?;
            let (taken, waits) = imported?;
            samples.push(taken);
            if flags == FLAGS[FLAGS.len() - 1] {
                waited.append(waits);
            }
        }
        let what = format!("an import of {flags} flags × {ENVIRONMENTS} environments");
        table.add(&what, &samples, Yardstick::Commit, None);
        #[expect(clippy::cast_precision_loss, reason = "there are few flags")]
        per_flag.push(samples.percentile(50) / flags as f64);
    }
    if let [smallest, .., largest] = *per_flag {
        table.add_ratio(
            "time per flag of the largest import, relative to the smallest",
            largest / smallest,
        );
    }
    table.add(
        "a switch during the largest import",
        &waited,
        Yardstick::Commit,
        None,
    );
    let mut slowest = Samples::default();
    slowest.push(Duration::from_secs_f64(waited.percentile(100) / 1000.0));
    table.add(
        "the slowest of these switches",
        &slowest,
        Yardstick::Commit,
        None,
    );
    Ok(())
}

/// Imports a document into an empty database of a running server. Returns the duration of the command, and of each
/// switch meanwhile.
async fn import(server: &Path, database: &Database, flags: usize) -> Result<(Duration, Samples)> {
    let service = Arc::new(Service::start(server, database).await?);
    let mut environment = String::new();
    for index in 0..ENVIRONMENTS {
        (environment, _) = service.environment(&format!("env_{index}")).await?;
    }
    let mut switched = Vec::new();
    for index in 0..SWITCHED {
        switched.push(service.flag(&format!("switched_{index}")).await?);
    }
    let file = tempfile::NamedTempFile::new()?;
    serde_json::to_writer(&file, &document(flags))?;
    let mut command = Command::new(server);
    command.arg("import").arg(file.path());
    command
        .env("DATABASE_URL", database.url())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let began = Instant::now();
    let mut importing = command.spawn()?;
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut switching = JoinSet::new();
    let mut turns = (0..).flat_map(|round| {
        switched
            .iter()
            .map(move |flag| (flag.clone(), round % 2 == 0))
    });
    let status = loop {
        tokio::select! {
            status = importing.wait() => break status?,
            _ = ticks.tick() => {
                let (flag, enabled) = turns.next().context("the iterator of switches ended")?;
                switching.spawn(switch(Arc::clone(&service), flag, environment.clone(), enabled));
            }
        }
    };
    let taken = began.elapsed();
    ensure!(status.success(), "the import failed: {status}");
    let mut waits = Samples::default();
    for wait in switching.join_all().await {
        waits.push(wait?);
    }
    Ok((taken, waits))
}

async fn switch(
    service: Arc<Service>,
    flag: String,
    environment: String,
    enabled: bool,
) -> Result<Duration> {
    let began = Instant::now();
    service.switch(&flag, &environment, enabled).await?;
    Ok(began.elapsed())
}

/// Returns a document of flags that are on in all environments. Every fifth configuration has a rule, and every seventh
/// a rollout.
fn document(flags: usize) -> Value {
    let rule = json!({
        "priority": 1, "logic": "and", "value": true,
        "conditions": [
            { "attribute": "country", "operator": "==", "valueType": "string", "valueString": "DE" },
            { "attribute": "age", "operator": ">=", "valueType": "number", "valueInt": 18 },
        ],
    });
    let rollout = json!({ "percentage": 25, "strategy": "per_user" });
    let environment = |flag: usize, index: usize| {
        let every = |nth: usize| (flag + index).is_multiple_of(nth);
        json!({
            "product": "bench", "environment": format!("env_{index}"),
            "isEnabled": true, "ttlOverrideSeconds": null,
            "rules": if every(5) { vec![rule.clone()] } else { Vec::new() },
            "rollout": if every(7) { rollout.clone() } else { Value::Null },
        })
    };
    let flag = |flag: usize| {
        let environments = (0..ENVIRONMENTS).map(|index| environment(flag, index));
        json!({
            "key": format!("imported_{flag}"), "name": format!("Imported {flag}"), "description": null,
            "type": "boolean", "archived": false, "environments": environments.collect::<Vec<_>>(),
        })
    };
    json!({ "formatVersion": 1, "flags": (0..flags).map(flag).collect::<Vec<_>>() })
}
