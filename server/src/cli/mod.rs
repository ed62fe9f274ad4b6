//! The command line: runs the server, and performs tasks on its database or on a running server.

mod backup;
mod bootstrap;
mod document;
mod explain;
mod export;
mod generate;
mod health;
mod import;
mod licenses;
mod lint;
mod restore;
mod types;
mod user;

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use clap::builder::{Resettable, StyledStr};
use clap::error::{ContextKind, ContextValue};
use clap::{Command as Grammar, CommandFactory, FromArgMatches, Parser, Subcommand};
use pennon_model::environment::Environment;

use crate::admin::{Admin, environments};
use crate::auth::actor::Actor;
use crate::auth::authority::Administrator;
use crate::clock::{Entropy, SystemClock};
use crate::config::{DatabaseSettings, SECRETS_HELP, Settings};
use crate::error::Error as Failure;
use crate::http;
use crate::store::OpenMode;

/// The version and the build: a commit with its date, or `development build`.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("PENNON_BUILD"), ")");

/// The name of the binary.
const NAME: &str = "pennon";

/// Pennon, the feature flag service that you host yourself
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    version = VERSION,
    args_conflicts_with_subcommands = true,
    after_help = SECRETS_HELP
)]
pub struct CommandLine {
    /// The command; without one, the server runs.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The settings of `serve`.
    #[command(flatten)]
    pub settings: Settings,
}

/// The commands of the binary.
#[derive(Debug, Subcommand)]
#[expect(
    clippy::large_enum_variant,
    reason = "only one value exists, and it is read once"
)]
pub enum Command {
    /// Serve the API and the dashboard
    #[command(after_help = SECRETS_HELP)]
    Serve(Settings),
    /// Copy the SQLite database to a file, even while the server runs
    Backup(backup::Arguments),
    /// Restore the SQLite database from a backup, while the server is stopped
    Restore(restore::Arguments),
    /// Print all flags and their configurations as JSON
    Export(export::Arguments),
    /// Import flags from an `export` file
    Import(import::Arguments),
    /// Print probable mistakes in rules and rollouts, and fail if any
    #[command(after_help = lint::EXAMPLES)]
    Lint(lint::Arguments),
    /// Evaluate a flag for a context, and print every step
    #[command(after_help = explain::EXAMPLES)]
    Explain(explain::Arguments),
    /// Check a running server's health (non-zero exit status if unhealthy)
    Health(health::Arguments),
    /// Create and list users, and change their roles and passwords
    User(user::Arguments),
    /// Generate TypeScript types for flag keys
    Types(types::Arguments),
    /// Generate an SDK key (server or public), a token, or a signing secret
    Generate(generate::Arguments),
    /// Print the OpenAPI 3.1 description of the API, as JSON
    Openapi,
    /// Print the licenses of everything in the binary
    Licenses,
}

impl CommandLine {
    /// Reads the arguments and the environment of the process. If they are invalid, or ask for help, prints a text and
    /// exits.
    pub fn of_process() -> Self {
        let arguments: Vec<_> = std::env::args_os().collect();
        let grammar = grammar(&arguments);
        let read = grammar.clone().try_get_matches_from(&arguments);
        read.and_then(|matches| Self::from_arg_matches(&matches))
            .unwrap_or_else(|error| named_variable(error, &grammar, &arguments).exit())
    }
}

/// Returns the grammar for these arguments. A command ignores the variables for settings of the server, so that an
/// invalid one cannot keep an operator from making a backup.
fn grammar(arguments: &[OsString]) -> Grammar {
    let first = arguments.get(1);
    if first.is_some_and(|first| CommandLine::command().find_subcommand(first).is_some()) {
        without_variables()
    } else {
        CommandLine::command()
    }
}

fn without_variables() -> Grammar {
    CommandLine::command().mut_args(|argument| argument.env(Resettable::Reset))
}

