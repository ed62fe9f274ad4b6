//! Builds a crate into a wasm module and the JavaScript glue around it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

use super::fallback;
use crate::digest;
use crate::process::Run as _;
use crate::programs::node;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Rust's name for the platform.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// The features beyond the first version of wasm that the compiler's output may use. They are listed one by one,
/// because `wasm-opt --all-features` would also emit features that no browser supports yet.
pub(crate) const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// The sources of everything that turns compiled wasm into published files.
const RECIPE: [&[u8]; 2] = [include_bytes!("wasm.rs"), include_bytes!("fallback.rs")];

/// A crate that is built into a wasm module.
#[derive(Debug)]
pub(crate) struct Module<'a> {
    /// The crate's package.
    pub(crate) package: &'a str,
    /// The enabled features of the crate. Its default features are off.
    pub(crate) features: &'a str,
    /// The base name of the outputs, which are `{name}.js` and `{name}_bg.wasm`.
    pub(crate) name: &'a str,
    /// `true` if the outputs include `{name}.d.ts`.
    pub(crate) typescript: bool,
    /// `true` if only numbers cross the module's boundary, one at a time.
    pub(crate) bare: bool,
    /// Overrides of the profile, as an argument of Cargo's `--config`.
    pub(crate) config: Option<&'a str>,
    /// The passes of `wasm-opt`.
    pub(crate) passes: &'a [&'a str],
}

/// The engine of the npm packages.
pub(crate) const ENGINE: Module<'_> = Module {
    package: "pennon-sdk-wasm",
    features: "",
    name: "engine",
    typescript: true,
    bare: true,
    // The level of the dashboard, "z", would make this module larger.
    config: Some("profile.wasm.opt-level='s'"),
    // The lowest kilobyte is the end of the stack, so no pointer wraps around to it.
    passes: &["--low-memory-unused", "-Oz", "--converge"],
};

/// The dashboard's islands.
pub(crate) const DASHBOARD: Module<'_> = Module {
    package: "pennon-dashboard",
    features: "hydrate",
    name: "pennon",
    typescript: false,
    bare: false,
    // The few evaluations while a user types need not be fast, but browsers have to load their code.
    config: Some("profile.wasm.package.pennon-core.opt-level='z'"),
    // Rebuilt control flow is slower, but a kilobyte and a half smaller after compression.
    passes: &[
        "--flatten",
        "--rereloop",
        "-Oz",
        "-Oz",
        "--merge-similar-functions",
        "--converge",
    ],
};

/// Adds the wasm target to the active toolchain. With `RUSTUP_AUTO_INSTALL=0`, rustup does not add it on its own.
pub(crate) fn install_target(workspace: &Workspace) -> Result<Outcome> {
    let library = workspace
        .command("rustc")
        .args(["--print=target-libdir", "--target", TARGET])
        .run_quietly()?;
    if Path::new(library.trim()).exists() {
        return Ok(Outcome::UpToDate);
    }
    workspace.command("rustup").args(["target", "add", TARGET]).run_quietly().with_context(|| {
        format!("the Rust toolchain lacks {TARGET}, and rustup, which could add it, was no help; please install it")
    })?;
    Ok(Outcome::Done)
}

/// Returns the folder where `@pennon/core` expects the engine.
pub(crate) fn engine_folder(workspace: &Workspace) -> PathBuf {
    workspace.root.join("npm/core/generated")
}

/// Builds the engine into its folder.
pub(crate) fn engine(workspace: &Workspace) -> Result<Outcome> {
    let folder = engine_folder(workspace);
    let wasm = folder.join("engine_bg.wasm");
    let deflated = folder.join("engine_bg.wasm.deflated");
    let outcome = build(workspace, &ENGINE, &folder)?;
    if !deflated.exists() {
        fs::write(deflated, deflate(&fs::read(&wasm)?)?)?;
    }
    let fallback = folder.join("engine_bg.wasm2js.js");
    if !fallback.exists() {
        fallback::translate(workspace, &wasm, &fallback)?;
    }
    Ok(outcome)
}

