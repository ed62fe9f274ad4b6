//! The shell examples of the documentation, run against a server.

use std::path::Path;
use std::process::Stdio;

use pennon_tests::{EMAIL, PASSWORD, TestApp, binary, leave_out};
use serde_json::{Deserializer, Value, json};
use tokio::process::Command;

/// The character that separates the outputs of examples.
const SEPARATOR: char = '\u{1e}';

/// Placeholders of values that a reader has and a test does not.
const PLACEHOLDERS: [&str; 3] = ["/run/secrets", "flags.example.com", "backup-2026-03-01.db"];

/// A shell example of a document.
struct Example {
    commands: String,
    /// The output that the document shows below the example.
    output: Option<String>,
}

impl Example {
    /// Returns the difference between the printed and the documented output. Without documented output, only an error
    /// is one.
    fn fault(&self, printed: &str) -> Option<String> {
        let (expected, is_right) = match &self.output {
            Some(output) => (output.as_str(), comparable(printed) == comparable(output)),
            None => ("no error", !printed.contains("urn:pennon:problem:")),
        };
        let commands = &self.commands;
        (!is_right)
            .then(|| format!("{commands}\n--- printed\n{printed}\n--- expected\n{expected}\n"))
    }
}

#[tokio::test]
async fn the_examples_of_the_api_print_what_the_document_shows() {
    let app = TestApp::start().await;
    let examples = examples(&document("docs/api.md"));
    assert!(examples.len() > 20);
    expect_all(&app, &examples).await;
}

#[tokio::test]
async fn the_recipes_configure_a_flag() {
    let text = document("docs/recipes.md");
    let sections: Vec<&str> = text.split("\n## ").collect();
    let start = sections
        .iter()
        .find(|text| text.starts_with("Before you start"));
    let start = examples(start.expect("the recipes have a start"));
    let recipes = sections.iter().map(|text| examples(text));
    let recipes: Vec<_> = recipes
        .filter(|examples| {
            examples
                .iter()
                .any(|one| one.commands.contains("$CONFIG/rules"))
        })
        .collect();
    assert!(recipes.len() > 4);
    for mut recipe in recipes {
        let app = TestApp::start().await;
        let admin = app.admin().await;
        let (_, key) = admin.environment("Web shop", "production").await;
        admin.flag("new_checkout").await;
        let token = admin
            .post(
                "/users/me/tokens",
                json!({ "name": "recipes", "role": "editor" }),
            )
            .await;
        let [variables, switch] = start.as_slice() else {
            panic!("a recipe begins with variables, and ends with the switch");
        };
        let variables = variables.commands.replace("pnt_…", &token.text("/token"));
        recipe.insert(
            0,
            Example {
                commands: variables,
                output: None,
            },
        );
        recipe.push(Example {
            commands: switch.commands.clone(),
            output: None,
        });
        expect_all(&app, &recipe).await;
        let all = app.sdk(&key).get("/sdk/v1/config").await.json();
        let flag = &all["flags"][0];
        assert_eq!(flag["enabled"], true, "{all}");
        assert!(flag["rules"].get(0).is_some(), "{all}");
        assert!(flag["rollout"].is_object(), "{all}");
    }
}

#[tokio::test]
async fn the_first_evaluation_of_the_readme_is_on() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, key) = admin.environment("Web shop", "production").await;
    let flag = admin.flag("new_checkout").await;
    admin.switch(&flag, &environment, true).await;
    let mut examples = examples(&document("README.md"));
    examples.retain(|example| example.commands.contains("/sdk/v1/evaluate"));
    assert_eq!(examples.len(), 1);
    for example in &mut examples {
        example.commands = example
            .commands
            .replace("$PENNON_SDK_KEY", &key)
            .replace("curl", "curl --silent");
    }
    expect_all(&app, &examples).await;
}

#[tokio::test]
async fn the_commands_of_the_command_line_succeed() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let (environment, _) = admin.environment("Web shop", "production").await;
    let flag = admin.flag("pay_by_invoice").await;
    admin.switch(&flag, &environment, true).await;
    let mut examples = examples(&document("docs/command-line.md"));
    examples.retain(|example| {
        !PLACEHOLDERS
            .iter()
            .any(|text| example.commands.contains(text))
    });
    if !app.is_on_file() {
        examples.retain(|example| !example.commands.contains("pennon backup"));
    }
    assert!(examples.len() > 5);
    for example in &mut examples {
        // The output depends on what was exported before.
        example.output = None;
        example.commands.insert_str(0, "set -e\nmkdir -p src\n");
    }
    expect_all(&app, &examples).await;
}

