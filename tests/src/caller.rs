//! Somebody who calls the service, and what everybody needs first.

use reqwest::header::AUTHORIZATION;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::{Answer, EMAIL, PASSWORD, TestApp};

/// Somebody who calls the service.
#[derive(Clone)]
pub struct Caller<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) authorization: Option<String>,
}

impl Caller<'_> {
    /// `GET`
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// `POST` of a JSON body.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).json(&body))
            .await
    }

    /// `PUT` of a JSON body.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }

    /// `PATCH` with a JSON body.
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(&body))
            .await
    }

    /// `DELETE`
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// A request to fill in, for what the other methods do not do.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self
            .app
            .http
            .request(method, format!("{}{path}", self.app.base_url));
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }

    /// Sends a request and reads the whole answer.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        Answer::to(request).await
    }

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

    /// Creates a flag `checkout` and an environment `shop`/`prod`, and returns the path of the two.
    pub async fn pair(&self) -> Pair {
        let (environment, sdk_key) = self.environment("shop", "prod").await;
        let flag = self.flag("checkout").await;
        let path = format!("/flags/{flag}/environments/{environment}");
        Pair {
            flag,
            environment,
            sdk_key,
            path,
        }
    }

    /// Switches a flag in an environment.
    pub async fn switch(&self, flag: &str, environment: &str, enabled: bool) {
        let path = format!("/flags/{flag}/environments/{environment}");
        self.put(&path, json!({ "isEnabled": enabled }))
            .await
            .expect(StatusCode::NO_CONTENT);
    }

    /// Creates a user with [`PASSWORD`] and returns the ID.
    pub async fn user(&self, email: &str, role: &str) -> String {
        let body = json!({ "email": email, "password": PASSWORD, "role": role });
        self.post("/users", body)
            .await
            .expect(StatusCode::CREATED)
            .text("/id")
    }

    /// Creates a personal access token of the caller's own and returns its ID and the token itself.
    pub async fn personal_token(&self, name: &str, role: &str) -> (String, String) {
        let body = json!({ "name": name, "role": role });
        let created = self
            .post("/users/me/tokens", body)
            .await
            .expect(StatusCode::CREATED);
        (created.text("/id"), created.text("/token"))
    }

    /// The actions of the newest audit entries, newest first.
    pub async fn audited(&self) -> Vec<String> {
        self.audited_by("/audit?limit=100").await
    }

    /// The same, with the entries about accounts but for the one of the first administrator.
    pub async fn audited_with_accounts(&self) -> Vec<String> {
        self.audited_by("/audit?limit=100&include=accounts").await
    }

    async fn audited_by(&self, path: &str) -> Vec<String> {
        let answer = self.get(path).await.expect(StatusCode::OK);
        let json = answer.json();
        let entries = json["items"].as_array().expect("a list has items");
        entries
            .iter()
            .filter(|entry| entry["newValue"]["email"] != EMAIL || entry["actorIdentity"] != "cli")
            .map(|entry| entry["action"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

/// A flag in an environment.
pub struct Pair {
    /// The id of the flag, whose key is `checkout`.
    pub flag: String,
    /// The id of the environment, `prod` of the product `shop`.
    pub environment: String,
    /// The environment's SDK key.
    pub sdk_key: String,
    /// `/flags/{flag}/environments/{environment}`
    pub path: String,
}
