//! A server with flags, and the requests to it.

use std::path::Path;

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::load::Target;
use crate::database::Database;
use crate::service::Service;

/// A flag with three rules of three conditions each. In the first two rules, only the last condition does not hold; the
/// third rule matches.
pub(crate) const RULE_FLAG: &str = "checkout";

/// A server with one environment.
pub(crate) struct Fixture {
    pub(crate) service: Service,
    pub(crate) sdk_key: String,
    environment: String,
}

impl Fixture {
    /// Starts a server with these settings, and creates an environment and the rule flag.
    pub(crate) async fn start(
        server: &Path,
        database: &Database,
        settings: &[(&str, &str)],
    ) -> Result<Self> {
        let service = Service::start_with(server, database, settings).await?;
        let (environment, sdk_key) = service.environment("production").await?;
        let fixture = Self {
            service,
            sdk_key,
            environment,
        };
        fixture.rule_flag(RULE_FLAG, 3).await?;
        Ok(fixture)
    }

    /// Creates a flag that is on, with this many rules of three conditions. Only the last rule matches.
    pub(crate) async fn rule_flag(&self, key: &str, rules: usize) -> Result<()> {
        let flag = self.service.flag(key).await?;
        self.switch(&flag, true).await?;
        let path = format!("/flags/{flag}/environments/{}/rules", self.environment);
        for priority in 1..=rules {
            let matches = priority == rules;
            let rule = json!({
                "priority": priority, "logic": "and", "value": true,
                "conditions": [
                    { "attribute": "country", "operator": "==", "valueType": "string", "valueString": "DE" },
                    { "attribute": "planLevel", "operator": ">=", "valueType": "number", "valueInt": 3 },
                    { "attribute": "beta", "operator": "==", "valueType": "boolean", "valueBool": matches },
                ],
            });
            self.service.send(Method::POST, &path, rule).await?;
        }
        Ok(())
    }

    pub(crate) async fn switch(&self, flag: &str, enabled: bool) -> Result<()> {
        self.service.switch(flag, &self.environment, enabled).await
    }

    /// Returns the request `POST /sdk/v1/evaluate`.
    pub(crate) fn evaluate(&self, flag: &str) -> Target {
        self.post("/sdk/v1/evaluate", &evaluate_request(flag))
    }

    /// Returns the request `POST /sdk/v1/evaluate/batch` with 100 items, of which every fourth is for the rule flag.
    pub(crate) fn batch(&self) -> Target {
        self.post("/sdk/v1/evaluate/batch", &batch_request())
    }

    /// Returns the request `GET /sdk/v1/config`. With an entity tag, the expected response is 304.
    pub(crate) fn config(&self, etag: Option<&str>) -> Target {
        let known = etag.map(|etag| format!("if-none-match: {etag}\r\n"));
        let headers = self.authorization() + &known.unwrap_or_default();
        let status = if etag.is_some() { 304 } else { 200 };
        let (process, address) = (self.service.process(), self.service.address());
        Target::get(process, address, "/sdk/v1/config", &headers, status)
    }

    fn post(&self, path: &str, body: &Value) -> Target {
        let (process, address) = (self.service.process(), self.service.address());
        Target::post(
            process,
            address,
            path,
            &self.authorization(),
            &body.to_string(),
        )
    }

    fn authorization(&self) -> String {
        format!("authorization: Bearer {}\r\n", self.sdk_key)
    }
}

/// Returns the body of an evaluation request.
pub(crate) fn evaluate_request(flag: &str) -> Value {
    json!({
        "flagKey": flag,
        "context": {
            "userId": "user-4711", "country": "DE",
            "customAttributes": { "planLevel": 5, "beta": true },
        },
    })
}

/// Returns the body of a batch request.
pub(crate) fn batch_request() -> Value {
    let about = |number: usize| match number % 4 {
        0 => evaluate_request(RULE_FLAG),
        _ => evaluate_request(&format!("seeded_{}", number * 97)),
    };
    json!({ "evaluations": (1..=100).map(about).collect::<Vec<Value>>() })
}
