//! `pennon health`: asks a running server how it is, for scripts and for containers that have no other client.

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

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whom to ask, and what.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The address and port that the server listens on.
    #[arg(long, env = "PENNON_LISTEN", default_value = "127.0.0.1:3000")]
    listen: SocketAddr,
    /// Ask whether new traffic may come, rather than whether the server is alive.
    #[arg(long)]
    ready: bool,
}

/// Prints what the server says, and fails unless that is 200.
pub(super) async fn run(Arguments { listen, ready }: Arguments) -> Result<(), Box<dyn Error>> {
    let address = SocketAddr::new(reachable(listen.ip()), listen.port());
    let path = if ready { "/health/ready" } else { "/health" };
    let (status, body) = tokio::time::timeout(PATIENCE, ask(address, path))
        .await
        .map_err(|_| format!("{address} does not answer within {PATIENCE:?}"))?
        .map_err(|error| format!("{address} cannot be asked: {error}"))?;
    println!("{}", String::from_utf8_lossy(&body));
    if status == StatusCode::OK {
        Ok(())
    } else {
        Err(format!("{address} answers {status}").into())
    }
}

/// An address at which a server that listens on all of them is reached.
fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

async fn ask(address: SocketAddr, path: &str) -> Result<(StatusCode, Bytes), Box<dyn Error>> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::get(path)
        .header(HOST, address.to_string())
        .body(Empty::<Bytes>::new())?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    Ok((status, response.into_body().collect().await?.to_bytes()))
}
