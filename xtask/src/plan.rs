//! The steps of each command.

use crate::addresses;
use crate::alone;
use crate::baseline;
use crate::bench;
use crate::check;
use crate::check::Extent;
use crate::cli::{Command, Measured};
use crate::contract;
use crate::deploy;
use crate::dist;
use crate::docs;
use crate::image;
use crate::modules;
use crate::node;
use crate::notices;
use crate::openfeature;
use crate::pack;
use crate::pooler;
use crate::rolling;
use crate::serve;
use crate::serve::Profile;
use crate::shell;
use crate::site;
use crate::step::{Outcome, Step};
use crate::wasm;
use crate::webdriver;
use crate::words;
use crate::workflows;

/// The steps that follow the binaries of a release.
pub(crate) const AFTER_BINARIES: [Step; 2] = [MATERIALS, CHECKSUMS];

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
    title: "Server, optimized",
    work: |workspace, _| serve::build(workspace, Profile::Release),
};
const PUBLISHED: Step = Step {
    title: "Server, as it is published",
    work: |workspace, _| dist::compile(workspace, &dist::default_target()).map(|_| Outcome::Done),
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
    title: "Image builder",
    work: |workspace, _| image::find_tools(workspace),
};
const IMAGE: Step = Step {
    title: "Container image",
    work: |workspace, _| image::build(workspace),
};
const IMAGE_TEST: Step = Step {
    title: "Test of the container image",
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
const MODULES: Step = Step {
    title: "Map of the modules",
    work: |workspace, _| modules::check(workspace),
};
const WORDS: Step = Step {
    title: "Words to avoid",
    work: |workspace, _| words::check(workspace),
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
    title: "Deployment files",
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
const SHELL: Step = Step {
    title: "Programs of the documented shell examples",
    work: |workspace, _| shell::install(workspace),
};
const RUST_TESTS: Step = Step {
    title: "Rust tests",
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
    title: "Comparison of all evaluators",
    work: |workspace, _| check::parity(workspace, &[]),
};
const MATRIX: Step = Step {
    title: "Tests of the tarballs",
    work: |workspace, tally| check::matrix(workspace, tally, Extent::Gate),
};
const WHOLE_MATRIX: Step = Step {
    title: "Tests of the tarballs with all tools",
    work: |workspace, tally| check::matrix(workspace, tally, Extent::All),
};
const BROWSER_TESTS: Step = Step {
    title: "Browser tests",
    work: check::playwright,
};
const OTHER_BROWSERS: Step = Step {
    title: "Browser tests in Firefox and WebKit",
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
const BENCH_COLD: Step = Step {
    title: "Measurement of new processes",
    work: |workspace, _| bench::cold(workspace),
};
const BENCH_FIRST_ANSWER: Step = Step {
    title: "Measurement of the first answer in a browser",
    work: |workspace, _| bench::first_answer(workspace),
};
const BENCH_LIGHTHOUSE: Step = Step {
    title: "Measurement with Lighthouse",
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
    title: "Soak test",
    work: |workspace, _| bench::soak(workspace),
};
const BENCH_STREAMS: Step = Step {
    title: "Measurement of streams",
    work: |workspace, _| bench::streams(workspace),
};
const CHAOS: Step = Step {
    title: "Fault injection, short",
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
    title: "Test of the release binary alone",
    work: |workspace, _| alone::check(workspace, &Profile::Release.binary(workspace)),
};
const ROLLING: Step = Step {
    title: "Rolling update from the last release",
    work: rolling::test,
};
const FIXTURE: Step = Step {
    title: "Fixture of this build",
    work: |workspace, _| baseline::write_fixture(workspace),
};

/// Returns the steps of a command, including everything that it requires. In the gate, checks that are quick and often
/// fail come first.
pub(crate) fn steps(command: &Command) -> Vec<Step> {
    let site = [TARGET, TOOLS, ISLANDS, SITE].as_slice();
    let embedded = embedded();
    let embedded = embedded.as_slice();
    match command {
        Command::Run { release: false, .. } => [embedded, &[SERVER]].concat(),
        Command::Run { release: true, .. } | Command::Build | Command::Chaos { .. } => {
            [embedded, &[RELEASE]].concat()
        }
        Command::Test { all } => {
            let pooler = if *all { [POOLER].as_slice() } else { &[] };
            let mut steps = [
                &[
                    TARGET,
                    TOOLS,
                    FORMAT,
                    LINKS,
                    MODULES,
                    WORDS,
                    DEPLOY,
                    NOTICES_CHECK,
                    CLIPPY,
                    CLIPPY_WASM,
                ],
                embedded,
                pooler,
                &[SHELL, RUST_TESTS, POSTGRES_TESTS],
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
        Command::Dist { .. } => [embedded, &[DIST_FOLDER, DIST_PACKAGES]].concat(),
        Command::Image => image(),
        Command::Format => vec![TOOLS, FORMAT],
        Command::Clippy => vec![TARGET, CLIPPY, CLIPPY_WASM],
        Command::Deploy => vec![DEPLOY],
        Command::Docs => vec![DOCS],
        Command::Addresses => vec![ADDRESSES],
        Command::Links => vec![TOOLS, LINKS],
        Command::Modules => vec![MODULES],
        Command::Words => vec![WORDS],
        Command::Rust => [embedded, &[RUST_TESTS]].concat(),
        Command::Postgres => [embedded, &[POSTGRES_TESTS]].concat(),
        Command::Wasm => vec![TARGET, TOOLS, ENGINE],
        Command::Site => site.to_vec(),
        Command::Packages => [packages().as_slice(), &[TARBALLS]].concat(),
        Command::Npm => [embedded, &[SERVER, NPM_TESTS]].concat(),
        Command::Parity { .. } => embedded.to_vec(),
        Command::Matrix { all: false } => [embedded, &[SERVER, MATRIX]].concat(),
        Command::Matrix { all: true } => [embedded, &[SERVER, WHOLE_MATRIX]].concat(),
        Command::Playwright => [embedded, &[SERVER, BROWSER_TESTS]].concat(),
        Command::Browsers => [embedded, &[SERVER, OTHER_BROWSERS]].concat(),
        Command::Screenshots => [embedded, &[SERVER, SCREENSHOTS]].concat(),
        Command::Bench { what } => bench(what),
        Command::Contract => [embedded, &[SERVER, CONTRACT]].concat(),
        Command::Openfeature => [embedded, &[SERVER, OPENFEATURE]].concat(),
        Command::Alone => [embedded, &[RELEASE, ALONE]].concat(),
        Command::Release { .. } | Command::Changelog { .. } | Command::Reproducible => Vec::new(),
        Command::Advisories => vec![ADVISORIES],
        Command::Workflows => vec![WORKFLOWS],
        Command::Licenses => vec![NOTICES_CHECK, LICENSES],
        Command::Notices => vec![NOTICES],
        Command::Rolling => vec![SERVER, ROLLING],
        Command::Fixture => [embedded, &[SERVER, FIXTURE]].concat(),
    }
}

/// Returns the steps of a benchmark.
fn bench(what: &Measured) -> Vec<Step> {
    let measurement = match what {
        Measured::Admin => BENCH_ADMIN,
        Measured::Client => BENCH_CLIENT,
        Measured::Cold => BENCH_COLD,
        Measured::FirstAnswer => BENCH_FIRST_ANSWER,
        Measured::Lighthouse => BENCH_LIGHTHOUSE,
        Measured::Pages => BENCH_PAGES,
        Measured::Server => BENCH_SERVER,
        Measured::Soak => BENCH_SOAK,
        Measured::Streams => BENCH_STREAMS,
    };
    let mut steps = match what {
        Measured::Admin => [vec![FIND_POSTGRES], embedded(), vec![PUBLISHED]].concat(),
        Measured::Client | Measured::Cold | Measured::FirstAnswer => packages(),
        _ => [embedded(), vec![PUBLISHED]].concat(),
    };
    steps.push(measurement);
    steps
}

/// Returns the steps that build the npm packages.
fn packages() -> Vec<Step> {
    vec![TARGET, TOOLS, ENGINE, PACKAGES]
}

/// Returns the steps that build everything that the server embeds.
fn embedded() -> Vec<Step> {
    vec![TARGET, TOOLS, ISLANDS, SITE, ENGINE, PACKAGES, TARBALLS]
}

/// Returns the steps that build everything that is published, including the image, and test the image.
fn image() -> Vec<Step> {
    let image = [
        BUILDAH,
        DIST_FOLDER,
        DIST_PACKAGES,
        DIST,
        MATERIALS,
        IMAGE,
        IMAGE_TEST,
        CHECKSUMS,
    ];
    [embedded(), image.to_vec()].concat()
}
