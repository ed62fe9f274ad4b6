//! `kill -9` during writes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pennon_tests::load::LoadClient;
use pennon_tests::{Process, TestDatabase};
use reqwest::StatusCode;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::report::Figure;
use crate::{Engine, Testbed};

/// The number of tasks that create flags.
const WRITERS: usize = 8;

const START_BOUND: Duration = Duration::from_secs(2);

/// The state that responses have confirmed to clients.
#[derive(Default)]
struct Acknowledged {
    created: BTreeSet<String>,
    /// The last confirmed TTL of the flag `checkout`, 0 before the first one. Each number is requested until it is
    /// confirmed, and only then the next one.
    ttl: u64,
    ttls: usize,
}

pub(crate) async fn inject(testbed: &Testbed) -> Vec<Figure> {
    let database = testbed.database().await;
    let first = Process::start(&database, &[]).await;
    let client = LoadClient::prepared(&first).await;
    first.kill().await;

    let acknowledged = Arc::new(Mutex::new(Acknowledged::default()));
    let (mut slowest_start, mut lost_ttls) = (Duration::ZERO, 0);
    for round in 0..testbed.scale.kills {
        let started = Instant::now();
        let process = Process::start(&database, &[]).await;
        let client = client.of(&process);
        client.exchange("evaluate").await;
        slowest_start = slowest_start.max(started.elapsed());
        lost_ttls += usize::from(ttl_is_lost(&client, &acknowledged).await);
        // Each round ends at another moment of the writes.
        let milliseconds = u64::try_from(round * 37 % 200).expect("a small number");
        let moment = sleep(Duration::from_millis(20 + milliseconds));
        write_until_killed(&client, process, &acknowledged, moment).await;
    }

    let process = Process::start(&database, &[]).await;
    let client = client.of(&process);
    let created = client.created_flags().await;
    let audited = client.flags_with_an_audit_entry().await;
    lost_ttls += usize::from(ttl_is_lost(&client, &acknowledged).await);
    let faults = match testbed.engine {
        Engine::Sqlite => Some(faults(&database).await),
        Engine::Postgres => None,
    };
    let acknowledged = acknowledged.lock().expect("no thread panicked");
    let missing = acknowledged.created.difference(&created).count();
    let mut figures = vec![
        Figure::never(
            "Acknowledged flags that are missing",
            missing,
            acknowledged.created.len(),
        ),
        Figure::never(
            "Acknowledged changes of a flag's TTL that are undone after a kill",
            lost_ttls,
            acknowledged.ttls,
        ),
        Figure::never(
            "Flags without their audit entry, or audit entries without their flag",
            created.symmetric_difference(&audited).count(),
            created.len(),
        ),
        Figure::within(
            "Slowest start, until the first evaluation",
            slowest_start,
            START_BOUND,
        ),
    ];
    if let Some(faults) = faults {
        figures.push(Figure::never(
            "Faults that SQLite's integrity check finds",
            faults,
            testbed.scale.kills,
        ));
    }
    figures
}

/// Writes with several tasks until `moment` comes, and then kills the server.
async fn write_until_killed(
    client: &LoadClient,
    process: Process,
    acknowledged: &Arc<Mutex<Acknowledged>>,
    moment: impl Future<Output = ()>,
) {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (client, acknowledged) = (client.clone(), Arc::clone(acknowledged));
        writers.spawn(async move {
            while let Ok(exchange) = client.try_exchange("create").await {
                if exchange.status == StatusCode::CREATED {
                    let mut acknowledged = acknowledged.lock().expect("no thread panicked");
                    acknowledged.created.insert(exchange.flag);
                }
            }
        });
    }
    let counting = tokio::spawn(raise_ttl(
        client.clone(),
        Arc::clone(acknowledged),
        Arc::clone(&is_over),
    ));
    moment.await;
    process.kill().await;
    is_over.store(true, Ordering::Relaxed);
    writers.join_all().await;
    counting.await.expect("no thread panicked");
}

/// Sets the TTL of a flag to one number after another.
async fn raise_ttl(
    client: LoadClient,
    acknowledged: Arc<Mutex<Acknowledged>>,
    is_over: Arc<AtomicBool>,
) {
    while !is_over.load(Ordering::Relaxed) {
        let next = acknowledged.lock().expect("no thread panicked").ttl + 1;
        let response = client.set_ttl(next).send().await;
        if response.is_ok_and(|response| response.status().is_success()) {
            let mut acknowledged = acknowledged.lock().expect("no thread panicked");
            acknowledged.ttl = next;
            acknowledged.ttls += 1;
        }
    }
}

/// Returns true if the TTL is neither the last confirmed one nor the one requested after it. Afterwards, the TTL is
/// known again.
async fn ttl_is_lost(client: &LoadClient, acknowledged: &Mutex<Acknowledged>) -> bool {
    let ttl = client.ttl().await;
    let mut acknowledged = acknowledged.lock().expect("no thread panicked");
    let is_lost = ttl != acknowledged.ttl && ttl != acknowledged.ttl + 1;
    acknowledged.ttl = ttl;
    is_lost
}

/// Returns the number of faults in a SQLite file.
async fn faults(database: &TestDatabase) -> usize {
    let broken = "select count(*) from pragma_integrity_check where integrity_check <> 'ok'";
    let dangling = "select count(*) from pragma_foreign_key_check";
    let faults = database.count(broken).await + database.count(dangling).await;
    usize::try_from(faults).expect("a number of rows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_planted_loss_of_an_acknowledged_change_is_found() {
        let database = TestDatabase::in_file();
        let process = Process::start(&database, &[]).await;
        let client = LoadClient::prepared(&process).await;
        let acknowledged: Arc<Mutex<Acknowledged>> = Arc::default();
        let two_ttls = async {
            while acknowledged.lock().expect("no thread panicked").ttls < 2 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        write_until_killed(&client, process, &acknowledged, two_ttls).await;

        let process = Process::start(&database, &[]).await;
        let client = client.of(&process);
        assert!(!ttl_is_lost(&client, &acknowledged).await);
        for planted in ["ttl_override_seconds - 1", "ttl_override_seconds + 3"] {
            let sql = format!(
                "update flag_environments set ttl_override_seconds = {planted} \
                 where ttl_override_seconds is not null"
            );
            database.execute(sql).await;
            assert!(ttl_is_lost(&client, &acknowledged).await, "{planted}");
            assert!(!ttl_is_lost(&client, &acknowledged).await);
        }
    }
}
