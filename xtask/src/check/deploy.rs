//! Checks the files in `deploy/` and `.github/` against schemas and with the programs that read them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::process::{Run as _, on_path};
use crate::programs::python;
use crate::step::Outcome;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// The oldest and the newest Kubernetes version for which the manifests are validated.
const KUBERNETES: [&str; 2] = ["1.30", "1.37"];

/// The highest exposure level that `systemd-analyze security` may report for the unit, times ten.
const EXPOSURE: &str = "--threshold=20";

/// The secrets that `kustomization.yaml` expects as files.
const SECRETS: [&str; 2] = ["database-url", "admin-password"];

/// Runs each check whose tool is installed, and reports the others as left out.
pub(crate) fn check(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let mut rendered = None;
    if on_path("kubectl").is_some() {
        rendered = Some(kustomize(workspace)?);
    } else {
        tally.skip("the kustomization", "install kubectl");
    }
    if let Some(programs) =
        python::find_or_skip(workspace, tally, "deploy", "schemas of the manifests")?
    {
        validate(workspace, &programs, rendered)?;
    }
    if on_path("promtool").is_some() {
        for arguments in [
            ["check", "rules", "deploy/prometheus/alerts.yaml"],
            ["test", "rules", "xtask/promtool/alerts.yaml"],
        ] {
            workspace
                .command("promtool")
                .args(arguments)
                .run_quietly()?;
        }
    } else {
        tally.skip("the alerts", "install Prometheus");
    }
    if on_path("systemd-analyze").is_some() {
        unit(workspace)?;
    } else {
        tally.skip("the systemd unit", "install systemd");
    }
    Ok(Outcome::Done)
}

/// Validates each file against its schema, which the validators include, and the manifests also as rendered by
/// kustomize.
fn validate(workspace: &Workspace, programs: &Path, rendered: Option<PathBuf>) -> Result<()> {
    let schema = |name: &str, files: &[PathBuf]| {
        let mut check = workspace.command(programs.join("check-jsonschema"));
        check
            .args(["--builtin-schema", name])
            .args(files)
            .run_quietly()
    };
    schema("vendor.compose-spec", &["deploy/compose.yaml".into()])?;
    let (config, forms): (Vec<PathBuf>, Vec<PathBuf>) = yaml(workspace, ".github/ISSUE_TEMPLATE")?
        .into_iter()
        .partition(|file| file.file_stem() == Some(OsStr::new("config")));
    schema("vendor.github-issue-config", &config)?;
    schema("vendor.github-issue-forms", &forms)?;
    let mut manifests = yaml(workspace, "deploy/kubernetes")?;
    manifests.retain(|file| file.file_stem() != Some(OsStr::new("kustomization")));
    manifests.extend(rendered);
    for version in KUBERNETES {
        let mut check = workspace.command(programs.join("kubernetes-validate"));
        check
            .args(["--strict", "--quiet", "--kubernetes-version", version])
            .args(&manifests)
            .run_quietly()?;
    }
    Ok(())
}

/// Returns the YAML files directly in a folder. Fails if it has none.
fn yaml(workspace: &Workspace, folder: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let folder = workspace.root.join(folder);
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let file = entry?.path();
        if matches!(
            file.extension().and_then(OsStr::to_str),
            Some("yaml" | "yml")
        ) {
            files.push(file);
        }
    }
    ensure!(!files.is_empty(), "{} has no YAML", folder.display());
    files.sort();
    Ok(files)
}

/// Renders the kustomization with all resources, including the optional one, in a copy that has secrets. Returns the
/// rendered file.
fn kustomize(workspace: &Workspace) -> Result<PathBuf> {
    const OPTIONAL: &str = "# - networkpolicy.yaml";
    let folder = workspace.empty_folder("kustomize")?;
    for file in yaml(workspace, "deploy/kubernetes")? {
        let name = file.file_name().context("a file has a name")?;
        let text = fs::read_to_string(&file)?;
        fs::write(folder.join(name), text.replace(OPTIONAL, &OPTIONAL[2..]))?;
    }
    fs::create_dir(folder.join("secrets"))?;
    for secret in SECRETS {
        fs::write(folder.join("secrets").join(secret), "a secret")?;
    }
    let text = workspace
        .command("kubectl")
        .arg("kustomize")
        .arg(&folder)
        .run_quietly()?;
    let rendered = folder.join("rendered.yaml");
    for kind in ["Deployment", "NetworkPolicy", "Secret"] {
        ensure!(
            text.contains(&format!("\nkind: {kind}\n")),
            "the kustomization has no {kind}"
        );
    }
    fs::write(&rendered, text)?;
    Ok(rendered)
}

/// Has systemd verify the unit and rate how far a break-in could reach.
fn unit(workspace: &Workspace) -> Result<()> {
    let unit = workspace.root.join("deploy/systemd/pennon.service");
    // systemd requires the program to exist.
    let text = fs::read_to_string(&unit)?.replace("/usr/local/bin/pennon", "/bin/true");
    let copy = workspace.empty_folder("systemd")?.join("pennon.service");
    fs::write(&copy, text)?;
    let mut verify = workspace.command("systemd-analyze");
    let verified = verify
        .args(["verify", "--man=no"])
        .arg(&copy)
        .output()
        .context("systemd-analyze")?;
    // Most mistakes are only warnings, which leave the exit status 0. Warnings about other units of this machine do not
    // count.
    let complaints = String::from_utf8_lossy(&verified.stderr);
    if complaints.contains("pennon.service") {
        bail!("deploy/systemd/pennon.service:\n{complaints}");
    }
    workspace
        .command("systemd-analyze")
        .args(["security", "--offline=true", EXPOSURE])
        .arg(&unit)
        .run_quietly()?;
    Ok(())
}
