//! SIGTERM while requests are in flight.

use std::time::Duration;

use pennon_tests::Process;
use pennon_tests::load::{Exchange, LoadClient};
use reqwest::StatusCode;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::Testbed;
use crate::outages::writes;
use crate::report::Figure;

/// The number of tasks for each operation.
const CLIENTS: usize = 16;

/// The duration of the load before the signal.
const LOAD: Duration = Duration::from_secs(2);

/// The maximum time to stop. Docker and Kubernetes kill a process that takes longer.
const END_BOUND: Duration = Duration::from_secs(10);

pub(crate) async fn inject(testbed: &Testbed) -> Vec<Figure> {
    let database = testbed.database().await;
    let process = Process::start(&database, &[]).await;
    let client = LoadClient::prepared(&process).await;
    let mut tasks = JoinSet::new();
    for operation in ["evaluate", "config", "list", "create"] {
        for _ in 0..CLIENTS {
            tasks.spawn(repeat(client.clone(), operation));
        }
    }
    sleep(LOAD).await;
    let ended = process.stop().await;
    let (mut exchanges, mut broken) = (Vec::new(), 0);
    for (answered, is_broken) in tasks.join_all().await {
        exchanges.extend(answered);
        broken += usize::from(is_broken);
    }

    let refused = exchanges
        .iter()
        .filter(|one| !matches!(one.status, StatusCode::OK | StatusCode::CREATED));
    let process = Process::start(&database, &[]).await;
    vec![
        Figure::never(
            "Requests without a response on an open connection",
            broken,
            exchanges.len(),
        ),
        Figure::never(
            "Responses other than a success",
            refused.count(),
            exchanges.len(),
        ),
        Figure::within("Time until the process ends", ended.after, END_BOUND),
        Figure::never(
            "Exit status other than 0",
            usize::from(!ended.status.success()),
            1,
        ),
        writes(&client.of(&process), &exchanges).await,
    ]
}

/// Repeats an operation until the port refuses connections. Returns the exchanges, and true if a connection broke
/// before.
async fn repeat(client: LoadClient, operation: &'static str) -> (Vec<Exchange>, bool) {
    let mut exchanges = Vec::new();
    loop {
        match client.try_exchange(operation).await {
            Ok(exchange) => exchanges.push(exchange),
            Err(error) => return (exchanges, !error.is_connect()),
        }
    }
}
