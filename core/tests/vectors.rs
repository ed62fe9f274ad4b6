//! The shared evaluation vectors, run natively.
//!
//! Each config is read twice, by serde and by the parser of the wasm engine, and each case is evaluated in every way
//! that the crate offers. All of them must return the expected result.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use pennon_core::config::{self, FlagConfig};
use pennon_core::context::CustomValue;
use pennon_core::rule::Attribute;
use pennon_core::{
    CompiledFlag, Context, Evaluation, MissingBucketingKey, Snapshot, Subject, UnsupportedFlag,
    Value, evaluate, explain,
};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    files: Vec<String>,
    cases: usize,
    future: FutureIndex,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FutureIndex {
    files: Vec<String>,
    cases: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a, C> {
    description: String,
    /// Raw text, so that both readers receive the file's escapes and white space.
    #[serde(borrow)]
    config: &'a RawValue,
    cases: Vec<C>,
}

#[derive(Deserialize)]
struct Document {
    flags: Vec<FlagConfig>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    description: String,
    key: String,
    #[serde(default)]
    context: serde_json::Value,
    #[serde(deserialize_with = "present")]
    expected: Option<Evaluation>,
}

/// A case with a document of a newer service.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FutureCase {
    description: String,
    key: String,
    context: serde_json::Value,
    #[serde(deserialize_with = "present")]
    expected: Option<FutureEvaluation>,
    /// The evaluation without a context.
    #[serde(deserialize_with = "present")]
    ahead: Option<Evaluation>,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(untagged)]
enum FutureEvaluation {
    Known(Evaluation),
    Unavailable(FutureOutcome),
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
enum FutureOutcome {
    Unsupported,
}

/// Reads an optional value from a required member, so that a missing `expected` does not count as an unknown flag.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    member: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(member)
}

#[test]
fn every_case_gives_the_expected_evaluation() -> Outcome {
    let index = index()?;
    let (mut run, mut failures) = (0, Vec::new());
    for name in &index.files {
        let text = fs::read_to_string(folder().join(name))?;
        let file: File<'_, Case> = serde_json::from_str(&text)?;
        let engine = Engine::start(file.config.get())?;
        for case in &file.cases {
            run += 1;
            if let Err(reason) = engine.check(case) {
                failures.push(format!("{name}: {}\n    {reason}", case.description));
            }
        }
    }
    // Bypasses the output of the test harness, which hides the count of a successful run.
    writeln!(io::stderr(), "{run} vectors in {} files", index.files.len())?;
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(run, index.cases, "index.json has another count");
    Ok(())
}

#[test]
fn an_unknown_value_of_a_newer_service_affects_only_one_flag() -> Outcome {
    let index = index()?.future;
    let mut run = 0;
    for name in &index.files {
        let text = fs::read_to_string(folder().join(name))?;
        let file: File<'_, FutureCase> = serde_json::from_str(&text)?;
        assert!(!file.description.is_empty(), "{name} has no description");
        let snapshot = Snapshot::parse(file.config.get().as_bytes())?;
        for case in &file.cases {
            run += 1;
            let flag = snapshot
                .find(&case.key)
                .and_then(|index| snapshot.get(index));
            let context = context(&case.context)?;
            let evaluated = flag.map(|flag| match flag {
                Ok(flag) => FutureEvaluation::Known(evaluate_flag(flag, &context)),
                Err(_) => FutureEvaluation::Unavailable(FutureOutcome::Unsupported),
            });
            let ahead = flag.map(|flag| match flag {
                Ok(flag) => evaluate(flag, &Context::default(), MissingBucketingKey::FallsThrough),
                Err(_) => UnsupportedFlag::WITHOUT_CONTEXT,
            });
            assert_eq!(evaluated, case.expected, "{name}: {}", case.description);
            assert_eq!(ahead, case.ahead, "{name}: {}", case.description);
        }
    }
    assert_eq!(run, index.cases, "index.json has another count");
    Ok(())
}

#[test]
fn every_file_of_the_folder_is_listed_once() -> Outcome {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder())? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.extend(
                path.file_name()
                    .map(|name| name.to_string_lossy().into_owned()),
            );
        }
    }
    found.remove("index.json");
    let Index { files, future, .. } = index()?;
    let listed = [files, future.files].concat();
    assert_eq!(
        listed.len(),
        found.len(),
        "a file is listed twice or not at all"
    );
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), found);
    Ok(())
}

#[test]
fn one_service_can_hold_all_files_at_once() -> Outcome {
    let (mut owners, mut evaluated_keys, mut unknown) =
        (BTreeMap::new(), BTreeSet::new(), Vec::new());
    for name in index()?.files {
        let text = fs::read_to_string(folder().join(&name))?;
        let file: File<'_, Case> = serde_json::from_str(&text)?;
        assert!(!file.description.is_empty(), "{name} has no description");
        for flag in config::parse(file.config.get().as_bytes())? {
            let other = owners.insert(flag.key.to_string(), name.clone());
            assert_eq!(other, None, "{} occurs twice, in {name} too", flag.key);
        }
        let mut descriptions = BTreeSet::new();
        for case in file.cases {
            let new = descriptions.insert(case.description.clone());
            assert!(
                new,
                "{name}: two cases have the description: {}",
                case.description
            );
            if case.expected.is_none() {
                unknown.push(case.key);
            } else {
                evaluated_keys.insert(case.key);
            }
        }
    }
    for key in unknown {
        assert!(
            !owners.contains_key(&key),
            "{key} is expected to be unknown"
        );
    }
    assert_eq!(
        owners.into_keys().collect::<BTreeSet<_>>(),
        evaluated_keys,
        "some flags have no case"
    );
    Ok(())
}

