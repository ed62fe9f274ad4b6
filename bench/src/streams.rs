//! Streams of changes: their memory while idle, and the time until all of them receive an event.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::database::Database;
use crate::samples::Samples;
use crate::service::Service;

/// The time limit for all streams to receive an event.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The number of changes that all streams receive.
const CHANGES: usize = 20;

/// The time between two changes. The server combines faster changes into one event.
const INTERVAL: Duration = Duration::from_secs(1);

/// The number of writers that switch flags.
const WRITERS: usize = 8;

/// The duration of the measurement of switches.
const SPAN: Duration = Duration::from_secs(10);

/// Measures with this many streams, and prints the table.
pub(crate) async fn measure(server: &Path, database: &Database, streams: usize) -> Result<()> {
    let service = Arc::new(Service::start(server, database).await?);
    let (environment, sdk_key) = service.environment("production").await?;
    let flag = service.flag("checkout").await?;
    let alone = switches_per_second(&service, &environment, "alone").await?;
    let before = service.resident_mebibytes()?;

    let (sender, mut events) = unbounded_channel();
    let authorization = format!("authorization: Bearer {sdk_key}");
    for _ in 0..streams {
        let stream = open(service.address(), "/sdk/v1/stream", &authorization).await?;
        tokio::spawn(listen(stream, sender.clone()));
    }
    all(streams, &mut events).await?;
    let idle = service.resident_mebibytes()?;

    let (mut each, mut last) = (Samples::default(), Samples::default());
    for change in 0..CHANGES {
        sleep(INTERVAL).await;
        let started = Instant::now();
        service.switch(&flag, &environment, change % 2 == 0).await?;
        let mut delays: Vec<Duration> = all(streams, &mut events)
            .await?
            .into_iter()
            .map(|received| received.duration_since(started))
            .collect();
        delays.sort_unstable();
        last.push(delays.last().copied().unwrap_or_default());
        for delay in delays {
            each.push(delay);
        }
    }
    let after = service.resident_mebibytes()?;
    let beside = switches_per_second(&service, &environment, "beside").await?;

    println!("\n### {streams} streams\n");
    println!("| | |");
    println!("|---|--:|");
    println!("| resident without streams | {before:.1} MiB |");
    println!("| resident with all streams idle | {idle:.1} MiB |");
    println!("| resident after {CHANGES} changes | {after:.1} MiB |");
    println!(
        "| from a write until a stream has the event, p50 | {:.1} ms |",
        each.percentile(50)
    );
    println!(
        "| from a write until the last stream has the event, p50 | {:.1} ms |",
        last.percentile(50)
    );
    println!(
        "| from a write until the last stream has the event, maximum | {:.1} ms |",
        last.percentile(100)
    );
    println!("| switches per second by 8 writers, without streams | {alone:.0} |");
    println!("| the same, with all streams open | {beside:.0} |");
    println!(
        "| the rate with streams, relative to without | {:.2} × |",
        beside / alone
    );
    Ok(())
}

/// Returns the rate at which several writers, each with its own flag, switch flags in the environment of the streams.
async fn switches_per_second(service: &Arc<Service>, environment: &str, name: &str) -> Result<f64> {
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let flag = service.flag(&format!("{name}_{writer}")).await?;
        writers.spawn(switch(Arc::clone(service), flag, environment.to_owned()));
    }
    let mut switches = 0;
    for written in writers.join_all().await {
        switches += written?;
    }
    Ok(f64::from(switches) / SPAN.as_secs_f64())
}

/// Switches a flag during the measurement, and returns the number of switches.
async fn switch(service: Arc<Service>, flag: String, environment: String) -> Result<u32> {
    let (began, mut switches) = (Instant::now(), 0_u32);
    while began.elapsed() < SPAN {
        let is_enabled = switches.is_multiple_of(2);
        service.switch(&flag, &environment, is_enabled).await?;
        switches += 1;
    }
    Ok(switches)
}

/// Opens a stream with a header that has the credential.
pub(crate) async fn open(address: &str, path: &str, header: &str) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).await;
    let mut stream = stream.context("a connection was refused; `ulimit -n` may be too low")?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{header}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Reports the time of each event until the stream ends.
pub(crate) async fn listen(mut stream: TcpStream, sender: UnboundedSender<Instant>) {
    let mut buffer = [0; 2048];
    let mut unread = Vec::<u8>::new();
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        unread.extend(buffer.iter().take(read));
        // An event ends with its data, a line, and an empty line.
        while let Some(end) = unread.windows(3).position(|end| end == b"}\n\n") {
            unread.drain(..end + 3);
            // The receiver is dropped when the measurement ends.
            _ = sender.send(Instant::now());
        }
    }
}

/// Waits for one event on each stream, and returns the times.
async fn all(streams: usize, events: &mut UnboundedReceiver<Instant>) -> Result<Vec<Instant>> {
    let receiving = async {
        let mut instants = Vec::with_capacity(streams);
        while instants.len() < streams {
            instants.push(events.recv().await.context("all streams have ended")?);
        }
        Ok(instants)
    };
    timeout(TIMEOUT, receiving)
        .await
        .context("not all streams received an event")?
}
