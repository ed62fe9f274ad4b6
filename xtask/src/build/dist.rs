//! Builds the files of a release: static binaries in archives, npm packages, bills of materials, and checksums.
//!
//! All of them are in `{target folder}/dist`. Binaries and archives contain no time other than the commit's, and no
//! path of the build machine.

use std::env;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tar::{Builder, EntryType, Header};

use super::pack;
use super::revision::Revision;
use crate::digest;
use crate::process::Run as _;
use crate::programs::{cargo_tool, cross, node};
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The repository files and folders that every archive contains in addition to the binary.
const COMPANIONS: [&str; 5] = [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "THIRD-PARTY-NOTICES.txt",
    "CHANGELOG.md",
    "deploy",
];

/// The platforms for which releases have a binary. `.github/workflows/release.yml` builds them.
pub(crate) const TARGETS: [&str; 3] = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "aarch64-apple-darwin",
];

/// Options for the linker. `strip` has no effect in a profile that has options for single packages.
const LINKING: &str = "-Cstrip=symbols";

/// A linker option that saves more than a megabyte of relative relocations. Static binaries have these on x86-64 only,
/// and Zig's linker, which links for other processors, rejects the option.
const PACKED_RELOCATIONS: &str = "-Clink-arg=-Wl,-z,pack-relative-relocs";

/// The level of link-time optimization. A profile cannot set different levels for a binary and for the library of its
/// package, whose level 3 would make the result two megabytes larger and hardly faster.
const LINK_TIME: &str = "-Copt-level=s";

/// The name of the list of checksums, which has the format of `sha256sum --check`.
const CHECKSUMS: &str = "SHA256SUMS";

/// Returns the default platform: this machine's processor and, on Linux, a static libc.
pub(crate) fn default_target() -> String {
    match env::consts::OS {
        "macos" => format!("{}-apple-darwin", env::consts::ARCH),
        _ => format!("{}-unknown-linux-musl", env::consts::ARCH),
    }
}

/// Returns the folder of all published files.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("dist")
}

/// Returns the path of the binary that [`compile`] produces for a platform.
pub(crate) fn binary(workspace: &Workspace, target: &str) -> PathBuf {
    workspace.target.join(target).join("published/pennon")
}

/// Empties the folder, so that it contains no files of an earlier release.
pub(crate) fn begin(workspace: &Workspace) -> Result<Outcome> {
    workspace.empty_folder("dist")?;
    Ok(Outcome::Done)
}

/// Builds the server for a platform and packs it into an archive.
pub(crate) fn build(workspace: &Workspace, target: &str) -> Result<()> {
    let revision = compile(workspace, target)?;
    let name = format!("pennon-{}-{target}", env!("CARGO_PKG_VERSION"));
    let mut files = vec![Packed {
        name: "pennon".to_owned(),
        content: fs::read(binary(workspace, target))?,
        mode: 0o755,
    }];
    let companions = workspace.git(&[&["ls-files"], COMPANIONS.as_slice()].concat())?;
    for companion in companions.lines() {
        let content = fs::read(workspace.root.join(companion));
        files.push(Packed {
            name: companion.to_owned(),
            content: content.with_context(|| companion.to_owned())?,
            mode: 0o644,
        });
    }
    let archive = folder(workspace).join(format!("{name}.tar.gz"));
    pack(&archive, &name, &files, revision.seconds)
}

/// Builds the server for a platform, and returns the revision that it was built from.
pub(crate) fn compile(workspace: &Workspace, target: &str) -> Result<Revision> {
    let revision = Revision::of(workspace)?;
    let variable = target.replace('-', "_");
    let mut flags = format!(
        "{} {LINKING}",
        remappings(workspace, "--remap-path-prefix=")?
    );
    if target.starts_with("x86_64-") && target.contains("-linux-") {
        flags = format!("{flags} {PACKED_RELOCATIONS}");
    }
    let mut cargo = cross::cargo(workspace, target)?;
    cargo
        .args(["--locked", "--profile", "published", "--target", target])
        .args(["--package", "pennon-server", "--bin", "pennon"])
        .args(["--", LINK_TIME])
        .env("PENNON_BUILD", revision.to_string())
        .env("SOURCE_DATE_EPOCH", revision.seconds.to_string())
        .env_remove("RUSTFLAGS")
        .env(
            format!("CARGO_TARGET_{}_RUSTFLAGS", variable.to_uppercase()),
            flags,
        )
        .env(
            format!("CFLAGS_{variable}"),
            remappings(workspace, "-ffile-prefix-map=")?,
        )
        .run()?;
    Ok(revision)
}

/// Returns compiler options that keep the folders of the build machine out of the binary.
fn remappings(workspace: &Workspace, option: &str) -> Result<String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    let folders = [
        (home.as_path(), "/cargo"),
        (workspace.root.as_path(), "/pennon"),
        (workspace.target.as_path(), "/target"),
    ];
    let options = folders.map(|(from, to)| format!("{option}{}={to}", from.display()));
    if options.iter().any(|option| option.contains(' ')) {
        bail!("a release cannot be built in a folder with a space in its path");
    }
    Ok(options.join(" "))
}

/// A file in an archive.
struct Packed {
    name: String,
    content: Vec<u8>,
    mode: u32,
}

