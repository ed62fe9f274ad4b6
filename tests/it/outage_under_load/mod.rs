//! A PostgreSQL that is lost in the middle of everything: it hangs, it is killed, or the network to it falls apart.
//!
//! The real binary is asked all the while, for what it has in memory and for what is in the database only.

mod load;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pennon_tests::{Process, Proxy, TestDatabase, eventually};
use reqwest::StatusCode;

use self::load::{Answered, Caller, Load, UNKNOWN_KEY, WARM, kinds};

/// Within what time who needs the database is told that it is lost.
const TOLD_WITHIN: Duration = Duration::from_secs(2);

/// Within what time health tells of the loss, and everything is as before once the database is back.
const NOTICED_WITHIN: Duration = Duration::from_secs(5);

/// After what time without the database nobody is told any more that a key is wrong: a second, and what a busy machine
/// adds.
const SILENCE: Duration = Duration::from_millis(1250);

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_hangs_is_done_without() {
    outage(Proxy::hang, Proxy::resume).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_killed_is_done_without() {
    outage(Proxy::cut, Proxy::resume).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_a_partition_leaves_dead_are_replaced() {
    outage(Proxy::hang, Proxy::resume_with_new_connections).await;
}

/// As firewalls do with connections on which nothing is said, while others go on.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_were_forgotten_while_they_rested_are_replaced() {
    let database = TestDatabase::create().await;
    if !database.is_postgres() {
        return;
    }
    let proxy = Proxy::before(&database).await;
    let process = Process::start(&proxy.database(&database), &[]).await;
    let caller = Caller::prepared(&process).await;
    assert_eq!(caller.ask("create").await.status, StatusCode::CREATED);
    // For longer than connections are taken to be alive without a question. Only what watches the database goes on.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    proxy.forget_what_rested(Duration::from_secs(1));
    let created = caller.ask("create").await;
    assert_eq!(created.status, StatusCode::CREATED, "{created:?}");
    assert!(created.at - created.asked < TOLD_WITHIN, "{created:?}");
}

async fn outage(begin: fn(&Proxy), end: fn(&Proxy)) {
    let database = TestDatabase::create().await;
    if !database.is_postgres() {
        return;
    }
    let proxy = Proxy::before(&database).await;
    let process = Process::start(&proxy.database(&database), &[]).await;
    let load = Load::on(&process).await;
    let succeeds = |answered: &Answered| !answered.status.is_server_error();
    load.until("all is done", Instant::now(), 10, succeeds)
        .await;

    let (lost, connections) = (Instant::now(), proxy.connections());
    begin(&proxy);
    eventually("health is degraded", async || {
        load.caller.health("/health").await == (StatusCode::OK, "degraded".to_owned())
    })
    .await;
    let noticed = Instant::now();
    let any = |_: &Answered| true;
    load.until("all is answered", noticed, 10, any).await;
    let ready = load.caller.health("/health/ready").await;
    assert_eq!(ready.0, StatusCode::OK);

    let back = Instant::now();
    end(&proxy);
    load.until("all is done again", back, 1, succeeds).await;
    eventually("health is ok", async || {
        load.caller.health("/health").await == (StatusCode::OK, "ok".to_owned())
    })
    .await;
    let recovered = back.elapsed();
    let opened = proxy.connections() - connections;

    let (caller, answers) = load.stop().await;
    tell(&answers, lost, back);
    println!("noticed {:?}", noticed - lost);
    println!("recovered {recovered:?}, {opened} connections opened");
    assert!(noticed - lost < NOTICED_WITHIN && recovered < NOTICED_WITHIN);
    assert!(opened <= 40, "{opened} connections were opened");
    let during = Outage {
        lost,
        noticed,
        back,
    };
    for answered in &answers {
        during.judge(answered);
    }

    // What was refused was not done, what was promised was, and nothing was done by half.
    let created = caller.created_flags().await;
    assert_eq!(created, caller.flags_with_an_audit_entry().await);
    for answered in answers.iter().filter(|answered| answered.what == "create") {
        let exists = created.contains(&answered.flag);
        match answered.status {
            StatusCode::CREATED => assert!(exists, "{answered:?}"),
            _ if answered.detail.contains("may have been done or not") => {}
            _ => assert!(!exists, "{answered:?}"),
        }
    }
}

struct Outage {
    lost: Instant,
    noticed: Instant,
    back: Instant,
}

impl Outage {
    /// Fails the test if nobody should have been answered like this.
    fn judge(&self, answered: &Answered) {
        let is_within = answered.at > self.lost && answered.asked < self.back;
        let waited = answered.at - answered.asked.max(self.lost);
        match answered.status {
            status if WARM.contains(&answered.what) => {
                let is_fine = status == StatusCode::OK || status == StatusCode::NOT_MODIFIED;
                assert!(is_fine && waited < Duration::from_secs(1), "{answered:?}");
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                assert!(answered.at > self.lost, "{answered:?}");
                assert_eq!(answered.retry_after, "5", "{answered:?}");
                assert!(!is_within || waited < TOLD_WITHIN, "{answered:?}");
            }
            StatusCode::UNAUTHORIZED if answered.what == UNKNOWN_KEY => {
                let is_silent = is_within && answered.asked > self.lost + SILENCE;
                assert!(!is_silent, "{:?} {answered:?}", answered.asked - self.lost);
            }
            status => {
                assert!(
                    status.is_success() || status.is_redirection(),
                    "{answered:?}"
                );
                let knew = answered.asked > self.noticed && answered.at < self.back;
                assert!(!knew, "{answered:?}");
            }
        }
    }
}

/// Prints what was answered between the loss and the return of the database, for whoever wants figures.
fn tell(answers: &[Answered], lost: Instant, back: Instant) {
    let mut counts: HashMap<(&str, StatusCode), (usize, Duration)> = HashMap::new();
    for answered in answers {
        if answered.at > lost && answered.asked < back {
            let waited = answered.at - answered.asked.max(lost);
            let (count, longest) = counts.entry((answered.what, answered.status)).or_default();
            (*count, *longest) = (*count + 1, waited.max(*longest));
        }
    }
    println!("lost for {:?}", back - lost);
    for what in kinds() {
        let is_again =
            |one: &&Answered| one.what == what && one.asked > back && !one.status.is_server_error();
        let again = answers.iter().filter(is_again).map(|one| one.at - back);
        println!("{what}: again after {:?}", again.min());
    }
    for ((what, status), (count, longest)) in counts {
        println!("{what}: {count} times {status}, at most after {longest:?}");
    }
}
