//! The test suites.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::build::product;
use crate::build::serve::Profile;
use crate::process::{self, Run as _, on_path_of_root};
use crate::programs::postgres::{self, Durability, Server};
use crate::programs::{browser, node};
use crate::step::Outcome;
use crate::tally::{LEFT_OUT, Tally};
use crate::workspace::Workspace;

/// Runs the Rust tests. Later steps find the server at `target/debug/pennon`.
pub(crate) fn rust(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    product::build(workspace)?;
    let mut tests = product::command(workspace, "test");
    tests
        .env("RUST_TEST_THREADS", test_threads())
        .env_remove(postgres::VARIABLE);
    tally.run("Rust, with the server on SQLite", &mut tests)?;
    let mut own = workspace.cargo();
    tally.run("xtask", own.args(["test", "--package", "xtask"]))?;
    Ok(Outcome::Done)
}

/// Returns the number of tests that run at a time: two per processor, because many tests wait, for example for a time
/// limit of the server.
fn test_threads() -> String {
    process::processors().saturating_mul(2).to_string()
}

/// Runs the server's tests again, on PostgreSQL.
pub(crate) fn on_postgres(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let Some(server) = Server::find_or_start(Durability::None)? else {
        tally.skip(
            "the server on PostgreSQL, which was not found",
            &postgres::remedy(),
        );
        return Ok(Outcome::Done);
    };
    product::build(workspace)?;
    let mut tests = Command::new(tests_of_the_server(workspace)?);
    tests
        .current_dir(workspace.root.join("tests"))
        .env("RUST_TEST_THREADS", test_threads())
        .env(postgres::VARIABLE, server.url());
    tally.run("server on PostgreSQL", &mut tests)?;
    Ok(Outcome::Done)
}

/// Returns the program that Cargo would run for the server's tests. Asking Cargo to run only that program would rebuild
/// it, with the features that this one package needs.
fn tests_of_the_server(workspace: &Workspace) -> Result<PathBuf> {
    let mut cargo = product::command(workspace, "test");
    let built = cargo
        .args(["--no-run", "--quiet", "--message-format=json"])
        .run_quietly()?;
    let executable = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let manifest = message.get("manifest_path")?.as_str()?;
        let target = message.pointer("/target/name")?.as_str()?;
        let is_it =
            Path::new(manifest) == workspace.root.join("tests/Cargo.toml") && target == "it";
        let path = message.get("executable")?.as_str().filter(|_| is_it)?;
        Some(PathBuf::from(path))
    };
    let found = built.lines().find_map(executable);
    found.context("cargo lists no tests of the server")
}

/// Checks the types and runs the tests of the npm packages, as their manifests define them, and checks for packaging
/// mistakes that would affect their users.
pub(crate) fn npm(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let packages = node::packages(workspace)?;
    let others = [
        "dashboard/script",
        "examples/nest-api",
        "examples/next-app",
        "examples/react-vite",
        "matrix",
        "playwright",
    ];
    let checks = packages
        .iter()
        .map(|package| package_checks(workspace, package))
        .chain(others.map(|other| vec![node::script(workspace, Path::new(other), "check")]));
    process::run_groups(checks.collect())?;
    for package in &packages {
        let mut tests = node::script(workspace, package, "test");
        tests.env("VITEST_MAX_WORKERS", test_threads());
        tally.run("npm packages", with_server(workspace, &mut tests))?;
    }
    Ok(Outcome::Done)
}

/// Returns the checks of an npm package. They do not run at the same time, because some pack the package.
fn package_checks(workspace: &Workspace, package: &Path) -> Vec<Command> {
    let mut publint = node::tool(workspace, "publint");
    publint.arg("--strict").arg(package);
    let mut attw = node::tool(workspace, "attw");
    attw.args(["--profile", "strict", "--quiet", "--pack"])
        .arg(package);
    vec![node::script(workspace, package, "check"), publint, attw]
}

/// The extent of a slow check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The part that every change must pass.
    Gate,
    /// The complete check.
    All,
}

/// Tests the packages' tarballs in one application per tool.
pub(crate) fn matrix(workspace: &Workspace, tally: &mut Tally, extent: Extent) -> Result<Outcome> {
    let browser = browser::find_or_install(workspace)?;
    let name = match extent {
        Extent::Gate => "test",
        Extent::All => "test:all",
    };
    let mut tests = node::script(workspace, Path::new("matrix"), name);
    let tests = with_server(workspace, &mut tests).env("PENNON_CHROMIUM", browser);
    tally.run("tarballs in applications", tests)?;
    Ok(Outcome::Done)
}

/// Checks that the core, the npm package, and the server evaluate flags identically.
pub(crate) fn parity(workspace: &Workspace, arguments: &[OsString]) -> Result<Outcome> {
    product::build(workspace)?;
    let mut parity = workspace.command(workspace.target.join("debug/parity"));
    parity.args(arguments).run()?;
    Ok(Outcome::Done)
}

/// Injects faults into the release binary, and checks the bounds in `docs/reliability.md`.
pub(crate) fn chaos(
    workspace: &Workspace,
    tally: &mut Tally,
    extent: Extent,
    arguments: &[OsString],
) -> Result<Outcome> {
    product::build(workspace)?;
    let mut chaos = workspace.command(workspace.target.join("debug/chaos"));
    chaos
        .args((extent == Extent::Gate).then_some("--short"))
        .args(arguments)
        .env("PENNON_TEST_BINARY", Profile::Release.binary(workspace));
    let server = Server::start(Durability::Full)?;
    match &server {
        Some(server) => _ = chaos.args(["--postgres", &server.url()]),
        None => tally.skip("faults on PostgreSQL, which was not found", "install it"),
    }
    chaos.run_reading(|line| {
        if line.starts_with(LEFT_OUT) {
            tally.omit(line.to_owned());
        }
    })?;
    Ok(Outcome::Done)
}

/// Runs the browser tests against the server that [`rust`] has built.
pub(crate) fn playwright(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let browser = browser::find_or_install(workspace)?;
    let mut tests = node::script(workspace, Path::new("playwright"), "test");
    let tests = with_server(workspace, &mut tests).env("PENNON_CHROMIUM", browser);
    tally.run("Chromium", tests)?;
    // `playwright/support/nginx.ts` also looks there.
    if on_path_of_root("nginx").is_none() {
        tally.skip(
            "the dashboard behind nginx, which was not found",
            "install it",
        );
    }
    Ok(Outcome::Done)
}

/// Takes screenshots of every page, in the light and the dark theme, at desktop and phone size.
pub(crate) fn screenshots(workspace: &Workspace) -> Result<Outcome> {
    let folder = workspace.target.join("screenshots");
    let browser = browser::find_or_install(workspace)?;
    let mut pictures = node::script(workspace, Path::new("playwright"), "screenshots");
    pictures.env("PENNON_SCREENSHOTS", &folder);
    with_server(workspace, &mut pictures)
        .env("PENNON_CHROMIUM", browser)
        .run()?;
    eprintln!("    in {}", folder.display());
    Ok(Outcome::Done)
}

/// Sets the variable that contains the path of the server's binary.
fn with_server<'a>(workspace: &Workspace, command: &'a mut Command) -> &'a mut Command {
    command.env("PENNON_BINARY", Profile::Dev.binary(workspace))
}
