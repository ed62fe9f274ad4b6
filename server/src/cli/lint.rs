//! `pennon lint`: prints probable mistakes in rules and rollouts.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use pennon_core::Invalid;
use pennon_model::environment::ProductName;

use super::{document, environment_at, read, read_as_is};
use crate::admin::lint::{self, LintFilter, LintedFlag};
use crate::admin::transfer::{Document, PortableConfiguration};
use crate::config::DatabaseSettings;
use crate::error::{Entity, Error as Failure};

pub(super) const EXAMPLES: &str = "Examples:
  pennon lint
  pennon lint --environment 'Web shop/production'
  pennon lint --from flags.json";

/// The environments to check and the database.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Read flags from a file printed by `pennon export` instead of the database; `-` reads the standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
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
        from,
        product,
        environment,
        database,
    } = arguments;
    let found = match from {
        Some(file) => in_file(&file, product, environment)?,
        None => in_database(&database, product, environment).await?,
    };
    let lines: String = found.iter().map(line).collect();
    std::io::stdout().write_all(lines.as_bytes())?;
    match found.len() {
        0 => Ok(()),
        1 => Err("1 probable mistake".into()),
        count => Err(format!("{count} probable mistakes").into()),
    }
}

fn in_file(
    file: &Path,
    product: Option<ProductName>,
    environment: Option<String>,
) -> Result<Vec<LintedFlag>, Box<dyn Error>> {
    let document: Document = document::parse(&read(file)?)
        .map_err(|problem| problem.in_file(file, "the file is not an export"))?;
    let missing = |name: &str| format!("{}: no flag is configured in {name}", file.display());
    let flags = document.flags.iter();
    let mut configurations = flags.flat_map(|flag| flag.environments.iter());
    let environment = match environment {
        Some(text) => {
            let mut paths = configurations.clone().map(PortableConfiguration::path);
            let found = paths.find(|path| path.to_string() == text);
            Some(found.ok_or_else(|| missing(&text))?)
        }
        None => None,
    };
    if let Some(product) = &product
        && !configurations.any(|each| each.product == *product)
    {
        return Err(missing(product.as_str()).into());
    }
    let filter = LintFilter {
        product,
        environment,
    };
    Ok(lint::in_document(&document, &filter))
}

async fn in_database(
    database: &DatabaseSettings,
    product: Option<ProductName>,
    environment: Option<String>,
) -> Result<Vec<LintedFlag>, Box<dyn Error>> {
    read_as_is(database, async |admin, actor| {
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
    })
    .await
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
