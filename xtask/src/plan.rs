//! The steps of each command.

use crate::bench;
use crate::build::serve::Profile;
use crate::build::{dist, image, pack, serve, site, wasm};
use crate::check::suites::{self, Extent};
use crate::check::{
    self, alone, baseline, contract, deploy, docs, modules, notices, openfeature, rolling, sources,
    webdriver, words, workflows,
};
use crate::cli::{Command, Measured};
use crate::programs::{node, pooler, shell};
use crate::release::addresses;
use crate::step::{Outcome, Step};

/// The steps that follow the binary for this machine.
pub(crate) const AFTER_OWN_BINARY: [Step; 1] = [IMAGE_CONTEXT];

/// The steps that follow the binaries of a release.
pub(crate) const AFTER_BINARIES: [Step; 2] = [MATERIALS, CHECKSUMS];

const TARGET: Step = Step::new("Rust's wasm target", wasm::install_target);
const TOOLS: Step = Step::new("Tools from npm", node::install);
const ENGINE: Step = Step::new("Engine of the npm packages", wasm::engine);
const PACKAGES: Step = Step::new("npm packages", pack::build);
const TARBALLS: Step = Step::new("Tarballs of the npm packages", pack::tarballs);
const ISLANDS: Step = Step::new("Islands of the dashboard", site::islands);
const SITE: Step = Step::new("Site of the dashboard", site::assemble);
const SERVER: Step = Step::new("Server", |workspace| serve::build(workspace, Profile::Dev));
const RELEASE: Step = Step::new("Server, optimized", |workspace| {
    serve::build(workspace, Profile::Release)
});
const PUBLISHED: Step = Step::new("Server, as it is published", |workspace| {
    dist::compile(workspace, &dist::default_target()).map(|_| Outcome::Done)
});
const DIST_FOLDER: Step = Step::new("Folder of the release", dist::begin);
const DIST: Step = Step::new("Static binary", |workspace| {
    dist::build(workspace, &dist::default_target()).map(|()| Outcome::Done)
});
const DIST_PACKAGES: Step = Step::new("Packages of the release", dist::packages);
const MATERIALS: Step = Step::new("Bills of materials", dist::bills_of_materials);
const CHECKSUMS: Step = Step::new("Checksums", dist::checksums);
const BUILDAH: Step = Step::new("Image builder", image::find_tools);
const IMAGE_CONTEXT: Step = Step::new("Build context of the image", image::prepare);
const IMAGE: Step = Step::new("Container image", image::build);
const IMAGE_TEST: Step = Step::new("Test of the container image", check::image::test);
const NOTICES_CHECK: Step = Step::new("Notices of the crates", notices::check);
const NOTICES: Step = Step::new("License texts of the crates", notices::write);
const LICENSES: Step = Step::new("Licenses and sources of the crates", notices::deny);
const ADVISORIES: Step = Step::new("Advisories", notices::advisories);
const WORKFLOWS: Step = Step::counting("Workflows", workflows::check);
const FORMAT: Step = Step::new("Format", sources::format);
const LINKS: Step = Step::new("Links in documents", sources::links);
const MODULES: Step = Step::new("Map of the modules", modules::check);
const WORDS: Step = Step::new("Words to avoid", words::check);
const DOCS: Step = Step::counting("Site of the documentation", docs::build);
const ADDRESSES: Step = Step::new("Addresses of the project", addresses::write);
const DEPLOY: Step = Step::counting("Deployment files", deploy::check);
const CLIPPY: Step = Step::new("Clippy", sources::clippy);
const CLIPPY_WASM: Step = Step::new("Clippy for wasm", sources::clippy_wasm);
const SHELL: Step = Step::new("Programs of the documented shell examples", shell::install);
const RUST_TESTS: Step = Step::counting("Rust tests", suites::rust);
const POOLER: Step = Step::new("PgBouncer", pooler::install);
const POSTGRES_TESTS: Step =
    Step::counting("Tests of the server on PostgreSQL", suites::on_postgres);
const NPM_TESTS: Step = Step::counting("Tests of the npm packages", suites::npm);
const PARITY: Step = Step::new("Comparison of all evaluators", |workspace| {
    suites::parity(workspace, &[])
});
const MATRIX: Step = Step::counting("Tests of the tarballs", |workspace, tally| {
    suites::matrix(workspace, tally, Extent::Gate)
});
const WHOLE_MATRIX: Step = Step::counting(
    "Tests of the tarballs with all tools",
    |workspace, tally| suites::matrix(workspace, tally, Extent::All),
);
const BROWSER_TESTS: Step = Step::counting("Browser tests", suites::playwright);
const OTHER_BROWSERS: Step = Step::counting("Browser tests in Firefox and WebKit", webdriver::test);
const SCREENSHOTS: Step = Step::new("Screenshots", suites::screenshots);
const FIND_POSTGRES: Step = Step::new("PostgreSQL", |_| bench::find_postgres());
const BENCH_ADMIN: Step = Step::new("Measurement of administration", bench::admin);
const BENCH_CLIENT: Step = Step::new("Measurement of the npm package", bench::client);
const BENCH_COLD: Step = Step::new("Measurement of new processes", bench::cold);
const BENCH_FIRST_ANSWER: Step = Step::new(
    "Measurement of the first answer in a browser",
    bench::first_answer,
);
const BENCH_LIGHTHOUSE: Step = Step::new("Measurement with Lighthouse", bench::lighthouse);
const BENCH_PAGES: Step = Step::new("Measurement of pages", bench::pages);
const BENCH_SERVER: Step = Step::new("Measurement of evaluations", bench::server);
const BENCH_SOAK: Step = Step::new("Soak test", bench::soak);
const BENCH_STREAMS: Step = Step::new("Measurement of streams", bench::streams);
const CHAOS: Step = Step::counting("Fault injection, short", |workspace, tally| {
    suites::chaos(workspace, tally, Extent::Gate, &[])
});
const CONTRACT: Step = Step::counting("The API against its description", contract::test);
const OPENFEATURE: Step = Step::counting("OpenFeature's provider for Python", openfeature::test);
const ALONE: Step = Step::new("Test of the release binary alone", |workspace| {
    alone::check(workspace, &Profile::Release.binary(workspace))
});
const ROLLING: Step = Step::counting("Rolling update from the last release", rolling::test);
const FIXTURE: Step = Step::new("Fixture of this build", baseline::write_fixture);

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
        IMAGE_CONTEXT,
        MATERIALS,
        IMAGE,
        IMAGE_TEST,
        CHECKSUMS,
    ];
    [embedded(), image.to_vec()].concat()
}
