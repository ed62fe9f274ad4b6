//! Embeds the site and the license notices, so that the binary alone is the product, and names the build.
//!
//! `cargo xtask site` leaves in the target folder's `site` what browsers load of the dashboard. This writes a table of
//! those files for `src/http/assets.rs` to include. Where there is no site yet the table is empty: the server builds and
//! its pages work, without style and scripts.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let site = target_folder(&out)?.join("site");
    // A folder that is missing would make every build run this anew.
    fs::create_dir_all(&site)?;
    println!("cargo::rerun-if-changed={}", site.display());
    fs::write(out.join("site.rs"), table(&site)?)?;
    embed_notices(&out)?;
    name_build();
    Ok(())
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
fn table(site: &Path) -> Result<String, Box<dyn Error>> {
    let manifest = fs::read_to_string(site.join("manifest.txt")).unwrap_or_default();
    let named = |word: &str| {
        let lines = manifest.lines();
        let mut values = lines.filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        values.next()
    };
    let mut table = String::new();
    writeln!(
        table,
        "const OUTPUT_NAME: Option<&str> = {:?};",
        named("output-name")
    )?;
    writeln!(table, "const STYLE: Option<&str> = {:?};", named("style"))?;
    writeln!(table, "const SCRIPT: Option<&str> = {:?};", named("script"))?;
    writeln!(table, "const FILES: &[(&str, &[u8])] = &[")?;
    for name in files(site, &manifest)? {
        let path = site.join(&name);
        let path = path.to_str().ok_or("the target folder has no plain name")?;
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),")?;
    }
    writeln!(table, "];")?;
    Ok(table)
}

/// What is to be served, in order; nothing while the site is not complete.
fn files(site: &Path, manifest: &str) -> Result<Vec<String>, Box<dyn Error>> {
    if manifest.is_empty() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(site)? {
        let name = entry?.file_name();
        let name = name
            .to_str()
            .ok_or("a file of the site has no plain name")?;
        if name != "manifest.txt" {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
