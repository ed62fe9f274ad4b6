//! `pennon health`: checks a running server, for scripts and for containers without an HTTP client.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::config::ListenAddress;

/// The time limit for the server's response.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The server to check and the kind of check.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Address and port that the server listens on
    #[arg(long, env = "PENNON_LISTEN", default_value = "127.0.0.1:3000")]
    listen: ListenAddress,
    /// Check that the server accepts traffic, not only that it is alive
    #[arg(long)]
    ready: bool,
}

/// Prints the server's response. Fails unless the status is 200.
pub(super) async fn run(Arguments { listen, ready }: Arguments) -> Result<(), Box<dyn Error>> {
    let path = if ready { "/health/ready" } else { "/health" };
    let (status, body) = tokio::time::timeout(TIMEOUT, get(&listen, path))
        .await
        .map_err(|_| format!("{listen} did not respond within {TIMEOUT:?}"))?
        .map_err(|error| format!("cannot reach {listen}: {error}"))?;
    super::print(String::from_utf8_lossy(&body))?;
    if status == StatusCode::OK {
        Ok(())
    } else {
        Err(format!("{listen} responded with {status}").into())
    }
}

/// Returns the loopback address for a server that listens on all addresses, and any other address unchanged.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

async fn get(listen: &ListenAddress, path: &str) -> Result<(StatusCode, Bytes), Box<dyn Error>> {
    let addresses = listen.resolve().await?.into_iter().map(reachable);
    let stream = TcpStream::connect(addresses.collect::<Vec<_>>().as_slice()).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::get(path)
        .header(HOST, listen.to_string())
        .body(Empty::<Bytes>::new())?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    Ok((status, response.into_body().collect().await?.to_bytes()))
}
