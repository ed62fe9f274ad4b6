//! The npm packages of the releases that were started on this database.

use pennon_model::package::PackageVersion;
use pennon_model::time::Timestamp;

use super::{Tx, on_conn};
use crate::error::Error;

#[derive(sqlx::FromRow)]
struct VersionRow {
    name: String,
    version: String,
    manifest: String,
    integrity: String,
    shasum: String,
    stored_at: i64,
}

impl From<VersionRow> for PackageVersion {
    fn from(row: VersionRow) -> Self {
        Self {
            name: row.name,
            version: row.version,
            manifest: row.manifest,
            integrity: row.integrity,
            shasum: row.shasum,
            stored_at: Timestamp::from_millis(row.stored_at),
        }
    }
}

/// Adds a version with its tarball.
pub(crate) async fn insert(
    tx: &mut Tx,
    version: &PackageVersion,
    tarball: &[u8],
) -> Result<(), Error> {
    on_conn!(&mut *tx, conn => sqlx::query(
        "insert into package_tarballs (integrity, content) values ($1, $2) on conflict (integrity) do nothing",
    ).bind(&version.integrity).bind(tarball).execute(conn).await.map(drop))?;
    on_conn!(tx, conn => sqlx::query(
        "insert into package_versions (name, version, manifest, integrity, shasum, stored_at, last_started_at)
         values ($1, $2, $3, $4, $5, $6, $6)",
    )
    .bind(&version.name)
    .bind(&version.version)
    .bind(&version.manifest)
    .bind(&version.integrity)
    .bind(&version.shasum)
    .bind(version.stored_at.millis())
    .execute(conn).await.map(drop))
}

/// Returns the versions of a package, those of the newest releases last.
pub(crate) async fn versions(tx: &mut Tx, name: &str) -> Result<Vec<PackageVersion>, Error> {
    let rows: Vec<VersionRow> = on_conn!(tx, conn => sqlx::query_as(
        "select name, version, manifest, integrity, shasum, stored_at
         from package_versions where name = $1 order by stored_at, version",
    ).bind(name).fetch_all(conn).await)?;
    Ok(rows.into_iter().map(PackageVersion::from).collect())
}

/// Returns one version of a package.
pub(crate) async fn version(
    tx: &mut Tx,
    name: &str,
    version: &str,
) -> Result<Option<PackageVersion>, Error> {
    let row: Option<VersionRow> = on_conn!(tx, conn => sqlx::query_as(
        "select name, version, manifest, integrity, shasum, stored_at
         from package_versions where name = $1 and version = $2",
    ).bind(name).bind(version).fetch_optional(conn).await)?;
    Ok(row.map(PackageVersion::from))
}

/// Returns the tarball with this checksum.
pub(crate) async fn tarball(tx: &mut Tx, integrity: &str) -> Result<Option<Vec<u8>>, Error> {
    on_conn!(tx, conn => sqlx::query_scalar(
        "select content from package_tarballs where integrity = $1",
    ).bind(integrity).fetch_optional(conn).await)
}

/// Records that a release was started.
pub(crate) async fn started(tx: &mut Tx, version: &str, now: Timestamp) -> Result<(), Error> {
    on_conn!(tx, conn => sqlx::query(
        "update package_versions set last_started_at = $2 where version = $1",
    ).bind(version).bind(now.millis()).execute(conn).await.map(drop))
}

/// Deletes all releases except the `kept` that were started last.
pub(crate) async fn prune(tx: &mut Tx, kept: i64) -> Result<(), Error> {
    on_conn!(&mut *tx, conn => sqlx::query(
        "delete from package_versions where version not in (
             select version from package_versions group by version
             order by max(last_started_at) desc, version desc limit $1
         )",
    ).bind(kept).execute(conn).await.map(drop))?;
    on_conn!(tx, conn => sqlx::query(
        "delete from package_tarballs where integrity not in (select integrity from package_versions)",
    ).execute(conn).await.map(drop))
}
