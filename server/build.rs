//! Embeds the site, the npm packages and the license notices, so that the binary alone is the product, and names the
//! build.
//!
//! `cargo xtask` leaves in the target folder's `site` the files of the dashboard for browsers, and in its `npm` the
//! tarballs of the npm packages. This writes a table of each for `src/http/assets.rs` and `src/admin/packages.rs` to
//! include. Where there is no such folder yet its table is empty: the server builds, and its pages work without style
//! and scripts.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

const NO_PLAIN_NAME: &str = "a file to embed has a path that is not UTF-8";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let target = target_folder(&out)?;
    fs::write(out.join("site.rs"), site(&watched(target, "site")?)?)?;
    fs::write(out.join("packages.rs"), packages(&watched(target, "npm")?)?)?;
    embed_notices(&out)?;
    name_build();
    // `sqlx::migrate!` makes the compiler watch the files that it found, but not the folders.
    println!("cargo::rerun-if-changed=../migrations");
    Ok(())
}

/// A folder whose changes make this run again.
fn watched(target: &Path, name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = target.join(name);
    // A folder that is missing would make every build run this anew.
    fs::create_dir_all(&folder)?;
    println!("cargo::rerun-if-changed={}", folder.display());
    Ok(folder)
}

/// Compresses the license notices for `src/cli/licenses.rs` to include.
fn embed_notices(out: &Path) -> Result<(), Box<dyn Error>> {
    const NOTICES: &str = "../THIRD-PARTY-NOTICES.txt";
    println!("cargo::rerun-if-changed={NOTICES}");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&fs::read(NOTICES)?)?;
    fs::write(out.join("notices.gz"), encoder.finish()?)?;
    Ok(())
}

/// Passes on the commit and its date that `cargo xtask dist` puts into `PENNON_BUILD`.
fn name_build() {
    const VARIABLE: &str = "PENNON_BUILD";
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let build = env::var(VARIABLE).unwrap_or_else(|_| "development build".to_owned());
    println!("cargo::rustc-env={VARIABLE}={build}");
}

/// The target folder that this build really uses: cargo runs build scripts in
/// `{target}[/{triple}]/{profile}/build/{package}/out`.
fn target_folder(out: &Path) -> Result<&Path, Box<dyn Error>> {
    let above_profile = out.ancestors().nth(4).ok_or("OUT_DIR is too short")?;
    let triple = env::var_os("TARGET").ok_or("TARGET is not set")?;
    match above_profile.parent() {
        Some(above) if above_profile.file_name() == Some(&triple) => Ok(above),
        _ => Ok(above_profile),
    }
}

/// The Rust that `src/http/assets.rs` includes.
fn site(folder: &Path) -> Result<String, Box<dyn Error>> {
    let manifest = fs::read_to_string(folder.join("manifest.txt")).unwrap_or_default();
    let named = |word: &str| {
        let lines = manifest.lines();
        let mut values = lines.filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        values.next()
    };
    let mut code = String::new();
    for (constant, word) in [
        ("OUTPUT_NAME", "output-name"),
        ("STYLE", "style"),
        ("SCRIPT", "script"),
        ("REFERENCE_STYLE", "reference-style"),
        ("REFERENCE_SCRIPT", "reference-script"),
    ] {
        writeln!(code, "const {constant}: Option<&str> = {:?};", named(word))?;
    }
    // Without the manifest the site is not complete.
    let mut files = Vec::new();
    if !manifest.is_empty() {
        files = names(folder)?;
        files.retain(|name| name != "manifest.txt");
    }
    code.push_str(&table(folder, &files)?);
    Ok(code)
}

/// The Rust that `src/admin/packages.rs` includes.
fn packages(folder: &Path) -> Result<String, Box<dyn Error>> {
    let index = folder.join("packages.json");
    let index = if index.exists() {
        format!("include_str!({:?})", index.to_str().ok_or(NO_PLAIN_NAME)?)
    } else {
        "\"[]\"".to_owned()
    };
    let mut code = format!("const INDEX: &str = {index};\n");
    let mut files = names(folder)?;
    files.retain(|name| name != "packages.json");
    code.push_str(&table(folder, &files)?);
    Ok(code)
}

/// A table of files and their contents.
fn table(folder: &Path, names: &[String]) -> Result<String, Box<dyn Error>> {
    let mut table = String::from("const FILES: &[(&str, &[u8])] = &[\n");
    for name in names {
        let path = folder.join(name);
        let path = path.to_str().ok_or(NO_PLAIN_NAME)?;
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),")?;
    }
    table.push_str("];\n");
    Ok(table)
}

/// The names of the files in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().into_string();
        names.push(name.map_err(|_| NO_PLAIN_NAME)?);
    }
    names.sort();
    Ok(names)
}
