//! The config document: both readers agree on every document, and no input makes the hand-written one panic.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io;

use pennon_core::config::{self, FlagConfig};
use pennon_core::ttl::Ttl;
use pennon_core::{
    CompiledFlag, Context, MissingBucketingKey, ParseError, Reason, Snapshot, UnsupportedFlag,
    evaluate,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

use crate::generate::{flag, text};

/// The document as serde reads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) flags: Vec<FlagConfig>,
}

fn document() -> impl Strategy<Value = Document> {
    vec(flag(), 0..4).prop_map(|flags| Document { flags })
}

/// Returns the TTL and the flag of each key.
fn content(snapshot: &Snapshot) -> BTreeMap<&str, (Option<Ttl>, Option<&CompiledFlag>)> {
    let values = snapshot.ttls().zip(snapshot.flags().map(Result::ok));
    snapshot.keys().zip(values).collect()
}

/// Returns JSON of every kind, nested a few levels deep.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Adds a member to each object of a document, before or after the others.
fn add_everywhere(document: &mut Value, name: &str, value: &Value) {
    match document {
        Value::Array(items) => {
            for item in items {
                add_everywhere(item, name, value);
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                add_everywhere(member, name, value);
            }
            members.insert(name.to_owned(), value.clone());
        }
        _ => {}
    }
}

/// Returns the JSON pointers of a value and of all values inside it.
fn pointers(value: &Value) -> Vec<String> {
    let members: Vec<(String, &Value)> = match value {
        Value::Array(items) => (0..)
            .map(|index: usize| index.to_string())
            .zip(items)
            .collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        _ => Vec::new(),
    };
    let inside = members.into_iter().flat_map(|(name, value)| {
        let inside = pointers(value);
        inside.into_iter().map(move |rest| format!("/{name}{rest}"))
    });
    inside.chain([String::new()]).collect()
}

/// Formats every character of a string as an escape.
struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for unit in fragment.encode_utf16() {
            write!(writer, "\\u{unit:04x}")?;
        }
        Ok(())
    }
}

