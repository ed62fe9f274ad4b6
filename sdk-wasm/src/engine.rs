//! The flags of one configuration, by number.

use alloc::string::String;
use alloc::vec::Vec;

use pennon_core::model::configuration::Ttl;
use pennon_core::{CompiledFlag, MissingBucketingValue, Snapshot, evaluate};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::slots::{Nobody, Slots};

/// What stands for a flag that there is not, and for its evaluation.
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

    /// The keys of all flags, one after the other.
    pub fn keys(&self) -> String {
        self.flags().iter().map(CompiledFlag::key).collect()
    }

    /// The length of each key, in UTF-16 units.
    #[wasm_bindgen(js_name = keyLengths)]
    pub fn key_lengths(&self) -> Vec<u32> {
        let units = |flag: &CompiledFlag| flag.key().chars().map(char::len_utf16).sum::<usize>();
        self.flags()
            .iter()
            .map(|flag| u32::try_from(units(flag)).unwrap_or(NONE))
            .collect()
    }

    /// What each flag is for a subject without attributes, in the form of `Evaluation::encode`: the evaluation ahead of
    /// time, in which a rollout falls through. [`TARGETED`] is added where a subject's attributes could matter.
    pub fn defaults(&self) -> Vec<u8> {
        self.flags().iter().map(default).collect()
    }

    /// The time to live of each flag in seconds, 0 where it is the client's default.
    pub fn ttls(&self) -> Vec<u32> {
        let seconds = |flag: &CompiledFlag| flag.ttl().map_or(0, Ttl::seconds);
        self.flags().iter().map(seconds).collect()
    }

    /// The number of the flag with this key, or 2^32 - 1.
    pub fn find(&self, key: &str) -> u32 {
        let index = self.snapshot.find(key);
        index
            .and_then(|index| u32::try_from(index).ok())
            .unwrap_or(NONE)
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

fn default(flag: &CompiledFlag) -> u8 {
    let evaluation = evaluate(flag, &Nobody, MissingBucketingValue::FallsThrough).encode();
    let targeted = if flag.is_targeted() { TARGETED } else { 0 };
    u8::try_from(evaluation | targeted).unwrap_or(u8::MAX)
}