/// Returns the text of a document of the repository.
fn document(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read_to_string(root.join(name)).expect("the document exists")
}

/// Returns the shell examples of a document in their order.
fn examples(document: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut lines = document.lines();
    // True as long as only blank lines have followed an example.
    let mut follows = false;
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            follows &= line.is_empty();
            continue;
        };
        let block = lines.by_ref().take_while(|line| *line != "```");
        let text = block.collect::<Vec<_>>().join("\n");
        match (language, examples.last_mut()) {
            ("json" | "text", Some(example)) if follows => example.output = Some(text),
            ("sh", _) => examples.push(Example {
                commands: text,
                output: None,
            }),
            _ => {}
        }
        follows = language == "sh";
    }
    examples
}

/// Runs examples one after the other in one shell, and expects of each what the document shows. Without the programs
/// that the examples use, it only prints that.
async fn expect_all(app: &TestApp, examples: &[Example]) {
    if !["bash", "curl", "jq"].into_iter().all(is_installed) {
        leave_out("the shell examples of the documentation; install bash, curl and jq");
        return;
    }
    let stdout = run(app, &script(app, examples)).await;
    let printed: Vec<&str> = stdout.split(SEPARATOR).skip(1).collect();
    assert_eq!(printed.len(), examples.len(), "{stdout}");
    let pairs = examples.iter().zip(printed);
    let faults: String = pairs
        .filter_map(|(example, printed)| example.fault(printed))
        .collect();
    assert!(faults.is_empty(), "{faults}");
}

/// Returns a script that runs examples against the app, with a separator before the output of each.
fn script(app: &TestApp, examples: &[Example]) -> String {
    let steps: Vec<String> = examples
        .iter()
        .map(|example| format!("printf '{SEPARATOR}'\n{}\n", example.commands))
        .collect();
    let url = format!("http://{}", app.address());
    steps
        .concat()
        .replace("http://127.0.0.1:3000", &url)
        .replace("https://flags.example.com", &url)
        .replace("the password that the first start printed", PASSWORD)
        .replace("admin@pennon.local", EMAIL)
}

/// Runs a script in an empty folder, and returns its output. The script finds the binary and the app's database.
async fn run(app: &TestApp, script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut path = binary();
    path.pop();
    let mut path = path.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let result = Command::new("bash")
        .args(["-c", script])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("DATABASE_URL", app.database().url())
        .env("PENNON_LISTEN", app.address())
        .stdin(Stdio::null())
        .output()
        .await
        .expect("bash runs");
    let stderr = String::from_utf8(result.stderr).expect("errors are text");
    assert!(!stderr.contains("error"), "{stderr}");
    String::from_utf8(result.stdout).expect("output is text")
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Returns a text without the values that differ between runs. JSON loses its white space as well.
fn comparable(text: &str) -> Vec<String> {
    let mut result = String::new();
    let mut word = String::new();
    for character in text.trim().chars().chain(['\n']) {
        if character.is_alphanumeric() || "_-:.…@".contains(character) {
            word.push(character);
        } else {
            result.push_str(without_chance(&word));
            result.push(character);
            word.clear();
        }
    }
    let values: Result<Vec<Value>, _> = Deserializer::from_str(&result).into_iter().collect();
    match values {
        Ok(values) => values.iter().map(Value::to_string).collect(),
        Err(_) => result.lines().map(str::to_owned).collect(),
    }
}

/// Returns a placeholder for an ID, a secret, a digest or a time, and each other word as it is.
fn without_chance(word: &str) -> &str {
    let is_id = |word: &str| {
        word.len() >= 12
            && word.as_bytes().get(8) == Some(&b'-')
            && word
                .trim_end_matches('…')
                .chars()
                .all(|next| next.is_ascii_hexdigit() || next == '-')
    };
    let is_time = |word: &str| word.len() == 24 && word.ends_with('Z') && word.contains('T');
    match word {
        "admin@pennon.local" => EMAIL,
        _ if word.starts_with("pnk_") => "pnk_",
        _ if word.starts_with("pnp_") => "pnp_",
        _ if word.starts_with("pnt_") => "pnt_",
        _ if is_id(word) => "<id>",
        _ if is_time(word) => "<time>",
        _ if word.len() == 43 => "<digest>",
        _ => word,
    }
}
