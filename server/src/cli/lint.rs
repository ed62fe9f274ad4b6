//! `pennon lint`: prints probable mistakes in rules and rollouts.

use std::error::Error;
use std::io::Write;

use clap::Args;
use pennon_core::Invalid;
use pennon_model::environment::ProductName;

use super::{environment_at, read_as_is};
use crate::admin::lint::{self, LintFilter, LintedFlag};
use crate::config::DatabaseSettings;
use crate::error::{Entity, Error as Failure};

pub(super) const EXAMPLES: &str = "Examples:
  pennon lint
  pennon lint --environment 'Web shop/production'";

/// The environments to check and the database.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Check only the environments of this product
    #[arg(long, value_parser = product)]
    product: Option<ProductName>,
    /// Check only this environment, as `product/name`
    #[arg(long)]
    environment: Option<String>,
    #[command(flatten)]
    database: DatabaseSettings,
}

fn product(text: &str) -> Result<ProductName, Invalid> {
    text.to_owned().try_into()
}

/// Prints one line for each mistake, and fails if there are any.
pub(super) async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments {
        product,
        environment,
        database,
    } = arguments;
    let found = read_as_is(&database, async |admin, actor| {
        let environment = match environment {
            Some(path) => Some(environment_at(admin, actor, &path).await?.path()),
            None => None,
        };
        let filter = LintFilter {
            product,
            environment,
        };
        let found = lint::all(admin, actor, &filter).await;
        found.map_err(|error| match (error, &filter.environment) {
            (Failure::NotFound(Entity::Environment), None) => {
                "no active environment belongs to this product".into()
            }
            (Failure::NotFound(Entity::Environment), Some(path)) => {
                format!("{path} does not belong to this product").into()
            }
            (error, _) => Box::<dyn Error>::from(error),
        })
    });
    let found = found.await?;
    let lines: String = found.iter().map(line).collect();
    std::io::stdout().write_all(lines.as_bytes())?;
    match found.len() {
        0 => Ok(()),
        1 => Err("1 probable mistake".into()),
        count => Err(format!("{count} probable mistakes").into()),
    }
}

/// Formats a mistake: `checkout in Web shop/production: The rule with the priority 2 …`.
fn line(found: &LintedFlag) -> String {
    let LintedFlag {
        flag,
        environment,
        finding,
    } = found;
    format!("{flag} in {environment}: {}\n", finding.detail)
}
