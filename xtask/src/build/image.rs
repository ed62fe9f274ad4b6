//! Assembles the container image from the static binary with buildah. This requires no network, no daemon, and no
//! privileges to start containers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::dist;
use super::revision::Revision;
use crate::process::{Run as _, on_path};
use crate::programs::debian;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The image's local name.
pub(crate) const NAME: &str = "localhost/pennon";

/// The certificates of public authorities, at their path on Debian and most other distributions.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// The maximum total size of the compressed layers, in bytes.
const LIMIT: u64 = 20_000_000;

/// Installs buildah and the certificates if they are missing.
pub(crate) fn find_tools(workspace: &Workspace) -> Result<Outcome> {
    if on_path("buildah").is_some() && Path::new(CERTIFICATES).exists() {
        return Ok(Outcome::UpToDate);
    }
    if !debian::can_install(workspace) {
        bail!(
            "`buildah` or {CERTIFICATES} was not found; install `buildah` and `ca-certificates` with your system's packages"
        );
    }
    debian::install(workspace, &["buildah", "ca-certificates"])?;
    Ok(Outcome::Done)
}

/// Builds the image for this machine's processor, and writes it as an archive that `docker load` and `podman load` can
/// read.
pub(crate) fn build(workspace: &Workspace) -> Result<Outcome> {
    let revision = Revision::of(workspace)?;
    let version = env!("CARGO_PKG_VERSION");
    let mut build = buildah(workspace, "build");
    for (name, value) in [
        ("VERSION", version),
        ("REVISION", &revision.commit),
        ("CREATED", &format!("{}T00:00:00Z", revision.date)),
        ("SOURCE", env!("CARGO_PKG_REPOSITORY")),
    ] {
        build.args(["--build-arg", &format!("{name}={value}")]);
    }
    build
        // The OCI format has no health check.
        .args(["--format", "docker", "--isolation", "chroot"])
        .args(["--timestamp", &revision.seconds.to_string()])
        .args(["--tag", NAME, "--file"])
        .arg(workspace.root.join("Containerfile"))
        .arg(context(workspace))
        .run_quietly()?;
    let folder = dist::folder(workspace);
    let layout = folder.join("image-layout");
    push(workspace, &format!("oci:{}", layout.display()))?;
    let size = compressed_size(&layout)?;
    fs::remove_dir_all(layout)?;
    eprintln!("    {size} bytes as pulled");
    if size > LIMIT {
        bail!("the image has {size} bytes; the limit is {LIMIT}");
    }
    let archive = folder.join(format!("pennon-{version}-image.tar"));
    if archive.exists() {
        fs::remove_file(&archive)?;
    }
    push(
        workspace,
        &format!("docker-archive:{}:pennon:{version}", archive.display()),
    )?;
    Ok(Outcome::Done)
}

/// Returns the folder of the build context: the image's root file system.
fn context(workspace: &Workspace) -> PathBuf {
    workspace.target.join("image")
}

/// Lays out the build context from the static binary. Does nothing on a system without the certificates.
pub(crate) fn prepare(workspace: &Workspace) -> Result<Outcome> {
    if !Path::new(CERTIFICATES).exists() {
        eprintln!("    left out: the files of the image, which need {CERTIFICATES}");
        return Ok(Outcome::Done);
    }
    let root = workspace.empty_folder("image")?;
    let binary = dist::binary(workspace, &dist::default_target());
    let user = "pennon:x:65532:65532:Pennon:/data:/sbin/nologin\n";
    let notices = workspace.root.join("THIRD-PARTY-NOTICES.txt");
    let licenses = "usr/share/licenses/pennon";
    let files = [
        ("usr/bin/pennon", fs::read(binary)?),
        ("etc/passwd", user.as_bytes().to_vec()),
        ("etc/group", b"pennon:x:65532:\n".to_vec()),
        ("etc/ssl/certs/ca-certificates.crt", fs::read(CERTIFICATES)?),
        (
            &format!("{licenses}/LICENSE-MIT"),
            fs::read(workspace.root.join("LICENSE-MIT"))?,
        ),
        (
            &format!("{licenses}/LICENSE-APACHE"),
            fs::read(workspace.root.join("LICENSE-APACHE"))?,
        ),
        (
            &format!("{licenses}/THIRD-PARTY-NOTICES.txt"),
            fs::read(notices)?,
        ),
    ];
    for (name, content) in files {
        let file = root.join(name);
        fs::create_dir_all(file.parent().context("a file in no folder")?)?;
        fs::write(&file, content)?;
        let mode = if name.contains("/bin/") { 0o755 } else { 0o644 };
        fs::set_permissions(&file, fs::Permissions::from_mode(mode))?;
    }
    fs::create_dir(root.join("data"))?;
    Ok(Outcome::Done)
}

/// Returns the total size of the compressed layers in bytes, which is the amount that a registry sends.
fn compressed_size(layout: &Path) -> Result<u64> {
    let json = |file: PathBuf| -> Result<Value> { Ok(serde_json::from_slice(&fs::read(file)?)?) };
    let index = json(layout.join("index.json"))?;
    let digest = index.pointer("/manifests/0/digest").and_then(Value::as_str);
    let digest = digest.and_then(|digest| digest.strip_prefix("sha256:"));
    let manifest = layout
        .join("blobs/sha256")
        .join(digest.context("no manifest")?);
    let manifest = json(manifest)?;
    let layers = manifest.get("layers").and_then(Value::as_array);
    let sizes = layers.context("no layers")?.iter();
    Ok(sizes.filter_map(|layer| layer.get("size")?.as_u64()).sum())
}

fn push(workspace: &Workspace, destination: &str) -> Result<()> {
    let mut push = buildah(workspace, "push");
    push.args([NAME, destination]).run_quietly()?;
    Ok(())
}

/// Returns a command of buildah, with its containers in the target folder.
pub(crate) fn buildah(workspace: &Workspace, subcommand: &str) -> Command {
    let store = workspace.target.join("containers");
    let mut buildah = workspace.command("buildah");
    buildah
        .args(["--storage-driver", "vfs", "--root"])
        .arg(store.join("images"))
        .arg("--runroot")
        .arg(store.join("running"))
        .arg(subcommand);
    buildah
}
