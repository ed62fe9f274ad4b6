//! The yardstick: an axum server that only parses requests, looks up flags in a map, and sends responses.
#![expect(
    clippy::disallowed_types,
    reason = "nobody reads the errors of this server, so axum's default errors suffice"
)]

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result};
use axum::extract::State;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

/// The body of the response, which has 40 bytes.
const RESPONSE: &str = r#"{"enabled":true,"reason":"targeting_rul"}"#;

/// The number of flags in the map.
const FLAGS: usize = 10_000;

/// A bare server in a separate process. Dropping this value kills it.
pub(crate) struct Bare {
    process: Child,
    address: String,
}

impl Bare {
    /// Starts this program again as a bare server, whose document has this many bytes.
    pub(crate) async fn start(document: usize) -> Result<Self> {
        Self::start_program(&std::env::current_exe()?, document).await
    }

    /// Starts a program that runs this one.
    pub(crate) async fn start_program(program: &Path, document: usize) -> Result<Self> {
        let mut process = Command::new(program)
            .args(["bare", "--document", &document.to_string()])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process
            .stdout
            .take()
            .context("the bare server has no output")?;
        let address = BufReader::new(output).lines().next_line().await?;
        Ok(Self {
            process,
            address: address.context("the bare server does not start")?,
        })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn process(&self) -> Result<u32> {
        self.process.id().context("the bare server has ended")
    }
}

/// Serves until it is killed. The first line that it prints is its address.
pub(crate) async fn serve(document: usize) -> Result<()> {
    let known = (1..=FLAGS).map(|number| (format!("seeded_{number}"), number % 2 == 0));
    let bare = &*Box::leak(Box::new(Known {
        flags: known.collect(),
        document: Bytes::from(vec![b' '; document]),
    }));
    let app = Router::new()
        .route("/evaluate", post(evaluate))
        .route("/batch", post(batch))
        .route("/config", get(config))
        .with_state(bare);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // As in Pennon. Without it, responses are delayed.
        _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await?;
    Ok(())
}

struct Known {
    flags: HashMap<String, bool>,
    document: Bytes,
}

/// The body of an evaluation request, in the form that serde reads fastest into owned values.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateRequest {
    flag_key: String,
    #[serde(rename = "context")]
    _context: Context,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    #[serde(rename = "userId")]
    _user_id: Option<String>,
    #[serde(rename = "country")]
    _country: Option<String>,
    #[serde(rename = "customAttributes")]
    _custom_attributes: HashMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct BatchRequest {
    evaluations: Vec<EvaluateRequest>,
}

#[derive(Serialize)]
struct Evaluation {
    enabled: bool,
    reason: &'static str,
}

async fn evaluate(
    _: Json<EvaluateRequest>,
) -> ([(http::HeaderName, &'static str); 1], &'static str) {
    ([(CONTENT_TYPE, "application/json")], RESPONSE)
}

async fn batch(
    State(known): State<&'static Known>,
    Json(request): Json<BatchRequest>,
) -> Json<Vec<Evaluation>> {
    let evaluation = |request: &EvaluateRequest| {
        let found = known.flags.get(&request.flag_key);
        Evaluation {
            enabled: found.copied().unwrap_or_default(),
            reason: "flag_enabled",
        }
    };
    Json(request.evaluations.iter().map(evaluation).collect())
}

async fn config(State(known): State<&'static Known>) -> Bytes {
    known.document.clone()
}
