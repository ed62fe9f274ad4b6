//! Counts tests by adding up the closing lines of all test runners.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use anyhow::{Result, bail};
use tempfile::NamedTempFile;

use crate::process::Run as _;

/// The start of a line about tests that were left out. `tests/chaos/report.rs` prints such lines, too.
pub(crate) const LEFT_OUT: &str = "left out: ";

/// The variable with the name of the file to which tests of the server append what they leave out.
const OMISSIONS: &str = "PENNON_LEFT_OUT";

/// The number of tests that passed, by title. No test can have failed: a runner with a failed test ends the whole run.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: Vec<(&'static str, u64)>,
    omitted: Vec<String>,
}

impl Tally {
    /// Runs a test runner and counts its tests under a title. Records the tests that it leaves out. Fails if the runner
    /// ends without having run a test.
    pub(crate) fn run(&mut self, title: &'static str, runner: &mut Command) -> Result<()> {
        let mut passed = 0;
        let omissions = NamedTempFile::new()?;
        runner
            .env(OMISSIONS, omissions.path())
            .run_reading(|line| passed += passed_in(line).unwrap_or(0))?;
        let omissions = fs::read_to_string(omissions.path())?;
        let distinct: BTreeSet<&str> = omissions.lines().collect();
        for what in distinct {
            self.omit(format!("{LEFT_OUT}{what}"));
        }
        if passed == 0 {
            bail!("no test was run");
        }
        match self.passed.iter_mut().find(|(known, _)| *known == title) {
            Some((_, sum)) => *sum += passed,
            None => self.passed.push((title, passed)),
        }
        Ok(())
    }

    /// Records that tests were left out because a program is missing, and the remedy.
    pub(crate) fn skip(&mut self, what: &str, remedy: &str) {
        self.omit(format!("{LEFT_OUT}{what}; {remedy}"));
    }

    /// Records a line that begins with [`LEFT_OUT`] and names the reason.
    pub(crate) fn omit(&mut self, line: String) {
        eprintln!("    {line}");
        self.omitted.push(line);
    }

    /// Prints the sums, if any tests were counted.
    pub(crate) fn report(&self) {
        let sum: u64 = self.passed.iter().map(|(_, passed)| passed).sum();
        if sum == 0 {
            return;
        }
        println!();
        for (title, passed) in &self.passed {
            println!("{passed:>6}  {title}");
        }
        for line in &self.omitted {
            println!("        {line}");
        }
        println!("\n{sum} passed, 0 failed");
    }
}

/// Returns the number of passed tests in a closing line of Cargo (`test result: ok. 3 passed; ..`), Vitest
/// (`Tests  3 passed (3)`), schemathesis (`5 generated, 3 passed, ..`), or Playwright (`3 passed (1.2s)`).
fn passed_in(line: &str) -> Option<u64> {
    let line = plain(line);
    let line = line.trim();
    let counts = line
        .strip_prefix("test result: ok. ")
        .or_else(|| line.strip_prefix("Tests "))
        .or_else(|| line.split_once(" generated, ").map(|(_, counts)| counts))
        .unwrap_or(line);
    let mut words = counts.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let passed = matches!(words.next()?, "passed" | "passed;" | "passed,");
    passed.then_some(number)
}

/// Returns the line without colors, which some runners print even without a terminal.
fn plain(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.extend(part.split_once('m').map(|(_, text)| text));
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{LEFT_OUT, Tally, passed_in};

    #[test]
    fn the_output_of_every_runner_is_counted() {
        let cargo = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(passed_in(cargo), Some(12));
        assert_eq!(passed_in("      Tests  34 passed (34)"), Some(34));
        assert_eq!(passed_in("  5 passed (8.1s)"), Some(5));
        let schemathesis = "  4001 generated, 3990 passed, 11 skipped";
        assert_eq!(passed_in(schemathesis), Some(3990));
    }

    #[test]
    fn fault_injection_reports_omissions_with_the_same_words() {
        let report = include_str!("../../tests/chaos/report.rs");
        assert!(report.contains(&format!("\"{LEFT_OUT}")));
    }

    #[test]
    fn omissions_of_a_runner_are_recorded_once() {
        let mut tally = Tally::default();
        let mut runner = Command::new("sh");
        let script = r#"for i in 1 2; do echo "all of it" >> "$PENNON_LEFT_OUT"; done"#;
        // A number of tests would be added to that of these tests.
        assert!(tally.run("shell", runner.args(["-c", script])).is_err());
        assert_eq!(tally.omitted, ["left out: all of it"]);
    }

    #[test]
    fn colors_are_ignored() {
        let vitest = "\u{1b}[2m      Tests \u{1b}[22m \u{1b}[1m\u{1b}[32m70 passed\u{1b}[39m\u{1b}[22m\u{1b}[90m (70)\u{1b}[39m";
        assert_eq!(passed_in(vitest), Some(70));
    }

    #[test]
    fn numbers_of_files_and_other_output_are_not_counted() {
        assert_eq!(passed_in(" Test Files  2 passed (2)"), None);
        assert_eq!(passed_in("test evaluate::tests::precedence ... ok"), None);
        assert_eq!(passed_in(""), None);
    }
}
