//! The addresses of the project, which stand as placeholders in many files until they are known.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

use crate::process::Run as _;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The file with the addresses.
const FILE: &str = "project.toml";

/// This file, which names the placeholders for good.
const SELF: &str = "xtask/src/addresses.rs";

/// The end of every host in a placeholder. Nobody can register it (RFC 2606).
const HOST: &str = "pennon.example";

/// The names of the addresses in [`FILE`], and their placeholders. None contains another one.
const PLACEHOLDERS: [(&str, &str); 5] = [
    ("repository", "https://git.pennon.example/pennon/pennon"),
    ("documentation", "https://docs.pennon.example"),
    ("image", "registry.pennon.example/pennon/pennon"),
    ("security", "security@pennon.example"),
    ("conduct", "conduct@pennon.example"),
];

/// The addresses, by name.
pub(crate) type Addresses = BTreeMap<String, String>;

/// Reads the addresses, all of which must be there.
pub(crate) fn read(workspace: &Workspace) -> Result<Addresses> {
    let text = fs::read_to_string(workspace.root.join(FILE)).context(FILE)?;
    let addresses: Addresses = toml::from_str(&text).context(FILE)?;
    for (name, _) in PLACEHOLDERS {
        ensure!(addresses.contains_key(name), "{FILE} has no `{name}`");
    }
    Ok(addresses)
}

/// Writes the addresses into all files that have their placeholders, and lists those files.
pub(crate) fn write(workspace: &Workspace) -> Result<Outcome> {
    let addresses = read(workspace)?;
    let mut outcome = Outcome::UpToDate;
    for file in files(workspace)? {
        let path = workspace.root.join(&file);
        let old = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let new = replaced(&old, &addresses);
        if new != old {
            fs::write(&path, new)?;
            eprintln!("    {}", file.display());
            outcome = Outcome::Done;
        }
    }
    let left = left(workspace)?.len();
    if left > 0 {
        eprintln!("    {left} lines still have a placeholder: replace it in {FILE}");
    }
    Ok(outcome)
}

/// The lines of all files that still have a placeholder, as `file:line:text`. A release has none.
pub(crate) fn left(workspace: &Workspace) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for file in files(workspace)? {
        let text = fs::read_to_string(workspace.root.join(&file))?;
        let named = text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains(HOST));
        lines.extend(
            named.map(|(index, line)| format!("{}:{}:{}", file.display(), index + 1, line.trim())),
        );
    }
    Ok(lines)
}

/// The files of the repository in which there is a placeholder, new ones included.
fn files(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut git = workspace.command("git");
    let listed = git
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .run_quietly()?;
    let files = listed.lines().filter(|file| *file != SELF);
    let has_placeholder = |file: &&str| {
        let text = fs::read(workspace.root.join(file)).unwrap_or_default();
        text.windows(HOST.len()).any(|part| part == HOST.as_bytes())
    };
    Ok(files.filter(has_placeholder).map(PathBuf::from).collect())
}

fn replaced(text: &str, addresses: &Addresses) -> String {
    PLACEHOLDERS.iter().fold(
        text.to_owned(),
        |text, (name, placeholder)| match addresses.get(*name) {
            Some(address) => text.replace(placeholder, address),
            None => text,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Real addresses for all placeholders.
    fn real() -> Addresses {
        let named = PLACEHOLDERS
            .map(|(name, placeholder)| (name.to_owned(), placeholder.replace(HOST, "example.org")));
        Addresses::from(named)
    }

    #[test]
    fn an_address_replaces_its_placeholder_wherever_that_is() {
        let text =
            "docker run registry.pennon.example/pennon/pennon:1.0.0 <security@pennon.example>";
        assert_eq!(
            replaced(text, &real()),
            "docker run registry.example.org/pennon/pennon:1.0.0 <security@example.org>"
        );
    }

    #[test]
    fn every_placeholder_in_a_file_is_known() {
        let workspace = Workspace::find().expect("the workspace is found");
        read(&workspace).expect("the addresses can be read");
        for file in files(&workspace).expect("files are listed") {
            let text = fs::read_to_string(workspace.root.join(&file)).expect("a file is text");
            let left = replaced(&text, &real());
            let unknown: Vec<&str> = left.lines().filter(|line| line.contains(HOST)).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", file.display());
        }
    }

    #[test]
    fn files_name_the_image_of_this_version() {
        let workspace = Workspace::find().expect("the workspace is found");
        let addresses = read(&workspace).expect("the addresses can be read");
        let image = format!("{}:", addresses["image"]);
        let mut found = 0;
        for file in [
            "deploy/compose.yaml",
            "deploy/kubernetes/kustomization.yaml",
            "docs/backup.md",
            "docs/deploying.md",
        ] {
            let text = fs::read_to_string(workspace.root.join(file)).expect("a file is text");
            let tags = text
                .split(&image)
                .skip(1)
                .chain(text.split("newTag: ").skip(1));
            for tag in tags {
                let is_tag = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
                let tag: String = tag.chars().take_while(|c| is_tag(*c)).collect();
                assert_eq!(tag, env!("CARGO_PKG_VERSION"), "{file}");
                found += 1;
            }
        }
        assert!(found >= 4, "{found}");
    }
}
