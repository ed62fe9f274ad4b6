//! The changelog: one section per version, the newest first, below a section of unreleased changes.

use std::fs;

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace::Workspace;

/// The file that contains the changelog.
pub(super) const FILE: &str = "CHANGELOG.md";

/// The heading of the unreleased changes.
const UNRELEASED: &str = "Unreleased";

/// The prefix of a section's heading.
const HEADING: &str = "## ";

/// Reads the changelog of the workspace.
pub(super) fn read(workspace: &Workspace) -> Result<String> {
    fs::read_to_string(workspace.root.join(FILE)).context(FILE)
}

/// Turns the unreleased changes into those of a version, and begins a new section of unreleased changes.
pub(super) fn release(text: &str, version: &str, date: &str) -> Result<String> {
    ensure!(
        section(text, version).is_none(),
        "{FILE} has a section for {version} already"
    );
    let changes = section(text, UNRELEASED);
    let changes = changes.with_context(|| format!("{FILE} has no section `{UNRELEASED}`"))?;
    if changes
        .lines()
        .all(|line| line.is_empty() || line.starts_with('#'))
    {
        bail!("{FILE} has no changes in the section `{UNRELEASED}`: write what is new for users");
    }
    let heading = format!("{HEADING}{UNRELEASED}\n");
    let dated = format!("{heading}\n{HEADING}{version} ({date})\n");
    Ok(text.replacen(&heading, &dated, 1))
}

/// Returns the changes of a version, or the unreleased ones, as Markdown in which each paragraph is one line. Release
/// pages keep line breaks within paragraphs.
pub(crate) fn notes(workspace: &Workspace, version: &str) -> Result<String> {
    let text = read(workspace)?;
    let changes = section(&text, version);
    let changes = changes.with_context(|| format!("{FILE} has no section `{version}`"))?;
    Ok(unwrapped(&changes))
}

/// Returns the text between the heading of a version and the next heading.
fn section(text: &str, version: &str) -> Option<String> {
    let is_heading = |line: &&str| {
        let heading = line.strip_prefix(HEADING);
        heading.and_then(|heading| heading.split(' ').next()) == Some(version)
    };
    let mut lines = text.lines().skip_while(|line| !is_heading(line));
    lines.next()?;
    let lines: Vec<&str> = lines
        .take_while(|line| !line.starts_with(HEADING))
        .collect();
    Some(lines.join("\n").trim().to_owned())
}

/// Joins the lines of each paragraph and of each list item.
fn unwrapped(text: &str) -> String {
    let mut unwrapped = String::new();
    let mut is_code = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let is_fence = trimmed.starts_with("```");
        is_code ^= is_fence;
        let is_whole = is_code || is_fence || trimmed.is_empty() || trimmed.starts_with('#');
        let follows_text = !unwrapped.is_empty() && !unwrapped.ends_with('\n');
        if follows_text && !is_whole && !begins_an_item(trimmed) {
            unwrapped.push(' ');
            unwrapped.push_str(trimmed);
            continue;
        }
        if follows_text {
            unwrapped.push('\n');
        }
        unwrapped.push_str(line);
        if is_whole {
            unwrapped.push('\n');
        }
    }
    unwrapped
}

/// Returns `true` for the first line of a list item and for a table row.
fn begins_an_item(line: &str) -> bool {
    let number = line.split_once(". ").map(|(number, _)| number);
    line.starts_with(['-', '|'])
        || number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Changelog\n\n## Unreleased\n\n### Server\n\n- It starts.\n\n## 0.1.0 (2026-01-02)\n\n- First.\n";

    #[test]
    fn unreleased_changes_become_the_section_of_the_version() {
        let released = release(TEXT, "0.2.0", "2026-03-04").expect("it is released");
        assert_eq!(
            released,
            "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-03-04)\n\n### Server\n\n- It starts.\n\n## 0.1.0 (2026-01-02)\n\n- First.\n"
        );
        assert_eq!(section(&released, "0.2.0"), section(TEXT, UNRELEASED));
    }

    #[test]
    fn a_version_without_changes_is_refused() {
        let released = release(TEXT, "0.2.0", "2026-03-04").expect("it is released");
        let refused = |text: &str, version| {
            let refused = release(text, version, "2026-03-04");
            refused.expect_err("it is refused").to_string()
        };
        assert!(refused(&released, "0.3.0").contains("no changes"));
        assert!(refused("## Unreleased\n\n### Server\n", "0.3.0").contains("no changes"));
        assert!(refused("# Changelog\n", "0.3.0").contains("no section `Unreleased`"));
        assert!(refused(TEXT, "0.1.0").contains("has a section for 0.1.0"));
    }

    #[test]
    fn a_section_ends_at_the_next_version() {
        assert_eq!(section(TEXT, "0.1.0").as_deref(), Some("- First."));
        assert_eq!(section(TEXT, "0.1"), None);
    }

    #[test]
    fn each_paragraph_of_the_notes_becomes_one_line() {
        let text = "A paragraph\nof two lines.\n\n### Server\n- An item\n  that goes on.\n- Another, by `a`\n  `b`:\n\n```sh\na \\\n  b\n```\nEnd.";
        assert_eq!(
            unwrapped(text),
            "A paragraph of two lines.\n\n### Server\n- An item that goes on.\n- Another, by `a` `b`:\n\n```sh\na \\\n  b\n```\nEnd."
        );
    }
}
