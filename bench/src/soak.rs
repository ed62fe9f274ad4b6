//! A soak test: whether memory or latencies grow under mixed load at a fixed rate.
//!
//! The set of flags stays the same. The load adds only audit entries, sessions, and hourly usage counts. The audit log
//! starts with many times more entries than are added, so that counting more entries does not look like a slowdown.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use reqwest::Client;
use serde_json::{Value, json};
use sqlx::Executor as _;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::database::Database;
use crate::lists;
use crate::pages::{AUDIT_ENTRIES, ENVIRONMENTS, use_flags};
use crate::samples::Samples;
use crate::seeds;
use crate::server::{Bare, evaluate_request};
use crate::service::Service;
use crate::streams;

const MINUTE: Duration = Duration::from_mins(1);

/// The minute with which the last one is compared. The first minute fills caches.
const WARM: usize = 2;

const FLAGS: usize = 1_000;

/// The number of flags that are switched in turn.
const SWITCHED: usize = 64;

const STREAMS: usize = 200;

/// A kind of request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Evaluate,
    Batch,
    Config,
    UnchangedConfig,
    FlagList,
    FlagTable,
    FlagPage,
    AuditList,
    Switch,
    SignIn,
    Live,
    Bare,
    Commit,
}

/// Kinds whose latencies are shown together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Evaluation,
    Reads,
    Writes,
    SignIns,
    /// A health check.
    Live,
    /// A request to a bare server in a separate process.
    Bare,
    /// A bare commit of one row to a separate database.
    Commit,
}

impl Kind {
    const ALL: [Self; 13] = [
        Self::Evaluate,
        Self::Batch,
        Self::Config,
        Self::UnchangedConfig,
        Self::FlagList,
        Self::FlagTable,
        Self::FlagPage,
        Self::AuditList,
        Self::Switch,
        Self::SignIn,
        Self::Live,
        Self::Bare,
        Self::Commit,
    ];

    /// Returns the kind's name in the table, its class, and the milliseconds between two requests. The intervals have
    /// no common divisor, so that requests of two kinds do not coincide regularly.
    fn plan(self) -> (&'static str, Class, u64) {
        match self {
            Self::Evaluate => ("an evaluation", Class::Evaluation, 5),
            Self::Batch => ("a batch of 100 evaluations", Class::Evaluation, 53),
            Self::Config => ("the config document", Class::Evaluation, 211),
            Self::UnchangedConfig => ("an unchanged config document", Class::Evaluation, 19),
            Self::FlagList => ("the flag list of the API", Class::Reads, 257),
            Self::FlagTable => ("the flag list of the dashboard", Class::Reads, 503),
            Self::FlagPage => ("a flag's page of the dashboard", Class::Reads, 263),
            Self::AuditList => ("the audit list of the API", Class::Reads, 269),
            Self::Switch => ("a switch", Class::Writes, 101),
            Self::SignIn => ("a sign-in", Class::SignIns, 5_003),
            Self::Live => ("`GET /health/live`", Class::Live, 47),
            Self::Bare => ("yardstick: an exchange with a bare server", Class::Bare, 59),
            Self::Commit => (
                "yardstick: a commit of one row, without Pennon",
                Class::Commit,
                103,
            ),
        }
    }
}

/// A completed request.
struct CompletedRequest {
    kind: Kind,
    taken: Duration,
}

/// A server under load.
struct Load {
    service: Service,
    /// The environment in which flags are switched, and its SDK key.
    environment: String,
    sdk_key: String,
    /// The SDK key of an environment in which nothing changes, and the entity tag of its config document.
    quiet_key: String,
    quiet_etag: String,
    cookie: String,
    http: Client,
    bare: Bare,
    yardstick: Mutex<SqliteConnection>,
    /// The IDs of the flags that are switched.
    switched: Vec<String>,
}

/// Loads a server on SQLite for this many minutes, and prints a table of all minutes and a table of all kinds.
pub(crate) async fn measure(server: &Path, database: &Database, minutes: usize) -> Result<()> {
    let load = Arc::new(Load::start(server, database).await?);
    let mut streaming = load.open_streams().await?;

    let (sender, mut completed) = unbounded_channel();
    let mut sending = JoinSet::new();
    for kind in Kind::ALL {
        sending.spawn(Arc::clone(&load).send_at_fixed_rate(kind, sender.clone()));
    }
    println!("\n### A soak of {minutes} minutes\n");
    Minute::print_header();
    let mut all = Vec::with_capacity(minutes);
    for number in 1..=minutes {
        let minute = Minute::collect(&mut completed, &load.service, database).await?;
        minute.print(number);
        all.push(minute);
    }
    sending.shutdown().await;
    streaming.shutdown().await;
    if let (Some(warm), Some(last)) = (all.get(WARM - 1), all.last()) {
        compare(warm, last);
    }
    Ok(())
}