/// Adds the name of the environment variable to an error about its value.
fn named_variable(
    mut error: clap::Error,
    grammar: &Grammar,
    arguments: &[OsString],
) -> clap::Error {
    let invalid = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.clone(),
        _ => return error,
    };
    let option = invalid.split(' ').next().unwrap_or_default();
    let is_given = |argument: &OsString| {
        let argument = argument.to_string_lossy();
        argument.split('=').next() == Some(option)
    };
    if arguments.iter().any(is_given) {
        return error;
    }
    let of_command = arguments
        .get(1)
        .and_then(|name| grammar.find_subcommand(name));
    let settings = of_command.unwrap_or(grammar).get_arguments();
    let mut settings = settings.filter(|setting| setting.get_long() == option.strip_prefix("--"));
    if let Some(variable) = settings.find_map(|setting| setting.get_env()) {
        let tip = format!(
            "the value is that of the environment variable {}",
            variable.display()
        );
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Runs a command. Returns the settings of `serve`, which the caller runs.
pub async fn run(command: Command) -> Result<Option<Settings>, Box<dyn Error>> {
    match command {
        Command::Serve(settings) => return Ok(Some(settings)),
        Command::Backup(arguments) => backup::run(arguments).await?,
        Command::Restore(arguments) => restore::run(arguments).await?,
        Command::Export(arguments) => export::run(arguments).await?,
        Command::Import(arguments) => import::run(arguments).await?,
        Command::Lint(arguments) => lint::run(arguments).await?,
        Command::Explain(arguments) => explain::run(arguments).await?,
        Command::Health(arguments) => health::run(arguments).await?,
        Command::User(arguments) => user::run(arguments).await?,
        Command::Types(arguments) => types::run(arguments).await?,
        Command::Generate(arguments) => generate::run(&arguments)?,
        Command::Openapi => openapi()?,
        Command::Licenses => licenses::print()?,
    }
    Ok(None)
}

/// Prints the OpenAPI description.
fn openapi() -> std::io::Result<()> {
    print(http::description())
}

/// Prints a line. Unlike `println!`, it returns an error if the standard output cannot be written.
fn print(line: impl Display) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}")
}

/// Returns the content of a file; `-` reads the standard input.
fn read(file: &Path) -> Result<Vec<u8>, String> {
    let read = if file == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).map(|_| text)
    } else {
        std::fs::read(file)
    };
    read.map_err(|error| format!("{}: cannot be read: {error}", file.display()))
}

/// Opens an existing database for use cases, without serving requests.
async fn open(database: &DatabaseSettings, mode: OpenMode) -> Result<Admin, Box<dyn Error>> {
    let url = database.url()?;
    let settings = Settings::from_arg_matches(&without_variables().try_get_matches_from([NAME])?)?;
    let entropy = Entropy::from_system()?;
    Ok(Admin::open(&url, &settings, mode, Arc::new(SystemClock), entropy).await?)
}

/// Runs a read-only use case on a database without upgrading its schema.
async fn read_as_is<T, E: Into<Box<dyn Error>>>(
    database: &DatabaseSettings,
    use_case: impl AsyncFnOnce(&Admin, &Administrator) -> Result<T, E>,
) -> Result<T, Box<dyn Error>> {
    let admin = open(database, OpenMode::AsIs).await?;
    let actor = Actor::command_line().administrator()?;
    let done = use_case(&admin, &actor).await;
    admin.close().await;
    done.map_err(|error| explained(&admin, error))
}

/// Returns the active environment with this path, `product/name`. Fails if two have it, because a product and a name
/// can contain `/`.
async fn environment_at(
    admin: &Admin,
    actor: &Actor,
    path: &str,
) -> Result<Environment, Box<dyn Error>> {
    let mut found = environments::active(admin, actor).await?;
    found.retain(|environment| environment.path().to_string() == path);
    let environment = found.pop().ok_or_else(|| {
        format!("no active environment is called {path}; environments are named `product/name`")
    })?;
    match found.pop() {
        None => Ok(environment),
        Some(other) => Err(format!(
            "{path} can be `{}` of the product `{}` or `{}` of the product `{}`; rename one of them",
            other.name, other.product, environment.name, environment.product
        )
        .into()),
    }
}

/// Returns the error of a use case. If a query failed, and the schema is outdated and was not upgraded, the text names
/// that likely cause.
fn explained(admin: &Admin, error: impl Into<Box<dyn Error>>) -> Box<dyn Error> {
    let error = error.into();
    let is_of_query = matches!(
        error.downcast_ref::<Failure>(),
        Some(Failure::Internal(_) | Failure::Unavailable(_))
    );
    match admin.db.outdated() {
        Some(outdated) if is_of_query => format!("{outdated} ({error})").into(),
        _ => error,
    }
}
