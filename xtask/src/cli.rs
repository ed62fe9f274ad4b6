//! The command-line interface.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::dist;

/// Builds, runs and tests Pennon. Whatever a command needs, it builds or installs first.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands of `cargo xtask`.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Build the server with its dashboard, and the npm packages; serve, by default at <http://127.0.0.1:3000>
    Run {
        /// Optimize: slower to build, faster to answer
        #[arg(long)]
        release: bool,
        /// Arguments for the server, after `--`
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Check and test everything: the gate that each change must pass
    Test {
        /// Also what is too slow for every change
        #[arg(long)]
        all: bool,
    },
    /// Build the server's binary for this machine, optimized, and the npm packages
    Build,
    /// Build what is published into the target folder's dist/: archives with static binaries, packages, bills of
    /// materials
    Dist {
        /// The platform to build for, such as `aarch64-unknown-linux-musl`; may be repeated
        #[arg(long, default_values_t = [dist::default_target()])]
        target: Vec<String>,
    },
    /// Build what is published twice from the same commit, and compare all files
    Reproducible,
    /// Build the container image into the target folder's dist/, and try it
    Image,

    /// Check the format of all sources
    Format,
    /// Lint all crates, for this machine and for wasm
    Clippy,
    /// Build the documentation as a site, into the target folder's docs/site/
    Docs,
    /// Write the addresses of project.toml into all files that name them
    Addresses,
    /// Check the links between Markdown files
    Links,
    /// Compare the map of the server's modules with what they import
    Modules,
    /// Report words that documents and sources avoid, as listed in xtask/words.toml
    Words,
    /// Check the manifests, the systemd unit and the kustomization in deploy/
    Deploy,
    /// Run the tests in Rust, those of the server on SQLite
    Rust,
    /// Run the tests of the server on PostgreSQL, on a throwaway cluster unless `PENNON_TEST_POSTGRES_URL` names a
    /// server
    Postgres,
    /// Build the engine of the npm packages to wasm, into npm/core/generated
    Wasm,
    /// Build the dashboard's wasm, scripts and style into the target folder's site/
    Site,
    /// Build the npm packages and pack them into the target folder's npm/, where the server finds them to embed
    Packages,
    /// Build and test the npm packages
    Npm,
    /// Try the tarball of `@pennon/core` where it is used: Node.js, Vite, Next.js, a strict content security policy
    Matrix {
        /// Also with all other bundlers, runtimes and test runners
        #[arg(long)]
        all: bool,
    },
    /// Compare all that evaluates on random flags and contexts: the core, the npm package and the server
    Parity {
        /// Arguments for the comparison, after `--`: `--pairs 1000000`, `--seed 2`
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Run the browser tests
    Playwright,
    /// Run the browser tests in Firefox and WebKit, or in those that `PENNON_BROWSERS` names
    Browsers,
    /// Take pictures of all pages of the dashboard, into the target folder's screenshots/
    Screenshots,
    /// Measure a release build, and print what docs/performance.md shows
    Bench {
        /// The subject of the measurement
        #[command(subcommand)]
        what: Measured,
    },
    /// Inject faults into the release binary, and print what docs/reliability.md shows
    Chaos {
        /// Fewer repetitions and shorter outages: three minutes
        #[arg(long)]
        short: bool,
        /// Passed on after `--`: `--only kill` for one fault
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Test the API against its own description, with generated requests
    Contract,
    /// Let OpenFeature's own provider for Python ask the server
    Openfeature,
    /// Build the release binary and try it alone in an empty folder
    Alone,
    /// Run the last release and this build side by side on one PostgreSQL database, as a rolling update does
    Rolling,
    /// Check the licenses and sources of all crates
    Licenses,
    /// Collect the licenses of all crates into THIRD-PARTY-NOTICES.txt
    Notices,
    /// Set the version everywhere, run all tests, commit and tag; publish by pushing the tag
    Release {
        /// The version, such as `1.2.3`
        version: String,
        /// Only list the files that would change, or the reasons against a release
        #[arg(long)]
        dry_run: bool,
    },
    /// Print the changes of a version, or of `Unreleased`, as the notes of its release
    Changelog {
        /// The heading of a section in CHANGELOG.md, such as `1.2.3`
        version: String,
    },
    /// Check crates and npm packages for known vulnerabilities
    Advisories,
    /// Check the workflows in .github/
    Workflows,
    /// Write what the next builds are compared with: databases and answers of this build, its API description, and its
    /// client
    Fixture,
}

/// The subjects of `cargo xtask bench`.
#[derive(Subcommand)]
pub(crate) enum Measured {
    /// Administration on SQLite and PostgreSQL: writes, creations, lists, imports, and how soon other instances follow
    Admin,
    /// The npm package in Node.js: reads, loading, memory, and what a browser has to load
    Client,
    /// Pages of the dashboard as Lighthouse sees them
    Lighthouse,
    /// Pages of the dashboard on SQLite: how long they take, and how much they weigh
    Pages,
    /// The Evaluation API: the cost of requests compared with a bare server of the same libraries, and its growth
    Server,
    /// A soak of ten minutes on SQLite: whether memory or latencies grow under mixed load
    Soak,
    /// Streams of changes: the memory of 5,000 of them, and the delay of an event
    Streams,
}
