//! Tests a rolling update on PostgreSQL: the last release keeps running next to this build, which upgrades the schema
//! when it starts.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::baseline;
use super::instance::{Events, Instance, text};
use crate::build::serve::Profile;
use crate::programs::postgres::{Durability, Server};
use crate::step::Outcome;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// The maximum time in which one instance must serve a change made by the other.
const PROPAGATION_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the last release and this build on one database. Without PostgreSQL, the test is left out.
pub(crate) fn test(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let Some(server) = Server::start(Durability::None)? else {
        tally.skip("the last release beside this build", "install PostgreSQL");
        return Ok(Outcome::Done);
    };
    let previous = baseline::previous_binary(workspace)?;
    let folder = workspace.empty_folder("rolling")?;
    let url = server.url();
    let settings = [("DATABASE_URL", url.as_str()), ("RUST_LOG", "error")];

    let old = Instance::start(&previous, &folder, &settings)?;
    let update = Update::begin(&old)?;
    let mut streams = vec![old.events(&update.sdk_key)?];
    update.read(&[&old], &mut streams, false)?;
    // The new instance upgrades the schema while the old one runs.
    let new = Instance::start(&Profile::Dev.binary(workspace), &folder, &settings)?;
    streams.push(new.events(&update.sdk_key)?);

    for (writer, is_on) in [(&old, true), (&new, false), (&old, true)] {
        update.write(writer, is_on).context("writing")?;
        update.read(&[&old, &new], &mut streams, is_on)?;
    }
    let session = old.sign_in_as_administrator()?;
    for path in [
        "/flags?limit=100",
        "/environments",
        "/users",
        "/audit?limit=100",
    ] {
        let [one, other] =
            [&old, &new].map(|instance| instance.send("GET", path, Some(&session), &Value::Null));
        let (one, other) = (one?, other?);
        ensure!(
            one.get("pagination") == other.get("pagination"),
            "GET {path}: the last release returns {one}, and this build {other}"
        );
    }
    Ok(Outcome::Done)
}

/// A flag that changes while both instances run.
struct Update {
    session: String,
    sdk_key: String,
    flag: String,
    path: String,
}

impl Update {
    fn begin(server: &Instance) -> Result<Self> {
        let session = server.sign_in_as_administrator()?;
        let post = |path: &str, body: Value| server.post(path, Some(&session), &body);
        let environment = post(
            "/environments",
            json!({ "product": "shop", "name": "prod" }),
        )?;
        let flag = post(
            "/flags",
            json!({ "key": "checkout", "name": "Checkout", "type": "boolean" }),
        )?;
        let (flag, id) = (text(&flag, "id")?, text(&environment, "id")?);
        Ok(Self {
            sdk_key: text(&environment, "sdkKey")?,
            path: format!("/flags/{flag}/environments/{id}"),
            flag,
            session,
        })
    }

    /// Makes one change of each kind through an instance. The last one switches the flag.
    fn write(&self, server: &Instance, is_on: bool) -> Result<()> {
        let send = |method: &str, path: &str, body: Value| {
            server.send(method, path, Some(&self.session), &body)
        };
        let condition = json!({
            "attribute": "country", "operator": "==", "valueType": "string", "valueString": "DE",
        });
        let rule =
            json!({ "priority": 1, "logic": "and", "value": true, "conditions": [condition] });
        let rule = text(&send("POST", &format!("{}/rules", self.path), rule)?, "id")?;
        send("DELETE", &format!("/rules/{rule}"), json!({}))?;
        let rollout = json!({ "percentage": 100, "strategy": "per_user" });
        send("PUT", &format!("{}/rollout", self.path), rollout)?;
        send(
            "PATCH",
            &format!("/flags/{}", self.flag),
            json!({ "description": null }),
        )?;
        let token = json!({ "name": "rolling", "role": "viewer" });
        let token = text(&send("POST", "/users/me/tokens", token)?, "id")?;
        send("DELETE", &format!("/users/me/tokens/{token}"), json!({}))?;
        server.sign_in_as_administrator()?;
        send("PUT", &self.path, json!({ "isEnabled": is_on }))?;
        Ok(())
    }

    /// Waits until each instance evaluates the flag to this state, and its stream has announced the config document
    /// that it then serves.
    fn read(&self, servers: &[&Instance], streams: &mut [Events], is_on: bool) -> Result<()> {
        let began = Instant::now();
        for (server, stream) in servers.iter().zip(streams) {
            while self.is_on(server)? != is_on {
                if began.elapsed() > PROPAGATION_TIMEOUT {
                    bail!("an instance does not serve a change");
                }
                thread::sleep(Duration::from_millis(50));
            }
            let etag = server.etag("/sdk/v1/config", &self.sdk_key)?;
            while stream.next().context("a stream of changes")? != etag {}
        }
        Ok(())
    }

    fn is_on(&self, server: &Instance) -> Result<bool> {
        let question = json!({ "flagKey": "checkout", "context": { "userId": "ada" } });
        let answer = server.post("/sdk/v1/evaluate", Some(&self.sdk_key), &question)?;
        let enabled = answer.get("enabled").and_then(Value::as_bool);
        enabled.with_context(|| format!("no evaluation: {answer}"))
    }
}
