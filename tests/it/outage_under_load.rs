//! Loss of PostgreSQL under load: the server hangs or is killed, or the network fails.
//!
//! Throughout, the load sends requests to the real binary, for data in memory and for data in the database.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pennon_tests::load::{Exchange, FROM_MEMORY, Load, LoadClient, UNKNOWN_KEY, operations};
use pennon_tests::{Process, Proxy, TestDatabase, eventually};
use reqwest::StatusCode;
use tokio::sync::Mutex;

/// The time limit for requests that need the database to fail once it is lost.
const REFUSED_WITHIN: Duration = Duration::from_secs(2);

/// The time limit for health to report the loss, and for full recovery once the database is back. Recovery ends when
/// each operation has succeeded, so it may also take as long as the slowest one took before the loss.
const NOTICED_WITHIN: Duration = Duration::from_secs(5);

/// The time without the database after which an unknown key gets 503 instead of 401: a second, plus tolerance for a
/// busy machine.
const SILENCE: Duration = Duration::from_millis(1250);

/// The right to put load on the machine. Two loads at once would slow down both servers, and all limits here are those
/// of an idle machine.
static TURN: Mutex<()> = Mutex::const_new(());

#[tokio::test(flavor = "multi_thread")]
async fn evaluation_continues_while_the_database_hangs() {
    outage(Proxy::hang, Proxy::resume).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluation_continues_while_the_database_is_down() {
    outage(Proxy::cut, Proxy::resume).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_died_in_a_network_partition_are_replaced() {
    outage(Proxy::hang, Proxy::resume_with_new_connections).await;
}

/// Firewalls do this to idle connections, while others continue.
#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_that_a_firewall_dropped_are_replaced() {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let process = Process::start(&proxy.database(&database), &[]).await;
    let client = LoadClient::prepared(&process).await;
    assert_eq!(client.exchange("create").await.status, StatusCode::CREATED);
    // Only time makes a connection idle. This is longer than the time for which the server assumes that such a
    // connection is alive, even on a busy machine, where connections return to the pool late. Only the database probe
    // runs.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let connections = proxy.connections();
    proxy.drop_idle_connections(Duration::from_millis(1500));
    let created = client.exchange("create").await;
    assert_eq!(created.status, StatusCode::CREATED, "{created:?}");
    assert!(
        created.received - created.sent < REFUSED_WITHIN,
        "{created:?}"
    );
    assert!(proxy.connections() > connections);
}

async fn outage(begin: fn(&Proxy), end: fn(&Proxy)) {
    let Some(database) = TestDatabase::create_on_postgres().await else {
        return;
    };
    let _turn = TURN.lock().await;
    let proxy = Proxy::before(&database).await;
    let process = Process::start(&proxy.database(&database), &[]).await;
    let load = Load::steady(&process).await;

    // The worst moment: the server also waits for a new connection, which must not delay the notice.
    proxy.until_next_connection(Duration::from_secs(2)).await;
    let (lost, connections) = (Instant::now(), proxy.connections());
    begin(&proxy);
    eventually("health is degraded", async || {
        load.client.health("/health").await == (StatusCode::OK, "degraded".to_owned())
    })
    .await;
    let noticed = Instant::now();
    let any = |_: &Exchange| true;
    load.until("all operations have responses", noticed, 10, any)
        .await;
    let ready = load.client.health("/health/ready").await;
    assert_eq!(ready.0, StatusCode::OK);

    let back = Instant::now();
    end(&proxy);
    load.until("all operations succeed again", back, 1, Exchange::succeeds)
        .await;
    eventually("health is ok", async || {
        load.client.health("/health").await == (StatusCode::OK, "ok".to_owned())
    })
    .await;
    let recovered = back.elapsed();
    let opened = proxy.connections() - connections;

    let (client, exchanges) = load.stop().await;
    print_summary(&exchanges, lost, back);
    let slowest = slowest_before(lost, &exchanges);
    println!("noticed {:?}", noticed - lost);
    println!(
        "recovered {recovered:?}, {opened} connections opened, slowest operation before {slowest:?}"
    );
    assert!(noticed - lost < NOTICED_WITHIN);
    assert!(recovered < NOTICED_WITHIN + slowest);
    assert!(opened <= 40, "{opened} connections were opened");
    let during = Outage {
        lost,
        noticed,
        back,
    };
    for exchange in &exchanges {
        during.check(exchange);
    }

    // Refused changes were not made, acknowledged changes were made, and no change was made in part.
    let created = client.created_flags().await;
    assert_eq!(created, client.flags_with_an_audit_entry().await);
    for exchange in exchanges
        .iter()
        .filter(|exchange| exchange.operation == "create")
    {
        let exists = created.contains(&exchange.flag);
        match exchange.status {
            StatusCode::CREATED => assert!(exists, "{exchange:?}"),
            _ if exchange.detail.contains("may or may not have been saved") => {}
            _ => assert!(!exists, "{exchange:?}"),
        }
    }
}

/// Returns the longest time that an exchange took before the loss, which is longer on a busy machine.
fn slowest_before(lost: Instant, exchanges: &[Exchange]) -> Duration {
    let before = exchanges.iter().filter(|exchange| exchange.received < lost);
    let times = before.map(|exchange| exchange.received - exchange.sent);
    times.max().unwrap_or_default()
}

struct Outage {
    lost: Instant,
    noticed: Instant,
    back: Instant,
}

impl Outage {
    /// Fails the test unless the outage explains the response.
    fn check(&self, exchange: &Exchange) {
        let is_within = exchange.received > self.lost && exchange.sent < self.back;
        let waited = exchange.received - exchange.sent.max(self.lost);
        match exchange.status {
            status if FROM_MEMORY.contains(&exchange.operation) => {
                let is_fine = status == StatusCode::OK || status == StatusCode::NOT_MODIFIED;
                assert!(is_fine && waited < Duration::from_secs(1), "{exchange:?}");
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                assert!(exchange.received > self.lost, "{exchange:?}");
                assert_eq!(exchange.retry_after, "5", "{exchange:?}");
                assert!(!is_within || waited < REFUSED_WITHIN, "{exchange:?}");
            }
            StatusCode::UNAUTHORIZED if exchange.operation == UNKNOWN_KEY => {
                let is_silent = is_within && exchange.sent > self.lost + SILENCE;
                assert!(!is_silent, "{:?} {exchange:?}", exchange.sent - self.lost);
            }
            status => {
                assert!(
                    status.is_success() || status.is_redirection(),
                    "{exchange:?}"
                );
                let knew = exchange.sent > self.noticed && exchange.received < self.back;
                assert!(!knew, "{exchange:?}");
            }
        }
    }
}

/// Prints the exchanges between the loss and the return of the database.
fn print_summary(exchanges: &[Exchange], lost: Instant, back: Instant) {
    let mut counts: HashMap<(&str, StatusCode), (usize, Duration)> = HashMap::new();
    for exchange in exchanges {
        if exchange.received > lost && exchange.sent < back {
            let waited = exchange.received - exchange.sent.max(lost);
            let (count, longest) = counts
                .entry((exchange.operation, exchange.status))
                .or_default();
            (*count, *longest) = (*count + 1, waited.max(*longest));
        }
    }
    println!("lost for {:?}", back - lost);
    for what in operations() {
        let is_again = |one: &&Exchange| {
            one.operation == what && one.sent > back && !one.status.is_server_error()
        };
        let again = exchanges
            .iter()
            .filter(is_again)
            .map(|one| one.received - back);
        println!("{what}: again after {:?}", again.min());
    }
    for ((what, status), (count, longest)) in counts {
        println!("{what}: {count} times {status}, at most after {longest:?}");
    }
}
