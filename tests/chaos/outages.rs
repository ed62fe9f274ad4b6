//! Outages of PostgreSQL under mixed load.

use std::time::{Duration, Instant};

use pennon_tests::load::{Exchange, FROM_MEMORY, Load, LoadClient, UNKNOWN_KEY};
use pennon_tests::{Process, Proxy, TestDatabase};
use reqwest::StatusCode;
use rustix::process::Signal;
use tokio::time::sleep;

use crate::Testbed;
use crate::cluster::{Cluster, Stopped};
use crate::report::{Figure, between};

const EVALUATION_BOUND: Duration = Duration::from_secs(1);
const ADMINISTRATION_BOUND: Duration = Duration::from_secs(2);
const RECOVERY_BOUND: Duration = Duration::from_secs(5);

/// A failure of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
    Stopped,
    Hung,
    Cut,
    ReadOnly,
    OutOfConnections,
}

pub(crate) async fn inject(testbed: &Testbed, outage: Outage) -> Vec<Figure> {
    let database = testbed.database().await;
    let mut link = Link::to(&database, testbed.cluster(), outage).await;
    let process = Process::start(&TestDatabase::at(&link.url), &[]).await;
    let load = Load::steady(&process).await;

    let lost = Instant::now();
    link.begin().await;
    sleep(testbed.scale.outage).await;
    link.end().await;
    let back = Instant::now();
    load.until("all operations succeed again", back, 1, Exchange::succeeds)
        .await;
    let recovered = back.elapsed();
    let (client, exchanges) = load.stop().await;

    let mut figures = responses(&exchanges, lost, back);
    figures.push(Figure::within(
        "Time until all operations succeed again",
        recovered,
        RECOVERY_BOUND,
    ));
    figures.push(writes(&client, &exchanges).await);
    figures
}

/// Returns the figures of the responses during an outage.
pub(crate) fn responses(exchanges: &[Exchange], lost: Instant, back: Instant) -> Vec<Figure> {
    let is_during = |exchange: &&Exchange| exchange.received > lost && exchange.sent < back;
    let during: Vec<&Exchange> = exchanges.iter().filter(is_during).collect();
    let is_evaluation = |exchange: &&&Exchange| FROM_MEMORY.contains(&exchange.operation);
    let slowest = |exchanges: &[&&Exchange]| {
        let waits = exchanges
            .iter()
            .map(|exchange| between(exchange.sent.max(lost), exchange.received));
        waits.max().unwrap_or_default()
    };
    let (evaluations, others): (Vec<_>, Vec<_>) = during.iter().partition(is_evaluation);
    let fails = |exchange: &&&&Exchange| {
        !matches!(exchange.status, StatusCode::OK | StatusCode::NOT_MODIFIED)
    };
    vec![
        Figure::never(
            "Evaluations that fail",
            evaluations.iter().filter(fails).count(),
            evaluations.len(),
        ),
        Figure::within(
            "Slowest evaluation",
            slowest(&evaluations),
            EVALUATION_BOUND,
        ),
        Figure::never(
            "Other responses that are neither a success nor 503 with `Retry-After`",
            others.iter().filter(|one| !is_explained(one)).count(),
            others.len(),
        ),
        Figure::within(
            "Slowest response of administration",
            slowest(&others),
            ADMINISTRATION_BOUND,
        ),
    ]
}

fn is_explained(exchange: &Exchange) -> bool {
    match exchange.status {
        StatusCode::SERVICE_UNAVAILABLE => !exchange.retry_after.is_empty(),
        StatusCode::UNAUTHORIZED => exchange.operation == UNKNOWN_KEY,
        status => status.is_success() || status.is_redirection(),
    }
}

/// Compares the existing flags with the responses to their creation.
pub(crate) async fn writes(client: &LoadClient, exchanges: &[Exchange]) -> Figure {
    let created = client.created_flags().await;
    let audited = client.flags_with_an_audit_entry().await;
    let mut violations = created.symmetric_difference(&audited).count();
    let creations = exchanges.iter().filter(|one| one.operation == "create");
    let mut cases = 0;
    for exchange in creations {
        cases += 1;
        let exists = created.contains(&exchange.flag);
        let is_violation = match exchange.status {
            StatusCode::CREATED => !exists,
            _ if exchange.detail.contains("may or may not have been saved") => false,
            _ => exists,
        };
        violations += usize::from(is_violation);
    }
    Figure::never(
        "Changes that were acknowledged and are missing, or were refused and exist",
        violations,
        cases,
    )
}

/// The link between a server and its database, and the means to interrupt it.
struct Link<'a> {
    /// The URL for the server.
    url: String,
    database: &'a TestDatabase,
    cluster: &'a Cluster,
    outage: Outage,
    proxy: Option<Proxy>,
    stopped: Option<Stopped>,
}

impl<'a> Link<'a> {
    async fn to(database: &'a TestDatabase, cluster: &'a Cluster, outage: Outage) -> Self {
        let mut link = Self {
            url: database.url().to_owned(),
            database,
            cluster,
            outage,
            proxy: None,
            stopped: None,
        };
        match outage {
            Outage::Cut => {
                let proxy = Proxy::before(database).await;
                proxy.database(database).url().clone_into(&mut link.url);
                link.proxy = Some(proxy);
            }
            // A superuser could use the connections that are reserved for superusers.
            Outage::OutOfConnections => {
                let own_role = database.for_own_role().await;
                own_role.url().clone_into(&mut link.url);
            }
            Outage::Stopped | Outage::Hung | Outage::ReadOnly => {}
        }
        link
    }

    async fn begin(&mut self) {
        match self.outage {
            Outage::Stopped => self.stopped = Some(self.cluster.stop().await),
            Outage::Hung => self.cluster.signal(Signal::STOP).await,
            Outage::Cut => self.proxy().cut(),
            Outage::ReadOnly => self.set_read_only("on").await,
            Outage::OutOfConnections => self.database.limit_connections(Some(0)).await,
        }
    }

    async fn end(&mut self) {
        match self.outage {
            Outage::Stopped => {
                let stopped = self.stopped.take().expect("it was stopped");
                self.cluster.start(stopped).await;
            }
            Outage::Hung => self.cluster.signal(Signal::CONT).await,
            Outage::Cut => self.proxy().resume(),
            Outage::ReadOnly => self.set_read_only("off").await,
            Outage::OutOfConnections => self.database.limit_connections(None).await,
        }
    }

    /// Makes existing sessions read-only, as on a standby until it is promoted.
    async fn set_read_only(&self, value: &str) {
        let set = format!("alter system set default_transaction_read_only = {value}");
        self.cluster.execute(&set).await;
        self.cluster.execute("select pg_reload_conf()").await;
    }

    fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("a proxy")
    }
}
