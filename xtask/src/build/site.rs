//! Builds the site: the files of the dashboard that browsers load, ready to be embedded in the server.
//!
//! `cargo xtask site` fills `{target folder}/site`:
//!
//! - `pennon.{hash}.js` and `pennon.{hash}_bg.wasm`, with one hash over both, because Leptos requests
//!   `{output name}.js` and `{output name}_bg.wasm`, and the output name is `pennon.{hash}`;
//! - `pennon.{hash}.css`, with its own hash;
//! - `live.{hash}.js`, the script that keeps pages up to date, likewise;
//! - `reference.{hash}.js` and `reference.{hash}.css`, which show the API reference, likewise;
//! - all of these only in compressed form, with `.gz` and with `.br` appended to the name: the server decompresses them
//!   for the few clients that accept neither;
//! - `manifest.txt`, which lists the current names. Each line is a word, a space, and a value:
//!
//! ```text
//! output-name pennon.0123456789abcdef
//! style pennon.fedcba9876543210.css
//! script live.0f1e2d3c4b5a6978.js
//! reference-style reference.8796a5b4c3d2e1f0.css
//! reference-script reference.0011223344556677.js
//! ```
//!
//! Every file in the folder except the manifest is to be served. A name changes if and only if the content changes, so
//! clients may cache files forever. Finished files are renamed into the folder, the manifest last. Files of earlier
//! builds are removed. Without a manifest, there is no site yet, and the server builds without one.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::wasm;
use crate::digest;
use crate::process::Run as _;
use crate::programs::node;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Compiles the dashboard's islands.
pub(crate) fn islands(workspace: &Workspace) -> Result<Outcome> {
    wasm::build(workspace, &wasm::DASHBOARD, &bound(workspace))
}

/// Puts all files into the site's folder.
pub(crate) fn assemble(workspace: &Workspace) -> Result<Outcome> {
    let bound = bound(workspace);
    let js = esbuild(workspace, &bound.join("pennon.js"), &["--format=esm"])?;
    let wasm = fs::read(bound.join("pennon_bg.wasm"))?;
    let output_name = format!("pennon.{}", hash([&js, &wasm]));
    let mut site = Site::open(workspace.site())?;
    site.publish(&format!("{output_name}.js"), &js)?;
    site.publish(&format!("{output_name}_bg.wasm"), &wasm)?;
    let style = site.publish_hashed("pennon", "css", &bundle_style(workspace, "main.css")?)?;
    let script = site.publish_hashed("live", "js", &bundle_script(workspace, "main.ts")?)?;
    let reference_style = bundle_style(workspace, "reference.css")?;
    let reference_style = site.publish_hashed("reference", "css", &reference_style)?;
    let reference_script = bundle_script(workspace, "reference.ts")?;
    let reference_script = site.publish_hashed("reference", "js", &reference_script)?;
    site.close(&format!(
        "output-name {output_name}\nstyle {style}\nscript {script}\n\
         reference-style {reference_style}\nreference-script {reference_script}\n"
    ))
}

/// Bundles a style sheet of the dashboard.
fn bundle_style(workspace: &Workspace, name: &str) -> Result<Vec<u8>> {
    let path = workspace.root.join("dashboard/style").join(name);
    esbuild(workspace, &path, &["--bundle"])
}

/// Bundles a script of the dashboard.
fn bundle_script(workspace: &Workspace, name: &str) -> Result<Vec<u8>> {
    let path = workspace.root.join("dashboard/script/src").join(name);
    let options = ["--bundle", "--format=esm", "--target=es2022"];
    esbuild(workspace, &path, &options)
}

/// Returns the names of the site's files, without the suffixes of the compressed forms.
pub(crate) fn assets(workspace: &Workspace) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(workspace.site())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".gz").map(str::to_owned));
    }
    Ok(names)
}

/// Returns the folder of the dashboard's wasm and glue code before they get their final names.
fn bound(workspace: &Workspace) -> PathBuf {
    workspace.wasm_target().join("dashboard")
}

fn esbuild(workspace: &Workspace, input: &Path, options: &[&str]) -> Result<Vec<u8>> {
    let output = node::tool(workspace, "esbuild")
        .arg(input)
        .arg("--minify")
        .args(options)
        .run_quietly()?;
    Ok(output.into_bytes())
}

/// Returns the first 16 hexadecimal digits of a SHA-256, which are enough for a name.
fn hash<const N: usize>(parts: [&Vec<u8>; N]) -> String {
    digest::of(parts.map(Vec::as_slice))
        .chars()
        .take(16)
        .collect()
}

/// The site's folder while it is being filled.
struct Site {
    folder: PathBuf,
    current: BTreeSet<String>,
    outcome: Outcome,
}

impl Site {
    const MANIFEST: &str = "manifest.txt";

    fn open(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self {
            folder,
            current: BTreeSet::new(),
            outcome: Outcome::UpToDate,
        })
    }

    /// Writes the compressed forms of a file. An existing file has the same content, because its name contains a hash.
    fn publish(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.write(format!("{name}.gz"), || gzip(content))?;
        self.write(format!("{name}.br"), || brotli(content))
    }

    /// Publishes a file under a name that contains a hash of its content, and returns that name.
    fn publish_hashed(&mut self, stem: &str, ending: &str, content: &Vec<u8>) -> Result<String> {
        let name = format!("{stem}.{}.{ending}", hash([content]));
        self.publish(&name, content)?;
        Ok(name)
    }

    /// Writes the manifest, and removes files that are no longer current.
    fn close(mut self, manifest: &str) -> Result<Outcome> {
        let file = self.folder.join(Self::MANIFEST);
        if fs::read_to_string(&file).is_ok_and(|last| last != manifest) {
            fs::remove_file(file)?;
        }
        self.write(Self::MANIFEST.to_owned(), || {
            Ok(manifest.as_bytes().to_vec())
        })?;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !self
                .current
                .contains(entry.file_name().to_string_lossy().as_ref())
            {
                fs::remove_file(entry.path())?;
                self.outcome = Outcome::Done;
            }
        }
        Ok(self.outcome)
    }

    fn write(&mut self, name: String, content: impl FnOnce() -> Result<Vec<u8>>) -> Result<()> {
        let file = self.folder.join(&name);
        if !file.exists() {
            let unfinished = self.folder.join("unfinished");
            fs::write(&unfinished, content()?)?;
            fs::rename(unfinished, &file).with_context(|| file.display().to_string())?;
            self.outcome = Outcome::Done;
        }
        self.current.insert(name);
        Ok(())
    }
}

fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}

fn brotli(mut content: &[u8]) -> Result<Vec<u8>> {
    let best = brotli::enc::BrotliEncoderParams::default();
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut content, &mut compressed, &best)?;
    Ok(compressed)
}
