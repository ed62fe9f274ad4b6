//! The command-line interface.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::build::dist;

/// Build, run and test Pennon. Each command first builds or installs everything that it needs.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands of `cargo xtask`.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Build the server with its dashboard and the npm packages, and serve at <http://127.0.0.1:3000> by default
    Run {
        /// Optimize the server, which takes longer to build
        #[arg(long)]
        release: bool,
        /// Arguments for the server, after `--`
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Run the gate: all checks and tests that each change must pass
    Test {
        /// Also run checks that are too slow for every change
        #[arg(long)]
        all: bool,
    },
    /// Build the optimized server for this machine, and the npm packages
    Build,
    /// Build the published files into the target folder's dist/: archives with static binaries, packages, bills of
    /// materials; test the binary for this machine
    Dist {
        /// The platform to build for, such as `aarch64-unknown-linux-musl`; may be repeated
        #[arg(long, default_values_t = [dist::default_target()])]
        target: Vec<String>,
    },
    /// Build the published files twice from the same commit, and compare them
    Reproducible,
    /// Build the container image into the target folder's dist/, and test it
    Image,

    /// Check the format of all sources
    Format,
    /// Lint all crates, for this machine and for wasm
    Clippy,
    /// Build the documentation as a site, into the target folder's docs/site/
    Docs,
    /// Write the addresses in project.toml into all files that contain them
    Addresses,
    /// Check the links between Markdown files
    Links,
    /// Compare the map of the server's modules with their imports
    Modules,
    /// Report words to avoid in documents and sources, as listed in xtask/words.toml
    Words,
    /// Check the manifests, the systemd unit and the kustomization in deploy/
    Deploy,
    /// Run the Rust tests, with the server on SQLite
    Rust,
    /// Run the server's tests on PostgreSQL, on a temporary cluster unless `PENNON_TEST_POSTGRES_URL` is set
    Postgres,
    /// Build the wasm engine of the npm packages into npm/core/generated
    Wasm,
    /// Build the dashboard's wasm, scripts and style sheets into the target folder's site/
    Site,
    /// Build the npm packages and pack them into the target folder's npm/, from which the server embeds them
    Packages,
    /// Build and test the npm packages
    Npm,
    /// Test the packages' tarballs in Node.js, Vite, Next.js, and under a strict content security policy
    Matrix {
        /// Also test all other bundlers, runtimes, package managers and test runners
        #[arg(long)]
        all: bool,
    },
    /// Compare the evaluations of the core, the npm package and the server for random flags and contexts
    Parity {
        /// Arguments for the comparison, after `--`: `--pairs 1000000`, `--seed 2`
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Run the browser tests in Chromium
    Playwright,
    /// Run the browser tests in Firefox and WebKit, or in those that `PENNON_BROWSERS` names
    Browsers,
    /// Take screenshots of all dashboard pages into the target folder's screenshots/
    Screenshots,
    /// Measure what is published, and print the tables of docs/performance.md
    Bench {
        /// The subject of the measurement
        #[command(subcommand)]
        what: Measured,
    },
    /// Inject faults into the release binary, and print the table of docs/reliability.md
    Chaos {
        /// Use fewer repetitions and shorter outages: three minutes in total
        #[arg(long)]
        short: bool,
        /// Arguments for the tests, after `--`: `--only kill` for one fault
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Test the API against its description, with generated requests
    Contract,
    /// Test the server with OpenFeature's own provider for Python
    Openfeature,
    /// Build the release binary, and test it alone in an empty folder
    Alone,
    /// Test a rolling update: run the last release and this build on one PostgreSQL database
    Rolling,
    /// Check the licenses and sources of all crates
    Licenses,
    /// Collect the licenses of all crates into THIRD-PARTY-NOTICES.txt
    Notices,
    /// Set the version in all files, run all tests, commit and tag (pushing the tag publishes it)
    Release {
        /// The version, such as `1.2.3`
        version: String,
        /// Only list the files that would change, or the reasons against a release
        #[arg(long)]
        dry_run: bool,
    },
    /// Print the release notes of a version, or of `Unreleased`
    Changelog {
        /// The heading of a section in CHANGELOG.md, such as `1.2.3`
        version: String,
    },
    /// Check crates and npm packages for known vulnerabilities
    Advisories,
    /// Check the workflows in .github/
    Workflows,
    /// Write the files with which later builds are compared: databases and responses of this build, its API
    /// description, and its client
    Fixture,
}

/// The subjects of `cargo xtask bench`.
#[derive(Subcommand)]
pub(crate) enum Measured {
    /// Administration on SQLite and PostgreSQL: writes, creations, lists, imports, and the delay until other instances
    /// serve a change
    Admin,
    /// The npm package in Node.js: reads, loading, memory, and download size
    Client,
    /// New processes: the CPU time of a client's start, compared with another service's client
    Cold,
    /// Browsers: the time from a navigation to a client's first evaluation, compared with those of other services
    FirstAnswer,
    /// Lighthouse scores of dashboard pages
    Lighthouse,
    /// Dashboard pages on SQLite: duration and size
    Pages,
    /// The Evaluation API: the cost of requests, compared with a bare server of the same libraries, and its growth
    Server,
    /// Ten minutes of mixed load on SQLite: whether memory or latencies grow
    Soak,
    /// Streams of changes: the memory of 5,000 streams, and the delay of an event
    Streams,
}
