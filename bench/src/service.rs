//! A running server, and a signed-in user.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::database::Database;

const EMAIL: &str = "bench@example.com";
const PASSWORD: &str = "measured, not guessed";

/// The time limit for the server to start.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A server. Dropping this value kills it.
pub(crate) struct Service {
    process: Child,
    base_url: String,
    http: Client,
    token: Mutex<String>,
}

impl Service {
    /// Starts the server on a database and signs in.
    pub(crate) async fn start(server: &Path, database: &Database) -> Result<Self> {
        Self::start_logging(server, database, &[], "error", Stdio::inherit()).await
    }

    /// Starts the server with additional settings. It logs as by default, but the log is discarded.
    pub(crate) async fn start_with(
        server: &Path,
        database: &Database,
        settings: &[(&str, &str)],
    ) -> Result<Self> {
        Self::start_logging(server, database, settings, "info", Stdio::null()).await
    }

    /// Starts a server that logs every statement to a file, with its whole text and its request.
    pub(crate) async fn start_logging_statements(
        server: &Path,
        database: &Database,
        log: File,
    ) -> Result<Self> {
        Self::start_logging(
            server,
            database,
            &[],
            "sqlx::query=debug,pennon_server=info",
            log.into(),
        )
        .await
    }

    async fn start_logging(
        server: &Path,
        database: &Database,
        settings: &[(&str, &str)],
        level: &str,
        log: Stdio,
    ) -> Result<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let process = Command::new(server)
            .env("PENNON_LISTEN", address.to_string())
            .env("DATABASE_URL", database.url())
            .env("PENNON_ADMIN_EMAIL", EMAIL)
            .env("PENNON_ADMIN_PASSWORD", PASSWORD)
            .env("RUST_LOG", level)
            .envs(settings.iter().copied())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} does not start", server.display()))?;
        let mut service = Self {
            process,
            base_url: format!("http://{address}"),
            http: Client::new(),
            token: Mutex::default(),
        };
        service.wait_until_it_answers().await?;
        service.sign_in().await?;
        Ok(service)
    }

    /// Signs in to the API. All later calls use this session.
    pub(crate) async fn sign_in(&self) -> Result<()> {
        let credentials = json!({ "email": EMAIL, "password": PASSWORD });
        let tokens = self.send(Method::POST, "/auth/login", credentials).await?;
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = text(&tokens, "access_token")?;
        Ok(())
    }

    fn token(&self) -> String {
        let token = self.token.lock();
        token.unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn wait_until_it_answers(&mut self) -> Result<()> {
        let started = Instant::now();
        while self.get("/health/live").await.is_err() {
            if let Some(status) = self.process.try_wait()? {
                bail!("the server ended during its start ({status})");
            }
            if started.elapsed() > TIMEOUT {
                bail!("the server does not respond");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Sends a `GET` request. Any status other than success is an error.
    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        let request = self.http.get(format!("{}{path}", self.base_url));
        let response = request.bearer_auth(self.token()).send().await?;
        read(path, response).await
    }

    /// Signs in to the dashboard, and returns the cookie.
    pub(crate) async fn cookie(&self) -> Result<String> {
        let http = Client::builder().redirect(Policy::none()).build()?;
        let request = http.post(format!("{}/dashboard/login", self.base_url));
        let form = format!(
            "sign-in-email={}&sign-in-password={}",
            EMAIL.replace('@', "%40"),
            PASSWORD.replace(' ', "+").replace(',', "%2C")
        );
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "same-origin")
            .header("accept", "text/html")
            .body(form);
        let response = request.send().await?;
        let cookie = response
            .headers()
            .get("set-cookie")
            .context("the response has no cookie")?;
        let cookie = cookie.to_str()?.split(';').next().unwrap_or_default();
        Ok(cookie.to_owned())
    }

    /// Gets a page as a browser does, and returns the number of bytes transferred.
    pub(crate) async fn page(&self, path: &str, cookie: &str) -> Result<usize> {
        let request = self.http.get(format!("{}{path}", self.base_url));
        let request = request
            .header("cookie", cookie)
            .header("accept", "text/html")
            .header("accept-encoding", "gzip, br");
        let response = request.send().await?.error_for_status()?;
        Ok(response.bytes().await?.len())
    }

    /// Gets a page, and returns its HTML.
    pub(crate) async fn html(&self, path: &str, cookie: &str) -> Result<String> {
        let request = self.http.get(format!("{}{path}", self.base_url));
        let request = request
            .header("cookie", cookie)
            .header("accept", "text/html");
        let response = request.send().await?.error_for_status()?;
        Ok(response.text().await?)
    }

    /// Sends a request with a JSON body. Any status other than success is an error.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Value) -> Result<Value> {
        let request = self
            .http
            .request(method, format!("{}{path}", self.base_url));
        let response = request.bearer_auth(self.token()).json(&body).send().await?;
        read(path, response).await
    }

    /// Returns the host and port.
    pub(crate) fn address(&self) -> &str {
        self.base_url.trim_start_matches("http://")
    }

    /// Returns the ID of the process.
    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }

    /// Fetches the config document, and returns its entity tag and length.
    pub(crate) async fn document(&self, sdk_key: &str) -> Result<(String, usize)> {
        let request = self.http.get(format!("{}/sdk/v1/config", self.base_url));
        let response = request.bearer_auth(sdk_key).send().await?;
        let etag = response.error_for_status_ref()?.headers().get("etag");
        let etag = etag
            .context("the response has no entity tag")?
            .to_str()?
            .to_owned();
        Ok((etag, response.bytes().await?.len()))
    }

    /// Requests a config document that has not changed. Any status other than 304 is an error.
    pub(crate) async fn unchanged_document(&self, sdk_key: &str, etag: &str) -> Result<()> {
        let request = self.http.get(format!("{}/sdk/v1/config", self.base_url));
        let request = request.bearer_auth(sdk_key).header("if-none-match", etag);
        let status = request.send().await?.status();
        ensure!(
            status == StatusCode::NOT_MODIFIED,
            "the config document has changed: {status}"
        );
        Ok(())
    }

    /// Sends a request with an SDK key. Any status other than success is an error.
    pub(crate) async fn send_with_sdk_key(
        &self,
        path: &str,
        sdk_key: &str,
        body: &Value,
    ) -> Result<()> {
        let request = self.http.post(format!("{}{path}", self.base_url));
        let request = request.bearer_auth(sdk_key).json(body);
        read(path, request.send().await?).await.map(drop)
    }

    /// Returns the resident memory of the process in MiB, as Linux counts it.
    pub(crate) fn resident_mebibytes(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))
            .context("resident memory is read from /proc, which only Linux has")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kibibytes: f64 = kibibytes.context("/proc has no VmRSS")?.parse()?;
        Ok(kibibytes / 1024.0)
    }

    /// Evaluates a flag with an SDK key. Returns `None` if the response has no result.
    pub(crate) async fn is_on(&self, sdk_key: &str, flag: &str) -> Result<Option<bool>> {
        let request = self.http.post(format!("{}/sdk/v1/evaluate", self.base_url));
        let request = request
            .bearer_auth(sdk_key)
            .json(&json!({ "flagKey": flag }));
        let answer: Value = request.send().await?.json().await?;
        Ok(answer.get("enabled").and_then(Value::as_bool))
    }

    /// Creates an environment and returns its ID and SDK key.
    pub(crate) async fn environment(&self, name: &str) -> Result<(String, String)> {
        self.environment_of("bench", name).await
    }

    /// Creates an environment of a product, and returns its ID and its key.
    pub(crate) async fn environment_of(
        &self,
        product: &str,
        name: &str,
    ) -> Result<(String, String)> {
        let body = json!({ "product": product, "name": name });
        let created = self.send(Method::POST, "/environments", body).await?;
        Ok((text(&created, "id")?, text(&created, "sdkKey")?))
    }

    /// Creates a flag and returns its ID.
    pub(crate) async fn flag(&self, key: &str) -> Result<String> {
        let body = json!({ "key": key, "name": key, "type": "boolean" });
        text(&self.send(Method::POST, "/flags", body).await?, "id")
    }

    /// Enables or disables a flag in an environment.
    pub(crate) async fn switch(&self, flag: &str, environment: &str, enabled: bool) -> Result<()> {
        let path = format!("/flags/{flag}/environments/{environment}");
        let body = json!({ "isEnabled": enabled });
        self.send(Method::PUT, &path, body).await.map(drop)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The process may have ended already.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

async fn read(path: &str, response: Response) -> Result<Value> {
    let status = response.status();
    let body = response.bytes().await?;
    if !status.is_success() {
        bail!("{path}: {status} {}", String::from_utf8_lossy(&body));
    }
    if body.is_empty() {
        return Ok(Value::Null);
    }
    Ok(serde_json::from_slice(&body)?)
}

fn text(answer: &Value, member: &str) -> Result<String> {
    let text = answer.get(member).and_then(Value::as_str);
    text.map(str::to_owned)
        .with_context(|| format!("no {member} in {answer}"))
}