impl Load {
    async fn start(server: &Path, database: &Database) -> Result<Self> {
        let service = Service::start(server, database).await?;
        let mut environments = Vec::new();
        for name in ENVIRONMENTS {
            environments.push(service.environment(name).await?);
        }
        let mut switched = Vec::with_capacity(SWITCHED);
        for number in 0..SWITCHED {
            switched.push(service.flag(&format!("switched_{number}")).await?);
        }
        let [(_, quiet_key), .., (environment, sdk_key)] = &*environments else {
            bail!("too few environments");
        };
        seeds::flags(&service, database, 1..=FLAGS, sdk_key).await?;
        use_flags(database).await?;
        lists::seed_audit(database, AUDIT_ENTRIES).await?;
        let yardstick = database.beside("yardstick").await?;
        let mut yardstick = yardstick.open_sqlite().await?;
        yardstick
            .execute("create table yardstick (value bigint not null)")
            .await?;
        let (quiet_etag, _) = service.document(quiet_key).await?;
        Ok(Self {
            environment: environment.clone(),
            sdk_key: sdk_key.clone(),
            quiet_key: quiet_key.clone(),
            quiet_etag,
            cookie: service.cookie().await?,
            http: Client::new(),
            bare: Bare::start(2).await?,
            yardstick: Mutex::new(yardstick),
            switched,
            service,
        })
    }

    /// Opens the streams of clients, and the stream of one dashboard page.
    async fn open_streams(&self) -> Result<JoinSet<()>> {
        let address = self.service.address();
        let mut streaming = JoinSet::new();
        let (sender, _) = unbounded_channel();
        let authorization = format!("authorization: Bearer {}", self.sdk_key);
        for _ in 0..STREAMS {
            let stream = streams::open(address, "/sdk/v1/stream", &authorization).await?;
            streaming.spawn(streams::listen(stream, sender.clone()));
        }
        let cookie = format!("cookie: {}", self.cookie);
        let page = streams::open(address, "/dashboard/events", &cookie).await?;
        streaming.spawn(streams::listen(page, sender));
        Ok(streaming)
    }

    /// Sends requests at a fixed rate, without waiting for earlier responses.
    async fn send_at_fixed_rate(
        self: Arc<Self>,
        kind: Kind,
        sender: UnboundedSender<Result<CompletedRequest>>,
    ) {
        let (_, _, pause) = kind.plan();
        let mut ticks = interval(Duration::from_millis(pause));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut under_way = JoinSet::new();
        for turn in 0.. {
            // Includes a delay of this task, so that a slow machine does not hide slow responses.
            let scheduled = ticks.tick().await;
            let (load, sender) = (Arc::clone(&self), sender.clone());
            under_way.spawn(async move {
                let result = load.send(kind, turn).await;
                let completed = result.map(|()| CompletedRequest {
                    kind,
                    taken: scheduled.elapsed(),
                });
                // The receiver is dropped when the measurement ends.
                _ = sender.send(completed);
            });
            while under_way.try_join_next().is_some() {}
        }
    }

    async fn send(&self, kind: Kind, turn: usize) -> Result<()> {
        let service = &self.service;
        let flag = |number: usize| format!("seeded_{}", number % FLAGS + 1);
        match kind {
            Kind::Evaluate => {
                let body = evaluate_request(&flag(popular(turn)));
                service
                    .send_with_sdk_key("/sdk/v1/evaluate", &self.sdk_key, &body)
                    .await
            }
            Kind::Batch => {
                let requests = (0..100).map(|number| evaluate_request(&flag(number)));
                let body = json!({ "evaluations": requests.collect::<Vec<Value>>() });
                service
                    .send_with_sdk_key("/sdk/v1/evaluate/batch", &self.quiet_key, &body)
                    .await
            }
            Kind::Config => service.document(&self.sdk_key).await.map(drop),
            Kind::UnchangedConfig => {
                service
                    .unchanged_document(&self.quiet_key, &self.quiet_etag)
                    .await
            }
            Kind::FlagList => service.get("/flags").await.map(drop),
            Kind::FlagTable => service
                .page("/dashboard/flags", &self.cookie)
                .await
                .map(drop),
            Kind::FlagPage => {
                let path = format!("/dashboard/flags/{}", flag(turn * 13));
                service.page(&path, &self.cookie).await.map(drop)
            }
            Kind::AuditList => service.get("/audit").await.map(drop),
            Kind::Switch => {
                let flag = self.switched.get(turn % SWITCHED).context("no such flag")?;
                let is_enabled = (turn / SWITCHED).is_multiple_of(2);
                service.switch(flag, &self.environment, is_enabled).await
            }
            Kind::SignIn => service.sign_in().await,
            Kind::Live => service.get("/health/live").await.map(drop),
            Kind::Bare => {
                let request = self
                    .http
                    .get(format!("http://{}/config", self.bare.address()));
                request.send().await?.error_for_status()?.bytes().await?;
                Ok(())
            }
            Kind::Commit => {
                let insert = sqlx::query("insert into yardstick (value) values (1)");
                insert.execute(&mut *self.yardstick.lock().await).await?;
                Ok(())
            }
        }
    }
}