/// Writes a compressed archive of one folder. The same files produce the same archive.
fn pack(archive: &Path, folder: &str, files: &[Packed], seconds: u64) -> Result<()> {
    let encoder = GzEncoder::new(File::create(archive)?, Compression::best());
    let mut builder = Builder::new(encoder);
    let header = |kind, size, mode| {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(mode);
        header.set_mtime(seconds);
        header
    };
    let mut root = header(EntryType::Directory, 0, 0o755);
    builder.append_data(&mut root, format!("{folder}/"), std::io::empty())?;
    for Packed {
        name,
        content,
        mode,
    } in files
    {
        let size = u64::try_from(content.len())?;
        let mut header = header(EntryType::Regular, size, *mode);
        builder.append_data(&mut header, format!("{folder}/{name}"), content.as_slice())?;
    }
    builder.into_inner()?.finish()?;
    Ok(())
}

/// Copies the tarballs of the npm packages into the folder.
pub(crate) fn packages(workspace: &Workspace) -> Result<Outcome> {
    for tarball in pack::packed(workspace)? {
        let name = tarball.file_name().context("a tarball without a name")?;
        fs::copy(&tarball, folder(workspace).join(name))?;
    }
    Ok(Outcome::Done)
}

/// Writes bills of materials in `CycloneDX` format: one for the crates of each published binary, next to its archive,
/// and one for the dependencies of the npm packages.
pub(crate) fn bills_of_materials(workspace: &Workspace) -> Result<Outcome> {
    let revision = Revision::of(workspace)?;
    let version = env!("CARGO_PKG_VERSION");
    // The plugin can write only next to the manifest of each workspace member.
    let name = "bill-of-materials";
    for target in TARGETS {
        cargo_tool::CYCLONEDX
            .command(workspace)?
            .args(["cyclonedx", "--format", "json", "--no-build-deps"])
            .args(["--target", target, "--override-filename", name])
            .env("SOURCE_DATE_EPOCH", revision.seconds.to_string())
            .run_quietly()?;
        let server = workspace.root.join("server").join(format!("{name}.json"));
        let crates = folder(workspace).join(format!("pennon-{version}-{target}.cdx.json"));
        fs::copy(server, crates)?;
    }
    for member in members(workspace)? {
        fs::remove_file(member.join(format!("{name}.json")))?;
    }

    let mut npm = node::npm(workspace);
    npm.args(["sbom", "--sbom-format", "cyclonedx", "--omit", "dev"]);
    for package in node::packages(workspace)? {
        npm.arg("--workspace").arg(package);
    }
    let packages = folder(workspace).join(format!("pennon-{version}-npm.cdx.json"));
    fs::write(packages, repeatable(&npm.run_quietly()?, &revision)?)?;
    Ok(Outcome::Done)
}

/// Replaces the values that npm generates for each bill of materials: the time, a random serial number, and the
/// folder's name.
fn repeatable(bill: &str, revision: &Revision) -> Result<String> {
    let mut bill: Value = serde_json::from_str(bill)?;
    let members = bill.as_object_mut().context("npm wrote no object")?;
    members.remove("serialNumber");
    let metadata = members.get_mut("metadata").and_then(Value::as_object_mut);
    let metadata = metadata.context("npm wrote no metadata")?;
    let time = format!("{}T00:00:00Z", revision.date);
    metadata.insert("timestamp".to_owned(), Value::from(time));
    if let Some(Value::Object(component)) = metadata.get_mut("component") {
        component.insert("name".to_owned(), Value::from("pennon"));
    }
    Ok(serde_json::to_string_pretty(&bill)?)
}

/// Returns the folders of the workspace's crates.
fn members(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let metadata = workspace
        .cargo()
        .args(["metadata", "--no-deps", "--format-version=1"])
        .run_quietly()?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let manifests = packages.context("cargo metadata lists no packages")?.iter();
    let folders = manifests.filter_map(|package| {
        let manifest = Path::new(package.get("manifest_path")?.as_str()?);
        manifest.parent().map(Path::to_path_buf)
    });
    Ok(folders.collect())
}

/// Writes the checksums of all files, and prints their sizes.
pub(crate) fn checksums(workspace: &Workspace) -> Result<Outcome> {
    let folder = folder(workspace);
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name() != CHECKSUMS {
            files.push(entry.path());
        }
    }
    files.sort();
    let mut list = File::create(folder.join(CHECKSUMS))?;
    for file in files {
        let content = fs::read(&file)?;
        let name = file.file_name().context("a file without a name")?;
        let name = name.to_string_lossy();
        writeln!(list, "{}  {name}", digest::sha256(&content))?;
        eprintln!("    {:>9} bytes  {name}", content.len());
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workflow_of_a_release_builds_every_published_platform() {
        let workspace = Workspace::find().expect("the workspace is found");
        let workflow = workspace.root.join(".github/workflows/release.yml");
        let workflow = fs::read_to_string(workflow).expect("the workflow");
        let lines = workflow.lines().map(str::trim_start);
        let built: Vec<&str> = lines
            .filter_map(|line| line.strip_prefix("- target: "))
            .collect();
        assert_eq!(built, TARGETS);
    }
}
