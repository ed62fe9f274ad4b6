//! The project's addresses. Many files contain placeholders for them until the real ones are known.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::step::Outcome;
use crate::workspace::Workspace;

/// The file that contains the addresses.
const FILE: &str = "project.toml";

/// This file, in which the placeholders are never replaced.
const SELF: &str = "xtask/src/addresses.rs";

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
/// names of these files.
pub(crate) fn write(workspace: &Workspace) -> Result<Outcome> {
    let addresses = read(workspace)?;
    let mut replacements = placeholders(&addresses);
    replacements.extend(former(workspace, &addresses));
    let mut outcome = Outcome::UpToDate;
    for (file, old) in texts(workspace)? {
        let new = replaced(&old, &replacements);
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
        .filter(|(file, text)| file != Path::new(FILE) && text.contains(HOST))
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

/// Returns the text files of the repository, except this one.
fn texts(workspace: &Workspace) -> Result<Vec<(PathBuf, String)>> {
    let mut texts = workspace.texts()?;
    texts.retain(|(file, _)| file != Path::new(SELF));
    Ok(texts)
}

/// Returns the placeholders, each with the address that replaces it.
fn placeholders(addresses: &Addresses) -> Vec<(String, String)> {
    let address = |(name, placeholder): &(&str, &str)| {
        let address = addresses.get(*name)?;
        Some(((*placeholder).to_owned(), address.clone()))
    };
    PLACEHOLDERS.iter().filter_map(address).collect()
}

/// Returns the addresses of the last commit, each with the current address that replaces it.
fn former(workspace: &Workspace, addresses: &Addresses) -> Vec<(String, String)> {
    let committed = workspace.git(&["show", &format!("HEAD:./{FILE}")]);
    let committed = committed
        .ok()
        .and_then(|text| toml::from_str::<Addresses>(&text).ok());
    let replacement = |(name, former): (String, String)| {
        let address = addresses.get(&name)?;
        Some((former, address.clone()))
    };
    let committed = committed.unwrap_or_default();
    committed.into_iter().filter_map(replacement).collect()
}

fn replaced(text: &str, replacements: &[(String, String)]) -> String {
    let replace = |text: String, (old, new): &(String, String)| text.replace(old, new);
    replacements.iter().fold(text.to_owned(), replace)
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

    #[test]
    fn an_address_replaces_its_placeholder_wherever_that_is() {
        let text =
            "docker run registry.pennon.example/pennon/pennon:1.0.0 <security@pennon.example>";
        assert_eq!(
            replaced(text, &placeholders(&real())),
            "docker run registry.flags.io/pennon/pennon:1.0.0 <security@flags.io>"
        );
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
        for (file, text) in texts(&workspace).expect("files are listed") {
            let file = file.display();
            let written = replaced(&text, &placeholders(&addresses));
            assert!(
                written == text,
                "{file} has a placeholder: run `cargo xtask addresses`"
            );
            let rest = replaced(&text, &placeholders(&real()));
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
        assert_eq!(problems(&workspace).expect("files are read"), [""; 0]);
    }
}