/// A config in every form that the cases test.
struct Engine {
    snapshot: Snapshot,
    by_serde: BTreeMap<Box<str>, CompiledFlag>,
}

impl Engine {
    fn start(text: &str) -> Outcome<Self> {
        let document: Document = serde_json::from_str(text)?;
        assert_eq!(
            config::parse(text.as_bytes())?,
            document.flags,
            "the two readers of the config disagree"
        );
        let compiled = document
            .flags
            .into_iter()
            .map(|flag| (flag.key.clone(), CompiledFlag::from(flag)));
        Ok(Self {
            snapshot: Snapshot::parse(text.as_bytes())?,
            by_serde: compiled.collect(),
        })
    }

    fn check(&self, case: &Case) -> Result<(), String> {
        let found = self
            .snapshot
            .find(&case.key)
            .and_then(|index| self.snapshot.get(index)?.ok());
        let by_serde = self.by_serde.get(&*case.key);
        let context = context(&case.context)?;
        let evaluations = [
            ("evaluate", found.map(|flag| evaluate_flag(flag, &context))),
            ("explain", found.map(|flag| explain_flag(flag, &context))),
            (
                "evaluate by slots",
                found.map(|flag| evaluate_flag(flag, &Slots::new(flag, &context))),
            ),
            (
                "evaluate as read by serde",
                by_serde.map(|flag| evaluate_flag(flag, &context)),
            ),
        ];
        for (way, evaluation) in evaluations {
            if evaluation != case.expected {
                return Err(format!(
                    "{way}: {evaluation:?} instead of {:?}",
                    case.expected
                ));
            }
        }
        Ok(())
    }
}

fn evaluate_flag(flag: &CompiledFlag, subject: &impl Subject) -> Evaluation {
    evaluate(flag, subject, MissingBucketingKey::Excluded)
}

fn explain_flag(flag: &CompiledFlag, subject: &impl Subject) -> Evaluation {
    explain(flag, subject, MissingBucketingKey::Excluded).evaluation
}

/// The values that a flag reads, in its order, as they cross the wasm boundary.
struct Slots<'a>(Vec<Option<Value<'a>>>);

impl<'a> Slots<'a> {
    fn new(flag: &CompiledFlag, context: &'a Context<'_>) -> Self {
        let value = |attribute| context.value(attribute, usize::MAX);
        Self(flag.attributes().iter().map(value).collect())
    }
}

impl Subject for Slots<'_> {
    fn value(&self, _: &Attribute, slot: usize) -> Option<Value<'_>> {
        *self.0.get(slot)?
    }
}

/// Reads a context as specified: `null` is absent, and unknown members are ignored.
fn context(json: &serde_json::Value) -> Result<Context<'_>, String> {
    let mut context = Context::default();
    for (name, value) in members(json)? {
        let builtin = match name {
            "userId" => &mut context.user_id,
            "tenantId" => &mut context.tenant_id,
            "email" => &mut context.email,
            "country" => &mut context.country,
            "customAttributes" => {
                for (name, value) in members(value)? {
                    context.custom.insert(name.into(), custom_value(value)?);
                }
                continue;
            }
            _ => continue,
        };
        let text = value
            .as_str()
            .ok_or("a built-in attribute is not a string")?;
        *builtin = Some(text.into());
    }
    Ok(context)
}

fn custom_value(json: &serde_json::Value) -> Result<CustomValue<'_>, String> {
    match json {
        serde_json::Value::String(text) => Ok(CustomValue::String(text.into())),
        serde_json::Value::Bool(boolean) => Ok(CustomValue::Boolean(*boolean)),
        serde_json::Value::Number(number) => number
            .as_f64()
            .map(CustomValue::Number)
            .ok_or_else(|| format!("{number} is not a double")),
        _ => Err(format!("{json} is not an attribute value")),
    }
}

/// Returns the members of an object that are not `null`; none for `null`.
fn members(
    json: &serde_json::Value,
) -> Result<impl Iterator<Item = (&str, &serde_json::Value)>, String> {
    let object = match json {
        serde_json::Value::Null => None,
        serde_json::Value::Object(object) => Some(object),
        _ => return Err(format!("{json} is not an object")),
    };
    let members = object.into_iter().flatten();
    Ok(members
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.as_str(), value)))
}

fn index() -> Outcome<Index> {
    let text = fs::read_to_string(folder().join("index.json"))?;
    Ok(serde_json::from_str(&text)?)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors")
}
