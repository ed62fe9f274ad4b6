//! Callers of the service, and the objects that most tests need.

use std::net::SocketAddr;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::{Answer, EMAIL, PASSWORD, rollout};

/// A caller of the service, with its credential.
#[derive(Clone)]
pub struct Caller<'a> {
    pub(crate) server: &'a HttpServer,
    pub(crate) authorization: Option<String>,
}

/// The address of a server, and the client that sends the requests of its callers.
pub(crate) struct HttpServer {
    pub(crate) base_url: String,
    pub(crate) http: Client,
}

impl HttpServer {
    pub(crate) fn at(address: SocketAddr) -> Self {
        let http = Client::builder().redirect(Policy::none()).build();
        Self {
            base_url: format!("http://{address}"),
            http: http.expect("the client is made"),
        }
    }

    /// Returns a caller with this value of the `Authorization` header.
    pub(crate) fn caller(&self, authorization: Option<String>) -> Caller<'_> {
        Caller {
            server: self,
            authorization,
        }
    }
}

impl Caller<'_> {
    /// Sends a `GET` request.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// Sends a `POST` request with a JSON body.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).json(&body))
            .await
    }

    /// Sends a `PUT` request with a JSON body.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }

    /// Sends a `PATCH` request with a JSON body.
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(&body))
            .await
    }

    /// Sends a `DELETE` request.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// Returns a request with the caller's credential, for tests that need more than the other methods.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.server.base_url);
        let request = self.server.http.request(method, url);
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }

    /// Sends a request and reads the whole response.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        Answer::to(request).await
    }

    /// Evaluates a flag without a context.
    pub async fn evaluate(&self, flag_key: &str) -> Answer {
        let question = json!({ "flagKey": flag_key });
        self.post("/sdk/v1/evaluate", question).await
    }

    /// Returns true if a flag is on without a context. A refused caller gets false.
    pub async fn is_on(&self, flag_key: &str) -> bool {
        let answer = self.evaluate(flag_key).await;
        answer.status == StatusCode::OK && answer.json()["enabled"] == true
    }

    /// Returns true if the SDK key is refused.
    pub async fn is_refused(&self) -> bool {
        self.get("/sdk/v1/config").await.status == StatusCode::UNAUTHORIZED
    }

    /// Fetches the config document as a client with this name, such as `@pennon/core/0.1.0`.
    pub async fn fetch_as(&self, client: impl TryInto<HeaderValue>) {
        let Ok(client) = client.try_into() else {
            panic!("no header has this value");
        };
        let request = self.request(Method::GET, "/sdk/v1/config");
        let answer = self.send(request.header("x-pennon-client", client)).await;
        answer.expect(StatusCode::OK);
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

    /// Returns the keys on a page of the list of flags, with a query such as `?archived=true`.
    pub async fn flag_keys(&self, query: &str) -> Vec<String> {
        let flags = self.get(&format!("/flags{query}")).await.items();
        let key = |flag: &Value| flag["key"].as_str().unwrap_or_default().to_owned();
        flags.iter().map(key).collect()
    }

    /// Returns the ID of the newest audit entry, except those about accounts.
    pub async fn newest_entry(&self) -> String {
        let newest = self.get("/audit?limit=1").await.expect(StatusCode::OK);
        newest.text("/items/0/id")
    }

    /// Returns the actions of the newest audit entries, newest first.
    pub async fn audited(&self) -> Vec<String> {
        self.audited_by("/audit?limit=100").await
    }

    /// Returns the actions of the newest audit entries, including those about accounts except the first administrator.
    pub async fn audited_with_accounts(&self) -> Vec<String> {
        self.audited_by("/audit?limit=100&include=accounts").await
    }

    async fn audited_by(&self, path: &str) -> Vec<String> {
        let entries = self.get(path).await.items();
        entries
            .iter()
            .filter(|entry| entry["newValue"]["email"] != EMAIL || entry["actorIdentity"] != "cli")
            .map(|entry| entry["action"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
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
