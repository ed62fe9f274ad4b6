//! `pennon types`: the keys of all flags as TypeScript, so that a misspelt one does not compile.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

use super::{read, read_as_is};
use crate::admin::transfer;
use crate::config::DatabaseSettings;

/// The source of the flags, and the file to write.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Read the output of `pennon export`, or the body of `GET /sdk/v1/config`, instead of the database; `-` reads the
    /// standard input.
    #[arg(long)]
    from: Option<PathBuf>,
    /// The file to write, such as `flags.d.ts`; the standard output if none is named.
    #[arg(long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseSettings,
}

/// The part that an export and a config document have in common.
#[derive(Deserialize)]
struct Flags {
    flags: Vec<Flag>,
}

#[derive(Deserialize)]
struct Flag {
    key: String,
    #[serde(default)]
    archived: bool,
    /// For people; a config document has none.
    name: Option<String>,
    description: Option<String>,
}

pub(super) async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let (text, origin) = match arguments.from {
        Some(file) => (read(&file)?, file.display().to_string()),
        None => (
            exported(&arguments.database).await?,
            "the export".to_owned(),
        ),
    };
    let flags: Flags = serde_json::from_slice(&text)
        .map_err(|error| format!("{origin} has no flags to read: {error}"))?;
    let declaration = declaration(flags.flags);
    match arguments.out {
        Some(file) => std::fs::write(&file, declaration)
            .map_err(|error| format!("{} cannot be written: {error}", file.display()))?,
        None => std::io::stdout().write_all(declaration.as_bytes())?,
    }
    Ok(())
}

async fn exported(database: &DatabaseSettings) -> Result<Vec<u8>, Box<dyn Error>> {
    let document = read_as_is(database, transfer::export).await?;
    Ok(serde_json::to_vec(&document)?)
}

/// The declaration of all flags that are in use, by key.
fn declaration(mut flags: Vec<Flag>) -> String {
    flags.retain(|flag| !flag.archived);
    flags.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    flags.dedup_by(|one, other| one.key == other.key);
    let mut text = String::from(
        "// Made by `pennon types`.\n\nimport \"@pennon/core\";\n\ndeclare module \"@pennon/core\" {\n  interface RegisteredFlags {\n",
    );
    for flag in &flags {
        if let Some(about) = about(flag) {
            // Writing to a text does not fail.
            let _ = writeln!(text, "    /** {about} */");
        }
        let _ = writeln!(text, "    {}: boolean;", property(&flag.key));
    }
    text.push_str("  }\n}\n");
    text
}

/// Returns the name and description of a flag, in one line that does not end the comment.
fn about(flag: &Flag) -> Option<String> {
    let name = flag.name.as_deref().filter(|name| **name != flag.key);
    let parts = [name, flag.description.as_deref()];
    let words = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let line = words.join(" ").replace("*/", "* /");
    (!line.is_empty()).then_some(line)
}

/// A key as the name of a property: in quotation marks unless it may stand alone.
fn property(key: &str) -> String {
    let is_start = |first: char| first.is_ascii_alphabetic() || first == '_';
    let is_name = key.starts_with(is_start)
        && key
            .chars()
            .all(|rest| rest.is_ascii_alphanumeric() || rest == '_');
    if is_name {
        key.to_owned()
    } else {
        serde_json::Value::from(key).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{Flag, about, property};

    #[test]
    fn a_key_is_quoted_where_typescript_wants_it() {
        assert_eq!(property("new_checkout"), "new_checkout");
        assert_eq!(property("__proto__"), "__proto__");
        assert_eq!(property("a.flag"), r#""a.flag""#);
        assert_eq!(property("2nd"), r#""2nd""#);
        assert_eq!(property("a\"b\\"), r#""a\"b\\""#);
    }

    #[test]
    fn what_a_flag_is_for_stays_within_its_comment() {
        let flag = |name: &str, description: Option<&str>| Flag {
            key: "checkout".to_owned(),
            archived: false,
            name: Some(name.to_owned()),
            description: description.map(str::to_owned),
        };
        assert_eq!(about(&flag("checkout", None)), None);
        assert_eq!(
            about(&flag("Checkout */ x", Some("two\n lines"))).as_deref(),
            Some("Checkout * / x: two lines")
        );
    }
}
