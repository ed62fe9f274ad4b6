//! `pennon import`: applies an exported document.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pennon_core::Invalid;
use pennon_model::audit::ChangeReason;
use pennon_model::configuration::Switch;
use pennon_model::environment::EnvironmentPath;
use pennon_model::flag::FlagProducts;
use serde_json::Value;

use super::document::{self, Problem};
use super::{explained, open, read};
use crate::admin::Admin;
use crate::admin::patch::Patch;
use crate::admin::targeting::ConfigurationContent;
use crate::admin::transfer::{
    self, Document, FORMAT_VERSION, ImportedChange, PortableConfiguration, PortableFlag,
};
use crate::admin::warnings::Warning;
use crate::auth::actor::Actor;
use crate::config::DatabaseSettings;
use crate::error::join_paths;
use crate::http::fields::{Fields, FromFields, from_fields};
use crate::store::OpenMode;

/// The maximum number of flags in a document, and of environments in a flag.
pub(super) const MAX_ITEMS: usize = 1_000_000;

/// Introduces the faults of a document.
const NOTHING_IMPORTED: &str = "nothing was imported";

/// The file to import and the database.
#[derive(Debug, Args)]
pub struct Arguments {
    /// File printed by `pennon export`; `-` reads the standard input
    file: PathBuf,
    /// The reason for the changes, for the audit log
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    reason: Option<ChangeReason>,
    /// Only print the changes
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

pub(super) async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments {
        file,
        reason,
        dry_run,
        database,
    } = arguments;
    let document = read_document(&file)?;
    let mode = if dry_run {
        OpenMode::AsIs
    } else {
        OpenMode::Upgrade
    };
    let admin = open(&database, mode).await?;
    let actor = Actor::command_line().with_reason(reason).administrator()?;
    let imported = transfer::import(&admin, &actor, &document, dry_run).await;
    // If the warnings cannot be read, the import is kept.
    let warnings = match &imported {
        Ok(imported) => transfer::warnings(&admin, &actor, &document, &imported.changes).await,
        Err(_) => Ok(Vec::new()),
    };
    admin.close().await;
    let imported = imported.map_err(|error| import_error(&admin, &file, error))?;
    let printed = print_changes(&imported.changes);
    print_warnings(warnings, &imported.unexplained);
    match (imported.changes.len(), dry_run) {
        (0, _) => eprintln!("nothing to change"),
        (count, true) => eprintln!("{count} to change; nothing was changed"),
        (count, false) => eprintln!("{count} changed"),
    }
    printed.map_err(|error| match error.kind() {
        // Nobody reads the output any more.
        io::ErrorKind::BrokenPipe => error.into(),
        _ if dry_run => error.into(),
        _ => format!("the import was saved, but cannot be printed: {error}").into(),
    })
}

fn read_document(file: &Path) -> Result<Document, Box<dyn Error>> {
    let document = document::parse(&read(file)?);
    document.map_err(|problem| problem.in_file(file, NOTHING_IMPORTED).into())
}

/// Returns the error of an import with its remedy.
fn import_error(admin: &Admin, file: &Path, error: crate::error::Error) -> Box<dyn Error> {
    match error {
        crate::error::Error::Invalid(faults) => Problem::Faults(faults)
            .in_file(file, NOTHING_IMPORTED)
            .into(),
        crate::error::Error::ReasonRequired(environments) => needs_reason(&environments).into(),
        error => explained(admin, error),
    }
}

/// Prints the changes to the standard output.
fn print_changes(changes: &[ImportedChange]) -> io::Result<()> {
    let lines: String = changes.iter().map(line).collect();
    io::stdout().write_all(lines.as_bytes())
}

/// Prints the warnings about clients, and the environments that require a reason, to the standard error.
fn print_warnings(
    warnings: Result<Vec<(EnvironmentPath, Warning)>, crate::error::Error>,
    unexplained: &[EnvironmentPath],
) {
    match warnings {
        Ok(warnings) => {
            for (environment, warning) in warnings {
                eprintln!("warning: {environment}: {}", warning.detail);
            }
        }
        Err(error) => eprintln!("warning: cannot check which clients can read this: {error}"),
    }
    if !unexplained.is_empty() {
        eprintln!("warning: {}", needs_reason(unexplained));
    }
}

fn needs_reason(environments: &[EnvironmentPath]) -> String {
    let environments = join_paths(environments);
    format!("changes in {environments} require a reason; give it with `--reason`")
}

fn reason(text: &str) -> Result<ChangeReason, &'static str> {
    ChangeReason::try_from(text.to_owned()).map_err(Invalid::detail)
}

/// Formats a change for printing: `RULE_UPDATED checkout in shop/prod: {…} -> {…}`.
fn line(change: &ImportedChange) -> String {
    let json = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
    let environment = change.environment.as_ref();
    format!(
        "{} {}{}: {} -> {}\n",
        change.action,
        change.flag,
        environment
            .map(|environment| format!(" in {environment}"))
            .unwrap_or_default(),
        json(&change.old),
        json(&change.new),
    )
}

impl FromFields for Document {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        Some(Self {
            format_version: FORMAT_VERSION,
            flags: fields.list("flags", 0..=MAX_ITEMS)?,
        })
    }
}

from_fields! {
    PortableFlag {
        key: required("key"),
        name: required("name"),
        description: nullable("description"),
        flag_type: required("type"),
        products: patch_set("products", 1..=FlagProducts::MAX).map(|products: Patch<_>| products.applied_to(None)),
        is_public: or_default("public"),
        metadata: flattened(),
        archived: or_default("archived"),
        environments: list("environments", 0..=MAX_ITEMS),
    }
}

impl FromFields for PortableConfiguration {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let product = fields.required("product");
        let environment = fields.required("environment");
        let is_enabled = fields.required("isEnabled");
        let ttl = fields.nullable("ttlOverrideSeconds");
        let rules = fields.list("rules", 0..=pennon_core::rule::MAX_RULES);
        let rollout = fields.nullable_object("rollout");
        Some(Self {
            product: product?,
            environment: environment?,
            content: ConfigurationContent {
                switch: Switch {
                    is_enabled: is_enabled?,
                    ttl: ttl?,
                },
                rules: rules?,
                rollout: rollout?,
            },
        })
    }
}