/// A change at one position of a text.
#[derive(Clone, Debug)]
enum Damage {
    Replace(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Repeat(Index, Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let position = any::<Index>;
    let byte = || {
        let token = proptest::sample::select(&b"{}[]:,\"\\ntfu019-+.eE \n\0\x7f\xff"[..]);
        prop_oneof![token, any::<u8>()]
    };
    prop_oneof![
        (position(), byte()).prop_map(|(position, byte)| Damage::Replace(position, byte)),
        (position(), byte()).prop_map(|(position, byte)| Damage::Insert(position, byte)),
        position().prop_map(Damage::Remove),
        (position(), position()).prop_map(|(from, to)| Damage::Repeat(from, to)),
    ]
}

impl Damage {
    fn apply_to(&self, text: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        match self {
            Self::Replace(position, byte) => *position.get_mut(text) = *byte,
            Self::Insert(position, byte) => text.insert(position.index(text.len()), *byte),
            Self::Remove(position) => drop(text.remove(position.index(text.len()))),
            Self::Repeat(from, to) => {
                let (one, other) = (from.index(text.len()), to.index(text.len()));
                let part: Vec<_> = text
                    .iter()
                    .copied()
                    .skip(one.min(other))
                    .take(one.abs_diff(other))
                    .collect();
                text.splice(other..other, part);
            }
        }
    }
}

/// Checks the invariants for any text: the reader terminates, and every text that it accepts is JSON that serde reads
/// identically.
fn check_reading(text: &[u8]) -> Result<(), TestCaseError> {
    match config::parse(text) {
        Err(ParseError { offset, problem }) => {
            prop_assert!(offset <= text.len(), "{problem} at {offset}");
            if let Ok(snapshot) = Snapshot::parse(text) {
                let json = serde_json::from_slice::<IgnoredAny>(text);
                prop_assert!(json.is_ok(), "accepted invalid JSON: {:?}", json);
                for unsupported in snapshot.flags().filter_map(Result::err) {
                    prop_assert!(unsupported.offset() < text.len());
                }
            }
        }
        Ok(flags) => {
            let snapshot = Snapshot::parse(text).map_err(fail)?;
            prop_assert!(snapshot.flags().all(|flag| flag.is_ok()));
            prop_assert_eq!(snapshot.skipped(), 0);
            let json = serde_json::from_slice::<IgnoredAny>(text);
            prop_assert!(json.is_ok(), "accepted invalid JSON: {:?}", json);
            // serde is stricter in one point: it refuses duplicate members. All texts that it reads have the same
            // result.
            if let Ok(document) = serde_json::from_slice::<Document>(text) {
                prop_assert_eq!(document.flags, flags);
            }
        }
    }
    Ok(())
}

fn fail(error: impl Error) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

proptest! {
    #[test]
    fn both_readers_read_what_was_written(document in document()) {
        let compact = serde_json::to_string(&document).map_err(fail)?;
        let pretty = serde_json::to_string_pretty(&document).map_err(fail)?;
        for text in [compact, pretty] {
            let by_serde: Document = serde_json::from_str(&text).map_err(fail)?;
            prop_assert_eq!(&by_serde.flags, &document.flags);
            prop_assert_eq!(&config::parse(text.as_bytes()).map_err(fail)?, &document.flags);
        }
    }

    #[test]
    fn escapes_are_equal_to_their_characters(document in document()) {
        let mut text = Vec::new();
        document
            .serialize(&mut Serializer::with_formatter(&mut text, Escaping))
            .map_err(fail)?;
        prop_assert_eq!(config::parse(&text).map_err(fail)?, document.flags);
    }

    #[test]
    fn unknown_members_are_skipped(
        document in document(), name in "|[!~][a-z]{0,3}", value in json(),
    ) {
        let mut json = serde_json::to_value(&document).map_err(fail)?;
        add_everywhere(&mut json, &name, &value);
        let text = json.to_string();
        prop_assert_eq!(config::parse(text.as_bytes()).map_err(fail)?, document.flags);
    }

    #[test]
    fn an_unreadable_member_affects_only_its_flag(
        document in document(), damaged in any::<Index>(), position in any::<Index>(), value in json(),
    ) {
        prop_assume!(!document.flags.is_empty());
        let mut json = serde_json::to_value(&document).map_err(fail)?;
        let flags = json["flags"].as_array_mut().ok_or_else(|| TestCaseError::fail("no flags"))?;
        let damaged = damaged.index(flags.len());
        let pointers = pointers(&flags[damaged]);
        let pointer = &pointers[position.index(pointers.len())];
        if let Some(target) = flags[damaged].pointer_mut(pointer) {
            *target = value;
        }
        let text = json.to_string();
        let snapshot = Snapshot::parse(text.as_bytes()).map_err(fail)?;
        let untouched = document.flags.iter().enumerate().filter(|(index, _)| *index != damaged);
        let key_after = json["flags"][damaged]["key"].as_str();
        for (index, flag) in untouched {
            let is_last = document.flags[index + 1..].iter().all(|later| later.key != flag.key);
            if !is_last || key_after == Some(&*flag.key) {
                continue;
            }
            let found = snapshot.find(&flag.key).and_then(|index| snapshot.get(index));
            prop_assert_eq!(found, Some(Ok(&CompiledFlag::from(flag.clone()))));
        }
        check_reading(text.as_bytes())?;
    }

    #[test]
    fn a_flag_that_is_off_is_never_unsupported(flag in flag(), position in any::<Index>(), value in json()) {
        let flag = FlagConfig { enabled: false, ..flag };
        let mut json = serde_json::to_value(&flag).map_err(fail)?;
        let pointers = pointers(&json["rules"]);
        if let Some(target) = json["rules"].pointer_mut(&pointers[position.index(pointers.len())]) {
            *target = value;
        }
        let text = format!("{{\"flags\":[{json}]}}");
        let snapshot = Snapshot::parse(text.as_bytes()).map_err(fail)?;
        let decided = snapshot.get(0).and_then(Result::ok).map(|flag| {
            evaluate(flag, &Context::default(), MissingBucketingKey::Excluded).enabled
        });
        prop_assert_eq!(decided, Some(false));
    }

    #[test]
    fn a_document_cut_short_is_refused(document in document(), position in any::<Index>()) {
        let text = serde_json::to_vec(&document).map_err(fail)?;
        let cut = text.get(..position.index(text.len())).unwrap_or_default();
        prop_assert!(config::parse(cut).is_err());
        check_reading(cut)?;
    }

    #[test]
    fn a_damaged_document_never_panics(document in document(), damages in vec(damage(), 1..4)) {
        let mut text = serde_json::to_vec(&document).map_err(fail)?;
        for damage in damages {
            damage.apply_to(&mut text);
        }
        check_reading(&text)?;
    }

    #[test]
    fn a_document_of_any_json_never_panics(json in json()) {
        check_reading(json.to_string().as_bytes())?;
        check_reading(format!("{{\"flags\":{json}}}").as_bytes())?;
        check_reading(format!("{{\"flags\":[{json}]}}").as_bytes())?;
    }

    #[test]
    fn arbitrary_bytes_never_panic(text in vec(any::<u8>(), 0..200)) {
        check_reading(&text)?;
    }

    #[test]
    fn a_random_sequence_of_tokens_never_panics(text in "([{}\\[\\]:,\" ]|\"flags\":|\"key\":|\\\\u[dD][89cC]|-?[0-9.eE]{1,4}|true|null){0,40}") {
        check_reading(text.as_bytes())?;
    }

    #[test]
    fn the_next_snapshot_equals_a_new_one_and_knows_the_changes(
        before in document(), added in document(), kept in vec(any::<bool>(), 4),
    ) {
        let kept = before.flags.iter().zip(kept).filter(|(_, is_kept)| *is_kept);
        let mut after = added;
        after.flags.extend(kept.map(|(flag, _)| flag.clone()));
        let text = serde_json::to_vec(&after).map_err(fail)?;
        let before = serde_json::to_vec(&before).map_err(fail)?;
        let before = Snapshot::parse(&before).map_err(fail)?;
        let after = before.parse_next(&text).map_err(fail)?;
        let (old, new) = (content(&before), content(&after));
        let alone = Snapshot::parse(&text).map_err(fail)?;
        prop_assert_eq!(&new, &content(&alone));
        let keys: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        // The TTL, the first part of each, does not count.
        let changed = keys.into_iter().filter(|key| old.get(key).map(|it| it.1) != new.get(key).map(|it| it.1));
        prop_assert_eq!(after.changes_since(&before).collect::<Vec<_>>(), changed.collect::<Vec<_>>());
    }

    #[test]
    fn a_snapshot_finds_each_flag_by_its_key_and_no_other(document in document(), key in text()) {
        let text = serde_json::to_vec(&document).map_err(fail)?;
        let snapshot = Snapshot::parse(&text).map_err(fail)?;
        let keys: Vec<_> = snapshot.keys().collect();
        prop_assert!(keys.is_sorted(), "{keys:?}");
        // If two flags have the same key, the later one wins.
        let last: BTreeMap<_, _> = document.flags.iter().map(|flag| (&*flag.key, flag)).collect();
        prop_assert_eq!(keys.len(), last.len());
        for key in last.keys().copied().chain([key.as_str()]) {
            let found = snapshot.find(key);
            let flag = last.get(key);
            let key_found = found.and_then(|index| snapshot.keys().nth(index));
            prop_assert_eq!(key_found, flag.map(|flag| &*flag.key));
            let ttl_found = found.and_then(|index| snapshot.ttls().nth(index));
            prop_assert_eq!(ttl_found, flag.map(|flag| flag.ttl));
        }
    }
}

#[test]
fn deep_nesting_is_refused_but_moderate_nesting_is_not() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!(
            "{{\"flags\":[],\"new\":{}null{}}}",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":[", "]}]")] {
        assert!(config::parse(nested(open, close, 6).as_bytes()).is_ok());
        assert!(config::parse(nested(open, close, 100).as_bytes()).is_err());
        assert!(config::parse(nested(open, "", 1_000_000).as_bytes()).is_err());
        assert!(config::parse(open.repeat(1_000_000).as_bytes()).is_err());
    }
    // The document itself is one of 32 levels.
    assert!(config::parse(nested("[", "]", 31).as_bytes()).is_ok());
    assert!(config::parse(nested("[", "]", 32).as_bytes()).is_err());
}