/// Builds `module` into `folder`. Cargo decides whether the crate must be compiled. Binding and optimization are
/// repeated only if the compiled wasm, their sources or Binaryen have changed since the last build.
pub(crate) fn build(workspace: &Workspace, module: &Module<'_>, folder: &Path) -> Result<Outcome> {
    cargo(workspace, "build", module).run()?;
    let compiled = workspace
        .wasm_target()
        .join(TARGET)
        .join("wasm")
        .join(format!("{}.wasm", module.package.replace('-', "_")));
    let bytes = fs::read(&compiled).with_context(|| compiled.display().to_string())?;

    let stamp = folder.join(".made-from");
    let optimizer = node::installed(workspace, "binaryen")?;
    let made_from = digest::of([&[bytes.as_slice(), optimizer.as_bytes()], &RECIPE[..]].concat());
    if fs::read_to_string(&stamp).is_ok_and(|last| last == made_from) {
        return Ok(Outcome::UpToDate);
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    bind(module, &bytes, folder)?;
    let wasm = folder.join(format!("{}_bg.wasm", module.name));
    optimize(workspace, &wasm, module.passes)?;
    fs::write(stamp, made_from)?;
    Ok(Outcome::Done)
}

/// Returns a Cargo command for a module's crate on the wasm target. The subcommand is `build` or `clippy`.
pub(crate) fn cargo(
    workspace: &Workspace,
    subcommand: &str,
    module: &Module<'_>,
) -> std::process::Command {
    let mut cargo = workspace.cargo();
    cargo
        .args([
            subcommand,
            "--package",
            module.package,
            "--lib",
            "--no-default-features",
        ])
        .args([
            "--features",
            module.features,
            "--target",
            TARGET,
            "--profile",
            "wasm",
        ])
        .args(module.config.iter().flat_map(|config| ["--config", config]))
        .arg("--target-dir")
        .arg(workspace.wasm_target())
        // Flags for this machine's own processor would otherwise also reach the wasm compiler.
        .env("CARGO_ENCODED_RUSTFLAGS", without_paths().join("\x1f"));
    cargo
}

/// Returns flags that keep the paths of this machine out of the wasm, whose panic messages name the files of
/// dependencies.
fn without_paths() -> Vec<String> {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let sources = cargo_home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    let registries = sources.into_iter().flatten().flatten();
    let mut folders: Vec<_> = registries.map(|registry| registry.path()).collect();
    folders.sort();
    let flag = |folder: &PathBuf| format!("--remap-path-prefix={}=", folder.display());
    folders.iter().map(flag).collect()
}

/// Generates the JavaScript glue. Without a default module path, the glue contains no `import.meta.url`, which causes
/// problems in bundlers.
fn bind(module: &Module<'_>, compiled: &[u8], folder: &Path) -> Result<()> {
    let mut wasm = walrus::ModuleConfig::new()
        .generate_name_section(false)
        .generate_producers_section(false)
        .parse(compiled)?;
    if module.bare {
        // wasm-bindgen relies on this list. If it is empty, the output has no table of JavaScript objects and no
        // function with two results. Nothing here needs them, and wasm2js does not support them.
        wasm.customs.remove_raw("target_features");
        wasm.customs.add(walrus::RawCustomSection {
            name: "target_features".to_owned(),
            data: vec![0],
        });
    }
    Bindgen::new()
        .input_module(module.name, wasm)
        .out_name(module.name)
        .web(true)?
        .typescript(module.typescript)
        .omit_default_module_path(true)
        .generate(folder)
        .context("wasm-bindgen")?;
    if folder.join("snippets").exists() {
        bail!(
            "{} contains JavaScript snippets, which this build does not publish",
            module.package
        );
    }
    Ok(())
}

/// Compresses as tightly as "deflate" allows: a twentieth smaller than zlib's output, for a second of work.
fn deflate(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut deflated = Vec::new();
    let options = zopfli::Options::default();
    zopfli::compress(options, zopfli::Format::Deflate, bytes, &mut deflated)?;
    Ok(deflated)
}

fn optimize(workspace: &Workspace, wasm: &Path, passes: &[&str]) -> Result<()> {
    node::tool(workspace, "wasm-opt")
        .arg(wasm)
        .args(passes)
        .args(FEATURES)
        .arg("--output")
        .arg(wasm)
        .run_quietly()?;
    Ok(())
}
