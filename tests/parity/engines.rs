//! All evaluators.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use pennon_core::context::Context;
use pennon_core::{CompiledFlag, Evaluation, FlagConfig, MissingBucketingKey, evaluate};
use pennon_tests::TestApp;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::cases;

/// The Node.js program that evaluates with an npm package.
const ANSWER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/answer.js");

/// The maximum number of evaluations in a batch.
const BATCH: usize = 100;

/// An evaluator.
pub(crate) enum Engine {
    /// The core, compiled into this program.
    Native,
    /// An npm package in Node.js.
    Node(Box<Node>),
    /// The server.
    Server(Box<Server>),
    /// The core with a planted fault: each rollout includes one bucket too many.
    #[cfg(test)]
    Planted,
}

pub(crate) struct Node {
    package: String,
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

pub(crate) struct Server {
    app: TestApp,
    /// The IDs of `flag_0`, `flag_1` and so on.
    flags: Vec<String>,
    environments: usize,
}

impl Engine {
    /// Starts Node.js with a package.
    pub(crate) fn node(package: String) -> Self {
        let mut process = Command::new("node")
            .args([ANSWER, &package])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node starts");
        let questions = process.stdin.take().expect("its input is a pipe");
        let answers = process.stdout.take().expect("its output is a pipe");
        Self::Node(Box::new(Node {
            package,
            process,
            questions,
            answers: BufReader::new(answers),
        }))
    }

    /// Starts the server.
    pub(crate) async fn server() -> Self {
        Self::Server(Box::new(Server {
            app: TestApp::start().await,
            flags: Vec::new(),
            environments: 0,
        }))
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Native => "native".to_owned(),
            Self::Node(node) => node.package.clone(),
            Self::Server(_) => "HTTP".to_owned(),
            #[cfg(test)]
            Self::Planted => "planted".to_owned(),
        }
    }

    /// Evaluates each flag for each context: the first flag for all contexts, then the second flag, and so on.
    pub(crate) async fn answer(
        &mut self,
        flags: &[FlagConfig],
        contexts: &[Context<'static>],
    ) -> Vec<Evaluation> {
        match self {
            Self::Native => natively(flags, contexts),
            Self::Node(node) => node.answer(flags, contexts),
            Self::Server(server) => server.answer(flags, contexts).await,
            #[cfg(test)]
            Self::Planted => natively(&flags.iter().map(planted).collect::<Vec<_>>(), contexts),
        }
    }

    /// Evaluates one flag for one context.
    pub(crate) async fn about(
        &mut self,
        flag: &FlagConfig,
        context: &Context<'static>,
    ) -> Option<Evaluation> {
        let answers = self
            .answer(std::slice::from_ref(flag), std::slice::from_ref(context))
            .await;
        answers.first().copied()
    }
}

/// Formats an evaluation as JSON, as callers get it.
pub(crate) fn text(evaluation: Option<Evaluation>) -> String {
    json!(evaluation).to_string()
}

fn natively(flags: &[FlagConfig], contexts: &[Context<'static>]) -> Vec<Evaluation> {
    let compiled = flags.iter().cloned().map(CompiledFlag::from);
    let about = |flag: CompiledFlag| {
        let decide = move |context| evaluate(&flag, context, MissingBucketingKey::Excluded);
        contexts.iter().map(decide)
    };
    compiled.flat_map(about).collect()
}

#[cfg(test)]
fn planted(flag: &FlagConfig) -> FlagConfig {
    use pennon_core::rollout::Percentage;

    let mut flag = flag.clone();
    if let Some(rollout) = &mut flag.rollout {
        let more = Percentage::try_from(i64::from(rollout.percentage.get()) + 1);
        rollout.percentage = more.unwrap_or(rollout.percentage);
    }
    flag
}

impl Node {
    fn answer(&mut self, flags: &[FlagConfig], contexts: &[Context<'static>]) -> Vec<Evaluation> {
        let contexts: Vec<Value> = contexts.iter().map(cases::json).collect();
        let question = json!({ "config": { "flags": flags }, "contexts": contexts });
        writeln!(self.questions, "{question}").expect("Node listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("Node answers");
        serde_json::from_str(&answer).expect("Node answers with evaluations")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ended = self.process.kill();
        let _reaped = self.process.wait();
    }
}

impl Server {
    async fn answer(
        &mut self,
        flags: &[FlagConfig],
        contexts: &[Context<'static>],
    ) -> Vec<Evaluation> {
        let sdk_key = self.configure(flags).await;
        let sdk = self.app.sdk(&sdk_key);
        let questions: Vec<Value> = flags
            .iter()
            .flat_map(|flag| {
                let about =
                    |context| json!({ "flagKey": flag.key, "context": cases::json(context) });
                contexts.iter().map(about)
            })
            .collect();
        let mut answers = Vec::new();
        for batch in questions.chunks(BATCH) {
            let batch = sdk.post("/sdk/v1/evaluate/batch", json!({ "evaluations": batch }));
            let batch = batch.await.expect(StatusCode::OK).json();
            let batch: Vec<Evaluation> = serde_json::from_value(batch).expect("evaluations");
            answers.extend(batch);
        }
        answers
    }

    /// Creates the flags and a new environment, and returns its SDK key.
    async fn configure(&mut self, flags: &[FlagConfig]) -> String {
        let admin = self.app.admin().await;
        while self.flags.len() < flags.len() {
            let key = format!("flag_{}", self.flags.len());
            self.flags.push(admin.flag(&key).await);
        }
        self.environments += 1;
        let name = format!("round_{}", self.environments);
        let (environment, sdk_key) = admin.environment("parity", &name).await;
        for (config, flag) in flags.iter().zip(&self.flags) {
            let path = format!("/flags/{flag}/environments/{environment}");
            for rule in &config.rules {
                admin
                    .post(&format!("{path}/rules"), json!(rule))
                    .await
                    .expect(StatusCode::CREATED);
            }
            if let Some(rollout) = config.rollout {
                admin
                    .put(&format!("{path}/rollout"), json!(rollout))
                    .await
                    .expect(StatusCode::CREATED);
            }
            admin.switch(flag, &environment, config.enabled).await;
        }
        sdk_key
    }
}
