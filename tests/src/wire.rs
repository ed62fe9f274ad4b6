//! HTTP as bytes on a socket, for tests of misbehaving clients.

use std::net::ToSocketAddrs;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A connection on which a test can write any bytes.
pub struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
}

/// A response as received.
#[derive(Debug)]
pub struct WireAnswer {
    /// The status code.
    pub status: u16,
    /// The status line and headers, in lower case.
    pub head: String,
    /// The body.
    pub body: String,
}

impl WireAnswer {
    /// Returns true if the connection ends with this response.
    pub fn is_last(&self) -> bool {
        self.head.contains("\r\nconnection: close\r\n")
    }
}

impl Wire {
    /// Connects without sending anything.
    pub async fn to(address: impl ToSocketAddrs) -> Self {
        let address = address.to_socket_addrs().expect("an address").next();
        let stream = TcpStream::connect(address.expect("an address")).await;
        Self {
            stream: stream.expect("the server takes the connection"),
            read: Vec::new(),
        }
    }

    /// Connects to an IPv4 address with a receive buffer of a few kilobytes, so that a response that is not read stays
    /// with the server.
    pub async fn with_small_buffer(address: &str) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4096).expect("a small buffer");
        let stream = socket.connect(address.parse().expect("an address")).await;
        Self {
            stream: stream.expect("the server takes the connection"),
            read: Vec::new(),
        }
    }

    /// Writes a text.
    pub async fn write(&mut self, text: &str) {
        let written = self.stream.write_all(text.as_bytes()).await;
        written.expect("the server reads");
    }

    /// Sends a `GET` request for a path, and reads the response.
    pub async fn get(&mut self, path: &str) -> WireAnswer {
        self.write(&format!("GET {path} HTTP/1.1\r\nhost: pennon\r\n\r\n"))
            .await;
        self.answer().await
    }

    /// Writes the head of a `POST` request with a JSON body, and part of the body.
    pub async fn begin_post(&mut self, path: &str, key: &str, length: usize, part: &str) {
        self.write(&format!(
            "POST {path} HTTP/1.1\r\nhost: pennon\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{part}"
        ))
        .await;
    }

    /// Reads the next response.
    pub async fn answer(&mut self) -> WireAnswer {
        self.try_answer().await.expect("an answer before the end")
    }

    /// Reads the next response. Returns `None` if the connection ends before the head is complete.
    pub async fn try_answer(&mut self) -> Option<WireAnswer> {
        let end = loop {
            let end = self.read.windows(4).position(|end| end == b"\r\n\r\n");
            match end {
                Some(end) => break end + 4,
                None if !self.more().await => return None,
                None => {}
            }
        };
        let head = String::from_utf8_lossy(&self.read[..end]).to_lowercase();
        let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
        let length = header("content-length: ").map_or(0, |length| length.parse().expect("bytes"));
        while self.read.len() < end + length {
            assert!(self.more().await, "the response is incomplete: {head}");
        }
        let body = String::from_utf8_lossy(&self.read[end..end + length]).into_owned();
        self.read.drain(..end + length);
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Some(WireAnswer {
            status: status.expect("a status"),
            head,
            body,
        })
    }

    /// Waits until the server closes the connection. Fails the test if the server sends anything before.
    pub async fn expect_end(&mut self) {
        assert!(
            !self.more().await,
            "{:?}",
            String::from_utf8_lossy(&self.read)
        );
    }

    /// Reads some bytes. Returns false at the end.
    async fn more(&mut self) -> bool {
        let mut some = [0; 4096];
        // A connection that was reset has also ended.
        let read = self.stream.read(&mut some).await.unwrap_or_default();
        self.read.extend_from_slice(&some[..read]);
        read > 0
    }
}
