//! Load: connections that repeat a request, and the cost to the server.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::samples::Samples;

/// The duration of each load.
const SPAN: Duration = Duration::from_secs(1);

/// A request, the server to send it to, and the expected status.
#[derive(Clone)]
pub(crate) struct Target {
    process: u32,
    address: String,
    request: Vec<u8>,
    status: u16,
}

/// The result of a load.
pub(crate) struct Load {
    pub(crate) responses: usize,
    pub(crate) span: Duration,
    /// The processor time of the server's process during the load.
    pub(crate) processor: Duration,
    pub(crate) latencies: Samples,
}

impl Target {
    /// Returns a request without a body.
    pub(crate) fn get(process: u32, address: &str, path: &str, headers: &str, status: u16) -> Self {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{headers}\r\n");
        Self {
            process,
            address: address.to_owned(),
            request: request.into_bytes(),
            status,
        }
    }

    /// Returns a request with a JSON body, whose expected status is 200.
    pub(crate) fn post(process: u32, address: &str, path: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}\r\n{body}"
        );
        Self {
            process,
            address: address.to_owned(),
            request: request.into_bytes(),
            status: 200,
        }
    }

    /// Returns the ID of the server's process.
    pub(crate) fn process(&self) -> u32 {
        self.process
    }

    /// Repeats the request this many times on one connection.
    pub(crate) async fn repeat(&self, times: usize) -> Result<()> {
        let mut connection = Connection::open(self).await?;
        for _ in 0..times {
            connection.exchange(self).await?;
        }
        Ok(())
    }

    /// Repeats the request on this many connections for [`SPAN`].
    pub(crate) async fn load(&self, connections: usize) -> Result<Load> {
        let mut open = Vec::with_capacity(connections);
        for _ in 0..connections {
            let mut connection = Connection::open(self).await?;
            connection.exchange(self).await?;
            open.push(connection);
        }
        let before = processor_time(self.process)?;
        let began = Instant::now();
        let mut sending = JoinSet::new();
        for connection in open {
            sending.spawn(connection.repeat_until(self.clone(), began + SPAN));
        }
        let mut latencies = Samples::default();
        while let Some(result) = sending.join_next().await {
            latencies.append(result??);
        }
        Ok(Load {
            responses: latencies.len(),
            span: began.elapsed(),
            processor: processor_time(self.process)?.saturating_sub(before),
            latencies,
        })
    }
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(target: &Target) -> Result<Self> {
        let stream = TcpStream::connect(&target.address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: vec![0; 64 * 1024],
        })
    }

    async fn repeat_until(mut self, target: Target, end: Instant) -> Result<Samples> {
        let mut latencies = Samples::default();
        let mut began = Instant::now();
        while began < end {
            self.exchange(&target).await?;
            let now = Instant::now();
            latencies.push(now.duration_since(began));
            began = now;
        }
        Ok(latencies)
    }

    /// Sends the request, and reads the whole response.
    async fn exchange(&mut self, target: &Target) -> Result<()> {
        self.stream.write_all(&target.request).await?;
        let mut filled = 0;
        loop {
            let room = self.buffer.get_mut(filled..).unwrap_or_default();
            let read = self.stream.read(room).await?;
            if read == 0 {
                bail!("the server closed a connection, or the head of its response is too long");
            }
            filled += read;
            let received = self.buffer.get(..filled).unwrap_or_default();
            if let Some(head) = Head::read(received)? {
                if head.status != target.status {
                    bail!("{}", String::from_utf8_lossy(received));
                }
                let left = (head.length + head.body).saturating_sub(filled);
                return self.skip(left).await;
            }
        }
    }

    async fn skip(&mut self, mut left: usize) -> Result<()> {
        while left > 0 {
            let read = self.stream.read(&mut self.buffer).await?;
            if read == 0 {
                bail!("the server closed a connection within a response");
            }
            left = left.saturating_sub(read);
        }
        Ok(())
    }
}

/// The head of a response.
struct Head {
    status: u16,
    /// The length of the head, in bytes.
    length: usize,
    /// The length of the body, in bytes.
    body: usize,
}

impl Head {
    /// Parses the head, if it is complete.
    fn read(received: &[u8]) -> Result<Option<Self>> {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(length) = response.parse(received)? else {
            return Ok(None);
        };
        let declared = response
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("content-length"));
        let body = match declared {
            Some(header) => std::str::from_utf8(header.value)?.parse()?,
            None => 0,
        };
        Ok(Some(Self {
            status: response.code.unwrap_or_default(),
            length,
            body,
        }))
    }
}

/// Returns the processor time of all threads of a process, as Linux counts it, in steps of ten milliseconds.
fn processor_time(process: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))
        .context("processor time is read from /proc, which only Linux has")?;
    // The name of the program is in parentheses, and may contain spaces.
    let (_, after_name) = stat
        .rsplit_once(") ")
        .context("/proc has no program name")?;
    let fields: Vec<&str> = after_name.split(' ').collect();
    let ticks = |field: usize| -> Result<u64> {
        Ok(fields
            .get(field)
            .context("/proc has too few fields")?
            .parse()?)
    };
    // Fields 14 and 15 of proc(5): the time in user mode and in the kernel.
    let ticks = ticks(11)? + ticks(12)?;
    let per_second = rustix::param::clock_ticks_per_second();
    Ok(Duration::from_millis(ticks * 1_000 / per_second))
}
