//! Compares the map of the server's modules in ARCHITECTURE.md with the modules' imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::step::Outcome;
use crate::workspace::Workspace;

/// The document with the map, and the heading above it.
const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "### Modules of the server";

/// The folder of the modules.
const FOLDER: &str = "server/src";

/// The files of the folder that are not modules.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

/// The modules that each module imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Fails if a module imports one that the map does not allow, if the map lists an import that is not in the code, or if
/// a module imports one that is not above it in the map.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    let document = fs::read_to_string(workspace.root.join(DOCUMENT))?;
    let map = map(&document)?;
    let imports = imports(&workspace.root.join(FOLDER))?;
    let faults = faults(&map, &imports);
    if faults.is_empty() {
        return Ok(Outcome::Done);
    }
    bail!(
        "{DOCUMENT} and {FOLDER} do not agree:\n  {}",
        faults.join("\n  ")
    )
}

/// Returns the modules in the order of the map, each with the modules that it may import.
fn map(document: &str) -> Result<Vec<(String, BTreeSet<String>)>> {
    let section = document.split_once(HEADING);
    let block = section.and_then(|(_, section)| section.split("```").nth(1));
    let block = block.with_context(|| format!("{DOCUMENT} has no map below `{HEADING}`"))?;
    let line = |line: &str| {
        let (module, imports) = line.split_once(' ').unwrap_or((line, ""));
        let imports = imports.split(',').map(str::trim);
        let imports = imports.filter(|name| !name.is_empty()).map(str::to_owned);
        (module.to_owned(), imports.collect())
    };
    // The first line names the language of the block.
    Ok(block.lines().skip(1).map(line).collect())
}

/// Reads the imports of all modules in a folder.
fn imports(folder: &Path) -> Result<Imports> {
    let mut imports = Imports::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if ROOTS.contains(&&*name) {
            continue;
        }
        let module = name.trim_end_matches(".rs").to_owned();
        let mut found = BTreeSet::new();
        read(&path, &mut found)?;
        found.remove(&module);
        imports.insert(module, found);
    }
    Ok(imports)
}

/// Adds the imports of a file, or of all files in a folder.
fn read(path: &Path, found: &mut BTreeSet<String>) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            read(&entry?.path(), found)?;
        }
        return Ok(());
    }
    let text = fs::read_to_string(path)?;
    found.extend(imported(&text));
    Ok(())
}

/// Returns the modules of the crate that a source text names, in imports and elsewhere. The tests at its end may use
/// any module. Each import names one module: a grouped import counts as a module called `{`, which no map contains.
fn imported(text: &str) -> impl Iterator<Item = String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let names = code.split("crate::").skip(1).map(|after| {
        if after.starts_with('{') {
            return "{";
        }
        let end = after.find(|next: char| !next.is_ascii_lowercase() && next != '_');
        after.get(..end.unwrap_or(after.len())).unwrap_or_default()
    });
    names.filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns a message for each disagreement.
fn faults(map: &[(String, BTreeSet<String>)], imports: &Imports) -> Vec<String> {
    let mut faults = Vec::new();
    let mut above = BTreeSet::new();
    for (module, allowed) in map {
        let Some(found) = imports.get(module) else {
            faults.push(format!("`{module}` is in the map only"));
            continue;
        };
        for name in found.difference(allowed) {
            faults.push(format!(
                "`{module}` imports `{name}`, which the map does not allow"
            ));
        }
        for name in allowed.difference(found) {
            faults.push(format!(
                "`{module}` does not import `{name}`, as the map says"
            ));
        }
        for name in allowed.difference(&above) {
            faults.push(format!("`{name}` is not above `{module}` in the map"));
        }
        above.insert(module.clone());
    }
    let missing = imports.keys().filter(|module| !above.contains(*module));
    faults.extend(missing.map(|module| format!("`{module}` is not in the map")));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "### Modules of the server\n\ntext\n\n```text\nerror\nstore    error\nhttp     error, store\n```\n";

    fn of(texts: [(&str, &str); 3]) -> Vec<String> {
        let imports = texts.map(|(module, text)| (module.to_owned(), imported(text).collect()));
        faults(&map(MAP).unwrap(), &Imports::from(imports))
    }

    #[test]
    fn the_code_and_the_map_have_the_same_dependencies() {
        let store = "use crate::error::Error;\n#[cfg(test)]\nuse crate::http;";
        let http = "use crate::error::Error;\nfn f() -> crate::store::Db {}";
        assert!(of([("error", ""), ("store", store), ("http", http)]).is_empty());
        assert_eq!(
            of([
                ("error", "use crate::http::Code;"),
                ("store", store),
                ("http", store)
            ]),
            [
                "`error` imports `http`, which the map does not allow",
                "`http` does not import `store`, as the map says",
            ]
        );
        assert_eq!(
            of([
                ("error", "use crate::{http, store};"),
                ("store", store),
                ("http", http)
            ]),
            ["`error` imports `{`, which the map does not allow"]
        );
        assert_eq!(
            of([("error", ""), ("store", store), ("feed", http)]),
            ["`http` is in the map only", "`feed` is not in the map"]
        );
    }

    #[test]
    fn a_module_imports_only_those_above_it() {
        let upside_down =
            map("### Modules of the server\n```text\nstore error\nerror\n```").unwrap();
        let imports = [("store", "use crate::error;"), ("error", "")];
        let imports = imports.map(|(module, text)| (module.to_owned(), imported(text).collect()));
        assert_eq!(
            faults(&upside_down, &Imports::from(imports)),
            ["`error` is not above `store` in the map"]
        );
    }
}
