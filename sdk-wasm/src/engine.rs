//! The flags of one configuration, by number.

use alloc::string::String;
use alloc::vec::Vec;

use pennon_core::model::configuration::Ttl;
use pennon_core::{CompiledFlag, MissingBucketingValue, Snapshot, evaluate};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::slots::{Nobody, Slots};

/// What stands for the evaluation of a flag that there is not.
const NONE: u32 = u32::MAX;

/// Marks a flag that has rules or a rollout.
const TARGETED: u32 = 16;

/// Holds a configuration and evaluates it. Flags are numbered by their position in it, in the order of their keys.
#[wasm_bindgen]
pub struct Engine {
    input: Vec<u8>,
    snapshot: Snapshot,
    slots: Slots,
}

#[wasm_bindgen]
impl Engine {
    /// An engine without flags.
    #[wasm_bindgen(constructor)]
    #[expect(
        clippy::new_without_default,
        reason = "JavaScript knows constructors only"
    )]
    pub fn new() -> Self {
        Self {
            input: Vec::new(),
            snapshot: Snapshot::default(),
            slots: Slots::new(),
        }
    }

    /// The address of a buffer of `length` bytes, for the text of a configuration. It is kept for the next one.
    pub fn input(&mut self, length: usize) -> *const u8 {
        if self.input.len() < length {
            self.input.clear();
            self.input.resize(length, 0);
        }
        self.input.as_ptr()
    }

    /// Takes the first `length` bytes of the input as the new configuration, and tells whether they are one; if not, the
    /// one before stays.
    pub fn load(&mut self, length: usize) -> bool {
        let text = self.input.get(..length).unwrap_or_default();
        match Snapshot::parse(text) {
            Ok(snapshot) => {
                self.snapshot = snapshot;
                true
            }
            Err(_) => false,
        }
    }

    /// The keys of all flags, as a JSON array: nothing makes strings in JavaScript faster, nor ones that a `Map` compares
    /// faster.
    pub fn keys(&self) -> String {
        let mut json = String::from("[");
        for flag in self.flags() {
            if json.len() > 1 {
                json.push(',');
            }
            quote(flag.key(), &mut json);
        }
        json.push(']');
        json
    }

    /// What each flag is for a subject without attributes, in the form of `Evaluation::encode`: the evaluation ahead of
    /// time, in which a rollout falls through. `TARGETED` is added where a subject's attributes could matter.
    pub fn defaults(&self) -> Vec<u8> {
        self.flags().iter().map(default).collect()
    }

    /// The time to live of each flag in seconds, 0 where it is the client's default.
    pub fn ttls(&self) -> Vec<u32> {
        let seconds = |flag: &CompiledFlag| flag.ttl().map_or(0, Ttl::seconds);
        self.flags().iter().map(seconds).collect()
    }

    /// The name of the attribute that a flag reads from this slot.
    pub fn attribute(&self, flag: usize, slot: usize) -> Option<String> {
        let attribute = self.snapshot.get(flag)?.attributes().get(slot)?;
        Some(attribute.as_str().into())
    }

    /// Makes room for so many slots, and for so many bytes of text in all of them together. Addresses taken before are
    /// void afterwards.
    pub fn reserve(&mut self, slots: usize, text: usize) {
        self.slots.reserve(slots, text);
    }

    /// Where the slots' tags are. Each slot has two words: a tag (0 absent, 1 false, 2 true, 3 number, from 4 on string:
    /// 4 plus its length in bytes) and the place in the text where a string starts.
    pub fn heads(&self) -> *const u32 {
        self.slots.heads().cast()
    }

    /// Where the slots' numbers are.
    pub fn numbers(&self) -> *const f64 {
        self.slots.numbers()
    }

    /// Where the text of all slots is.
    pub fn text(&self) -> *const u8 {
        self.slots.text()
    }

    /// What a flag is for the subject in the slots, in the form of `Evaluation::encode`; 2^32 - 1 if there is no such flag.
    pub fn evaluate(&self, flag: usize) -> u32 {
        self.snapshot.get(flag).map_or(NONE, |flag| {
            evaluate(flag, &self.slots, MissingBucketingValue::Excluded).encode()
        })
    }

    pub(crate) fn flags(&self) -> &[CompiledFlag] {
        self.snapshot.flags()
    }
}

fn quote(text: &str, json: &mut String) {
    json.push('"');
    if text
        .bytes()
        .any(|byte| matches!(byte, ..b' ' | b'"' | b'\\'))
    {
        text.chars().for_each(|character| escape(character, json));
    } else {
        json.push_str(text);
    }
    json.push('"');
}

fn escape(character: char, json: &mut String) {
    match character {
        '"' | '\\' => json.extend(['\\', character]),
        ..' ' => {
            json.push_str("\\u00");
            json.extend([u32::from(character) >> 4, u32::from(character) & 15].map(hexadecimal));
        }
        _ => json.push(character),
    }
}

fn hexadecimal(digit: u32) -> char {
    char::from_digit(digit, 16).unwrap_or('0')
}

fn default(flag: &CompiledFlag) -> u8 {
    let evaluation = evaluate(flag, &Nobody, MissingBucketingValue::FallsThrough).encode();
    let targeted = if flag.is_targeted() { TARGETED } else { 0 };
    u8::try_from(evaluation | targeted).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::quote;

    #[test]
    fn keys_are_quoted_whatever_they_are() {
        let mut json = String::new();
        quote("plain é", &mut json);
        quote("\"\\\u{1f}\n", &mut json);
        assert_eq!(json, r#""plain é""\"\\\u001f\u000a""#);
    }
}
