//! A proxy to PostgreSQL that can lose the response to a commit.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

use crate::TestDatabase;

/// A proxy that forwards connections to a server.
pub struct LossyProxy {
    address: SocketAddr,
    loses_next: Arc<AtomicBool>,
}

impl LossyProxy {
    /// Starts a proxy in front of a database's server.
    pub async fn before(database: &TestDatabase) -> Self {
        let server = database.server_address();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("the port is known");
        let loses_next = Arc::new(AtomicBool::new(false));
        let loses = Arc::clone(&loses_next);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect((&*server.0, server.1)).await;
                let server = server.expect("the server");
                tokio::spawn(pass_on(client, server, Arc::clone(&loses)));
            }
        });
        Self {
            address,
            loses_next,
        }
    }

    /// Returns the database as reached through the proxy.
    pub fn database(&self, database: &TestDatabase) -> TestDatabase {
        TestDatabase::at(database.url_behind(self.address).as_str())
    }

    /// Closes the connection of the next commit before the server's response reaches the client.
    pub fn lose_next_commit(&self) {
        self.loses_next.store(true, Ordering::SeqCst);
    }
}

async fn pass_on(client: TcpStream, server: TcpStream, loses_next: Arc<AtomicBool>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let answers = tokio::spawn(async move { copy(&mut from_server, &mut to_client).await });
    let mut some = [0; 8192];
    while let Ok(read @ 1..) = from_client.read(&mut some).await {
        let is_commit = some[..read].windows(6).any(|word| word == b"COMMIT");
        if is_commit && loses_next.swap(false, Ordering::SeqCst) {
            // From here on, nothing reaches the client. The server processes the commit before it notices the closed
            // connection.
            answers.abort();
            let _ = answers.await;
            let _ = to_server.write_all(&some[..read]).await;
            return;
        }
        if to_server.write_all(&some[..read]).await.is_err() {
            return;
        }
    }
}
