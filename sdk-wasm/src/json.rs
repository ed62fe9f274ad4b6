//! The JSON that crosses the wasm boundary.

use alloc::string::String;

use pennon_core::evaluate::{Observer, Outcome};
use pennon_core::rollout::{Percentage, Strategy};
use pennon_core::rule::{Attribute, Logic, Operand, Operator, Priority};
use pennon_core::{Evaluation, Value};

/// Formats strings as an array.
pub(crate) fn array<'a>(strings: impl Iterator<Item = &'a str>) -> String {
    let mut json = String::from("[");
    for string in strings {
        separate('"', &mut json);
        quote(string, &mut json);
    }
    put(']', &mut json);
    json
}

/// A trace that is written during the evaluation, in the server's format.
#[derive(Default)]
pub(crate) struct Trace {
    rules: String,
    rollout: String,
}

impl Trace {
    /// Returns the complete trace.
    pub(crate) fn finish(self, evaluation: Evaluation) -> String {
        let mut json = String::new();
        let out = &mut json;
        push("{\"enabled\":", out);
        boolean(evaluation.enabled, out);
        push(",\"reason\":\"", out);
        push(evaluation.reason.as_str(), out);
        push("\",\"rules\":[", out);
        push(&self.rules, out);
        push("],\"rollout\":", out);
        push(
            if self.rollout.is_empty() {
                "null"
            } else {
                &self.rollout
            },
            out,
        );
        push("}", out);
        json
    }
}

impl Observer for Trace {
    const NEEDS_ALL_CONDITIONS: bool = true;

    fn rule(&mut self, priority: Priority, logic: Logic, value: bool) {
        let out = &mut self.rules;
        separate('}', out);
        push("{\"priority\":", out);
        integer(priority.get().into(), out);
        push(",\"logic\":\"", out);
        push(logic.as_str(), out);
        push("\",\"value\":", out);
        boolean(value, out);
        push(",\"conditions\":[", out);
    }

    fn condition(
        &mut self,
        attribute: &Attribute,
        operator: Operator,
        operand: &Operand,
        _actual: Option<Value<'_>>,
        outcome: Outcome,
    ) {
        let out = &mut self.rules;
        separate('}', out);
        push("{\"attribute\":", out);
        quote(attribute.as_str(), out);
        push(",\"operator\":\"", out);
        push(operator.as_str(), out);
        push("\",\"valueType\":\"", out);
        push(operand.value_type().as_str(), out);
        match operand {
            Operand::String(text) => {
                push("\",\"valueString\":", out);
                quote(text.as_str(), out);
            }
            Operand::Number(number) => {
                push("\",\"valueInt\":", out);
                integer(number.get(), out);
            }
            Operand::Boolean(value) => {
                push("\",\"valueBool\":", out);
                boolean(*value, out);
            }
        }
        push(",\"actual\":null,\"outcome\":\"", out);
        push(outcome.as_str(), out);
        push("\"}", out);
    }

    fn rule_ended(&mut self, matched: bool) {
        push("],\"matched\":", &mut self.rules);
        boolean(matched, &mut self.rules);
        push("}", &mut self.rules);
    }

    fn rollout(&mut self, strategy: Strategy, percentage: Percentage, bucket: Option<u32>) {
        let out = &mut self.rollout;
        push("{\"strategy\":\"", out);
        push(strategy.as_str(), out);
        push("\",\"percentage\":", out);
        integer(percentage.get().into(), out);
        push(",\"bucket\":", out);
        match bucket {
            Some(bucket) => integer(bucket.into(), out),
            None => push("null", out),
        }
        push("}", out);
    }
}

/// Appends a comma if the text ends with `end`, the last character of a previous element.
#[inline(never)]
fn separate(end: char, json: &mut String) {
    if json.ends_with(end) {
        push(",", json);
    }
}

/// Appends a text. `push_str` would be inlined; calling this instead halves the size.
#[inline(never)]
fn push(text: &str, json: &mut String) {
    json.push_str(text);
}

