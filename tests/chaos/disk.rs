//! A full disk, and a damaged database file.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use pennon_tests::load::{Exchange, Load, LoadClient};
use pennon_tests::{Process, TestDatabase, eventually};
use reqwest::StatusCode;
use tokio::time::sleep;

use crate::cluster::Cluster;
use crate::outages::{responses, writes};
use crate::report::{Figure, omit};
use crate::{Engine, Testbed};

/// The size of the file system to fill, in MiB.
const DISK: u32 = 64;

const RECOVERY_BOUND: Duration = Duration::from_secs(1);
const REFUSAL_BOUND: Duration = Duration::from_secs(2);

/// Fills the disk under mixed load, and frees space again.
pub(crate) async fn fill(testbed: &Testbed) -> Vec<Figure> {
    let disk = match testbed.engine {
        Engine::Sqlite => None,
        Engine::Postgres => Disk::mount(testbed.cluster()).await,
    };
    if testbed.engine == Engine::Postgres && disk.is_none() {
        omit("a full disk of PostgreSQL, because only root may mount a small file system");
        return Vec::new();
    }
    let database = testbed.database().await;
    if let Some(disk) = &disk {
        disk.take(&database).await;
    }
    let process = Process::start(&database, &[]).await;
    let load = Load::steady(&process).await;

    match &disk {
        Some(disk) => disk.fill(&database).await,
        None => process.limit_files(Some(0)),
    }
    let filled = Instant::now();
    eventually("health is degraded", async || {
        load.client.health("/health").await.1 == "degraded"
    })
    .await;
    sleep(testbed.scale.outage).await;
    match &disk {
        Some(disk) => disk.clear(&database).await,
        None => process.limit_files(None),
    }
    let cleared = Instant::now();
    load.until(
        "all operations succeed again",
        cleared,
        1,
        Exchange::succeeds,
    )
    .await;
    let recovered = cleared.elapsed();
    eventually("health is ok", async || {
        load.client.health("/health").await.1 == "ok"
    })
    .await;
    let healthy = cleared.elapsed();
    let (client, exchanges) = load.stop().await;

    let mut figures = responses(&exchanges, filled, cleared);
    figures.push(Figure::within(
        "Time until all operations succeed again",
        recovered,
        RECOVERY_BOUND,
    ));
    figures.push(Figure::within(
        "Time until `/health` is `ok` again",
        healthy,
        RECOVERY_BOUND,
    ));
    figures.push(writes(&client, &exchanges).await);
    drop(process);
    if let Some(disk) = disk {
        disk.release(&database).await;
    }
    figures
}

/// A small file system for the tables of one database.
struct Disk<'a> {
    cluster: &'a Cluster,
    folder: PathBuf,
}

impl<'a> Disk<'a> {
    async fn mount(cluster: &'a Cluster) -> Option<Self> {
        let folder = cluster.data().with_file_name("small");
        fs::create_dir_all(&folder).expect("a folder");
        let size = format!("size={DISK}m");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&folder);
        let mounted = mount.status().is_ok_and(|status| status.success());
        if !mounted {
            return None;
        }
        let disk = Self { cluster, folder };
        let data = fs::metadata(cluster.data()).expect("the server's folder");
        chown(&disk.folder, Some(data.uid()), Some(data.gid())).expect("root");
        let location = disk.folder.display();
        let create = format!("create tablespace small location '{location}'");
        cluster.execute(&create).await;
        Some(disk)
    }

    /// Moves a database to this file system.
    async fn take(&self, database: &TestDatabase) {
        let name = database.name();
        let move_it = format!("alter database {name} set tablespace small");
        self.cluster.execute(&move_it).await;
    }

    /// Creates a table on this file system, and inserts rows until the disk is full.
    async fn fill(&self, database: &TestDatabase) {
        database.execute("create table filler (text text)").await;
        let mut connection = database.postgres().await;
        for rows in [1000, 100, 1] {
            let insert = "insert into filler select repeat(md5(random()::text), 60)
                          from generate_series(1, $1)";
            while sqlx::query(insert)
                .bind(rows)
                .execute(&mut connection)
                .await
                .is_ok()
            {}
        }
    }

    async fn clear(&self, database: &TestDatabase) {
        database.execute("drop table filler").await;
    }

    /// Moves the database away, and unmounts the file system.
    async fn release(self, database: &TestDatabase) {
        self.cluster.disconnect(database).await;
        let name = database.name();
        let drop_it = format!("drop database {name} with (force)");
        self.cluster.execute(&drop_it).await;
        self.cluster.execute("drop tablespace small").await;
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        // A lazy unmount also works if a panic left files open.
        let unmounted = Command::new("umount")
            .arg("--lazy")
            .arg(&self.folder)
            .status();
        drop(unmounted);
    }
}

