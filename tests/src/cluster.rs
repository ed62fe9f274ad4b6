//! A PostgreSQL server with TLS, shared by all tests of TLS.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use rustix::process::geteuid;
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use crate::certificates::{Authority, write};
use crate::{TestDatabase, eventually, free_address, leave_out};

/// A shell script that stops the given server once its standard input is closed, even if the test program was killed,
/// and then removes the folder.
const SUPERVISOR: &str =
    r#"folder=$1; shift; "$@" </dev/null & cat >/dev/null; kill -INT $!; wait; rm -rf "$folder""#;

/// The authentication rules. The first matching line applies.
const HBA: &str = "hostssl all encrypted 127.0.0.1/32 scram-sha-256
hostssl all certified 127.0.0.1/32 cert
hostnossl all unencrypted 127.0.0.1/32 trust
host all postgres 127.0.0.1/32 trust
local all all trust
";

/// A PostgreSQL server with TLS. Its certificate is for the host `localhost`.
pub struct TlsCluster {
    folder: PathBuf,
    port: u16,
    /// The process of [`SUPERVISOR`]. Its input stays open while the test program runs.
    _supervisor: Child,
}

/// The user that runs PostgreSQL, which refuses to run as root.
#[derive(Clone, Copy)]
struct Unprivileged {
    id: u32,
    group: u32,
}

impl TlsCluster {
    /// Returns the server of this test program, and starts it first if necessary. Returns `None` if PostgreSQL is not
    /// installed or the tests run on SQLite.
    pub async fn shared() -> Option<&'static Self> {
        static CLUSTER: OnceLock<Option<TlsCluster>> = OnceLock::new();
        std::env::var_os("PENNON_TEST_POSTGRES_URL")?;
        let cluster = CLUSTER.get_or_init(|| programs().map(|programs| Self::start(&programs)));
        let Some(cluster) = cluster else {
            leave_out("TLS to PostgreSQL; install PostgreSQL, because the tests need `initdb`");
            return None;
        };
        eventually("the server with TLS answers", async || {
            PgConnection::connect(&cluster.url("postgres"))
                .await
                .is_ok()
        })
        .await;
        Some(cluster)
    }

    fn start(programs: &Path) -> Self {
        let folder = tempfile::tempdir().map(TempDir::keep).expect("a folder");
        let user = geteuid().is_root().then(Unprivileged::find);
        let data = folder.join("data");
        issue_certificates(&folder);
        for file in ["", "server.key"] {
            if let Some(user) = user {
                let path = folder.join(file);
                chown(path, Some(user.id), Some(user.group)).expect("root may do that");
            }
        }
        let mut initdb = as_user(Command::new(programs.join("initdb")), user);
        initdb
            .args([
                "--username",
                "postgres",
                "--auth",
                "trust",
                "--no-sync",
                "--encoding",
                "UTF8",
            ])
            .arg("--pgdata")
            .arg(&data)
            .current_dir(&folder);
        let made = initdb.output().expect("initdb runs");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        fs::write(data.join("pg_hba.conf"), HBA).expect("the folder can be written");

        let port = free_address().port();
        let in_folder = |file: &str| folder.join(file).display().to_string();
        let mut supervisor = as_user(Command::new("sh"), user);
        supervisor
            .args([
                OsStr::new("-c"),
                OsStr::new(SUPERVISOR),
                OsStr::new("supervisor"),
            ])
            .args([folder.as_os_str(), programs.join("postgres").as_os_str()])
            .args(["-D".as_ref(), data.as_os_str()])
            .args(["-p", &port.to_string()])
            .args(settings(&in_folder))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self {
            port,
            _supervisor: supervisor.spawn().expect("sh runs"),
            folder,
        }
    }

    /// Creates a database on the server.
    pub async fn database(&self) -> TestDatabase {
        let database = TestDatabase::on_postgres(&self.url("postgres")).await;
        for role in ["encrypted", "certified", "unencrypted"] {
            // Parallel tests may create the role at the same moment.
            let create = format!(
                "do $$ begin create role {role} superuser login password 'a secret';
                 exception when duplicate_object or unique_violation then end $$"
            );
            let created = sqlx::raw_sql(sqlx::AssertSqlSafe(create))
                .execute(&mut database.postgres().await)
                .await;
            created.expect("the role is created");
        }
        database
    }

    /// Returns the URL of a database for the superuser, who may connect with or without TLS.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the URL of a database for a user, with parameters and with the host name in the server's certificate.
    pub fn url_for(&self, user: &str, database: &str, parameters: &str) -> String {
        let port = self.port;
        format!("postgres://{user}@localhost:{port}/{database}?{parameters}")
    }

    /// Returns the same URL with the host's IP address, for which the certificate is not valid.
    pub fn url_by_address(&self, user: &str, database: &str, parameters: &str) -> String {
        let url = self.url_for(user, database, parameters);
        url.replace("localhost", "127.0.0.1")
    }

    /// Returns the path of a certificate or key file. `authority.crt` signed the certificates of the server and
    /// `client.crt`, `stranger.crt` signed `stray.crt`, and `both.crt` contains both authorities.
    pub fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

fn issue_certificates(folder: &Path) {
    let (authority, stranger) = (Authority::new("Tests"), Authority::new("Stranger"));
    write(folder, "authority.crt", &authority.pem());
    write(folder, "stranger.crt", &stranger.pem());
    write(
        folder,
        "both.crt",
        &format!("{}{}", stranger.pem(), authority.pem()),
    );
    write(folder, "text.crt", "This is no certificate.\n");
    authority.issue(folder, "server", "server", &["localhost"]);
    authority.issue(folder, "client", "certified", &[]);
    stranger.issue(folder, "stray", "certified", &[]);
}

fn settings(in_folder: &impl Fn(&str) -> String) -> Vec<String> {
    [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("unix_socket_directories={}", in_folder("")),
        "fsync=off".to_owned(),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", in_folder("server.crt")),
        format!("ssl_key_file={}", in_folder("server.key")),
        format!("ssl_ca_file={}", in_folder("authority.crt")),
    ]
    .into_iter()
    .flat_map(|setting| ["-c".to_owned(), setting])
    .collect()
}

impl Unprivileged {
    fn find() -> Self {
        let number = |option| {
            let id = Command::new("id").args([option, "postgres"]).output();
            let id = String::from_utf8(id.expect("id runs").stdout).expect("a number");
            id.trim().parse().expect("a user `postgres`")
        };
        Self {
            id: number("-u"),
            group: number("-g"),
        }
    }
}

fn as_user(mut command: Command, user: Option<Unprivileged>) -> Command {
    if let Some(user) = user {
        command.uid(user.id).gid(user.group);
    }
    command
}

/// Returns the folder of PostgreSQL's programs, as `xtask/src/programs/postgres.rs` does. Debian keeps the server programs off
/// the search path.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let configured = Command::new("pg_config").arg("--bindir").output().ok();
    let configured = configured
        .map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim().to_owned()));
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut installed: Vec<PathBuf> = installed
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    installed.sort();
    std::env::split_paths(&path)
        .chain(configured)
        .chain(installed.into_iter().rev())
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}
