//! PgBouncer between the server and PostgreSQL.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr as _;

use reqwest::Url;
use rustix::process::geteuid;
use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;

use crate::{TestDatabase, eventually, free_address, leave_out};

/// A running PgBouncer. Dropping this value kills it.
pub struct Pooler {
    program: PathBuf,
    address: SocketAddr,
    process: Child,
    folder: TempDir,
}

impl Pooler {
    /// Starts PgBouncer in front of a database's server. Returns `None` if PgBouncer is not installed or the tests run
    /// on SQLite.
    pub async fn before(database: &TestDatabase, pool_mode: &str, pool_size: u8) -> Option<Self> {
        if !database.is_postgres() {
            return None;
        }
        let Some(program) = program() else {
            leave_out("connections through PgBouncer, which was not found; install it");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder for the test");
        let address = free_address();
        let settings = settings(database, address, pool_mode, pool_size);
        fs::write(folder.path().join("pgbouncer.ini"), settings).expect("a file is written");
        let process = start(&program, folder.path());
        let pooler = Self {
            program,
            address,
            process,
            folder,
        };
        pooler.wait_until_listening().await;
        Some(pooler)
    }

    /// Returns the database as reached through the pooler, with these URL parameters.
    pub fn database(&self, database: &TestDatabase, parameters: &str) -> TestDatabase {
        let mut url = database.url_behind(self.address);
        url.set_query(Some(parameters));
        TestDatabase::at(url.as_str())
    }

    /// Kills PgBouncer and starts it again.
    pub async fn restart(&mut self) {
        self.kill();
        self.process = start(&self.program, self.folder.path());
        self.wait_until_listening().await;
    }

    /// Kills PgBouncer.
    pub fn kill(&mut self) {
        let _already_ended = self.process.kill();
        let _already_waited = self.process.wait();
    }

    async fn wait_until_listening(&self) {
        eventually("PgBouncer listens", async || {
            tokio::net::TcpStream::connect(self.address).await.is_ok()
        })
        .await;
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.kill();
    }
}

fn settings(
    database: &TestDatabase,
    address: SocketAddr,
    pool_mode: &str,
    pool_size: u8,
) -> String {
    let server = PgConnectOptions::from_str(database.url()).expect("the URL of a database");
    let (host, port, user) = (server.get_host(), server.get_port(), server.get_username());
    let password = Url::parse(database.url()).expect("a URL");
    let password = password
        .password()
        .map_or_else(String::new, |password| format!(" password='{password}'"));
    let (ip, own_port) = (address.ip(), address.port());
    format!(
        "[databases]\n* = host={host} port={port} user={user}{password}\n[pgbouncer]\nlisten_addr = {ip}\n\
         listen_port = {own_port}\nunix_socket_dir =\nauth_type = any\npool_mode = {pool_mode}\n\
         default_pool_size = {pool_size}\nmax_client_conn = 500\nserver_login_retry = 1\n"
    )
}

/// Starts PgBouncer, which refuses to run as root and switches to another user if root starts it.
fn start(program: &Path, folder: &Path) -> Child {
    let mut command = Command::new(program);
    if geteuid().is_root() {
        command.args(["--user", "nobody"]);
    }
    command
        .arg(folder.join("pgbouncer.ini"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("PgBouncer starts")
}

/// Returns PgBouncer's program. Debian installs it in a folder that is only on root's search path.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into()])
        .map(|folder| folder.join("pgbouncer"))
        .find(|program| program.is_file())
}
