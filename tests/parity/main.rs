//! Compares all evaluators: the core natively, `@pennon/core` in Node.js, and the server over HTTP.
//!
//! Flags and contexts are random, but the same for the same seed. If two evaluators disagree, the flag and the context
//! are minimized before they are printed.

#![expect(clippy::expect_used, reason = "a failure must name the line")]

#[path = "../../core/tests/properties/generate.rs"]
mod generate;

mod cases;
mod engines;
mod minimize;

use std::process::ExitCode;

use clap::Parser;
use pennon_core::Evaluation;

use self::cases::{Cases, Round};
use self::engines::Engine;
use self::minimize::minimize;

/// The npm package with its engine in wasm, and with the one in plain JavaScript.
const PACKAGES: [&str; 2] = ["@pennon/core", "@pennon/core/without-wasm"];

/// The extent of the comparison.
#[derive(Parser)]
struct CommandLine {
    /// The minimum number of pairs of a flag and a context to compare.
    #[arg(long, default_value_t = 100_000)]
    pairs: usize,
    /// The seed of the random flags and contexts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A module to import in Node.js: the package, or an entry point with another engine. May be repeated.
    #[arg(long, default_values_t = PACKAGES.map(str::to_owned))]
    package: Vec<String>,
}

/// A flag and a context about which two engines disagree.
struct Mismatch {
    engine: usize,
    flag: usize,
    context: usize,
}

#[tokio::main]
async fn main() -> ExitCode {
    let CommandLine {
        pairs,
        seed,
        package,
    } = CommandLine::parse();
    let mut engines = vec![Engine::Native];
    engines.extend(package.into_iter().map(Engine::node));
    engines.push(Engine::server().await);
    match compare(&mut engines, pairs, seed).await {
        Ok(compared) => {
            let names: Vec<String> = engines.iter().map(Engine::name).collect();
            println!(
                "parity: {compared} pairs, 0 mismatches, seed {seed}: {}",
                names.join(", ")
            );
            ExitCode::SUCCESS
        }
        Err(mismatch) => {
            eprintln!("{mismatch}\nseed: {seed}");
            ExitCode::FAILURE
        }
    }
}

/// Compares all engines on at least this many pairs of a flag and a context. Returns the number of pairs, or the first
/// mismatch.
async fn compare(engines: &mut [Engine], pairs: usize, seed: u64) -> Result<usize, String> {
    let mut cases = Cases::from_seed(seed);
    let mut compared = 0;
    while compared < pairs {
        let mut round = cases.round();
        let mut answers = Vec::new();
        for engine in &mut *engines {
            answers.push(engine.answer(&round.flags(), &round.contexts()).await);
        }
        if let Some(mismatch) = mismatch(&round, &answers) {
            return Err(described(engines, &mut round, &mismatch).await);
        }
        compared += round.pairs();
    }
    Ok(compared)
}

/// Returns the first pair for which an engine's evaluation differs from that of the first engine.
fn mismatch(round: &Round, answers: &[Vec<Evaluation>]) -> Option<Mismatch> {
    let (expected, others) = answers.split_first()?;
    others.iter().enumerate().find_map(|(engine, answers)| {
        assert_eq!(answers.len(), expected.len(), "one evaluation per pair");
        let position = answers.iter().zip(expected).position(|(a, b)| a != b)?;
        Some(Mismatch {
            engine: engine + 1,
            flag: round.flag_at(position),
            context: round.context_at(position),
        })
    })
}

async fn described(engines: &mut [Engine], round: &mut Round, mismatch: &Mismatch) -> String {
    let [native, .., other] = &mut engines[..=mismatch.engine] else {
        unreachable!("the first engine is no other than itself");
    };
    let pair = round.take(mismatch.flag, mismatch.context);
    let (flag, context) = minimize(pair, native, other).await;
    let expected = native.about(&flag, &context).await;
    let answered = other.about(&flag, &context).await;
    format!(
        "{} and {} disagree:\n  flag: {}\n  context: {}\n  {}: {}\n  {}: {}",
        native.name(),
        other.name(),
        serde_json::to_string(&flag).unwrap_or_default(),
        cases::json(&context),
        native.name(),
        engines::text(expected),
        other.name(),
        engines::text(answered),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_planted_fault_is_found_and_minimized() {
        let mut engines = [Engine::Native, Engine::Planted];
        let found = compare(&mut engines, 10_000, 1).await.unwrap_err();
        assert!(found.contains("native and planted disagree"), "{found}");
        assert!(found.contains(r#""rules":[]"#), "{found}");
        assert!(found.contains(r#""customAttributes":{}"#), "{found}");
    }

    #[tokio::test]
    async fn engines_that_agree_evaluate_every_pair() {
        let mut engines = [Engine::Native, Engine::Native];
        assert_eq!(compare(&mut engines, 3_000, 1).await, Ok(4_000));
    }
}
