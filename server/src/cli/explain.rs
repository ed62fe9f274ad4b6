//! `pennon explain`: evaluates a flag for a context, and prints every step.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use clap::Args;
use pennon_core::Context;
use pennon_core::evaluate::{ConditionTrace, Outcome, RolloutTrace, RuleTrace};
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::json::Json;

use super::{environment_at, read, read_as_is};
use crate::admin::lint::comparison;
use crate::admin::{flags, targeting};
use crate::config::DatabaseSettings;
use crate::error::{Entity, Error as Failure, on_one_line};
use crate::evaluation::explanation::Explained;
use crate::http::fields::Fields;

pub(super) const EXAMPLES: &str = "Example:
  pennon explain new_checkout --environment 'Web shop/production' \\
    --context '{\"userId\": \"ada\", \"customAttributes\": {\"plan\": 3}}'";

/// The evaluation and the database.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Key of the flag
    flag: String,
    /// Environment, as `product/name`
    #[arg(long)]
    environment: String,
    /// Evaluation context as JSON; `-` reads the standard input
    #[arg(long, default_value = "{}")]
    context: String,
    /// Print the explanation as JSON, as the API returns it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

pub(super) async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments {
        flag,
        environment,
        context,
        json,
        database,
    } = arguments;
    let text = match context.as_str() {
        "-" => read(Path::new("-"))?,
        _ => context.into_bytes(),
    };
    let context = parsed(&text)?;
    let explained = read_as_is(&database, async |admin, actor| {
        let found = flags::by_key(admin, actor, &flag).await?;
        let id = FlagEnvironmentId {
            flag: found.ok_or(Failure::NotFound(Entity::Flag))?.id,
            environment: environment_at(admin, actor, &environment).await?.id,
        };
        Ok::<_, Box<dyn Error>>(targeting::explain(admin, actor, id, &context).await?)
    });
    let explained = explained.await?;
    let mut printed = if json {
        serde_json::to_string_pretty(&explained)?
    } else {
        format!("{flag} in {environment}: {}", described(&explained)?)
    };
    printed.push('\n');
    std::io::stdout().write_all(printed.as_bytes())?;
    Ok(())
}

/// Parses a context by the rules of the API.
fn parsed(text: &[u8]) -> Result<Context<'static>, String> {
    let context: Json<'_> = serde_json::from_slice(text)
        .map_err(|error| format!("the context is not valid JSON: {error}"))?;
    let members = Json::Object(vec![("context".into(), context)]);
    Fields::read(members, |fields| fields.context("context")).map_err(|faults| on_one_line(&faults))
}

/// Describes the result, and each step on its own line.
fn described(explained: &Explained) -> Result<String, std::fmt::Error> {
    let evaluation = explained.evaluation;
    let mut text = format!("{} ({})", on_off(evaluation.enabled), evaluation.reason);
    for rule in &explained.rules {
        describe_rule(&mut text, &rule.trace)?;
    }
    if let Some(rollout) = &explained.rollout {
        describe_rollout(&mut text, rollout, evaluation.enabled)?;
    }
    Ok(text)
}

fn describe_rule(text: &mut String, rule: &RuleTrace) -> std::fmt::Result {
    let matched = if rule.matched {
        format!("matched, so {}", on_off(rule.value))
    } else {
        "did not match".to_owned()
    };
    let (priority, logic) = (rule.priority.get(), rule.logic);
    write!(text, "\n  rule {priority} ({logic}): {matched}")?;
    for condition in &rule.conditions {
        describe_condition(text, condition)?;
    }
    Ok(())
}

fn describe_condition(text: &mut String, traced: &ConditionTrace) -> std::fmt::Result {
    let outcome = match traced.outcome {
        Outcome::Held => "held",
        Outcome::DidNotHold => "did not hold",
        Outcome::Missing => "the context lacks the attribute",
        Outcome::OtherType => "the value has another type",
    };
    write!(text, "\n    {}: {outcome}", comparison(&traced.condition))?;
    match traced.actual.as_ref().map(serde_json::to_string) {
        Some(Ok(actual)) => write!(text, ", with {actual}"),
        _ => Ok(()),
    }
}

fn describe_rollout(text: &mut String, rollout: &RolloutTrace, enabled: bool) -> std::fmt::Result {
    let RolloutTrace {
        strategy,
        percentage,
        bucket,
    } = rollout;
    write!(text, "\n  rollout {}% ({strategy}): ", percentage.get())?;
    let side = if enabled { "in" } else { "out" };
    match bucket {
        Some(bucket) => write!(text, "bucket {bucket}, so {side}"),
        None => write!(text, "no bucketing key, so {side}"),
    }
}

fn on_off(enabled: bool) -> &'static str {
    if enabled { "on" } else { "off" }
}