/// Returns a document of flags with these members besides the key.
fn with_members(flags: &[(&str, &str)]) -> String {
    let flags = flags
        .iter()
        .map(|(key, members)| format!(r#"{{"key":"{key}","enabled":true,{members}}}"#));
    format!("{{\"flags\":[{}]}}", flags.collect::<Vec<_>>().join(","))
}

#[test]
fn the_position_of_an_unknown_value_is_that_in_the_latest_document() -> Result<(), ParseError> {
    let unsupported = r#""rules":[],"rollout":{"percentage":10,"strategy":"per_planet"}"#;
    let before = Snapshot::parse(with_members(&[("m", unsupported)]).as_bytes())?;
    let text = with_members(&[("b", unsupported), ("m", unsupported)]);
    let after = before.parse_next(text.as_bytes())?;
    let positions = after
        .flags()
        .map(|flag| flag.err().map(UnsupportedFlag::offset));
    let expected = text.match_indices("\"per_planet").map(|(at, _)| Some(at));
    assert!(positions.eq(expected), "{after:?}");
    // Another position alone is no change.
    let changes: Vec<_> = after.changes_since(&before).collect();
    assert_eq!(changes, ["b"]);
    Ok(())
}

#[test]
fn an_unsupported_flag_keeps_its_ttl() -> Result<(), ParseError> {
    let text = with_members(&[("a", r#""rules":[{}],"ttlOverrideSeconds":30"#)]);
    let snapshot = Snapshot::parse(text.as_bytes())?;
    assert!(snapshot.flags().all(|flag| flag.is_err()));
    assert_eq!(snapshot.ttls().next(), Some(Ttl::try_from(30).ok()));
    Ok(())
}

/// As in JavaScript's `JSON.parse`.
#[test]
fn the_last_of_several_members_with_the_same_name_counts() -> Result<(), ParseError> {
    let once = r#"{"flags":[{
        "key":"a","archived":false,"enabled":true,
        "rules":[{"priority":1,"logic":"and","value":true,"conditions":[
            {"attribute":"plan","operator":"==","valueType":"number","valueInt":1,"valueString":"x"},
            {"attribute":"plan","operator":"==","valueType":"string","valueString":"a"},
            {"attribute":"plan","operator":"==","valueType":"boolean","valueBool":true}
        ]}],
        "rollout":{"percentage":10,"strategy":"per_user"},
        "ttlOverrideSeconds":30
    }]}"#;
    let expected = config::parse(once.as_bytes())?;
    for (member, other) in [
        (r#""key":"a""#, r#""key":"b""#),
        (r#""archived":false"#, r#""archived":true"#),
        (r#""enabled":true"#, r#""enabled":false"#),
        (r#""rules":["#, r#""rules":[]"#),
        (
            r#""rollout":{"#,
            r#""rollout":{"percentage":20,"strategy":"per_user"}"#,
        ),
        (r#""ttlOverrideSeconds":30"#, r#""ttlOverrideSeconds":60"#),
        (r#""priority":1"#, r#""priority":2"#),
        (r#""logic":"and""#, r#""logic":"or""#),
        (r#""value":true"#, r#""value":false"#),
        (r#""conditions":["#, r#""conditions":[]"#),
        (r#""attribute":"plan""#, r#""attribute":"seats""#),
        (r#""operator":"==""#, r#""operator":"!=""#),
        (r#""valueType":"number""#, r#""valueType":"string""#),
        (r#""valueInt":1"#, r#""valueInt":2"#),
        (r#""valueString":"a""#, r#""valueString":"b""#),
        (r#""valueBool":true"#, r#""valueBool":false"#),
        (r#""percentage":10"#, r#""percentage":20"#),
        (r#""strategy":"per_user""#, r#""strategy":"per_tenant""#),
    ] {
        let twice = once.replacen(member, &format!("{other},{member}"), 1);
        assert_eq!(config::parse(twice.as_bytes())?, expected, "{twice}");
    }
    // `null` counts as well.
    let nulls = r#""ttlOverrideSeconds":30,"ttlOverrideSeconds":null,"rollout":null"#;
    let text = once.replacen(r#""ttlOverrideSeconds":30"#, nulls, 1);
    let flags = config::parse(text.as_bytes())?;
    assert!(
        flags
            .iter()
            .all(|flag| flag.rollout.is_none() && flag.ttl.is_none()),
        "{flags:?}"
    );
    Ok(())
}

#[test]
fn the_last_of_several_members_counts_in_an_unsupported_flag_too() -> Result<(), ParseError> {
    let off = r#""key":"a","key":"b","enabled":true,"enabled":false"#;
    let archived = r#""archived":false,"archived":true"#;
    let ttl = r#""ttlOverrideSeconds":1,"ttlOverrideSeconds":30"#;
    for (members, expected) in [
        (format!("{off},{ttl}"), Reason::FlagDisabled),
        (format!("{off},{ttl},{archived}"), Reason::FlagArchived),
    ] {
        let text = format!(r#"{{"flags":[{{{members},"rules":[{{}}]}}]}}"#);
        let snapshot = Snapshot::parse(text.as_bytes())?;
        assert_eq!(snapshot.keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!(snapshot.ttls().next(), Some(Ttl::try_from(30).ok()));
        let flag = snapshot.get(0).and_then(Result::ok);
        let reason = flag
            .map(|flag| evaluate(flag, &Context::default(), MissingBucketingKey::Excluded).reason);
        assert_eq!(reason, Some(expected));
    }
    Ok(())
}

#[test]
fn the_next_snapshot_shares_the_targeting_of_unchanged_flags() -> Result<(), ParseError> {
    let rollout = r#""rules":[],"rollout":{"percentage":10,"strategy":"per_user"}"#;
    let old = [("a", rollout), ("b", r#""rules":[]"#), ("m", rollout)];
    let before = Snapshot::parse(with_members(&old).as_bytes())?;
    let new = [("c", r#""rules":[]"#), ("m", rollout)];
    let after = before.parse_next(with_members(&new).as_bytes())?;
    let attributes = |snapshot: &Snapshot| {
        let flag = snapshot.get(snapshot.find("m")?)?.ok()?;
        Some(flag.attributes().as_ptr())
    };
    assert!(attributes(&before).is_some());
    assert_eq!(attributes(&after), attributes(&before));
    Ok(())
}

#[test]
fn another_ttl_alone_is_no_change() -> Result<(), ParseError> {
    let ttl = |seconds: u32| format!(r#""rules":[],"ttlOverrideSeconds":{seconds}"#);
    let before = Snapshot::parse(with_members(&[("a", &ttl(30))]).as_bytes())?;
    let after = before.parse_next(with_members(&[("a", &ttl(60))]).as_bytes())?;
    assert_eq!(after.changes_since(&before).next(), None);
    Ok(())
}

#[test]
fn entries_without_a_usable_key_or_switch_are_counted() -> Result<(), ParseError> {
    let snapshot = Snapshot::parse(br#"{"flags":[null,{"key":"a"},{"key":"b","enabled":true}]}"#)?;
    assert_eq!((snapshot.skipped(), snapshot.len()), (2, 1));
    Ok(())
}

#[test]
fn many_flags_in_a_row_are_not_deep_nesting() -> Result<(), ParseError> {
    let flag = r#"{"key":"a","enabled":true,"rules":[],"rollout":null,"new":[[[]]]}"#;
    let text = format!("{{\"flags\":[{}]}}", vec![flag; 5000].join(","));
    assert_eq!(config::parse(text.as_bytes())?.len(), 5000);
    Ok(())
}
