//! The real binary.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::TestDatabase;

/// Returns the binary that `PENNON_TEST_BINARY` names, or else the one that was built together with the tests.
pub fn binary() -> PathBuf {
    if let Some(binary) = env::var_os("PENNON_TEST_BINARY") {
        return binary.into();
    }
    let test = env::current_exe().expect("the test is a file");
    let folder = test.ancestors().nth(2);
    let binary = folder.expect("the test is in target/…/deps").join("pennon");
    assert!(
        binary.exists(),
        "{} is missing; build it with `cargo build -p pennon-server`",
        binary.display()
    );
    binary
}

/// The result of a command.
#[derive(Debug)]
pub struct CommandResult {
    /// True if it succeeded.
    pub success: bool,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
}

impl CommandResult {
    /// Fails the test unless the command succeeded, and returns its output.
    #[track_caller]
    pub fn expect_success(self) -> String {
        assert!(self.success, "{self:?}");
        self.stdout
    }

    /// Fails the test unless the command failed with an error that contains this text.
    #[track_caller]
    pub fn expect_failure(self, complaint: &str) {
        assert!(!self.success, "{self:?}");
        assert!(self.stderr.contains(complaint), "{self:?}");
    }
}

impl TestDatabase {
    /// Runs a command of the binary on this database.
    pub async fn command(&self, arguments: &[&str]) -> CommandResult {
        self.command_in(Path::new("."), arguments, "").await
    }

    /// Runs a command in a folder, with standard input.
    pub async fn command_in(
        &self,
        folder: &Path,
        arguments: &[&str],
        input: &str,
    ) -> CommandResult {
        let (url, input) = (self.url().to_owned(), input.to_owned());
        let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
        let folder = folder.to_owned();
        tokio::task::spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            run(&folder, &url, &arguments, &input)
        })
        .await
        .expect("the command ends")
    }
}

/// Runs the binary in a folder, with a database and standard input, until it ends.
fn run(folder: &Path, database: &str, arguments: &[&str], input: &str) -> CommandResult {
    let mut child = Command::new(binary())
        .args(arguments)
        .current_dir(folder)
        .env("DATABASE_URL", database)
        .env_remove("RUST_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("the command can be written to");
    // A command that does not read its input may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the command ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command prints text");
    CommandResult {
        success: output.status.success(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}
