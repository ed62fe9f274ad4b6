//! Callers of the server.

use std::net::SocketAddr;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::{Answer, EMAIL};

/// A caller of the server, with its credential.
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
