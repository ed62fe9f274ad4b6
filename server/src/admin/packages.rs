//! The npm packages that the server offers: those of its own release from the binary, and those of earlier releases
//! from the database, so that lock files stay valid after an upgrade.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as _;
use std::fmt::Display;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use pennon_model::package::PackageVersion;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::sleep;

use super::Admin;
use crate::error::Error;
use crate::store;

include!(concat!(env!("OUT_DIR"), "/packages.rs"));

/// The pause before another attempt to store the packages.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The number of releases to keep packages of.
const KEPT_RELEASES: i64 = 20;

/// The version of this binary and of the packages in it.
pub(crate) const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// An entry of the list that `cargo xtask` writes next to the tarballs.
#[derive(Deserialize)]
struct EmbeddedPackage<'a> {
    file: Cow<'a, str>,
    integrity: String,
    shasum: String,
    #[serde(borrow)]
    manifest: &'a RawValue,
}

/// The members of a package.json that identify a version.
#[derive(Deserialize)]
struct Named {
    name: String,
    version: String,
}

/// The versions of a package.
pub(crate) struct Package {
    /// The versions, in the order in which they were first stored.
    pub(crate) versions: Vec<PackageVersion>,
}

impl Package {
    /// Returns the version of this server, or the newest version if this binary contains no packages.
    pub(crate) fn latest(&self) -> Option<&PackageVersion> {
        let own = |version: &&PackageVersion| version.version == OWN_VERSION;
        let latest = self.versions.iter().find(own);
        latest.or_else(|| self.versions.last())
    }
}

/// Stores the packages of this binary in the database, unless they exist. A stored version with different content is
/// not replaced, because lock files contain its checksum.
///
/// A failure does not stop the server, because serving flags needs no packages. Returns its cause, and logs it if it
/// differs from that of the last attempt.
pub(crate) async fn store(admin: &Admin, last: Option<String>) -> Option<String> {
    let Err(error) = try_store(admin).await else {
        if last.is_some() {
            tracing::info!("stored the npm packages of this release");
        }
        return None;
    };
    let cause = error
        .source()
        .map_or(error.to_string(), ToString::to_string);
    if last.as_ref() != Some(&cause) {
        tracing::error!(
            error = cause,
            "the npm packages of this release are not stored in the database yet; retrying"
        );
    }
    Some(cause)
}

/// Stores the packages after a failure: tries again at intervals until it succeeds.
pub(crate) async fn store_later(admin: &Admin, mut failure: Option<String>) {
    while failure.is_some() {
        sleep(RETRY_INTERVAL).await;
        failure = store(admin, failure).await;
    }
}

async fn try_store(admin: &Admin) -> Result<(), Error> {
    let carried: Vec<EmbeddedPackage<'_>> = serde_json::from_str(INDEX).map_err(unreadable)?;
    let now = admin.clock.now();
    let mut differing = Vec::new();
    let mut tx = admin.db.write().await?;
    for EmbeddedPackage {
        file,
        integrity,
        shasum,
        manifest,
    } in carried
    {
        let Named { name, version } = serde_json::from_str(manifest.get()).map_err(unreadable)?;
        match store::packages::version(&mut tx, &name, &version).await? {
            Some(stored) if stored.integrity != integrity => differing.push(name),
            Some(_) => {}
            None => {
                let tarball = file_named(&file).ok_or_else(|| unreadable(&file))?;
                let manifest = manifest.get().to_owned();
                let new = PackageVersion {
                    name,
                    version,
                    manifest,
                    integrity,
                    shasum,
                    stored_at: now,
                };
                store::packages::insert(&mut tx, &new, tarball).await?;
            }
        }
    }
    store::packages::started(&mut tx, OWN_VERSION, now).await?;
    store::packages::prune(&mut tx, KEPT_RELEASES).await?;
    tx.commit().await?;
    if !differing.is_empty() {
        tracing::warn!(
            version = OWN_VERSION,
            packages = differing.join(", "),
            "the database has other npm packages of this version; those of this binary are not offered"
        );
    }
    Ok(())
}

/// Returns a package with its versions; none if it does not exist.
pub(crate) async fn package(admin: &Admin, name: &str) -> Result<Option<Package>, Error> {
    let mut tx = admin.db.read().await?;
    let versions = store::packages::versions(&mut tx, name).await?;
    Ok((!versions.is_empty()).then_some(Package { versions }))
}

/// A tarball and its checksum.
pub(crate) struct Tarball {
    /// The SHA-512 in Base64, prefixed with `sha512-`.
    pub(crate) integrity: String,
    pub(crate) content: Bytes,
}

/// Returns the tarball of a version; none if it does not exist.
pub(crate) async fn tarball(
    admin: &Admin,
    name: &str,
    version: &str,
) -> Result<Option<Tarball>, Error> {
    let mut tx = admin.db.read().await?;
    let Some(version) = store::packages::version(&mut tx, name, version).await? else {
        return Ok(None);
    };
    let integrity = version.integrity;
    if let Some(content) = admin.tarballs.get(&integrity) {
        return Ok(Some(Tarball { integrity, content }));
    }
    let content = store::packages::tarball(&mut tx, &integrity).await?;
    Ok(content.map(|content| {
        let content = Bytes::from(content);
        admin.tarballs.insert(&integrity, &content);
        Tarball { integrity, content }
    }))
}

/// The requested tarballs by checksum, so that concurrent downloads share the memory of one. The tarballs of 20
/// releases take at most 8 MB.
#[derive(Debug, Default)]
pub(crate) struct Tarballs(Mutex<HashMap<String, Bytes>>);

impl Tarballs {
    fn get(&self, integrity: &str) -> Option<Bytes> {
        let tarballs = self.0.lock();
        tarballs.get(integrity).cloned()
    }

    fn insert(&self, integrity: &str, content: &Bytes) {
        let mut tarballs = self.0.lock();
        tarballs.insert(integrity.to_owned(), content.clone());
    }
}

fn file_named(name: &str) -> Option<&'static [u8]> {
    let (_, content) = FILES.iter().find(|(each, _)| *each == name)?;
    Some(content)
}

fn unreadable(what: impl Display) -> Error {
    Error::Internal(format!("the packages in the binary cannot be read: {what}"))
}
