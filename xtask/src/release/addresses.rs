//! The project's addresses. Many files contain placeholders for them until the real ones are known.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use regex::{Captures, Regex};

use crate::step::Outcome;
use crate::workspace::Workspace;

/// The file that contains the addresses.
const FILE: &str = "project.toml";

/// This file, in which the placeholders are never replaced.
const SELF: &str = "xtask/src/release/addresses.rs";

/// The suffix of every placeholder host. Nobody can register it (RFC 2606).
const HOST: &str = "pennon.example";

/// The names of the addresses in [`FILE`], with their placeholders. No placeholder contains another one.
const PLACEHOLDERS: [(&str, &str); 5] = [
    ("repository", "https://git.pennon.example/pennon/pennon"),
    ("documentation", "https://docs.pennon.example"),
    ("image", "registry.pennon.example/pennon/pennon"),
    ("security", "security@pennon.example"),
    ("conduct", "conduct@pennon.example"),
];

/// The addresses, by name.
pub(crate) type Addresses = BTreeMap<String, String>;

/// Reads the addresses. Fails if one is missing.
pub(crate) fn read(workspace: &Workspace) -> Result<Addresses> {
    let text = fs::read_to_string(workspace.root.join(FILE)).context(FILE)?;
    let addresses: Addresses = toml::from_str(&text).context(FILE)?;
    for (name, _) in PLACEHOLDERS {
        ensure!(addresses.contains_key(name), "{FILE} has no `{name}`");
    }
    Ok(addresses)
}

/// Writes the addresses into all files that contain their placeholders or the addresses of the last commit. Prints the
/// names of these files. A second run changes nothing.
pub(crate) fn write(workspace: &Workspace) -> Result<Outcome> {
    let addresses = read(workspace)?;
    let replacements = Replacements::new(&addresses, &committed(workspace))?;
    let mut outcome = Outcome::UpToDate;
    for (file, old) in texts(workspace)? {
        let new = replacements.replace(&old);
        if new != old {
            fs::write(workspace.root.join(&file), new)?;
            eprintln!("    {}", file.display());
            outcome = Outcome::Done;
        }
    }
    for problem in problems(workspace)? {
        eprintln!("    {problem}");
    }
    Ok(outcome)
}

/// Returns the reasons why nothing can be released under these addresses, each with its remedy. The list must be empty
/// for a release.
pub(crate) fn problems(workspace: &Workspace) -> Result<Vec<String>> {
    let addresses = read(workspace)?;
    let reserved = addresses.iter().filter(|(_, address)| is_reserved(address));
    let mut problems: Vec<String> = reserved
        .map(|(name, address)| {
            format!("{FILE}: replace `{name}`, {address}, by an address that exists")
        })
        .collect();
    if !problems.is_empty() {
        return Ok(problems);
    }
    let left: Vec<String> = texts(workspace)?
        .into_iter()
        .filter(|(_, text)| text.contains(HOST))
        .map(|(file, _)| file.display().to_string())
        .collect();
    if !left.is_empty() {
        let files = left.join(", ");
        problems.push(format!(
            "placeholders are left in {files}: run `cargo xtask addresses`"
        ));
    }
    Ok(problems)
}

/// Returns `true` if the host of an address is reserved for examples and tests (RFC 2606), which means that nobody can
/// own it.
fn is_reserved(address: &str) -> bool {
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let address = address.split_once('@').map_or(address, |(_, rest)| rest);
    let host = address.split(['/', ':']).next().unwrap_or_default();
    let host = host.to_ascii_lowercase();
    let mut labels = host.rsplit('.');
    match labels.next() {
        Some("com" | "net" | "org") => labels.next() == Some("example"),
        top => matches!(top, Some("example" | "invalid" | "localhost" | "test")),
    }
}

/// Returns the text files of the repository, except this one and [`FILE`].
fn texts(workspace: &Workspace) -> Result<Vec<(PathBuf, String)>> {
    let mut texts = workspace.texts()?;
    texts.retain(|(file, _)| ![SELF, FILE].map(Path::new).contains(&file.as_path()));
    Ok(texts)
}

