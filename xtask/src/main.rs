//! `cargo xtask`: everything that is done to this repository, from a fresh clone to a release.

mod addresses;
mod alone;
mod baseline;
mod bench;
mod browser;
mod cargo_tool;
mod check;
mod contract;
mod cross;
mod debian;
mod deploy;
mod digest;
mod dist;
mod docs;
mod image;
mod instance;
mod node;
mod notices;
mod openfeature;
mod pack;
mod pooler;
mod postgres;
mod process;
mod python;
mod release;
mod revision;
mod rolling;
mod serve;
mod site;
mod step;
mod tally;
mod twin;
mod wasm;
mod webdriver;
mod workflows;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use check::Extent;
use serve::Profile;
use step::{Outcome, Step};
use tally::Tally;
use workspace::Workspace;

/// Builds, runs and tests Pennon. Whatever a command needs, it builds or installs first.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the server with its dashboard, and the npm packages; serve, by default at <http://127.0.0.1:3000>
    Run {
        /// Optimise: slower to build, faster to answer
        #[arg(long)]
        release: bool,
        /// What the server is told, after `--`
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
    /// Build what is published into the target folder's dist/: archives with static binaries, packages, bills of materials
    Dist {
        /// The platform to build for, such as `aarch64-unknown-linux-musl`; may be repeated
        #[arg(long, default_values_t = [dist::default_target()])]
        target: Vec<String>,
    },
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
    /// Check the manifests, the systemd unit and the kustomization in deploy/
    Deploy,
    /// Run the tests in Rust, those of the server on SQLite
    Rust,
    /// Run the tests of the server on PostgreSQL, on a throwaway cluster unless `PENNON_TEST_POSTGRES_URL` names a server
    Postgres,
    /// Build the engine of the npm packages to wasm, into npm/core/generated
    Wasm,
    /// Build the dashboard's wasm, scripts and style into the target folder's site/
    Site,
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
        /// What the comparison is told, after `--`: `--pairs 1000000`, `--seed 2`
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
        /// What to measure
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
    /// Test the API against its own description, with requests that are made up from it
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
    /// Write what the next builds are compared with: databases and answers of this build, its API description, and its client
    Fixture,
}

#[derive(Subcommand)]
enum Measured {
    /// Administration on SQLite and PostgreSQL: writes, creations, lists, imports, and how soon other instances follow
    Admin,
    /// The npm package in Node.js: reads, loading, memory, and what a browser has to load
    Client,
    /// Pages of the dashboard as Lighthouse sees them
    Lighthouse,
    /// Pages of the dashboard on SQLite: how long they take, and how much they weigh
    Pages,
    /// The Evaluation API: what requests cost beside a bare server of the same libraries, and how that grows
    Server,
    /// A soak of ten minutes on SQLite: whether memory or latencies grow under mixed load
    Soak,
    /// Streams of changes: the memory of 5,000 of them, and how soon all are told
    Streams,
}

