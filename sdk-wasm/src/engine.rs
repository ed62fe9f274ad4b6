//! The flags of one configuration, by number.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use pennon_core::evaluate::decide;
use pennon_core::ttl::Ttl;
use pennon_core::{CompiledFlag, MissingBucketingValue, Snapshot, UnsupportedFlag, evaluate};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::json::{Trace, array};
use crate::protocol::FlagBit;
use crate::slots::{Nobody, Slots};

/// What stands for the evaluation of a flag that there is not.
const NONE: u32 = u32::MAX;

/// Holds a configuration and evaluates it. Flags are numbered by their position in it, in the order of their keys.
#[wasm_bindgen]
pub struct Engine {
    input: Vec<u8>,
    snapshot: Snapshot,
    slots: Slots,
    changes: String,
    has_loaded: bool,
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
            changes: String::new(),
            has_loaded: false,
        }
    }

    /// The address of a buffer of `length` bytes, for the text of a configuration. It is kept for the next one, and has
    /// room for a little more; one that is larger still takes its place.
    pub fn input(&mut self, length: usize) -> *const u8 {
        if self.input.len() < length {
            self.input = Vec::new();
            self.input = vec![0; length.saturating_add(length / 16)];
        }
        self.input.as_ptr()
    }

    /// Takes the first `length` bytes of the input as the new configuration, and tells whether they are one; if not, the
    /// one before stays.
    pub fn load(&mut self, length: usize) -> bool {
        let text = self.input.get(..length).unwrap_or_default();
        match self.snapshot.parse_next(text) {
            Ok(snapshot) => {
                if self.has_loaded {
                    self.changes = array(snapshot.changes_since(&self.snapshot));
                }
                self.has_loaded = true;
                self.snapshot = snapshot;
                true
            }
            Err(_) => false,
        }
    }

    /// The keys of all flags, one after the other.
    pub fn keys(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.snapshot.bytes_of_keys());
        for key in self.snapshot.keys() {
            text.extend_from_slice(key.as_bytes());
        }
        text
    }

    /// Where each of them ends.
    pub fn ends(&self) -> Vec<u32> {
        let mut end: u32 = 0;
        let ends = self.snapshot.keys().map(|key| {
            end = end.saturating_add(u32::try_from(key.len()).unwrap_or(u32::MAX));
            end
        });
        ends.collect()
    }

    /// The keys of the flags in which the configuration differs from the one before, as a JSON array. They are told once,
    /// and not of a first configuration; where there is nothing to tell, the text may be empty.
    pub fn changes(&mut self) -> String {
        core::mem::take(&mut self.changes)
    }

    /// What each flag is for a subject without attributes, in the form of `Evaluation::encode`: the evaluation ahead of
    /// time, in which a rollout falls through. [`FlagBit`]s are added.
    pub fn defaults(&self) -> Vec<u8> {
        self.snapshot.flags().map(default).collect()
    }

    /// Where in the input the value is that makes a flag unsupported; 2^32 - 1 if it is not.
    pub fn unsupported(&self, flag: usize) -> usize {
        match self.snapshot.get(flag) {
            Some(Err(unsupported)) => unsupported.offset(),
            _ => usize::MAX,
        }
    }

    /// The number of entries that have been left out, because they have no usable key or switch.
    pub fn skipped(&self) -> usize {
        self.snapshot.skipped()
    }

    /// The time to live of each flag in seconds, 0 where it is the client's default.
    pub fn ttls(&self) -> Vec<u32> {
        let seconds = |ttl: Option<Ttl>| ttl.map_or(0, Ttl::seconds);
        self.snapshot.ttls().map(seconds).collect()
    }

    /// The name of the attribute that a flag reads from this slot.
    pub fn attribute(&self, flag: usize, slot: usize) -> Option<String> {
        let attribute = self.snapshot.get(flag)?.ok()?.attributes().get(slot)?;
        Some(attribute.as_str().into())
    }

    /// Makes room for so many slots. Addresses taken before are void afterwards.
    pub fn reserve(&mut self, slots: usize) {
        self.slots.reserve(slots);
    }

    /// Where the slots' tags are. Each slot has two words: a [`SlotTag`](crate::protocol::SlotTag), and where in the text a
    /// string starts.
    pub fn heads(&self) -> *const u32 {
        self.slots.heads().cast()
    }

    /// Where the slots' numbers are.
    pub fn numbers(&self) -> *const f64 {
        self.slots.numbers()
    }

    /// Where the text of all slots is: [`MAX_CONTEXT_BYTES`](pennon_core::context::MAX_CONTEXT_BYTES)
    /// for all of them together. The host counts what does not fit as absent.
    pub fn text(&self) -> *const u8 {
        self.slots.text()
    }

    /// What a flag is for the subject in the slots, in the form of `Evaluation::encode`; 2^32 - 1 if there is no such
    /// flag, or it is unsupported.
    pub fn evaluate(&self, flag: usize) -> u32 {
        match self.snapshot.get(flag) {
            Some(Ok(flag)) => evaluate(flag, &self.slots, MissingBucketingValue::Excluded).encode(),
            _ => NONE,
        }
    }

    /// How a flag is decided for the subject in the slots: the complete trace as JSON, with `null` for
    /// the values met, which the host has at hand.
    pub fn explain(&self, flag: usize) -> Option<String> {
        let flag = self.snapshot.get(flag)?.ok()?;
        let mut trace = Trace::default();
        let missing = MissingBucketingValue::Excluded;
        let evaluation = decide(flag, &self.slots, missing, &mut trace);
        Some(trace.end(evaluation))
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}

fn default(flag: Result<&CompiledFlag, &UnsupportedFlag>) -> u8 {
    let number = match flag {
        Ok(flag) => {
            let evaluation = evaluate(flag, &Nobody, MissingBucketingValue::FallsThrough);
            let targeted = if flag.is_targeted() {
                FlagBit::Targeted as u32
            } else {
                0
            };
            evaluation.encode() | targeted
        }
        Err(_) => {
            UnsupportedFlag::AHEAD.encode() | FlagBit::Targeted as u32 | FlagBit::Unsupported as u32
        }
    };
    u8::try_from(number).unwrap_or(u8::MAX)
}
