//! The objects that most tests need: environments, flags with rules and rollouts, and users.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{Caller, PASSWORD};

/// An ID that nothing has.
pub const UNKNOWN_ID: &str = "0190a000-0000-7000-8000-000000000000";

/// Returns the condition that an attribute has a value, which is a text, a whole number, or a truth value.
pub fn equals(attribute: &str, value: impl Into<Value>) -> Value {
    let value = value.into();
    let (value_type, member) = match value {
        Value::Bool(_) => ("boolean", "valueBool"),
        Value::Number(_) => ("number", "valueInt"),
        _ => ("string", "valueString"),
    };
    json!({ "attribute": attribute, "operator": "==", "valueType": value_type, member: value })
}

/// Returns a targeting rule that turns a flag on under one condition.
pub fn rule(priority: usize, condition: Value) -> Value {
    let conditions = vec![condition];
    json!({ "priority": priority, "logic": "and", "value": true, "conditions": conditions })
}

/// Returns a rollout to this percentage of users.
pub fn rollout(percentage: u8) -> Value {
    json!({ "percentage": percentage, "strategy": "per_user" })
}

/// A flag in an environment.
pub struct FlagEnvironment {
    /// The ID of the flag, whose key is `checkout`.
    pub flag: String,
    /// The ID of the environment, `prod` of the product `shop`.
    pub environment: String,
    /// The environment's SDK key.
    pub sdk_key: String,
    /// `/flags/{flag}/environments/{environment}`
    pub path: String,
}

/// Each of these methods fails the test if the server refuses.
impl Caller<'_> {
    /// Creates an environment and returns its ID and SDK key.
    pub async fn environment(&self, product: &str, name: &str) -> (String, String) {
        let body = json!({ "product": product, "name": name });
        let created = self
            .post("/environments", body)
            .await
            .expect(StatusCode::CREATED);
        (created.text("/id"), created.text("/sdkKey"))
    }

    /// Creates a boolean flag and returns its ID.
    pub async fn flag(&self, key: &str) -> String {
        let body = json!({ "key": key, "name": key, "type": "boolean" });
        self.post("/flags", body)
            .await
            .expect(StatusCode::CREATED)
            .text("/id")
    }

    /// Creates the flag `checkout` and the environment `shop`/`prod`.
    pub async fn flag_environment(&self) -> FlagEnvironment {
        let (environment, sdk_key) = self.environment("shop", "prod").await;
        let flag = self.flag("checkout").await;
        let path = format!("/flags/{flag}/environments/{environment}");
        FlagEnvironment {
            flag,
            environment,
            sdk_key,
            path,
        }
    }

    /// Archives a flag.
    pub async fn archive(&self, flag: &str) {
        let archived = self.delete(&format!("/flags/{flag}")).await;
        archived.expect(StatusCode::NO_CONTENT);
    }

    /// Rotates the SDK key of an environment, and returns the ID and SDK key of the new one.
    pub async fn rotate_key(&self, environment: &str) -> (String, String) {
        let path = format!("/environments/{environment}/rotate-key");
        let rotated = self.post(&path, json!({})).await;
        let rotated = rotated.expect(StatusCode::CREATED);
        (rotated.text("/id"), rotated.text("/sdkKey"))
    }

    /// Revokes an environment.
    pub async fn revoke(&self, environment: &str) {
        let path = format!("/environments/{environment}/revoke");
        self.post(&path, json!({})).await.expect(StatusCode::OK);
    }

    /// Creates a targeting rule in the configuration of a flag, such as [`FlagEnvironment::path`], and returns its ID.
    pub async fn rule(&self, path: &str, rule: Value) -> String {
        let created = self.post(&format!("{path}/rules"), rule).await;
        created.expect(StatusCode::CREATED).text("/id")
    }

    /// Creates a rollout to this percentage of users in the configuration of a flag.
    pub async fn rollout(&self, path: &str, percentage: u8) {
        let created = self
            .put(&format!("{path}/rollout"), rollout(percentage))
            .await;
        created.expect(StatusCode::CREATED);
    }

    /// Enables or disables a flag in an environment.
    pub async fn switch(&self, flag: &str, environment: &str, enabled: bool) {
        let path = format!("/flags/{flag}/environments/{environment}");
        self.put(&path, json!({ "isEnabled": enabled }))
            .await
            .expect(StatusCode::NO_CONTENT);
    }

    /// Enables a flag in its environment.
    pub async fn switch_on(&self, flag: &FlagEnvironment) {
        self.switch_to(flag, true).await;
    }

    /// Disables a flag in its environment.
    pub async fn switch_off(&self, flag: &FlagEnvironment) {
        self.switch_to(flag, false).await;
    }

    /// Enables or disables a flag in its environment.
    pub async fn switch_to(&self, flag: &FlagEnvironment, enabled: bool) {
        self.switch(&flag.flag, &flag.environment, enabled).await;
    }

    /// Creates a user with [`PASSWORD`] and returns the ID.
    pub async fn user(&self, email: &str, role: &str) -> String {
        let body = json!({ "email": email, "password": PASSWORD, "role": role });
        self.post("/users", body)
            .await
            .expect(StatusCode::CREATED)
            .text("/id")
    }

    /// Creates a personal access token for the caller, and returns its ID and the token itself.
    pub async fn personal_token(&self, name: &str, role: &str) -> (String, String) {
        let body = json!({ "name": name, "role": role });
        let created = self
            .post("/users/me/tokens", body)
            .await
            .expect(StatusCode::CREATED);
        (created.text("/id"), created.text("/token"))
    }
}