/// Returns the addresses of the last commit, or none before the first one.
fn committed(workspace: &Workspace) -> Addresses {
    let committed = workspace.git(&["show", &format!("HEAD:./{FILE}")]);
    let addresses = committed.ok().and_then(|text| toml::from_str(&text).ok());
    addresses.unwrap_or_default()
}

/// The texts to replace, each with the address that replaces it.
struct Replacements {
    by_text: BTreeMap<String, String>,
    /// Matches all texts.
    texts: Regex,
}

impl Replacements {
    /// Collects the placeholders and the former addresses. A text that already is an address of the project stays,
    /// even if it contains a former address. Fails if one text would become two different addresses.
    fn new(addresses: &Addresses, former: &Addresses) -> Result<Self> {
        let mut by_text = BTreeMap::new();
        for (name, address) in addresses {
            let placeholder = PLACEHOLDERS.iter().find(|(known, _)| known == name);
            let texts = [
                Some(address.as_str()),
                former.get(name).map(String::as_str),
                placeholder.map(|(_, placeholder)| *placeholder),
            ];
            for text in texts.into_iter().flatten() {
                let other = by_text.insert(text.to_owned(), address.clone());
                if let Some(other) = other.filter(|other| other != address) {
                    bail!(
                        "{FILE}: the files do not show which {text} to replace by {address}, and which by {other}; \
                         write these two addresses in separate commits, or by hand"
                    );
                }
            }
        }
        let mut texts: Vec<String> = by_text.keys().map(|text| regex::escape(text)).collect();
        // The first alternative that matches wins.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let texts = Regex::new(&texts.join("|"))?;
        Ok(Self { by_text, texts })
    }

    fn replace(&self, text: &str) -> String {
        let address = |found: &Captures<'_>| {
            let text = found.get_match().as_str();
            self.by_text.get(text).cloned().unwrap_or_default()
        };
        self.texts.replace_all(text, address).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files that contain addresses of the project, with the names of those addresses.
    const USES: &[(&str, &[&str])] = &[
        (
            ".github/ISSUE_TEMPLATE/config.yml",
            &["documentation", "repository"],
        ),
        (".github/workflows/release.yml", &["image"]),
        ("CODE_OF_CONDUCT.md", &["conduct"]),
        ("Cargo.toml", &["documentation", "repository"]),
        ("SECURITY.md", &["repository", "security"]),
        ("deploy/compose.yaml", &["image"]),
        ("deploy/kubernetes/kustomization.yaml", &["image"]),
        ("docs/backup.md", &["image"]),
        ("docs/deploying.md", &["image"]),
        ("mkdocs.yml", &["documentation", "repository"]),
        ("npm/core/package.json", &["documentation", "repository"]),
    ];

    /// Real addresses for all placeholders.
    fn real() -> Addresses {
        let named = PLACEHOLDERS
            .map(|(name, placeholder)| (name.to_owned(), placeholder.replace(HOST, "flags.io")));
        Addresses::from(named)
    }

    /// Returns the replacements after these addresses changed.
    fn after(former: &Addresses, changes: &[(&str, &str)]) -> Result<Replacements> {
        let mut addresses = former.clone();
        for (name, address) in changes {
            addresses.insert((*name).to_owned(), (*address).to_owned());
        }
        Replacements::new(&addresses, former)
    }

    #[test]
    fn an_address_replaces_its_placeholder_wherever_that_is() {
        let text =
            "docker run registry.pennon.example/pennon/pennon:1.0.0 <security@pennon.example>";
        let replacements = Replacements::new(&real(), &Addresses::new()).expect("replacements");
        assert_eq!(
            replacements.replace(text),
            "docker run registry.flags.io/pennon/pennon:1.0.0 <security@flags.io>"
        );
    }

