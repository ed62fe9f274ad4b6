//! Tests the API against its own description, with a tester that generates requests. The server must accept the
//! requests that the description allows and reject those that it forbids, and every response must match the
//! description.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::instance::{Instance, text};
use crate::build::serve::Profile;
use crate::programs::python;
use crate::step::Outcome;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// The maximum number of requests that the tester generates per operation, with each of its methods of generating them.
const EXAMPLES: &str = "50";

/// The tester's configuration, with placeholders for credentials and identifiers.
const SETTINGS: &str = include_str!("schemathesis.toml");

/// The tester's hooks.
const HOOKS: &str = include_str!("schemathesis_hooks.py");

/// Tests a server that has its own database. If Python is missing, the test is reported as left out.
pub(crate) fn test(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let Some(programs) = python::find_or_skip(
        workspace,
        tally,
        "contract",
        "the API against its description",
    )?
    else {
        return Ok(Outcome::Done);
    };
    let folder = workspace.empty_folder("contract")?;
    // The tester guesses passwords, so the rate limit of sign-ins is raised far beyond the number of its attempts.
    let settings = [
        ("PENNON_RATE_LIMIT_LOGIN", "1000000"),
        ("RUST_LOG", "error"),
    ];
    let server = Instance::start(&Profile::Dev.binary(workspace), &folder, &settings)?;
    let settings = folder.join("schemathesis.toml");
    fs::write(&settings, Cast::of(&server)?.settings())?;
    fs::write(folder.join("schemathesis_hooks.py"), HOOKS)?;
    // Two runs, because requests of the second one may revoke the environment whose key the first one needs.
    for which in [
        "--include-path-regex=^/(sdk|ofrep)/",
        "--exclude-path-regex=^/(sdk|ofrep)/",
    ] {
        let mut run = workspace.command(programs.join("schemathesis"));
        run.current_dir(&folder)
            .arg("--config-file")
            .arg(&settings)
            .args(["run", "--seed=1", "--continue-on-failure"])
            .args(["--max-examples", EXAMPLES, which])
            .arg(format!("{}/openapi.json", server.base_url()));
        tally.run("requests generated from the API's description", &mut run)?;
    }
    Ok(Outcome::Done)
}

/// The credentials and the objects that requests use. Of most kinds, some objects must survive the test and others may
/// be lost.
struct Cast {
    administrator: String,
    sdk_key: String,
    sessions: [String; 2],
    expendable_user: String,
    flags: Vec<String>,
    environments: Vec<String>,
    rules: Vec<String>,
}

/// The number of objects of each kind that must survive. The others may be lost.
const TO_STAY: usize = 5;

impl Cast {
    const PASSWORD: &str = "another password for this try";

    fn of(server: &Instance) -> Result<Self> {
        let session = server.sign_in_as_administrator()?;
        let post = |path: &str, body: &Value| server.post(path, Some(&session), body);
        let id = |path: &str, body: &Value| text(&post(path, body)?, "id");
        let token = json!({ "name": "contract", "role": "admin" });
        let token = post("/users/me/tokens", &token)?;
        let user = |email: &str| {
            let user = json!({ "email": email, "password": Self::PASSWORD, "role": "admin" });
            id("/users", &user)
        };
        user("ada@example.com")?;
        let sign_in = || server.sign_in("ada@example.com", Self::PASSWORD);
        let first = json!({ "product": "Web shop", "name": "of the key" });
        let first = post("/environments", &first)?;
        let environment = |number: usize| {
            let name = format!("environment {number}");
            id(
                "/environments",
                &json!({ "product": "Web shop", "name": name }),
            )
        };
        let flag = |number: usize| {
            let key = if number == 0 {
                "pay_by_invoice"
            } else {
                &format!("flag_{number}")
            };
            id(
                "/flags",
                &json!({ "key": key, "name": key, "type": "boolean" }),
            )
        };
        let environments = several(20, environment)?;
        let flags = several(20, flag)?;
        let (flag, environment) = (at(&flags, 0)?, at(&environments, 0)?);
        let rules = format!("/flags/{flag}/environments/{environment}/rules");
        let rule = |number: usize| {
            let condition = json!({
                "attribute": "country", "operator": "==", "valueType": "string", "valueString": "DE",
            });
            let rule = json!({
                "priority": number + 1, "logic": "and", "value": true, "conditions": [condition],
            });
            id(&rules, &rule)
        };
        Ok(Self {
            administrator: text(&token, "token")?,
            sdk_key: text(&first, "sdkKey")?,
            sessions: [sign_in()?, sign_in()?],
            expendable_user: user("linus@example.com")?,
            rules: several(60, rule)?,
            flags,
            environments,
        })
    }

    fn settings(&self) -> String {
        let [session, session_to_end] = &self.sessions;
        let mut settings = SETTINGS
            .replace("{administrator}", &self.administrator)
            .replace("{sdk key}", &self.sdk_key)
            .replace("{session}", session)
            .replace("{session to end}", session_to_end)
            .replace("{expendable user}", &self.expendable_user);
        for (to_stay, to_lose, all) in [
            ("{flags}", "{flags to archive}", &self.flags),
            (
                "{environments}",
                "{environments to revoke}",
                &self.environments,
            ),
            ("{rules}", "{rules to delete}", &self.rules),
        ] {
            let (staying, losing) = all.split_at(TO_STAY.min(all.len()));
            settings = settings
                .replace(to_stay, &quoted(staying))
                .replace(to_lose, &quoted(losing));
        }
        settings
    }
}

fn several(count: usize, make: impl Fn(usize) -> Result<String>) -> Result<Vec<String>> {
    (0..count).map(make).collect()
}

fn at(ids: &[String], index: usize) -> Result<&str> {
    ids.get(index)
        .map(String::as_str)
        .context("no object was created")
}

fn quoted(ids: &[String]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("{id:?}")).collect();
    quoted.join(", ")
}
