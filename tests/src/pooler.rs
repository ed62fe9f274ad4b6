//! PgBouncer between the service and PostgreSQL.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr as _;

use reqwest::Url;
use rustix::process::geteuid;
use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;

use crate::{TestDatabase, eventually, free_address};

/// A running PgBouncer; it ends with this value.
pub struct Pooler {
    program: PathBuf,
    address: SocketAddr,
    process: Child,
    folder: TempDir,
}

impl Pooler {
    /// Starts one before the server of a database. None where it is not installed, or where the tests run on SQLite.
    pub async fn before(database: &TestDatabase, pool_mode: &str, pool_size: u8) -> Option<Self> {
        if !database.is_postgres() {
            return None;
        }
        let Some(program) = program() else {
            eprintln!("left out, because there is no `pgbouncer`: connections through it");
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
        pooler.until_it_listens().await;
        Some(pooler)
    }

    /// The database, by way of the pooler and with parameters of the URL.
    pub fn database(&self, database: &TestDatabase, parameters: &str) -> TestDatabase {
        let mut url = Url::parse(database.url()).expect("a URL");
        url.set_ip_host(self.address.ip()).expect("a host");
        url.set_port(Some(self.address.port())).expect("a port");
        url.set_query(Some(parameters));
        TestDatabase::at(url.as_str())
    }

    /// Kills it and starts it again.
    pub async fn restart(&mut self) {
        self.kill();
        self.process = start(&self.program, self.folder.path());
        self.until_it_listens().await;
    }

    /// Kills it.
    pub fn kill(&mut self) {
        let _already_ended = self.process.kill();
        let _already_waited = self.process.wait();
    }

    async fn until_it_listens(&self) {
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

/// It refuses to be root, and becomes another user if it was started by root.
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

/// Debian keeps it where only root looks.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into()])
        .map(|folder| folder.join("pgbouncer"))
        .find(|program| program.is_file())
}
