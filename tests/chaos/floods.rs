//! Floods of failed sign-ins and of streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pennon_tests::load::LoadClient;
use pennon_tests::{EMAIL, PASSWORD, Process};
use reqwest::{Client, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::Testbed;
use crate::peers::{Evaluator, evaluation_figures};
use crate::report::{Figure, p99};

const SIGN_IN_BOUND: Duration = Duration::from_secs(2);

/// The number of guesses in flight.
const GUESSERS: usize = 200;

/// The address from which the administrator has signed in before.
const KNOWN: &str = "198.51.100.7";

/// The time between two changes that all streams receive.
const INTERVAL: Duration = Duration::from_secs(1);

/// The number of these changes.
const CHANGES: usize = 20;

const STREAM_BOUND: Duration = Duration::from_millis(250);
const EVENT_TIMEOUT: Duration = Duration::from_secs(30);
const WRITERS: usize = 8;

/// The duration for which switches are counted.
const SPAN: Duration = Duration::from_secs(5);
const SWITCHES_BOUND: f64 = 200.0;

/// Guesses passwords from many networks, and meanwhile signs in from a known network.
pub(crate) async fn sign_ins(testbed: &Testbed) -> Vec<Figure> {
    let database = testbed.database().await;
    let proxies = [("PENNON_TRUSTED_PROXIES", "127.0.0.1")];
    let process = Process::start(&database, &proxies).await;
    let client = LoadClient::prepared(&process).await;
    let sign_in = SignIn {
        http: Client::new(),
        url: format!("{}/auth/login", process.base_url()),
    };
    assert_eq!(sign_in.send(KNOWN, PASSWORD).await, StatusCode::OK);

    let evaluator = Evaluator::start(&client);
    let next = Arc::new(AtomicUsize::new(0));
    let is_over = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for _ in 0..GUESSERS {
        let (sign_in, next, is_over) = (sign_in.clone(), Arc::clone(&next), Arc::clone(&is_over));
        tasks.spawn(async move {
            let mut accepted = 0;
            while !is_over.load(Ordering::Relaxed) {
                let guess = next.fetch_add(1, Ordering::Relaxed);
                let address = format!("2001:db8:{:x}::1", guess % 0x1_0000);
                let status = sign_in.send(&address, "a wrong password").await;
                accepted += usize::from(status == StatusCode::OK);
            }
            accepted
        });
    }
    let (mut waits, mut refused) = (Vec::new(), 0);
    for _ in 0..testbed.scale.sign_ins {
        let sent = Instant::now();
        let status = sign_in.send(KNOWN, PASSWORD).await;
        waits.push(sent.elapsed());
        refused += usize::from(status != StatusCode::OK);
    }
    is_over.store(true, Ordering::Relaxed);
    let accepted: usize = tasks.join_all().await.into_iter().sum();
    let guesses = next.load(Ordering::Relaxed);
    let mut figures = evaluation_figures(&evaluator.stop().await);
    figures.extend([
        Figure::never("Guesses that are accepted", accepted, guesses),
        Figure::never(
            "Right sign-ins from a known network that are refused",
            refused,
            waits.len(),
        ),
        Figure::within("The same, p99", p99(waits), SIGN_IN_BOUND),
    ]);
    figures
}

#[derive(Clone)]
struct SignIn {
    http: Client,
    url: String,
}

impl SignIn {
    async fn send(&self, address: &str, password: &str) -> StatusCode {
        let request = self.http.post(&self.url).header("x-forwarded-for", address);
        let request = request.json(&json!({ "email": EMAIL, "password": password }));
        request.send().await.expect("the server answers").status()
    }
}

/// Opens streams, changes a flag, and measures the rate of changes by other writers meanwhile.
pub(crate) async fn streams(testbed: &Testbed) -> Vec<Figure> {
    let database = testbed.database().await;
    let process = Process::start(&database, &[]).await;
    let client = LoadClient::prepared(&process).await;
    let count = testbed.scale.streams;
    let (sender, mut events) = unbounded_channel();
    for _ in 0..count {
        let stream = open(&process, client.sdk_key()).await;
        tokio::spawn(listen(stream, sender.clone()));
    }
    let mut missing = missing_events(count, &mut events).await;

    let evaluator = Evaluator::start(&client);
    let mut slowest = Vec::new();
    for change in 0..CHANGES {
        sleep(INTERVAL).await;
        let changed = Instant::now();
        let switched = client.switch_evaluated(change % 2 == 0).send().await;
        assert!(switched.is_ok_and(|response| response.status().is_success()));
        missing += missing_events(count, &mut events).await;
        slowest.push(changed.elapsed());
    }
    slowest.sort_unstable();
    let median = slowest.get(CHANGES / 2).copied().unwrap_or_default();
    let mut figures = evaluation_figures(&evaluator.stop().await);
    figures.extend([
        Figure::never("Events that do not arrive", missing, count * (CHANGES + 1)),
        Figure::within(
            "Time from a change until the last stream has it, median of 20",
            median,
            STREAM_BOUND,
        ),
        Figure::rate(
            "Switches by 8 writers beside the streams",
            switches_per_second(&client).await,
            SWITCHES_BOUND,
        ),
    ]);
    figures
}

async fn open(process: &Process, sdk_key: &str) -> TcpStream {
    let connected = TcpStream::connect(process.address()).await;
    let mut stream = connected.expect("the server takes the connection");
    let request = format!(
        "GET /sdk/v1/stream HTTP/1.1\r\nhost: pennon\r\nauthorization: Bearer {sdk_key}\r\n\r\n"
    );
    let written = stream.write_all(request.as_bytes()).await;
    written.expect("the server reads");
    stream
}

/// Reports each event until the stream ends.
async fn listen(mut stream: TcpStream, events: UnboundedSender<()>) {
    let mut buffer = [0; 2048];
    let mut unread = Vec::new();
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        unread.extend_from_slice(&buffer[..read]);
        // An event ends with its data, a line, and an empty line.
        while let Some(end) = unread.windows(3).position(|end| end == b"}\n\n") {
            unread.drain(..end + 3);
            // The receiver is dropped when the measurement ends.
            _ = events.send(());
        }
    }
}

/// Waits for an event on each stream, and returns the number of events that do not arrive in time.
async fn missing_events(streams: usize, events: &mut UnboundedReceiver<()>) -> usize {
    let mut missing = streams;
    let received = async {
        while missing > 0 && events.recv().await.is_some() {
            missing -= 1;
        }
    };
    // Events that have not arrived count as missing.
    _ = timeout(EVENT_TIMEOUT, received).await;
    missing
}

/// Returns the number of switches per second that several writers make, each of its own flag.
async fn switches_per_second(client: &LoadClient) -> f64 {
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let client = client.with_flag(&format!("of_writer_{writer}")).await;
        writers.spawn(async move {
            let (began, mut switches) = (Instant::now(), 0_u32);
            while began.elapsed() < SPAN {
                let is_enabled = switches.is_multiple_of(2);
                let response = client.switch_evaluated(is_enabled).send().await;
                let response = response.expect("the server answers");
                switches += u32::from(response.status().is_success());
            }
            switches
        });
    }
    let switches: u32 = writers.join_all().await.into_iter().sum();
    f64::from(switches) / SPAN.as_secs_f64()
}