const TARGET: Step = Step {
    title: "Rust's wasm target",
    work: |workspace, _| wasm::install_target(workspace),
};
const TOOLS: Step = Step {
    title: "Tools from npm",
    work: |workspace, _| node::install(workspace),
};
const ENGINE: Step = Step {
    title: "Engine of the npm packages",
    work: |workspace, _| wasm::engine(workspace),
};
const PACKAGES: Step = Step {
    title: "npm packages",
    work: |workspace, _| pack::build(workspace),
};
const TARBALLS: Step = Step {
    title: "Tarballs of the npm packages",
    work: |workspace, _| pack::tarballs(workspace),
};
const ISLANDS: Step = Step {
    title: "Islands of the dashboard",
    work: |workspace, _| site::islands(workspace),
};
const SITE: Step = Step {
    title: "Site of the dashboard",
    work: |workspace, _| site::assemble(workspace),
};
const SERVER: Step = Step {
    title: "Server",
    work: |workspace, _| serve::build(workspace, Profile::Dev),
};
const RELEASE: Step = Step {
    title: "Server, optimised",
    work: |workspace, _| serve::build(workspace, Profile::Release),
};
const DIST_FOLDER: Step = Step {
    title: "Folder of the release",
    work: |workspace, _| dist::begin(workspace),
};
const DIST: Step = Step {
    title: "Static binary",
    work: |workspace, _| dist::build(workspace, &dist::default_target()).map(|()| Outcome::Done),
};
const DIST_PACKAGES: Step = Step {
    title: "Packages of the release",
    work: |workspace, _| dist::packages(workspace),
};
const MATERIALS: Step = Step {
    title: "Bills of materials",
    work: |workspace, _| dist::bills_of_materials(workspace),
};
const CHECKSUMS: Step = Step {
    title: "Checksums",
    work: |workspace, _| dist::checksums(workspace),
};
const BUILDAH: Step = Step {
    title: "Builder of images",
    work: |workspace, _| image::find_tools(workspace),
};
const IMAGE: Step = Step {
    title: "Image",
    work: |workspace, _| image::build(workspace),
};
const IMAGE_TEST: Step = Step {
    title: "The image, started",
    work: |workspace, _| image::test(workspace),
};
const NOTICES_CHECK: Step = Step {
    title: "Notices of the crates",
    work: |workspace, _| notices::check(workspace),
};
const NOTICES: Step = Step {
    title: "License texts of the crates",
    work: |workspace, _| notices::write(workspace),
};
const LICENSES: Step = Step {
    title: "Licenses and sources of the crates",
    work: |workspace, _| notices::deny(workspace),
};
const ADVISORIES: Step = Step {
    title: "Advisories",
    work: |workspace, _| notices::advisories(workspace),
};
const WORKFLOWS: Step = Step {
    title: "Workflows",
    work: workflows::check,
};
const FORMAT: Step = Step {
    title: "Format",
    work: |workspace, _| check::format(workspace),
};
const LINKS: Step = Step {
    title: "Links in documents",
    work: |workspace, _| check::links(workspace),
};
const DOCS: Step = Step {
    title: "Site of the documentation",
    work: docs::build,
};
const ADDRESSES: Step = Step {
    title: "Addresses of the project",
    work: |workspace, _| addresses::write(workspace),
};
const DEPLOY: Step = Step {
    title: "Files to deploy with",
    work: deploy::check,
};
const CLIPPY: Step = Step {
    title: "Clippy",
    work: |workspace, _| check::clippy(workspace),
};
const CLIPPY_WASM: Step = Step {
    title: "Clippy for wasm",
    work: |workspace, _| check::clippy_wasm(workspace),
};
const RUST_TESTS: Step = Step {
    title: "Tests in Rust",
    work: check::rust,
};
const POOLER: Step = Step {
    title: "PgBouncer",
    work: |workspace, _| pooler::install(workspace),
};
const POSTGRES_TESTS: Step = Step {
    title: "Tests of the server on PostgreSQL",
    work: check::on_postgres,
};
const NPM_TESTS: Step = Step {
    title: "Tests of the npm packages",
    work: check::npm,
};
const PARITY: Step = Step {
    title: "Parity of all that evaluates",
    work: |workspace, _| check::parity(workspace, &[]),
};
const MATRIX: Step = Step {
    title: "The tarball where it is used",
    work: |workspace, tally| check::matrix(workspace, tally, Extent::Gate),
};
const WHOLE_MATRIX: Step = Step {
    title: "The tarball wherever it is used",
    work: |workspace, tally| check::matrix(workspace, tally, Extent::All),
};
const BROWSER_TESTS: Step = Step {
    title: "Tests in a browser",
    work: check::playwright,
};
const OTHER_BROWSERS: Step = Step {
    title: "Tests in Firefox and WebKit",
    work: webdriver::test,
};
const SCREENSHOTS: Step = Step {
    title: "Screenshots",
    work: |workspace, _| check::screenshots(workspace),
};
const FIND_POSTGRES: Step = Step {
    title: "PostgreSQL",
    work: |_, _| bench::find_postgres(),
};
const BENCH_ADMIN: Step = Step {
    title: "Measurement of administration",
    work: |workspace, _| bench::admin(workspace),
};
const BENCH_CLIENT: Step = Step {
    title: "Measurement of the npm package",
    work: |workspace, _| bench::client(workspace),
};
const BENCH_LIGHTHOUSE: Step = Step {
    title: "Measurement by Lighthouse",
    work: |workspace, _| bench::lighthouse(workspace),
};
const BENCH_PAGES: Step = Step {
    title: "Measurement of pages",
    work: |workspace, _| bench::pages(workspace),
};
const BENCH_SERVER: Step = Step {
    title: "Measurement of evaluations",
    work: |workspace, _| bench::server(workspace),
};
const BENCH_SOAK: Step = Step {
    title: "Soak",
    work: |workspace, _| bench::soak(workspace),
};
const BENCH_STREAMS: Step = Step {
    title: "Measurement of streams",
    work: |workspace, _| bench::streams(workspace),
};
const CHAOS: Step = Step {
    title: "Faults, the short form",
    work: |workspace, tally| check::chaos(workspace, tally, Extent::Gate, &[]),
};
const CONTRACT: Step = Step {
    title: "The API against its description",
    work: contract::test,
};
const OPENFEATURE: Step = Step {
    title: "OpenFeature's provider for Python",
    work: openfeature::test,
};
const ALONE: Step = Step {
    title: "The release binary, alone in a folder",
    work: |workspace, _| alone::try_it(workspace),
};

