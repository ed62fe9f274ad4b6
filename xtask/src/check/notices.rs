//! Collects and checks the licenses of Pennon's dependencies.
//!
//! The notices are in the repository, so that each build includes them. The gate only compares the crates in the
//! notices with the lock file, because collecting the texts requires a tool that takes minutes to build.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::build::{dist, wasm};
use crate::process::Run as _;
use crate::programs::{cargo_tool, node};
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The crates of one artifact.
struct Part {
    title: &'static str,
    /// The folder of the crate from which the artifact is built.
    package: &'static str,
    /// The features of that crate that are enabled.
    features: &'static str,
    targets: &'static [&'static str],
}

const SERVER: Part = Part {
    title: "The binary",
    package: "server",
    features: "",
    targets: &dist::TARGETS,
};
const DASHBOARD: Part = Part {
    title: "The WebAssembly of the dashboard",
    package: "dashboard",
    features: "hydrate",
    targets: &[wasm::TARGET],
};
const ENGINE: Part = Part {
    title: "The WebAssembly of the npm packages",
    package: "sdk-wasm",
    features: "",
    targets: &[wasm::TARGET],
};

/// A file with license notices.
struct Notices {
    path: &'static str,
    /// The third-party works that are not crates, one per line.
    works: &'static str,
    parts: &'static [Part],
    /// The bundled npm package, with the notice files of that package.
    bundle: Option<(&'static str, &'static [&'static str])>,
}

/// The npm package of the page `/docs`.
const SWAGGER_UI: &str = "swagger-ui-dist";

const FILES: [Notices; 2] = [
    Notices {
        path: "THIRD-PARTY-NOTICES.txt",
        works: include_str!("../../notices/binary.txt"),
        parts: &[SERVER, DASHBOARD, ENGINE],
        bundle: Some((
            SWAGGER_UI,
            &["NOTICE", "swagger-ui-es-bundle.js.LICENSE.txt"],
        )),
    },
    Notices {
        path: "npm/core/THIRD-PARTY-NOTICES.txt",
        works: include_str!("../../notices/package.txt"),
        parts: &[ENGINE],
        bundle: None,
    },
];

/// The beginning of each file, with `@WORKS@` in place of the works that are not crates.
const PREFACE: &str = include_str!("../../notices/preface.txt");

/// The command that updates the files.
const COMMAND: &str = "cargo xtask notices";

/// Collects the license texts and rewrites the files.
pub(crate) fn write(workspace: &Workspace) -> Result<Outcome> {
    // The plugin reads the crates of all platforms, but builds download only those of this platform.
    workspace.cargo().args(["fetch", "--locked"]).run()?;
    let rule = "=".repeat(72);
    for file in FILES {
        let mut text = PREFACE.replace("@WORKS@\n", file.works);
        for part in file.parts {
            writeln!(text, "\n{rule}\n{}\n{rule}", part.title)?;
            text.push_str(&collected(workspace, part)?);
        }
        if let Some((package, notices)) = file.bundle {
            let title = node::installed(workspace, package)?;
            writeln!(text, "\n{rule}\n{title}\n{rule}")?;
            for notice in notices {
                text.push_str(&node::read(workspace, package, notice)?);
            }
        }
        let lines = text.lines().map(str::trim_end);
        let text = lines.collect::<Vec<_>>().join("\n");
        let path = workspace.root.join(file.path);
        fs::write(path, format!("{}\n", text.trim_end()))?;
    }
    Ok(Outcome::Done)
}

fn collected(workspace: &Workspace, part: &Part) -> Result<String> {
    let notices = workspace.root.join("xtask/notices");
    cargo_tool::ABOUT
        .command(workspace)?
        .args(["generate", "--offline", "--fail", "--manifest-path"])
        .arg(manifest(workspace, part))
        .args(["--features", part.features])
        .args(part.targets.iter().flat_map(|target| ["--target", target]))
        .arg("--config")
        .arg(notices.join("about.toml"))
        .arg(notices.join("about.hbs"))
        .run_quietly()
}

/// Fails if the notices lack a crate or the bundled package, or name a crate that is no longer used.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    for Notices {
        path,
        parts,
        bundle,
        ..
    } in FILES
    {
        let text = fs::read_to_string(workspace.root.join(path))?;
        let named = named(&text);
        let (mut needed, mut possible) = (BTreeSet::new(), BTreeSet::new());
        for part in parts {
            needed.extend(crates(workspace, part, "normal,no-proc-macro")?);
            possible.extend(crates(workspace, part, "normal")?);
        }
        let missing = needed.difference(&named);
        let stale = named.difference(&possible);
        let mut different: Vec<&str> = missing.chain(stale).map(String::as_str).collect();
        if let Some((package, _)) = bundle
            && !text.contains(&node::installed(workspace, package)?)
        {
            different.push(package);
        }
        if !different.is_empty() {
            bail!(
                "{path} is out of date ({}); run `{COMMAND}` and commit what it writes",
                different.join(", ")
            );
        }
    }
    Ok(Outcome::Done)
}

/// Returns the crates that a file names, as `name version`. They are the lines that are indented by two spaces.
fn named(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("  "));
    let is_crate = |line: &&str| {
        let version = line.split_once(' ').map(|(_, version)| version);
        let version = version.filter(|version| !version.contains(' '));
        version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
    };
    lines.filter(is_crate).map(str::to_owned).collect()
}

/// Returns the third-party crates on which a part depends, as `name version`.
fn crates(workspace: &Workspace, part: &Part, edges: &str) -> Result<BTreeSet<String>> {
    let mut cargo = workspace.cargo();
    let tree = cargo
        .args(["tree", "--locked", "--prefix", "none", "--format", "{p}"])
        .args(["--edges", edges, "--features", part.features])
        .args(part.targets.iter().flat_map(|target| ["--target", target]))
        .arg("--manifest-path")
        .arg(manifest(workspace, part))
        .run_quietly()?;
    // Crates of the workspace are listed with their folder after the version.
    let of_others = tree.lines().filter(|line| !line.contains("(/"));
    let names = of_others.filter_map(|line| {
        let (name, rest) = line.split_once(" v")?;
        let version = rest.split(' ').next()?;
        Some(format!("{name} {version}"))
    });
    Ok(names.collect())
}

fn manifest(workspace: &Workspace, part: &Part) -> PathBuf {
    workspace.root.join(part.package).join("Cargo.toml")
}

/// Checks that all crates have an accepted license, come from the registry, and are not banned.
pub(crate) fn deny(workspace: &Workspace) -> Result<Outcome> {
    let mut deny = cargo_tool::DENY.command(workspace)?;
    deny.args(["--all-features", "--locked", "check"])
        .args(["licenses", "bans", "sources"])
        .run_quietly()?;
    Ok(Outcome::Done)
}

/// Checks that no crate or npm package has a known vulnerability. Fetches the lists of vulnerabilities.
pub(crate) fn advisories(workspace: &Workspace) -> Result<Outcome> {
    let mut deny = cargo_tool::DENY.command(workspace)?;
    deny.args(["--all-features", "--locked", "check", "advisories"])
        .run()?;
    node::npm(workspace)
        .args(["audit", "--audit-level", "high"])
        .run()?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn only_a_line_with_a_name_and_a_version_is_a_crate() {
        let text =
            "MIT License, for:\n  serde 1.0.229\n  a text with 3 words\n  THE SOFTWARE\nring 0.17";
        assert_eq!(named(text), ["serde 1.0.229".to_owned()].into());
    }
}
