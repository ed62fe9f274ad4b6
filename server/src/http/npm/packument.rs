//! The package documents that package managers read.
//!
//! They are always complete, even if the abbreviated form is requested: with at most 20 versions, they are small. They
//! have no `time`, because a release appears here when the operator installs it, and package managers would refuse a
//! version published today.

use pennon_model::package::PackageVersion;
use serde_json::{Map, Value, json};

use super::path::Resource;
use crate::admin::packages::Package;
use crate::error::Error;

/// The tag of the version that is installed by default.
const LATEST: &str = "latest";

/// Finds a version by its number or by a tag.
pub(super) fn version<'p>(package: &'p Package, number: &str) -> Option<&'p PackageVersion> {
    match number {
        LATEST => package.latest(),
        _ => package.versions.iter().find(|each| each.version == number),
    }
}

/// Returns the document of a package with all versions. `registry` is the registry's URL, with a slash at the end.
pub(super) fn of_package(name: &str, package: &Package, registry: &str) -> Result<Value, Error> {
    let mut versions = Map::new();
    for version in &package.versions {
        let document = of_version(version, registry)?;
        versions.insert(version.version.clone(), document);
    }
    let latest = package.latest().map(|version| &version.version);
    Ok(json!({
        "_id": name,
        "name": name,
        "dist-tags": { LATEST: latest },
        "versions": versions,
    }))
}

/// Returns the document of a version: its manifest and the URL of its tarball.
pub(super) fn of_version(version: &PackageVersion, registry: &str) -> Result<Value, Error> {
    let manifest = serde_json::from_str(&version.manifest);
    let mut document: Map<String, Value> = manifest.map_err(|error| {
        Error::Internal(format!("a package's manifest cannot be read: {error}"))
    })?;
    let PackageVersion {
        name,
        version,
        integrity,
        shasum,
        ..
    } = version;
    let tarball = Resource::of_tarball(name, version);
    let dist = json!({
        "integrity": integrity,
        "shasum": shasum,
        "tarball": format!("{registry}{tarball}"),
    });
    document.insert("_id".to_owned(), json!(format!("{name}@{version}")));
    document.insert("dist".to_owned(), dist);
    Ok(Value::Object(document))
}
