//! Tests the container image.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::alone;
use super::instance::{self, Instance, PASSWORD, text};
use crate::build::image::{NAME, buildah};
use crate::process::Run as _;
use crate::step::Outcome;
use crate::workspace::Workspace;

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
