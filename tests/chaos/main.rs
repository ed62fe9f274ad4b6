//! Injects faults into the release binary, and compares their effects on callers with the bounds in
//! `docs/reliability.md`.

#![expect(
    clippy::expect_used,
    reason = "a fault that cannot be injected fails only its own rows"
)]

mod cluster;
mod disk;
mod floods;
mod instances;
mod kills;
mod outages;
mod peers;
mod report;
mod shutdown;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use pennon_tests::TestDatabase;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::task::LocalSet;

use self::cluster::Cluster;
use self::outages::Outage;
use self::report::{Figure, Report};

#[derive(Parser)]
struct CommandLine {
    /// The URL of a PostgreSQL server that may be stopped; without it, faults of PostgreSQL are left out
    #[arg(long)]
    postgres: Option<String>,
    /// Use fewer repetitions and shorter outages
    #[arg(long)]
    short: bool,
    /// Inject only this fault; may be repeated
    #[arg(long)]
    only: Vec<Fault>,
}

/// The faults, in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Fault {
    Kill,
    FullDisk,
    DamagedFile,
    Stopped,
    Hung,
    Cut,
    ReadOnly,
    OutOfConnections,
    SuspendedInstance,
    ClockSkew,
    HalfOpen,
    SlowBodies,
    SlowReaders,
    SignIns,
    Streams,
    Terminate,
}

/// The database that a server runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    Sqlite,
    Postgres,
}

/// The extent of the faults.
struct Scale {
    kills: usize,
    /// The length of an outage of PostgreSQL or of a full disk.
    outage: Duration,
    suspensions: usize,
    half_open: usize,
    slow: usize,
    /// The time for which slow peers are observed. `None` means until their time limits have passed.
    slow_for: Option<Duration>,
    /// The sign-ins with the right password, concurrent with wrong ones.
    sign_ins: usize,
    streams: usize,
}

const FULL: Scale = Scale {
    kills: 100,
    outage: Duration::from_secs(20),
    suspensions: 5,
    half_open: 2_000,
    slow: 400,
    slow_for: None,
    sign_ins: 200,
    streams: 5_000,
};

const SHORT: Scale = Scale {
    kills: 10,
    outage: Duration::from_secs(4),
    suspensions: 1,
    half_open: 2_000,
    slow: 200,
    slow_for: Some(Duration::from_secs(8)),
    sign_ins: 30,
    streams: 1_000,
};

/// The database engine and the scale of one fault.
struct Testbed {
    engine: Engine,
    scale: &'static Scale,
    cluster: Option<Cluster>,
}

impl Testbed {
    /// Creates a database.
    async fn database(&self) -> TestDatabase {
        match self.engine {
            Engine::Sqlite => TestDatabase::in_file(),
            Engine::Postgres => TestDatabase::on_postgres(self.cluster().url()).await,
        }
    }

    /// Returns the PostgreSQL server.
    fn cluster(&self) -> &Cluster {
        self.cluster.as_ref().expect("a PostgreSQL server")
    }
}

impl Fault {
    /// Returns the database engines on which the fault is injected.
    fn engines(self) -> &'static [Engine] {
        match self {
            Self::Kill | Self::FullDisk | Self::Terminate => &[Engine::Sqlite, Engine::Postgres],
            Self::DamagedFile
            | Self::HalfOpen
            | Self::SlowBodies
            | Self::SlowReaders
            | Self::SignIns
            | Self::Streams => &[Engine::Sqlite],
            Self::Stopped
            | Self::Hung
            | Self::Cut
            | Self::ReadOnly
            | Self::OutOfConnections
            | Self::SuspendedInstance
            | Self::ClockSkew => &[Engine::Postgres],
        }
    }

    /// Returns the heading of the fault's rows.
    fn title(self, scale: &Scale) -> String {
        let seconds = scale.outage.as_secs();
        match self {
            Self::Kill => format!("`kill -9`, {} times, during writes", scale.kills),
            Self::FullDisk => format!("The disk of the database is full for {seconds} s"),
            Self::DamagedFile => "The database file is damaged".into(),
            Self::Stopped => format!("PostgreSQL is stopped for {seconds} s"),
            Self::Hung => format!("PostgreSQL hangs for {seconds} s (SIGSTOP)"),
            Self::Cut => format!("The network to PostgreSQL is cut for {seconds} s"),
            Self::ReadOnly => format!("PostgreSQL is read-only for {seconds} s"),
            Self::OutOfConnections => format!("PostgreSQL accepts no connection for {seconds} s"),
            Self::SuspendedInstance => {
                format!(
                    "One of two instances is suspended, {} times (SIGSTOP)",
                    scale.suspensions
                )
            }
            Self::ClockSkew => "The clocks of two instances differ by 45 s".into(),
            Self::HalfOpen => format!("{} connections send half a request", scale.half_open),
            Self::SlowBodies => format!("{} bodies arrive at one byte a second", scale.slow),
            Self::SlowReaders => format!("{} readers do not read", scale.slow),
            Self::SignIns => "200 wrong sign-ins at a time, each from another network".into(),
            Self::Streams => format!("{} streams of changes", scale.streams),
            Self::Terminate => "SIGTERM under load".into(),
        }
    }

    async fn inject(self, testbed: Arc<Testbed>) -> Vec<Figure> {
        match self {
            Self::Kill => kills::inject(&testbed).await,
            Self::FullDisk => disk::fill(&testbed).await,
            Self::DamagedFile => disk::damage(&testbed).await,
            Self::Stopped => outages::inject(&testbed, Outage::Stopped).await,
            Self::Hung => outages::inject(&testbed, Outage::Hung).await,
            Self::Cut => outages::inject(&testbed, Outage::Cut).await,
            Self::ReadOnly => outages::inject(&testbed, Outage::ReadOnly).await,
            Self::OutOfConnections => outages::inject(&testbed, Outage::OutOfConnections).await,
            Self::SuspendedInstance => instances::suspend(&testbed).await,
            Self::ClockSkew => instances::skew(&testbed).await,
            Self::HalfOpen => peers::half_open(&testbed).await,
            Self::SlowBodies => peers::slow_bodies(&testbed).await,
            Self::SlowReaders => peers::slow_readers(&testbed).await,
            Self::SignIns => floods::sign_ins(&testbed).await,
            Self::Streams => floods::streams(&testbed).await,
            Self::Terminate => shutdown::inject(&testbed).await,
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let command_line = CommandLine::parse();
    raise_open_files();
    let scale = if command_line.short { &SHORT } else { &FULL };
    let mut report = Report::default();
    for fault in Fault::value_variants() {
        if !command_line.only.is_empty() && !command_line.only.contains(fault) {
            continue;
        }
        let title = fault.title(scale);
        eprintln!("\n{title}");
        for &engine in fault.engines() {
            let cluster = match (engine, &command_line.postgres) {
                (Engine::Sqlite, _) => None,
                (Engine::Postgres, Some(url)) => Some(Cluster::at(url).await),
                (Engine::Postgres, None) => continue,
            };
            let testbed = Arc::new(Testbed {
                engine,
                scale,
                cluster,
            });
            // Runs in a separate task, so that a panic fails only the rows of this fault.
            let tasks = LocalSet::new();
            let injected = tasks.spawn_local(fault.inject(testbed));
            let injected = tasks.run_until(injected).await;
            report.add(&title, engine, injected);
        }
    }
    report.print();
    if report.is_within_bounds() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Raises the limit of open files to the maximum, because each stream is an open file.
fn raise_open_files() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, limit).expect("the limit can be raised");
}
