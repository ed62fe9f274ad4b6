//! Reports words and phrases that documents and sources avoid, as listed in `xtask/words.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use regex::RegexBuilder;
use serde::Deserialize;

use crate::step::Outcome;
use crate::workspace::Workspace;

/// The list of words.
const LIST: &str = "xtask/words.toml";

/// The files that are searched. Test data is left out, and so are migrations, which are never edited.
const FILES: [&str; 9] = [
    "*.md",
    "*.rs",
    "*.ts",
    "*.tsx",
    "*.js",
    "*.css",
    "*.yml",
    ":!tests/fixtures",
    ":!tests/vectors/*.json",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    word: Vec<Word>,
}

/// A word or phrase to avoid.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    /// A regular expression, which is applied to each line.
    avoid: String,
    /// The remedy.
    write: String,
    /// The only kind of file to search.
    #[serde(rename = "in")]
    kind: Option<Kind>,
    /// Lines that are right as they are.
    #[serde(default)]
    except: Vec<Exception>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Markdown files.
    Documents,
    /// All other files.
    Sources,
}

/// A line that may contain the word.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(deny_unknown_fields)]
struct Exception {
    file: String,
    /// A part of the line.
    line: String,
    /// The reason, for readers of the list.
    reason: String,
}

/// Fails if a file contains a word of the list, or if the list has an exception that no line needs.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    let list = fs::read_to_string(workspace.root.join(LIST)).context(LIST)?;
    let list: List = toml::from_str(&list).context(LIST)?;
    let listed = workspace.git(&[&["ls-files"], FILES.as_slice()].concat())?;
    let mut texts = Vec::new();
    for file in listed.lines() {
        // Git still lists files whose deletion is not committed yet.
        if let Ok(text) = fs::read_to_string(workspace.root.join(file)) {
            texts.push((file, text));
        }
    }
    let mut faults = Vec::new();
    for word in &list.word {
        faults.extend(word.faults(&texts)?);
    }
    if faults.is_empty() {
        return Ok(Outcome::Done);
    }
    bail!(
        "{} lines to rewrite:\n  {}",
        faults.len(),
        faults.join("\n  ")
    )
}

impl Word {
    /// Returns a message for each line that contains the word, and for each exception without such a line.
    fn faults(&self, texts: &[(&str, String)]) -> Result<Vec<String>> {
        let avoid = RegexBuilder::new(&self.avoid).unicode(false).build()?;
        let mut faults = Vec::new();
        let mut needed = BTreeSet::new();
        for (file, text) in texts {
            if self.kind.is_some_and(|kind| kind != Kind::of(file)) {
                continue;
            }
            for (number, line) in (1..).zip(text.lines()) {
                if !avoid.is_match(line) {
                    continue;
                }
                match self.except.iter().find(|except| except.covers(file, line)) {
                    Some(except) => drop(needed.insert(except)),
                    None => faults.push(self.fault(file, number, line)),
                }
            }
        }
        let unneeded = self.except.iter().filter(|except| !needed.contains(except));
        faults.extend(unneeded.map(|except| {
            format!(
                "{LIST}: no line of {} needs the exception `{}`",
                except.file, except.line
            )
        }));
        Ok(faults)
    }

    fn fault(&self, file: &str, number: usize, line: &str) -> String {
        format!("{file}:{number}: {}\n    write {}", line.trim(), self.write)
    }
}

impl Kind {
    fn of(file: &str) -> Self {
        match Path::new(file).extension() {
            Some(extension) if extension == "md" => Self::Documents,
            _ => Self::Sources,
        }
    }
}

impl Exception {
    fn covers(&self, file: &str, line: &str) -> bool {
        self.file == file && line.contains(&self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: &str = r#"
        avoid = '\d %'
        write = "25%"
        in = "documents"
        except = [{ file = "README.md", line = "7 % 3", reason = "arithmetic" }]
    "#;

    fn faults(texts: [(&str, &str); 2]) -> Vec<String> {
        let word: Word = toml::from_str(WORD).unwrap();
        word.faults(&texts.map(|(file, text)| (file, text.to_owned())))
            .unwrap()
    }

    #[test]
    fn each_line_with_a_word_is_reported_with_the_remedy() {
        let faults = faults([
            ("README.md", "7 % 3\non\n for 25 % of users"),
            ("a.rs", "25 %"),
        ]);
        assert_eq!(faults, ["README.md:3: for 25 % of users\n    write 25%"]);
    }

    #[test]
    fn an_exception_that_no_line_needs_is_reported() {
        let faults = faults([("README.md", "on"), ("docs/api.md", "25%")]);
        let message = "xtask/words.toml: no line of README.md needs the exception `7 % 3`";
        assert_eq!(faults, [message]);
    }
}
