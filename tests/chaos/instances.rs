//! Two instances on one PostgreSQL database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pennon_tests::load::{Exchange, LoadClient};
use pennon_tests::{Process, eventually};
use reqwest::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::Testbed;
use crate::outages::writes;
use crate::report::{Figure, between, omit};

/// The tasks that create flags on each instance, so that the suspended one is likely to be in a transaction.
const WRITERS: usize = 4;

/// The duration of a suspension. PostgreSQL ends each of the two transactions that a suspended instance may have open
/// after two seconds, so that other instances can write again.
const SUSPENSION: Duration = Duration::from_secs(8);
const WRITE_BOUND: Duration = Duration::from_secs(5);
const EVALUATION_BOUND: Duration = Duration::from_secs(1);
const FOLLOW_BOUND: Duration = Duration::from_secs(1);

/// Repeatedly suspends one of two instances during writes.
pub(crate) async fn suspend(testbed: &Testbed) -> Vec<Figure> {
    let database = testbed.database().await;
    let one = Process::start(&database, &[]).await;
    let other = Process::start(&database, &[]).await;
    let client = LoadClient::prepared(&one).await;
    let other_client = client.of(&other);

    let is_over = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for operation in ["create", "evaluate"] {
        for _ in 0..WRITERS {
            tasks.spawn(repeat(client.clone(), operation, Arc::clone(&is_over)));
        }
    }
    let mut others = JoinSet::new();
    for _ in 0..WRITERS {
        others.spawn(repeat(other_client.clone(), "create", Arc::clone(&is_over)));
    }
    let mut slowest_return = Duration::ZERO;
    for round in 0..testbed.scale.suspensions {
        let milliseconds = u64::try_from(round * 37 % 100).expect("a small number");
        sleep(Duration::from_millis(1000 + milliseconds)).await;
        other.suspend();
        sleep(SUSPENSION).await;
        other.resume();
        slowest_return = slowest_return.max(time_to_follow(&client, &other_client, round).await);
    }
    is_over.store(true, Ordering::Relaxed);
    let mine: Vec<Exchange> = tasks.join_all().await.into_iter().flatten().collect();
    let theirs: Vec<Exchange> = others.join_all().await.into_iter().flatten().collect();

    let evaluations = mine.iter().filter(|one| one.operation == "evaluate");
    let fails = |one: &&Exchange| one.status != StatusCode::OK;
    let creations = mine.iter().filter(|one| one.operation == "create");
    let is_refused = |one: &&Exchange| one.status != StatusCode::CREATED;
    let wait = |one: &Exchange| between(one.sent, one.received);
    let slowest = |operation: &str| {
        let waits = mine
            .iter()
            .filter(|one| one.operation == operation)
            .map(wait);
        waits.max().unwrap_or_default()
    };
    let all: Vec<Exchange> = mine.iter().cloned().chain(theirs).collect();
    vec![
        Figure::never(
            "Evaluations of the other instance that fail",
            evaluations.clone().filter(fails).count(),
            evaluations.count(),
        ),
        Figure::within("Slowest evaluation", slowest("evaluate"), EVALUATION_BOUND),
        Figure::never(
            "Writes of the other instance that fail",
            creations.clone().filter(is_refused).count(),
            creations.count(),
        ),
        Figure::within(
            "Slowest write of the other instance",
            slowest("create"),
            WRITE_BOUND,
        ),
        Figure::within(
            "Time until a resumed instance serves a new change of the other",
            slowest_return,
            FOLLOW_BOUND,
        ),
        writes(&client, &all).await,
    ]
}

/// Repeats an operation until the test is over.
async fn repeat(
    client: LoadClient,
    operation: &'static str,
    is_over: Arc<AtomicBool>,
) -> Vec<Exchange> {
    let mut exchanges = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        exchanges.push(client.exchange(operation).await);
        sleep(Duration::from_millis(5)).await;
    }
    exchanges
}

/// Returns the time from a change on one instance until the other one serves it.
async fn time_to_follow(client: &LoadClient, other: &LoadClient, round: usize) -> Duration {
    let is_enabled = round.is_multiple_of(2);
    eventually("a change succeeds", async || {
        let switched = client.switch_evaluated(is_enabled).send().await;
        switched.is_ok_and(|response| response.status().is_success())
    })
    .await;
    let changed = Instant::now();
    eventually("the other instance serves the change", async || {
        other.is_on().await == Some(is_enabled)
    })
    .await;
    changed.elapsed()
}

/// Signs in on each of two instances whose clocks differ, uses each access token on both, and repeats a refresh on the
/// other instance, as a client does whose response was lost. The library `libfaketime` changes the time that one of
/// them sees.
pub(crate) async fn skew(testbed: &Testbed) -> Vec<Figure> {
    // Debian's folder.
    let faketime = format!(
        "/usr/lib/{}-linux-gnu/faketime/libfaketime.so.1",
        std::env::consts::ARCH
    );
    if !Path::new(&faketime).exists() {
        omit("instances whose clocks differ; install libfaketime");
        return Vec::new();
    }
    let (mut refused, mut cases) = (0, 0);
    let (mut lost, mut refreshes) = (0, 0);
    let mut unlogged = 0;
    let skews = ["+45s", "-45s"];
    for skew in skews {
        let database = testbed.database().await;
        let exact = Process::start(&database, &[]).await;
        let skewed = [
            ("LD_PRELOAD", faketime.as_str()),
            ("FAKETIME", skew),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        let skewed = Process::start(&database, &skewed).await;
        let client = LoadClient::prepared(&exact).await;
        let tokens = [exact.access_token().await, skewed.access_token().await];
        for token in tokens {
            for process in [&exact, &skewed] {
                let client = client.of(process).with_token(&token);
                for operation in ["list", "create", "switch"] {
                    let exchange = client.exchange(operation).await;
                    refused += usize::from(!exchange.status.is_success());
                    cases += 1;
                }
            }
        }
        for (first, second) in [(&exact, &skewed), (&skewed, &exact)] {
            let token = first.sign_in().await.text("/refresh_token");
            let refresh = json!({ "refresh_token": token });
            let mut next = Vec::new();
            for process in [first, second] {
                let answer = process
                    .anonymous()
                    .post("/auth/refresh", refresh.clone())
                    .await;
                let is_ok = answer.status.is_success();
                next.push(is_ok.then(|| answer.text("/refresh_token")));
            }
            lost += usize::from(next[0].is_none() || next[0] != next[1]);
            refreshes += 1;
        }
        let log = skewed.stop().await.log;
        unlogged += usize::from(!log.contains("clock"));
    }
    vec![
        Figure::never("Access tokens that either instance refuses", refused, cases),
        Figure::never(
            "Refreshes that the other instance does not repeat",
            lost,
            refreshes,
        ),
        Figure::never(
            "Instances that do not log a warning about their clock",
            unlogged,
            skews.len(),
        ),
    ]
}
