//! `pennon lint`: prints probable mistakes in rules and rollouts.

use std::error::Error;
use std::io::Write;

use clap::Args;
use pennon_core::Invalid;
use pennon_model::environment::ProductName;

use super::{read_as_is, unknown_environment};
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
    let filter = LintFilter {
        product: arguments.product,
        environment: arguments.environment,
    };
    let found = read_as_is(&arguments.database, async |admin, actor| {
        let found = lint::all(admin, actor, &filter).await;
        found.map_err(|error| match (&filter.environment, error) {
            (None, Failure::NotFound(Entity::Environment)) => {
                "no active environment belongs to this product".into()
            }
            (_, error) => unknown_environment(error),
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