    #[test]
    fn an_address_that_contains_another_one_is_replaced_once() {
        let mut former = real();
        former.insert("repository".into(), "https://flags.io".into());
        former.insert("documentation".into(), "https://flags.io/docs".into());
        let replacements = after(
            &former,
            &[
                ("repository", "https://flags.io/code"),
                ("documentation", "https://help.flags.io"),
            ],
        )
        .expect("replacements");
        let replaced = replacements.replace("https://flags.io/docs/a https://flags.io/issues");
        assert_eq!(
            replaced,
            "https://help.flags.io/a https://flags.io/code/issues"
        );
        assert_eq!(replacements.replace(&replaced), replaced);
    }

    #[test]
    fn addresses_that_the_files_do_not_tell_apart_are_refused() {
        let mut same = real();
        same.insert("conduct".into(), "me@flags.io".into());
        same.insert("security".into(), "me@flags.io".into());
        assert!(after(&same, &[]).is_ok());
        assert!(after(&same, &[("conduct", "you@flags.io")]).is_err());
        let [conduct, security] = ["conduct", "security"].map(|name| real()[name].clone());
        let exchanged = [("conduct", &*security), ("security", &*conduct)];
        assert!(after(&real(), &exchanged).is_err());
    }

    #[test]
    fn reserved_host_names_are_placeholders() {
        for (_, placeholder) in PLACEHOLDERS {
            assert!(is_reserved(placeholder), "{placeholder}");
        }
        assert!(is_reserved("https://example.org/pennon"));
        assert!(is_reserved("me@mail.Example.com"));
        assert!(is_reserved("localhost:5000/pennon"));
        for (_, address) in real() {
            assert!(!is_reserved(&address), "{address}");
        }
        assert!(!is_reserved("https://myexample.com/example.com"));
    }

    #[test]
    fn every_file_has_the_addresses_of_the_project() {
        let workspace = Workspace::find().expect("the workspace is found");
        let addresses = read(&workspace).expect("the addresses can be read");
        let none = Addresses::new();
        let written = Replacements::new(&addresses, &none).expect("replacements");
        let real = Replacements::new(&real(), &none).expect("replacements");
        for (file, text) in texts(&workspace).expect("files are listed") {
            let file = file.display();
            assert!(
                written.replace(&text) == text,
                "{file} has a placeholder: run `cargo xtask addresses`"
            );
            let rest = real.replace(&text);
            let unknown: Vec<&str> = rest.lines().filter(|line| line.contains(HOST)).collect();
            assert!(
                unknown.is_empty(),
                "{file} names addresses that are not in {FILE}: {unknown:?}"
            );
        }
        for (file, names) in USES {
            let text = fs::read_to_string(workspace.root.join(file)).expect(file);
            for name in *names {
                let address = addresses.get(*name).expect(name);
                assert!(text.contains(address), "{file} does not name {address}");
            }
        }
    }

    #[test]
    fn an_address_can_be_replaced_a_second_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace {
            root: folder.path().to_owned(),
            target: folder.path().join("target"),
        };
        let save = |addresses: &Addresses| {
            let lines = addresses
                .iter()
                .map(|(name, address)| format!("{name} = \"{address}\"\n"));
            fs::write(folder.path().join(FILE), lines.collect::<String>()).expect("a file");
        };
        save(&real());
        let document = folder.path().join("README.md");
        fs::write(&document, "docker run registry.flags.io/pennon/pennon").expect("a file");
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b.io",
                "commit",
                "-qm",
                "x",
            ],
        ] {
            workspace.git(arguments).expect("git");
        }
        let mut moved = real();
        moved.insert("image".to_owned(), "registry.moved.io/pennon".to_owned());
        save(&moved);
        write(&workspace).expect("addresses are written");
        let text = fs::read_to_string(document).expect("the document");
        assert_eq!(text, "docker run registry.moved.io/pennon");
        assert_eq!(read(&workspace).expect("the addresses"), moved);
        let again = write(&workspace).expect("addresses are written");
        assert_eq!(again, Outcome::UpToDate);
        assert_eq!(problems(&workspace).expect("files are read"), [""; 0]);
    }
}
