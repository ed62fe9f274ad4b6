//! The generator of `npm/core/src/engine/protocol.ts`.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use pennon_client::Options;
use pennon_core::Reason;
use pennon_core::context::MAX_CONTEXT_BYTES;
use pennon_core::rule::Attribute;

use super::{CommandKind, EventKind, FailureKind, FlagBit, OptionBit, RetryKind, SlotTag};

/// The environment variable that makes the test write the file.
const WRITE: &str = "PENNON_WRITE_PROTOCOL";

/// An enum for TypeScript: its members with their numbers and documentation.
pub(super) struct Enumeration {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) members: &'static [(&'static str, u32, &'static str)],
}

fn declare(enumeration: &Enumeration, out: &mut String) {
    let Enumeration { name, doc, members } = enumeration;
    let _infallible = writeln!(out, "\n/**{doc} */\nexport enum {name} {{");
    for (member, number, doc) in *members {
        let _infallible = writeln!(out, "  /**{doc} */\n  {member} = {number},");
    }
    out.push_str("}\n");
}

fn declare_list<'s>(
    name: &str,
    doc: &str,
    strings: impl Iterator<Item = &'s str>,
    out: &mut String,
) {
    let lines: Vec<String> = strings.map(|string| format!("  \"{string}\",\n")).collect();
    let lines = lines.concat();
    let _infallible = write!(
        out,
        "\n/** {doc} */\n// biome-ignore format: one word a line\nexport const {name} = [\n{lines}] as const;\n"
    );
}

/// Returns the options of a client by their names in JavaScript, with their defaults.
fn defaults() -> [(&'static str, u64); 5] {
    let options = Options::default();
    [
        ("pollIntervalMs", options.poll_interval),
        ("cacheTtlMs", options.ttl),
        ("retries", options.retries.into()),
        ("retryDelayMs", options.retry_delay),
        ("timeoutMs", options.timeout),
    ]
}

fn declare_defaults(out: &mut String) {
    out.push_str("\n/** The defaults of a client's options, in milliseconds and attempts. */\n");
    out.push_str("export const DEFAULTS = {\n");
    for (name, default) in defaults() {
        let _infallible = writeln!(out, "  {name}: {default},");
    }
    out.push_str("} as const;\n");
}

fn protocol() -> String {
    let mut out = format!(
        "// Written from sdk-wasm/src/protocol/mod.rs by `{WRITE}=1 cargo test --package pennon-sdk-wasm`.\n"
    );
    for enumeration in [
        EventKind::DECLARATION,
        RetryKind::DECLARATION,
        CommandKind::DECLARATION,
        FailureKind::DECLARATION,
        OptionBit::DECLARATION,
        FlagBit::DECLARATION,
        SlotTag::DECLARATION,
    ] {
        declare(&enumeration, &mut out);
    }
    let _infallible = writeln!(
        out,
        "\n/** The maximum size of all texts of a context, in bytes. */\nexport const MAX_CONTEXT_BYTES = {MAX_CONTEXT_BYTES};"
    );
    declare_defaults(&mut out);
    declare_list(
        "REASONS",
        "The reasons of evaluations, in the order of their numbers.",
        Reason::ALL.iter().map(|reason| reason.as_str()),
        &mut out,
    );
    declare_list(
        "BUILT_IN_ATTRIBUTES",
        "The built-in attributes, which are direct members of a context.",
        Attribute::BUILT_IN.iter().map(Attribute::as_str),
        &mut out,
    );
    out
}

#[test]
fn typescript_has_the_same_protocol() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../npm/core/src/engine/protocol.ts");
    let protocol = protocol();
    if env::var_os(WRITE).is_some() {
        fs::write(&path, &protocol).expect("the file can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == protocol,
        "{} differs from sdk-wasm/src/protocol/mod.rs: run this test with {WRITE}=1",
        path.display()
    );
}

#[test]
fn the_documentation_of_the_package_has_the_same_defaults() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../npm/core");
    let read = |file| fs::read_to_string(package.join(file)).expect("the file can be read");
    let (readme, options) = (read("README.md"), read("src/options.ts"));
    for (name, default) in defaults() {
        let row = format!("| `{name}` | {default} |");
        assert!(readme.contains(&row), "README.md lacks {row}");
        let member = format!("  readonly {name}?:");
        let before = options.split(&member).next().unwrap_or_default();
        let comment = before.rsplit("/**").next().unwrap_or_default();
        let sentence = format!("Default {default}.");
        assert!(comment.contains(&sentence), "{name} lacks {sentence}");
    }
}
