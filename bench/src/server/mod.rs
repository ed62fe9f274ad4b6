//! The Evaluation API: the cost of a request, compared with a bare server of the same libraries, and its growth.

mod bare;
mod comparison;
mod fixture;
mod growth;
mod instructions;
mod load;

use std::path::Path;

use anyhow::{Result, ensure};

pub(crate) use self::bare::{Bare, serve};
use self::comparison::Comparison;
pub(crate) use self::fixture::evaluate_request;
use self::fixture::{Fixture, RULE_FLAG, batch_request};
use self::load::Target;
use crate::database::Database;
use crate::samples::Samples;
use crate::seeds;

/// The default number of concurrent connections.
const CONNECTIONS: usize = 16;

/// The numbers of concurrent connections that show how costs grow.
const CONNECTION_COUNTS: [usize; 4] = [1, 16, 64, 256];

const FLAGS: usize = 10_000;

/// Measures everything, and prints the tables.
pub(crate) async fn measure(server: &Path, folder: &Path) -> Result<()> {
    let database = Database::sqlite(&folder.join("flags"));
    let fixture = Fixture::start(server, &database, &[]).await?;
    seeds::flags(&fixture.service, &database, 1..=FLAGS, &fixture.sdk_key).await?;
    let (etag, document) = fixture.service.document(&fixture.sdk_key).await?;
    let bare = Yardsticks(Bare::start(document).await?);

    requests(&fixture, &bare, &etag, document).await?;
    let counted = folder.join("counted");
    std::fs::create_dir(&counted)?;
    instructions::measure(server, &counted).await?;
    concurrency(&fixture, &bare).await?;
    switches(&fixture).await?;
    growth::rules(&fixture, &bare).await?;
    drop(fixture);
    growth::flags(server, &Database::sqlite(&folder.join("growing")), &bare).await?;
    growth::environments(server, &Database::sqlite(&folder.join("many")), &bare).await?;
    growth::metrics(server, &Database::sqlite(&folder.join("metrics")), &bare).await
}

/// The requests to the bare server.
struct Yardsticks(Bare);

impl Yardsticks {
    fn evaluate(&self) -> Result<Target> {
        self.post("/evaluate", &evaluate_request(RULE_FLAG).to_string())
    }

    fn batch(&self) -> Result<Target> {
        self.post("/batch", &batch_request().to_string())
    }

    fn document(&self) -> Result<Target> {
        let process = self.0.process()?;
        Ok(Target::get(process, self.0.address(), "/config", "", 200))
    }

    fn post(&self, path: &str, body: &str) -> Result<Target> {
        let (process, address) = (self.0.process()?, self.0.address());
        Ok(Target::post(process, address, path, "", body))
    }
}

/// Measures the cost of each kind of request.
async fn requests(fixture: &Fixture, bare: &Yardsticks, etag: &str, document: usize) -> Result<()> {
    println!("\n### Requests, {FLAGS} flags, {CONNECTIONS} connections\n");
    header();
    let rows = [
        (
            "evaluate, 3 rules of 3 conditions",
            bare.evaluate()?,
            fixture.evaluate(RULE_FLAG),
        ),
        (
            "config, not modified (compared with the bare POST)",
            bare.evaluate()?,
            fixture.config(Some(etag)),
        ),
        ("batch of 100", bare.batch()?, fixture.batch()),
        (
            &format!("config, {} KiB", document / 1024),
            bare.document()?,
            fixture.config(None),
        ),
    ];
    for (what, bare, pennon) in rows {
        row(what, &Comparison::of(&bare, &pennon, CONNECTIONS).await?);
    }
    Ok(())
}

/// Measures the cost of an evaluation at low and high concurrency.
async fn concurrency(fixture: &Fixture, bare: &Yardsticks) -> Result<()> {
    println!("\n### Evaluate, by connections\n");
    header();
    for connections in CONNECTION_COUNTS {
        let (bare, pennon) = (bare.evaluate()?, fixture.evaluate(RULE_FLAG));
        let comparison = Comparison::of(&bare, &pennon, connections).await?;
        row(&format!("connections: {connections}"), &comparison);
    }
    Ok(())
}

/// Measures the time until a switch is served, and until it is in the config document.
async fn switches(fixture: &Fixture) -> Result<()> {
    let service = &fixture.service;
    let flag = service.flag("switched").await?;
    let (mut served, mut sent) = (Samples::default(), Samples::default());
    for turn in 0..100 {
        let began = std::time::Instant::now();
        fixture.switch(&flag, turn % 2 == 0).await?;
        let is_on = service.is_on(&fixture.sdk_key, "switched").await?;
        ensure!(is_on == Some(turn % 2 == 0), "a switch is not served");
        served.push(began.elapsed());
        service.document(&fixture.sdk_key).await?;
        sent.push(began.elapsed());
    }
    println!("\n### A switch among {FLAGS} flags\n");
    println!("| from the request to switch until | p50 ms | p99 ms |");
    println!("|---|--:|--:|");
    for (what, samples) in [
        ("an evaluation has the new state", served),
        ("a client has the new config document", sent),
    ] {
        println!(
            "| {what} | {:.2} | {} |",
            samples.percentile(50),
            samples.p99()
        );
    }
    Ok(())
}

fn header() {
    println!(
        "| | bare: CPU µs | Pennon: CPU µs | ratio | bare: per second | p50 ms | p99 ms | Pennon: per second | p50 ms | p99 ms |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
}

fn row(what: &str, comparison: &Comparison) {
    let Comparison {
        bare,
        pennon,
        ratio,
    } = comparison;
    println!(
        "| {what} | {:.1} | {:.1} | **{ratio:.2}** | {:.0} | {:.2} | {} | {:.0} | {:.2} | {} |",
        bare.processor,
        pennon.processor,
        bare.rate,
        bare.latencies.percentile(50),
        bare.latencies.p99(),
        pennon.rate,
        pennon.latencies.percentile(50),
        pennon.latencies.p99(),
    );
}
