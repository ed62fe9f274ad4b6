//! The bootstrap file of the documentation, and servers that start with it.

use std::path::PathBuf;
use std::process::Command;

use pennon_tests::{Process, TestDatabase, binary};
use reqwest::StatusCode;
use serde_json::Value;
use tempfile::TempDir;

pub(super) const APPLIED: &str = "applied the bootstrap file";
pub(super) const IGNORED: &str = "ignored the bootstrap file";

/// A folder with a bootstrap file.
pub(super) struct Bootstrap {
    folder: TempDir,
    pub(super) content: Value,
}

impl Bootstrap {
    /// Creates the file of the documentation with the documentation's script.
    pub(super) fn documented() -> Self {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/provisioning.md");
        let page = std::fs::read_to_string(page).expect("the page is there");
        let after = page.split_once("1. Write the file.").expect("the step").1;
        let block = after.split_once("```sh\n").expect("a block").1;
        let block = block.split_once("```").expect("its end").0;
        let lines = block.lines();
        let lines: Vec<&str> = lines
            .map(|line| line.strip_prefix("   ").unwrap_or(line))
            .collect();
        let script = lines.join("\n");
        let folder = tempfile::tempdir().expect("a folder for the test");
        std::os::unix::fs::symlink(binary(), folder.path().join("pennon")).expect("a link");
        let path = std::env::var("PATH").expect("a search path");
        let ran = Command::new("sh")
            .args(["-e", "-c", &script])
            .current_dir(folder.path())
            .env("PATH", format!("{}:{path}", folder.path().display()))
            .status();
        assert!(ran.expect("a shell").success(), "{script}");
        let text = std::fs::read(folder.path().join("bootstrap.json")).expect("the file");
        let content = serde_json::from_slice(&text).expect("JSON");
        Self { folder, content }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("bootstrap.json")
    }

    /// Replaces the content of the file.
    pub(super) fn write(&self, content: &str) {
        std::fs::write(self.path(), content).expect("the file is written");
    }

    /// Returns the SDK key of an environment.
    pub(super) fn sdk_key(&self, index: usize) -> &str {
        self.content["environments"][index]["sdkKey"]
            .as_str()
            .expect("a key")
    }

    pub(super) fn token(&self) -> &str {
        self.content["personalAccessToken"]["token"]
            .as_str()
            .expect("a token")
    }

    /// Fails the test if a text contains a key or the token.
    pub(super) fn expect_hidden(&self, text: &str) {
        for secret in [self.sdk_key(0), self.sdk_key(1), self.token()] {
            assert!(!text.contains(&secret[4..]), "{text}");
        }
    }

    pub(super) fn starting(&self, database: &TestDatabase) -> Process {
        self.starting_with(database, &[])
    }

    pub(super) fn starting_with(
        &self,
        database: &TestDatabase,
        settings: &[(&str, &str)],
    ) -> Process {
        let path = self.path().display().to_string();
        let file = [("PENNON_BOOTSTRAP_FILE", path.as_str())];
        Process::starting(database.url(), &[settings, &file].concat())
    }

    pub(super) async fn start(&self, database: &TestDatabase) -> Process {
        let process = self.starting(database);
        process.wait_until_ready().await;
        process
    }
}

/// Returns the state of the documentation's flag for an SDK key, or `None` if the key is refused.
pub(super) async fn is_on(process: &Process, key: &str) -> Option<bool> {
    let answer = process.sdk(key).evaluate("pay_by_invoice").await;
    if answer.status == StatusCode::UNAUTHORIZED {
        return None;
    }
    answer.expect(StatusCode::OK).json()["enabled"].as_bool()
}