const ROLLING: Step = Step {
    title: "The last release beside this build",
    work: rolling::test,
};
const FIXTURE: Step = Step {
    title: "Fixture of this build",
    work: |workspace, _| baseline::write_fixture(workspace),
};

fn main() -> ExitCode {
    match obey(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        // Not the form that `main` would print: it may hold a backtrace, and whoever reads this looks for one sentence.
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn obey(command: Command) -> Result<()> {
    let workspace = Workspace::find()?;
    let mut tally = Tally::default();
    step::take(&steps(&command), &workspace, &mut tally)?;
    match command {
        Command::Run { release, arguments } => {
            let profile = if release {
                Profile::Release
            } else {
                Profile::Dev
            };
            serve::run(&workspace, profile, &arguments)?;
        }
        Command::Parity { arguments } => {
            check::parity(&workspace, &arguments)?;
        }
        Command::Chaos { short, arguments } => {
            let extent = if short { Extent::Gate } else { Extent::All };
            check::chaos(&workspace, &mut tally, extent, &arguments)?;
            tally.report();
        }
        Command::Dist { target } => {
            for target in target {
                eprintln!("==> Static binary for {target}");
                dist::build(&workspace, &target)?;
            }
            step::take(&[MATERIALS, CHECKSUMS], &workspace, &mut tally)?;
        }
        Command::Release { version, dry_run } => release::release(&workspace, &version, dry_run)?,
        Command::Changelog { version } => println!("{}", release::notes(&workspace, &version)?),
        Command::Build => eprintln!("\n{}", Profile::Release.binary(&workspace).display()),
        _ => tally.report(),
    }
    Ok(())
}

/// What a command does, with all that it needs. In the gate, what is quick and often wrong comes first.
fn steps(command: &Command) -> Vec<Step> {
    let site = [TARGET, TOOLS, ISLANDS, SITE].as_slice();
    let packages = [TARGET, TOOLS, ENGINE, PACKAGES].as_slice();
    match command {
        Command::Run { release: false, .. } => [site, packages, &[SERVER]].concat(),
        Command::Run { release: true, .. } => [site, packages, &[RELEASE]].concat(),
        Command::Test { all } => {
            let pooler = if *all { [POOLER].as_slice() } else { &[] };
            let mut steps = [
                &[
                    TARGET,
                    TOOLS,
                    FORMAT,
                    LINKS,
                    DEPLOY,
                    NOTICES_CHECK,
                    CLIPPY,
                    CLIPPY_WASM,
                ],
                site,
                pooler,
                &[RUST_TESTS, POSTGRES_TESTS],
                packages,
            ]
            .concat();
            let matrix = if *all { WHOLE_MATRIX } else { MATRIX };
            steps.extend([NPM_TESTS, PARITY, matrix, BROWSER_TESTS, OPENFEATURE]);
            if *all {
                steps.extend([OTHER_BROWSERS, CONTRACT, ROLLING, RELEASE, ALONE, CHAOS]);
                steps.extend([LICENSES, DOCS, WORKFLOWS]);
                steps.extend(image());
            }
            steps
        }
        Command::Build => [site, &[RELEASE], packages, &[TARBALLS]].concat(),
        Command::Dist { .. } => [site, packages, &[TARBALLS, DIST_FOLDER, DIST_PACKAGES]].concat(),
        Command::Image => image(),
        Command::Format => vec![TOOLS, FORMAT],
        Command::Clippy => vec![TARGET, CLIPPY, CLIPPY_WASM],
        Command::Deploy => vec![DEPLOY],
        Command::Docs => vec![DOCS],
        Command::Addresses => vec![ADDRESSES],
        Command::Links => vec![TOOLS, LINKS],
        Command::Rust => [site, &[RUST_TESTS]].concat(),
        Command::Postgres => [site, &[POSTGRES_TESTS]].concat(),
        Command::Wasm => vec![TARGET, TOOLS, ENGINE],
        Command::Site => site.to_vec(),
        Command::Npm => [site, &[SERVER], packages, &[NPM_TESTS]].concat(),
        Command::Parity { .. } => [site, packages].concat(),
        Command::Matrix { all: false } => [packages, &[MATRIX]].concat(),
        Command::Matrix { all: true } => [packages, &[WHOLE_MATRIX]].concat(),
        Command::Playwright => [site, packages, &[SERVER, BROWSER_TESTS]].concat(),
        Command::Browsers => [site, &[SERVER, OTHER_BROWSERS]].concat(),
        Command::Screenshots => [site, &[SERVER, SCREENSHOTS]].concat(),
        Command::Bench {
            what: Measured::Admin,
        } => [&[FIND_POSTGRES], site, &[RELEASE, BENCH_ADMIN]].concat(),
        Command::Bench {
            what: Measured::Client,
        } => [packages, &[BENCH_CLIENT]].concat(),
        Command::Bench {
            what: Measured::Lighthouse,
        } => [site, &[RELEASE, BENCH_LIGHTHOUSE]].concat(),
        Command::Bench {
            what: Measured::Pages,
        } => [site, &[RELEASE, BENCH_PAGES]].concat(),
        Command::Bench {
            what: Measured::Server,
        } => [site, &[RELEASE, BENCH_SERVER]].concat(),
        Command::Bench {
            what: Measured::Soak,
        } => [site, &[RELEASE, BENCH_SOAK]].concat(),
        Command::Bench {
            what: Measured::Streams,
        } => [site, &[RELEASE, BENCH_STREAMS]].concat(),
        Command::Chaos { .. } => [site, &[RELEASE]].concat(),
        Command::Contract => [site, &[SERVER, CONTRACT]].concat(),
        Command::Openfeature => [site, &[SERVER, OPENFEATURE]].concat(),
        Command::Alone => [site, &[RELEASE, ALONE]].concat(),
        Command::Release { .. } | Command::Changelog { .. } => Vec::new(),
        Command::Advisories => vec![ADVISORIES],
        Command::Workflows => vec![WORKFLOWS],
        Command::Licenses => vec![NOTICES_CHECK, LICENSES],
        Command::Notices => vec![NOTICES],
        Command::Rolling => vec![SERVER, ROLLING],
        Command::Fixture => [site, packages, &[SERVER, FIXTURE]].concat(),
    }
}

/// All that is published, with the image, which is tried.
fn image() -> Vec<Step> {
    vec![
        TARGET,
        TOOLS,
        ISLANDS,
        SITE,
        ENGINE,
        PACKAGES,
        TARBALLS,
        BUILDAH,
        DIST_FOLDER,
        DIST_PACKAGES,
        DIST,
        MATERIALS,
        IMAGE,
        IMAGE_TEST,
        CHECKSUMS,
    ]
}