/// Returns the flag to evaluate. Flags with lower numbers are evaluated more often, and some flags not in every minute,
/// so the server counts a different number of flags each time.
fn popular(turn: usize) -> usize {
    // 16 pseudorandom bits from Knuth's multiplicative hash, as a share of 2^16.
    let random = (turn.wrapping_mul(2_654_435_769) >> 16) & 0xffff;
    let number = ((random as u128).pow(6) * FLAGS as u128) >> (6 * 16);
    usize::try_from(number).unwrap_or_default()
}

/// The measurements of one minute.
struct Minute {
    /// The samples of each kind.
    samples: [Samples; Kind::ALL.len()],
    /// The median of the resident memory, which is 19 MiB higher while a password is verified.
    resident: f64,
    database: f64,
    log: f64,
}

impl Minute {
    /// Collects the responses of the next minute.
    async fn collect(
        completed: &mut UnboundedReceiver<Result<CompletedRequest>>,
        service: &Service,
        database: &Database,
    ) -> Result<Self> {
        let (began, mut samples) = (Instant::now(), <[Samples; _]>::default());
        let mut resident = Vec::new();
        let mut seconds = interval(Duration::from_secs(1));
        while began.elapsed() < MINUTE {
            tokio::select! {
                next = completed.recv() => {
                    let CompletedRequest { kind, taken } = next.context("the load has ended")??;
                    samples[kind as usize].push(taken);
                }
                _ = seconds.tick() => resident.push(service.resident_mebibytes()?),
            }
        }
        resident.sort_by(f64::total_cmp);
        let (database, log) = database.mebibytes()?;
        Ok(Self {
            samples,
            resident: resident
                .get(resident.len() / 2)
                .copied()
                .unwrap_or(f64::NAN),
            database,
            log,
        })
    }

    fn of_kind(&self, kind: Kind) -> &Samples {
        &self.samples[kind as usize]
    }

    fn of_class(&self, class: Class) -> Samples {
        let mut together = Samples::default();
        for kind in Kind::ALL.into_iter().filter(|kind| kind.plan().1 == class) {
            together.append(self.of_kind(kind).clone());
        }
        together
    }

    fn print_header() {
        println!(
            "| minute | requests | evaluation p50 | p99 | reads p50 | p99 | writes p50 | p99 | live p99 | bare p99 \
             | commit p99 | resident | database | its log |"
        );
        println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    }

    fn print(&self, number: usize) {
        let requests: usize = self.samples.iter().map(Samples::len).sum();
        print!("| {number} | {requests} ");
        for class in [Class::Evaluation, Class::Reads, Class::Writes] {
            let samples = self.of_class(class);
            print!("| {:.2} | {} ", samples.percentile(50), samples.p99());
        }
        for yardstick in [Class::Live, Class::Bare, Class::Commit] {
            print!("| {} ", self.of_class(yardstick).p99());
        }
        let (resident, database, log) = (self.resident, self.database, self.log);
        println!("| {resident:.1} | {database:.1} | {log:.1} |");
    }
}

/// Prints the figures of each kind in a warm minute and in the last one.
fn compare(warm: &Minute, last: &Minute) {
    println!("\n### The last minute compared with minute {WARM}\n");
    println!(
        "| | requests | p50 ms | p50 ms, last | p99 ms | p99 ms, last | p50 grew | p99 grew |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for kind in Kind::ALL {
        let (name, ..) = kind.plan();
        let (before, after) = (warm.of_kind(kind), last.of_kind(kind));
        let growth = |percentage| after.percentile(percentage) / before.percentile(percentage);
        println!(
            "| {name} | {} | {:.2} | {:.2} | {} | {} | {:.2} × | {:.2} × |",
            after.len(),
            before.percentile(50),
            after.percentile(50),
            before.p99(),
            after.p99(),
            growth(50),
            growth(99)
        );
    }
    let (resident, last_resident) = (warm.resident, last.resident);
    println!(
        "| resident memory, MiB | | {resident:.1} | {last_resident:.1} | | | {:.2} × | |",
        last_resident / resident
    );
}
