//! Peers that hold connections open and send or read nothing, or little.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pennon_tests::Process;
use pennon_tests::load::{Exchange, LoadClient};
use reqwest::StatusCode;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::Testbed;
use crate::report::{Figure, between, p99};

/// The maximum p99 of other clients' evaluations, on two processor cores that the server shares with its peers.
pub(crate) const EVALUATION_BOUND: Duration = Duration::from_millis(200);
const HALF_OPEN_MEMORY: f64 = 64.0;
const SLOW_MEMORY: f64 = 96.0;
const UNREAD_MEMORY: f64 = 64.0;

/// The time for which half-sent requests are observed. The server gives up such a request after 10 seconds.
const HALF_OPEN_FOR: Duration = Duration::from_secs(13);

/// The time for which slow readers are observed. The server closes their connections after 30 seconds.
const SLOW_READERS_FOR: Duration = Duration::from_secs(40);

/// Opens connections that send half a head.
pub(crate) async fn half_open(testbed: &Testbed) -> Vec<Figure> {
    let open = testbed.scale.half_open;
    let connect = async |peers: &mut Peers| {
        for _ in 0..open {
            peers
                .connect("GET /health HTTP/1.1\r\nhost: pennon\r\n")
                .await;
        }
    };
    let observed = observe(testbed, connect, "", HALF_OPEN_FOR).await;
    observed.figures(HALF_OPEN_MEMORY, true)
}

/// Opens connections whose bodies arrive byte by byte.
pub(crate) async fn slow_bodies(testbed: &Testbed) -> Vec<Figure> {
    let slow = testbed.scale.slow;
    let connect = async |peers: &mut Peers| {
        let head = "content-type: application/json\r\ncontent-length: 60000\r\n\r\n";
        for number in 0..slow {
            let key = &peers.key;
            let path = if number % 2 == 0 {
                "evaluate"
            } else {
                "evaluate/batch"
            };
            let request = format!(
                "POST /sdk/v1/{path} HTTP/1.1\r\nhost: pennon\r\nauthorization: Bearer {key}\r\n{head}"
            );
            peers.connect(&request).await;
        }
    };
    let observed = observe(testbed, connect, " ", HALF_OPEN_FOR).await;
    observed.figures(SLOW_MEMORY, true)
}

/// Opens connections that repeatedly request a large config document, a part of it, or the results of its flags, and
/// read nothing. Each part and each context is another one.
pub(crate) async fn slow_readers(testbed: &Testbed) -> Vec<Figure> {
    let slow = testbed.scale.slow;
    let connect = async |peers: &mut Peers| {
        let mut creations = JoinSet::new();
        for _ in 0..8 {
            let client = peers.client.clone();
            creations.spawn(async move {
                for _ in 0..500 {
                    client.exchange("create").await;
                }
            });
        }
        creations.join_all().await;
        for number in 0..slow {
            let request = unread_request(number, &peers.key);
            peers.connect(&request.repeat(20)).await;
        }
    };
    let span = testbed.scale.slow_for.unwrap_or(SLOW_READERS_FOR);
    let observed = observe(testbed, connect, "", span).await;
    // Responses in the kernel's buffers can still be read, so a client cannot see that the server closed the
    // connection.
    observed.figures(UNREAD_MEMORY, false)
}

