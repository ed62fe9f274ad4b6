//! Recorded responses of a release, which later releases must still give.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{Answer, TestApp};

/// The members of responses that differ each time.
const SECRETS: [&str; 2] = ["access_token", "refresh_token"];

/// The recorded requests to a release, and its responses.
pub struct Recording {
    seconds: i64,
    exchanges: Vec<Value>,
}

impl Recording {
    /// Creates a recording that begins this many seconds after the start of the app's clock.
    pub fn after(seconds: i64) -> Self {
        Self {
            seconds,
            exchanges: Vec::new(),
        }
    }

    /// Records a `GET` with a bearer token.
    pub async fn get(&mut self, app: &TestApp, token: &str, path: &str) {
        self.add(
            app,
            json!({ "method": "GET", "path": path, "token": token }),
        )
        .await;
    }

    /// Records a `POST` with a bearer token. An empty token means no credential.
    pub async fn post(&mut self, app: &TestApp, token: &str, path: &str, body: Value) {
        let request = json!({ "method": "POST", "path": path, "token": token, "body": body });
        self.add(app, request).await;
    }

    /// Records the status of a page of the dashboard, with a cookie.
    pub async fn page(&mut self, app: &TestApp, cookie: &str, path: &str) {
        self.add(
            app,
            json!({ "method": "GET", "path": path, "cookie": cookie }),
        )
        .await;
    }

    /// Records the output of the command `export`.
    pub async fn export(&mut self, app: &TestApp) {
        self.add(app, json!({ "command": "export" })).await;
    }

    async fn add(&mut self, app: &TestApp, mut request: Value) {
        request["answer"] = answer(app, &request).await;
        self.exchanges.push(request);
    }

    /// Returns the recording in its file format.
    pub fn finish(self) -> Value {
        json!({ "secondsAfterStart": self.seconds, "exchanges": self.exchanges })
    }
}

/// Repeats the requests of a recording. Returns the differences, one per line. New members are not differences.
pub async fn replay(app: &TestApp, recording: &Value) -> String {
    app.advance(
        recording["secondsAfterStart"]
            .as_i64()
            .expect("a number of seconds"),
    );
    let mut differences = String::new();
    for request in recording["exchanges"].as_array().expect("exchanges") {
        let answer = answer(app, request).await;
        let name = [&request["method"], &request["path"], &request["command"]];
        let name: Vec<&str> = name.into_iter().filter_map(Value::as_str).collect();
        for difference in missing(&request["answer"], &answer, "") {
            let _ = writeln!(differences, "{}: {difference}", name.join(" "));
        }
    }
    differences
}

/// Returns the status and the body of the response to a request, without members that differ each time.
async fn answer(app: &TestApp, request: &Value) -> Value {
    if let Some(command) = request["command"].as_str() {
        let printed = app.command(&[command]).await.expect_success();
        return serde_json::from_str(&printed).expect("the command prints JSON");
    }
    let text = |member: &str| request[member].as_str().unwrap_or_default();
    let method: Method = text("method").parse().expect("a method");
    let caller = match text("token") {
        "" => app.anonymous(),
        token => app.with_authorization(format!("Bearer {token}")),
    };
    let mut sent = caller
        .request(method, text("path"))
        .header("cookie", text("cookie"));
    if let Some(body) = request.get("body") {
        sent = sent.json(body);
    }
    let answer = caller.send(sent).await;
    json!({ "status": answer.status.as_u16(), "body": body(&answer) })
}

fn body(answer: &Answer) -> Value {
    let mut body = serde_json::from_slice(&answer.bytes).unwrap_or(Value::Null);
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, _| !SECRETS.contains(&name.as_str()));
    }
    body
}

/// The members of problem documents whose wording may change, as docs/compatibility.md permits.
const WORDING: [&str; 2] = ["detail", "title"];

/// Returns the differences between a value and its recorded state. Objects may have new members. Arrays may not have
/// new items. The wording of problem documents may change.
fn missing(recorded: &Value, current: &Value, place: &str) -> Vec<String> {
    match (recorded, current) {
        (Value::Object(recorded), Value::Object(current)) => {
            let member = |(name, recorded): (&String, &Value)| {
                let place = format!("{place}/{name}");
                match current.get(name) {
                    Some(current) => missing(recorded, current, &place),
                    None => vec![format!("{place} is gone; it was {recorded}")],
                }
            };
            let is_problem = recorded
                .get("type")
                .and_then(Value::as_str)
                .is_some_and(|kind| kind.starts_with("urn:pennon:problem:"));
            let is_compared = |name: &str| !(is_problem && WORDING.contains(&name));
            recorded
                .iter()
                .filter(|(name, _)| is_compared(name))
                .flat_map(member)
                .collect()
        }
        (Value::Array(recorded), Value::Array(current)) if recorded.len() == current.len() => {
            let pairs = recorded.iter().zip(current).enumerate();
            pairs
                .flat_map(|(index, (recorded, current))| {
                    missing(recorded, current, &format!("{place}/{index}"))
                })
                .collect()
        }
        _ if recorded == current => Vec::new(),
        _ => vec![format!("{place} was {recorded} and is {current}")],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::missing;

    #[test]
    fn only_the_wording_of_a_problem_may_change() {
        let problem = |text: &str, code: &str| json!({ "type": "urn:pennon:problem:x", "detail": text, "code": code });
        let recorded = problem("old", "X");
        assert_eq!(missing(&recorded, &problem("new", "X"), "").len(), 0);
        assert_eq!(missing(&recorded, &problem("old", "Y"), "").len(), 1);
    }

    #[test]
    fn a_response_may_gain_members_and_otherwise_stays_the_same() {
        let recorded = json!({ "a": [{ "b": 1, "c": null }], "d": "e" });
        let current = json!({ "a": [{ "b": 1, "c": null, "new": 2 }], "d": "e", "new": [] });
        assert_eq!(missing(&recorded, &current, ""), Vec::<String>::new());
        for (current, complaint) in [
            (json!({ "a": [{ "b": 1, "c": null }] }), "/d is gone"),
            (
                json!({ "a": [{ "b": 2, "c": null }], "d": "e" }),
                "/a/0/b was 1 and is 2",
            ),
            (
                json!({ "a": [{ "b": 1, "c": 0 }], "d": "e" }),
                "/a/0/c was null and is 0",
            ),
            (json!({ "a": [], "d": "e" }), "/a was ["),
            (
                json!({ "a": [{ "b": 1, "c": null }, 2], "d": "e" }),
                "/a was [",
            ),
            (Value::Null, " was {"),
        ] {
            let missing = missing(&recorded, &current, "");
            assert!(
                matches!(&missing[..], [one] if one.starts_with(complaint)),
                "{missing:?}"
            );
        }
    }
}