/// The kinds of damage.
const DAMAGES: [fn(&mut Vec<u8>); 3] = [
    // The header is overwritten.
    |file| file.iter_mut().take(100).for_each(|byte| *byte = 0x5a),
    // All pages but the first are overwritten.
    |file| file.iter_mut().skip(4096).for_each(|byte| *byte = 0x5a),
    // Three quarters of the file are cut off.
    |file| file.truncate(file.len() / 4096 / 4 * 4096),
];

/// Damages the file of a stopped server, and restores it from a backup.
pub(crate) async fn damage(testbed: &Testbed) -> Vec<Figure> {
    let database = testbed.database().await;
    let process = Process::start(&database, &[]).await;
    let client = LoadClient::prepared(&process).await;
    for _ in 0..200 {
        let created = client.exchange("create").await;
        assert_eq!(created.status, StatusCode::CREATED);
    }
    let backup = tempfile::tempdir().expect("a folder");
    let backup = backup.path().join("backup.db");
    let mut command = Command::new(pennon_tests::binary());
    let copied = command.arg("backup").arg(&backup);
    let copied = copied.env("DATABASE_URL", database.url()).output();
    let copied = copied.expect("the binary starts");
    assert!(copied.status.success(), "{copied:?}");
    let flags = client.created_flags().await;
    process.stop().await;

    let (mut served, mut changed, mut slowest) = (0, 0, Duration::ZERO);
    for damage in DAMAGES {
        let mut file = fs::read(&backup).expect("the backup");
        damage(&mut file);
        place(database.file(), &file);
        let started = Instant::now();
        let process = Process::starting(database.url(), &[]);
        let refused = match process.ended_within(REFUSAL_BOUND * 5).await {
            Some(ended) => !ended.status.success() && ended.log.contains("pennon.db"),
            None => false,
        };
        served += usize::from(!refused);
        slowest = slowest.max(started.elapsed());
        let after = fs::read(database.file()).expect("the file");
        changed += usize::from(after != file);
    }

    place(database.file(), &fs::read(&backup).expect("the backup"));
    let process = Process::start(&database, &[]).await;
    let restored = client.of(&process).created_flags().await;
    vec![
        Figure::never(
            "Starts on a damaged file without an error that names it",
            served,
            DAMAGES.len(),
        ),
        Figure::never(
            "Damaged files that the start changes",
            changed,
            DAMAGES.len(),
        ),
        Figure::within("Slowest refusal", slowest, REFUSAL_BOUND),
        Figure::never(
            "Flags that are missing after the restoration of a backup",
            flags.difference(&restored).count(),
            flags.len(),
        ),
    ]
}

/// Replaces the file of a database, and removes the other files of the previous one.
fn place(file: &Path, content: &[u8]) {
    for suffix in ["-wal", "-shm"] {
        // After a clean stop, these files do not exist.
        _ = fs::remove_file(format!("{}{suffix}", file.display()));
    }
    fs::write(file, content).expect("the file is written");
}