#[inline(never)]
fn put(character: char, json: &mut String) {
    json.push(character);
}

fn boolean(value: bool, json: &mut String) {
    push(if value { "true" } else { "false" }, json);
}

/// Appends the digits of a number. Rust's formatting would be larger than the rest of this module.
#[inline(never)]
fn integer(number: i64, json: &mut String) {
    if number < 0 {
        put('-', json);
    }
    digits(number.unsigned_abs(), json);
}

fn digits(number: u64, json: &mut String) {
    if number > 9 {
        digits(number / 10, json);
    }
    let digit = u8::try_from(number % 10).unwrap_or_default();
    put(char::from(b'0' + digit), json);
}

#[inline(never)]
fn quote(text: &str, json: &mut String) {
    put('"', json);
    for character in text.chars() {
        match character {
            '"' | '\\' => put('\\', json),
            ..' ' => {
                push("\\u00", json);
                put(hexadecimal(u32::from(character) >> 4), json);
                put(hexadecimal(u32::from(character) & 15), json);
                continue;
            }
            _ => {}
        }
        put(character, json);
    }
    put('"', json);
}

fn hexadecimal(digit: u32) -> char {
    char::from_digit(digit, 16).unwrap_or('0')
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use pennon_core::evaluate::decide;
    use pennon_core::{MissingBucketingKey, Snapshot};

    use super::{Trace, array, integer, quote};
    use crate::slots::Slots;

    #[test]
    fn a_trace_has_the_form_of_the_document() {
        let rules = concat!(
            r#"{"priority":2,"logic":"or","value":false,"conditions":["#,
            r#"{"attribute":"seats","operator":">","valueType":"number","valueInt":-12},"#,
            r#"{"attribute":"beta","operator":"==","valueType":"boolean","valueBool":false}]},"#,
            r#"{"priority":30,"logic":"and","value":true,"conditions":["#,
            r#"{"attribute":"plan","operator":"!=","valueType":"string","valueString":"\"pro\""}]}"#,
        );
        let rollout = r#"{"strategy":"per_tenant","percentage":40"#;
        let flag = r#"{"flags":[{"key":"a","enabled":true,"rules":"#;
        let document = [flag, "[", rules, r#"],"rollout":"#, rollout, "}}]}"].concat();
        let snapshot = Snapshot::parse(document.as_bytes()).expect("a config document");
        let flag = snapshot.get(0).and_then(Result::ok).expect("a flag");
        let (mut trace, missing) = (Trace::default(), MissingBucketingKey::Excluded);
        let evaluation = decide(flag, &Slots::new(), missing, &mut trace);
        let traced = rules
            .replace("]}", r#"],"matched":false}"#)
            .replace("12}", r#"12,"actual":null,"outcome":"missing"}"#)
            .replace(
                r#""valueBool":false}"#,
                r#""valueBool":false,"actual":null,"outcome":"missing"}"#,
            )
            .replace(r#"\""}"#, r#"\"","actual":null,"outcome":"missing"}"#);
        let start = r#"{"enabled":false,"reason":"rollout","rules":["#;
        let expected = [
            start,
            &traced,
            r#"],"rollout":"#,
            rollout,
            r#","bucket":null}}"#,
        ]
        .concat();
        assert_eq!(trace.finish(evaluation), expected);
    }

    #[test]
    fn all_strings_are_quoted() {
        let mut json = String::new();
        quote("plain é", &mut json);
        quote("\"\\\u{1f}\n", &mut json);
        assert_eq!(json, r#""plain é""\"\\\u001f\u000a""#);
    }

    #[test]
    fn arrays_may_be_empty() {
        assert_eq!(array([].into_iter()), "[]");
        assert_eq!(array(["a", "b"].into_iter()), r#"["a","b"]"#);
    }

    #[test]
    fn integers_of_any_size_are_written() {
        for number in [0, 7, -10, i64::MAX, i64::MIN] {
            let mut json = String::new();
            integer(number, &mut json);
            assert_eq!(json, number.to_string());
        }
    }
}
