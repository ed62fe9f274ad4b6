//! A proxy to PostgreSQL that simulates network failures.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::TestDatabase;

/// A proxy between the server and the database. By default, it forwards everything.
pub struct Proxy {
    address: SocketAddr,
    network: Arc<watch::Sender<Network>>,
    connections: Arc<AtomicUsize>,
    delay: Arc<AtomicU64>,
}

/// The state of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    /// Connections with this number or a higher one are forwarded. Older ones stay open but silent.
    Flows(usize),
    /// Connections with traffic since then are forwarded. Others stay open but silent.
    Forgets(Instant),
    /// Connections are accepted. Those with this number or a higher one stay silent.
    HangsFrom(usize),
    /// Connections are accepted, but no data is forwarded, as with a server whose processes are suspended.
    Hangs,
    /// Connections are closed and refused, as with a server whose processes were killed.
    IsCut,
}

impl Proxy {
    /// Starts a proxy in front of a database's server.
    pub async fn before(database: &TestDatabase) -> Self {
        let target = database.server_address();
        let (listener, address) = listen("127.0.0.1:0".parse().expect("an address")).await;
        let proxy = Self {
            address,
            network: Arc::new(watch::Sender::new(Network::Flows(0))),
            connections: Arc::default(),
            delay: Arc::default(),
        };
        let network = Arc::clone(&proxy.network);
        tokio::spawn(take(
            listener,
            target,
            network,
            Arc::clone(&proxy.connections),
            Arc::clone(&proxy.delay),
        ));
        proxy
    }

    /// Returns the database as reached through the proxy.
    pub fn database(&self, database: &TestDatabase) -> TestDatabase {
        TestDatabase::at(database.url_behind(self.address).as_str())
    }

    /// Returns the number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Delays all data, in each direction, by a number of milliseconds.
    pub fn delay(&self, milliseconds: u64) {
        self.delay.store(milliseconds, Ordering::Relaxed);
    }

    /// Stops forwarding data, and leaves connections open.
    pub fn hang(&self) {
        self.network.send_replace(Network::Hangs);
    }

    /// Keeps new connections silent until there is one, at most for `limit`.
    pub async fn until_next_connection(&self, limit: Duration) {
        let so_far = self.connections();
        self.network.send_replace(Network::HangsFrom(so_far));
        let opened = async {
            while self.connections() == so_far {
                sleep(Duration::from_millis(1)).await;
            }
        };
        let _ = timeout(limit, opened).await;
    }

    /// Closes all connections, and refuses new ones.
    pub fn cut(&self) {
        self.network.send_replace(Network::IsCut);
    }

    /// Forwards data again, including data that was held back.
    pub fn resume(&self) {
        self.network.send_replace(Network::Flows(0));
    }

    /// Forwards only new connections. Old ones stay open but silent, as after a network partition in which routers lost
    /// their state.
    pub fn resume_with_new_connections(&self) {
        let new = Network::Flows(self.connections());
        self.network.send_replace(new);
    }

    /// Forwards data again, except on connections that were idle for at least `rest`, like a firewall that has dropped
    /// their state.
    pub fn drop_idle_connections(&self, rest: Duration) {
        let since = Instant::now().checked_sub(rest).expect("a short rest");
        self.network.send_replace(Network::Forgets(since));
    }
}

async fn listen(address: SocketAddr) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(address).await.expect("the port is free");
    let address = listener.local_addr().expect("the port is known");
    (listener, address)
}

/// Accepts connections unless the network is cut.
async fn take(
    mut listener: TcpListener,
    target: (String, u16),
    network: Arc<watch::Sender<Network>>,
    connections: Arc<AtomicUsize>,
    delay: Arc<AtomicU64>,
) {
    let address = listener.local_addr().expect("the port is known");
    let mut state = network.subscribe();
    loop {
        tokio::select! {
            () = until(&mut state, |now| now == Network::IsCut) => {
                drop(listener);
                until(&mut state, |now| now != Network::IsCut).await;
                (listener, _) = listen(address).await;
            }
            Ok((near, _)) = listener.accept() => {
                let number = connections.fetch_add(1, Ordering::Relaxed);
                let flow = Flow {
                    number,
                    network: network.subscribe(),
                    carried: Arc::new(Mutex::new(Instant::now())),
                    delay: Arc::clone(&delay),
                };
                tokio::spawn(carry(near, target.clone(), flow));
            }
        }
    }
}

/// Forwards the data of one connection until either end or the network closes it.
async fn carry(near: TcpStream, target: (String, u16), flow: Flow) {
    let mut network = flow.network.clone();
    let carried = async {
        flow.clone().wait_until_forwarding().await;
        let Ok(far) = TcpStream::connect(target).await else {
            return;
        };
        let (near_reads, near_writes) = tokio::io::split(near);
        let (far_reads, far_writes) = tokio::io::split(far);
        tokio::join!(
            flow.clone().carry(near_reads, far_writes),
            flow.clone().carry(far_reads, near_writes)
        );
    };
    tokio::select! {
        () = carried => {}
        () = until(&mut network, |now| now == Network::IsCut) => {}
    }
}

async fn until(network: &mut watch::Receiver<Network>, is_so: impl Fn(Network) -> bool) {
    // The wait fails only if the proxy was dropped at the end of the test.
    let _ = network.wait_for(|now| is_so(*now)).await;
}

/// The state of the network for one connection.
#[derive(Clone)]
struct Flow {
    number: usize,
    network: watch::Receiver<Network>,
    /// The time of the last traffic in either direction.
    carried: Arc<Mutex<Instant>>,
    /// The delay of all data, in milliseconds.
    delay: Arc<AtomicU64>,
}

impl Flow {
    async fn wait_until_forwarding(&mut self) {
        let (number, carried) = (self.number, Arc::clone(&self.carried));
        let carried = move || *carried.lock().expect("no thread panicked");
        let flows = |now| match now {
            Network::Flows(from) => number >= from,
            Network::Forgets(since) => carried() >= since,
            Network::HangsFrom(end) => number < end,
            Network::Hangs | Network::IsCut => false,
        };
        until(&mut self.network, flows).await;
        *self.carried.lock().expect("no thread panicked") = Instant::now();
    }

    /// Forwards one direction, and finally its end.
    async fn carry(mut self, mut from: ReadHalf<TcpStream>, mut to: WriteHalf<TcpStream>) {
        let mut bytes = vec![0; 16 * 1024];
        loop {
            let read = from.read(&mut bytes).await.unwrap_or_default();
            self.wait_until_forwarding().await;
            let delay = self.delay.load(Ordering::Relaxed);
            sleep(Duration::from_millis(delay)).await;
            if read == 0 || to.write_all(&bytes[..read]).await.is_err() {
                let _ = to.shutdown().await;
                return;
            }
        }
    }
}
