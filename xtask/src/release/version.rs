//! Finds and sets the project's version in its files.

use std::path::Path;

use anyhow::{Context as _, Result};
use regex::Regex;

/// Regular expressions for the text before the project's version. [`Places::new`] adds one for the image.
const BEFORE: [&str; 9] = [
    // Cargo.toml and Cargo.lock
    r#"\[workspace\.package\]\nversion = ""#,
    r#"\nname = "(?:pennon-[a-z-]+|xtask)"\nversion = ""#,
    // package.json and package-lock.json: the packages, and the examples and packages that depend on them
    r#""name": "@pennon/[a-z]+",\n *"version": ""#,
    r#""@pennon/[a-z]+": ""#,
    // the documents: npm commands, file names, the image of `cargo xtask image`, and a response of the server
    "@pennon/[a-z]+@",
    "pennon-(?:[a-z]+-)?",
    "pennon:",
    r#""status":"ok","version":""#,
    // deploy/kubernetes/kustomization.yaml
    "newTag: ",
];

/// A version of three numbers.
const VERSION: &str = r"[0-9]+\.[0-9]+\.[0-9]+";

/// The places in a file that contain the project's version.
pub(super) struct Places(Regex);

impl Places {
    /// Returns the places. `image` is the container image without a tag.
    pub(super) fn new(image: &str) -> Result<Self> {
        let image = format!("{}:", regex::escape(image));
        let before = [&BEFORE[..], &[&image]].concat().join("|");
        let regex = Regex::new(&format!("({before}){VERSION}"));
        Ok(Self(regex.context("the image in project.toml")?))
    }

    /// Returns `true` if a release sets the version in this file, provided that the file contains it. Other files name
    /// past versions.
    pub(super) fn are_in(file: &Path) -> bool {
        !["CHANGELOG.md", "tests/fixtures", "xtask/src"]
            .iter()
            .any(|other| file.starts_with(other))
    }

    /// Returns the text of a file with `version` in all places.
    pub(super) fn set(&self, text: &str, version: &str) -> String {
        let replacement = format!("${{1}}{version}");
        self.0.replace_all(text, replacement).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;
    use crate::release::addresses;
    use crate::workspace::Workspace;

    const CURRENT: &str = env!("CARGO_PKG_VERSION");

    /// Returns the files of the repository in which a release sets the version, and the places.
    fn files() -> (Vec<(String, String)>, Places) {
        let workspace = Workspace::find().expect("the workspace is found");
        let addresses = addresses::read(&workspace).expect("the addresses can be read");
        let places = Places::new(&addresses["image"]).expect("the places");
        let texts = workspace.texts().expect("files are listed").into_iter();
        let texts = texts.filter(|(file, _)| Places::are_in(file));
        let named = texts.map(|(file, text)| (file.display().to_string(), text));
        (named.collect(), places)
    }

    #[test]
    fn the_version_is_set_in_every_place_and_nowhere_else() {
        let places = Places::new("ghcr.io/acme/flags").expect("the places");
        for place in [
            "[workspace.package]\nversion = \"@\"\nedition = \"2024\"",
            "[[package]]\nname = \"pennon-core\"\nversion = \"@\"\n",
            "{\n  \"name\": \"@pennon/react\",\n  \"version\": \"@\",\n",
            "\"peerDependencies\": { \"@pennon/core\": \"@\", \"react\": \">=18\" }",
            "npm install --save-exact @pennon/core@@ @pennon/react@@",
            "npm publish pennon-core-@.tgz",
            "tar --extract --file pennon-@-x86_64-unknown-linux-musl.tar.gz",
            "{\"status\":\"ok\",\"version\":\"@\",\"database\":{\"status\":\"up\"}}",
            "docker run pennon:@\n",
            "newTag: @",
            "docker run ghcr.io/acme/flags:@\n",
        ] {
            let (old, new) = (at(place, "0.9.10"), at(place, "1.10.0"));
            assert_eq!(places.set(&old, "1.10.0"), new);
        }
        for other in [
            "[[package]]\nname = \"serde\"\nversion = \"0.9.10\"\n",
            "\"react\": \"0.9.10\"",
            "`@pennon/core/0.9.10`",
            "since `0.9.10`",
            "ghcr.io/acme/postgres:0.9.10",
            "\"@pennon/core\": \"*\"",
        ] {
            assert_eq!(places.set(other, "1.10.0"), other);
        }
    }

    /// Returns the text with a version in place of each `@` that does not begin a package name.
    fn at(text: &str, version: &str) -> String {
        text.replace("@pennon", "#pennon")
            .replace('@', version)
            .replace("#pennon", "@pennon")
            .replace(&format!("{version}{version}"), &format!("@{version}"))
    }

    #[test]
    fn all_files_have_the_same_version() {
        let (files, places) = files();
        let mut found = Vec::new();
        for (file, text) in files {
            let is_current = places.set(&text, CURRENT) == text;
            assert!(is_current, "{file} has another version than {CURRENT}");
            if places.0.is_match(&text) {
                found.push(file);
            }
        }
        for file in [
            "Cargo.lock",
            "Cargo.toml",
            "deploy/compose.yaml",
            "deploy/kubernetes/kustomization.yaml",
            "docs/backup.md",
            "docs/command-line.md",
            "docs/deploying.md",
            "docs/packages.md",
            "examples/next-app/package.json",
            "npm/core/package.json",
            "npm/next/package.json",
            "package-lock.json",
        ] {
            assert!(found.iter().any(|name| name == file), "{file} in {found:?}");
        }
    }

    /// Other versions are in backticks (the version that introduced a feature) or in the name of a client
    /// (`@pennon/core/0.1.0`).
    #[test]
    fn documents_name_the_version_only_where_a_release_sets_it() {
        let (files, places) = files();
        for (file, text) in files {
            let extension = Path::new(&file).extension().and_then(OsStr::to_str);
            if !matches!(extension, Some("md" | "yaml" | "yml")) {
                continue;
            }
            let rest = places.set(&text, "");
            for (index, _) in rest.match_indices(CURRENT) {
                let (before, after) = (&rest[..index], &rest[index + CURRENT.len()..]);
                let is_part = before.ends_with(|c: char| c.is_ascii_digit() || c == '.')
                    || after.starts_with(|c: char| c.is_ascii_digit());
                let line = before.lines().count();
                assert!(
                    is_part || before.ends_with(['/', '`']),
                    "{file}:{line} names {CURRENT} in a new way: add it to `BEFORE`"
                );
            }
        }
    }
}
