//! Assembles the container image from the static binary with buildah. This requires no network, no daemon, and no
//! privileges to start containers.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::alone;
use crate::debian;
use crate::dist;
use crate::instance::{self, Instance, PASSWORD, text};
use crate::process::{Run as _, on_path};
use crate::revision::Revision;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The image's local name.
const NAME: &str = "localhost/pennon";

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

fn buildah(workspace: &Workspace, subcommand: &str) -> Command {
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

/// Starts the server in the image's root file system, with the image's user and settings. Requests its health and an
/// npm package, evaluates a flag, and stops the server.
pub(crate) fn test(workspace: &Workspace) -> Result<Outcome> {
    let container = buildah(workspace, "from").arg(NAME).run_quietly()?;
    let container = container.trim();
    let tried = check(workspace, container);
    buildah(workspace, "rm").arg(container).run_quietly()?;
    tried?;
    Ok(Outcome::Done)
}

fn check(workspace: &Workspace, container: &str) -> Result<()> {
    let address = instance::free_address()?;
    let pennon = |arguments: &[&str]| {
        let mut run = buildah(workspace, "run");
        run.args(["--isolation", "chroot"])
            .args(["--env", &format!("PENNON_LISTEN={address}")])
            .args(["--env", &format!("PENNON_ADMIN_PASSWORD={PASSWORD}")])
            .args(["--env", "PENNON_NPM=open"])
            .args([container, "--", "/usr/bin/pennon"])
            .args(arguments);
        run
    };
    let process = Process(address);
    let server = Instance::launch(pennon(&[]), address)?;
    pennon(&["health", "--ready"]).run_quietly()?;
    server.get(alone::PACKAGE)?;
    let session = server.sign_in_as_administrator()?;
    let post = |path: &str, body| server.post(path, Some(&session), &body);
    let environment = post(
        "/environments",
        json!({ "name": "production", "product": "web" }),
    )?;
    let flag = post(
        "/flags",
        json!({ "key": "new_checkout", "name": "New checkout", "type": "boolean" }),
    )?;
    let path = format!(
        "/flags/{}/environments/{}",
        text(&flag, "id")?,
        text(&environment, "id")?
    );
    server.send("PUT", &path, Some(&session), &json!({ "isEnabled": true }))?;
    let question = json!({ "flagKey": "new_checkout", "context": {} });
    let answer = server.post(
        "/sdk/v1/evaluate",
        Some(&text(&environment, "sdkKey")?),
        &question,
    )?;
    if answer.get("enabled") != Some(&Value::Bool(true)) {
        bail!("the flag is on, but the server in the image returns {answer}");
    }
    server.stop(&process.id()?)
}

/// The server at an address. Its parent process, buildah, does not forward signals. Dropping this value kills the
/// server if it still runs.
struct Process(SocketAddr);

impl Process {
    fn id(&self) -> Result<String> {
        let setting = format!("PENNON_LISTEN={}", self.0);
        for entry in fs::read_dir("/proc")? {
            let folder = entry?.path();
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            let mut settings = environment.split(|byte| *byte == 0);
            let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
            if name.trim() == "pennon" && settings.any(|set| set == setting.as_bytes()) {
                let id = folder.file_name().context("a process without an id")?;
                return Ok(id.to_string_lossy().into_owned());
            }
        }
        bail!("the server's process was not found")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(id) = self.id() {
            // The process may have ended meanwhile.
            _ = Command::new("kill").args(["-KILL", &id]).status();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_server_that_was_not_stopped_is_killed() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("pennon");
        std::os::unix::fs::symlink("/bin/cat", &program).expect("a program");
        let process = Process(instance::free_address().expect("an address"));
        let mut server = Command::new(program)
            .env("PENNON_LISTEN", process.0.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        // A new process has the name and the settings of its parent for a moment. One that answers has its own.
        let input = server.stdin.as_mut().expect("its input");
        input.write_all(b"?").expect("a question");
        let output = server.stdout.as_mut().expect("its output");
        output.read_exact(&mut [0]).expect("an answer");
        assert_eq!(process.id().expect("an ID"), server.id().to_string());
        drop(process);
        assert!(!server.wait().expect("the program has ended").success());
    }
}