/// Returns the request of one of many readers.
fn unread_request(number: usize, key: &str) -> String {
    let context = format!(r#"{{"context":{{"userId":"reader {number}"}}}}"#);
    let (line, body) = match number % 4 {
        0 => ("GET /sdk/v1/config".to_owned(), ""),
        1 => {
            let keys = (number..number + 500).map(|flag| format!("keys=flag_{flag}"));
            let keys: Vec<String> = keys.collect();
            (format!("GET /sdk/v1/config?{}", keys.join("&")), "")
        }
        _ => ("POST /sdk/v1/evaluate/all".to_owned(), context.as_str()),
    };
    let length = body.len();
    format!(
        "{line} HTTP/1.1\r\nhost: pennon\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Many connections to one server.
struct Peers {
    process: Process,
    client: LoadClient,
    key: String,
    connections: Vec<TcpStream>,
}

impl Peers {
    async fn connect(&mut self, request: &str) {
        let connected = TcpStream::connect(self.process.address()).await;
        let mut connection = connected.expect("the server takes the connection");
        let written = connection.write_all(request.as_bytes()).await;
        written.expect("the server reads");
        self.connections.push(connection);
    }

    /// Returns the number of connections that the server has not closed.
    fn open(&self) -> usize {
        let is_open = |connection: &&TcpStream| {
            let mut some = [0; 4096];
            loop {
                match connection.try_read(&mut some) {
                    Ok(0) => return false,
                    Ok(_) => {}
                    Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
                }
            }
        };
        self.connections.iter().filter(is_open).count()
    }
}

/// The evaluations of another client during a fault, and the state of the connections.
struct Observation {
    evaluations: Vec<Exchange>,
    connections: usize,
    still_open: usize,
    mebibytes: f64,
}

/// Opens connections, sends `more` on each of them every second, and evaluates meanwhile.
async fn observe(
    testbed: &Testbed,
    connect: impl AsyncFnOnce(&mut Peers),
    more: &str,
    span: Duration,
) -> Observation {
    let database = testbed.database().await;
    let process = Process::start(&database, &[]).await;
    let client = LoadClient::prepared(&process).await;
    let key = client.sdk_key().to_owned();
    let mut peers = Peers {
        process,
        client,
        key,
        connections: Vec::new(),
    };
    let before = peers.process.resident_mebibytes();
    let evaluator = Evaluator::start(&peers.client);
    connect(&mut peers).await;
    let (began, mut most) = (Instant::now(), before);
    while began.elapsed() < span {
        most = most.max(peers.process.resident_mebibytes());
        for connection in &mut peers.connections {
            // The server may have closed the connection.
            _ = connection.write_all(more.as_bytes()).await;
        }
        sleep(Duration::from_secs(1)).await;
    }
    Observation {
        evaluations: evaluator.stop().await,
        connections: peers.connections.len(),
        still_open: peers.open(),
        mebibytes: most - before,
    }
}

impl Observation {
    fn figures(self, memory_bound: f64, are_cut_off: bool) -> Vec<Figure> {
        let mut figures = evaluation_figures(&self.evaluations);
        if are_cut_off {
            figures.push(Figure::never(
                "Connections that are still open when their time is over",
                self.still_open,
                self.connections,
            ));
        }
        figures.push(Figure::memory(
            "Additional resident memory",
            self.mebibytes,
            memory_bound,
        ));
        figures
    }
}

/// A well-behaved client that evaluates during a fault.
pub(crate) struct Evaluator {
    is_over: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<Vec<Exchange>>,
}

impl Evaluator {
    /// Starts a client that waits five milliseconds after each response.
    pub(crate) fn start(client: &LoadClient) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (client, is_stopped) = (client.clone(), Arc::clone(&is_over));
        let task = tokio::spawn(async move {
            let mut exchanges = Vec::new();
            while !is_stopped.load(Ordering::Relaxed) {
                exchanges.push(client.exchange("evaluate").await);
                sleep(Duration::from_millis(5)).await;
            }
            exchanges
        });
        Self { is_over, task }
    }

    /// Stops the client, and returns all exchanges.
    pub(crate) async fn stop(self) -> Vec<Exchange> {
        self.is_over.store(true, Ordering::Relaxed);
        self.task.await.expect("no thread panicked")
    }
}

/// Returns the figures of evaluations during a fault.
pub(crate) fn evaluation_figures(evaluations: &[Exchange]) -> Vec<Figure> {
    let failed = evaluations
        .iter()
        .filter(|one| one.status != StatusCode::OK);
    let waits = evaluations
        .iter()
        .map(|one| between(one.sent, one.received));
    vec![
        Figure::never(
            "Evaluations of others that fail",
            failed.count(),
            evaluations.len(),
        ),
        Figure::within(
            "Evaluations of others, p99",
            p99(waits.collect()),
            EVALUATION_BOUND,
        ),
    ]
}
