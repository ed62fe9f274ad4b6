//! The flags of one config document, by number.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use pennon_core::evaluate::decide;
use pennon_core::ttl::Ttl;
use pennon_core::{CompiledFlag, MissingBucketingKey, Snapshot, UnsupportedFlag, evaluate};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::json::{Trace, array};
use crate::protocol::FlagBit;
use crate::slots::{EmptySubject, Slots};

/// The result for an unknown flag.
const NO_EVALUATION: u32 = u32::MAX;

/// The engine with one config document. A flag's number is its position in the document, sorted by key.
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
    /// Creates an engine without flags.
    #[wasm_bindgen(constructor)]
    #[expect(
        clippy::new_without_default,
        reason = "JavaScript has only constructors"
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

    /// Returns the address of a buffer of `length` bytes, for the text of a config document. The buffer is reused and
    /// has a small reserve; a larger document replaces it.
    pub fn input(&mut self, length: usize) -> *const u8 {
        if self.input.len() < length {
            self.input = Vec::new();
            self.input = vec![0; length.saturating_add(length / 16)];
        }
        self.input.as_ptr()
    }

    /// Loads the first `length` bytes of the input as the new config document. If they are not a config document,
    /// returns false and keeps the previous one.
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

    /// Returns the concatenated keys of all flags.
    pub fn keys(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.snapshot.key_bytes());
        for key in self.snapshot.keys() {
            text.extend_from_slice(key.as_bytes());
        }
        text
    }

    /// Returns the position at which each key ends.
    pub fn ends(&self) -> Vec<u32> {
        let mut end: u32 = 0;
        let ends = self.snapshot.keys().map(|key| {
            end = end.saturating_add(u32::try_from(key.len()).unwrap_or(u32::MAX));
            end
        });
        ends.collect()
    }

    /// Returns the keys of the flags that differ from the previous config document, as a JSON array. Returns them only
    /// once, and none for the first document. Without changes, the string may be empty.
    pub fn changes(&mut self) -> String {
        core::mem::take(&mut self.changes)
    }

    /// Returns the evaluation of each flag ahead of time: for a subject without attributes, and without rollouts. Each
    /// number is that of `Evaluation::encode` plus [`FlagBit`]s.
    pub fn defaults(&self) -> Vec<u8> {
        self.snapshot
            .flags()
            .map(evaluate_without_context)
            .collect()
    }

    /// Returns the position in the input of the value that makes a flag unsupported; 2^32 - 1 if the flag is supported.
    pub fn unsupported(&self, flag: usize) -> usize {
        match self.snapshot.get(flag) {
            Some(Err(unsupported)) => unsupported.offset(),
            _ => usize::MAX,
        }
    }

    /// Returns the number of skipped entries, which have no usable key or switch.
    pub fn skipped(&self) -> usize {
        self.snapshot.skipped()
    }

    /// Returns the TTL of each flag in seconds, or 0 for the client's default.
    pub fn ttls(&self) -> Vec<u32> {
        let seconds = |ttl: Option<Ttl>| ttl.map_or(0, Ttl::seconds);
        self.snapshot.ttls().map(seconds).collect()
    }

    /// Returns the name of the attribute in this slot of a flag.
    pub fn attribute(&self, flag: usize, slot: usize) -> Option<String> {
        let attribute = self.snapshot.get(flag)?.ok()?.attributes().get(slot)?;
        Some(attribute.as_str().into())
    }

    /// Allocates this many slots. Invalidates addresses from earlier calls.
    pub fn reserve(&mut self, slots: usize) {
        self.slots.reserve(slots);
    }

    /// Returns the address of the slots' heads. Each has two 32-bit numbers: a [`SlotTag`](crate::protocol::SlotTag),
    /// and the position of a string in the text.
    pub fn heads(&self) -> *const u32 {
        self.slots.heads().cast()
    }

    /// Returns the address of the slots' numbers.
    pub fn numbers(&self) -> *const f64 {
        self.slots.numbers()
    }

    /// Returns the address of the text buffer, whose [`MAX_CONTEXT_BYTES`](pennon_core::context::MAX_CONTEXT_BYTES) all
    /// slots share. The host treats values that do not fit as absent.
    pub fn text(&self) -> *const u8 {
        self.slots.text()
    }

    /// Evaluates a flag for the subject in the slots. Returns the number of `Evaluation::encode`, or 2^32 - 1 if the
    /// flag is unknown or unsupported.
    pub fn evaluate(&self, flag: usize) -> u32 {
        match self.snapshot.get(flag) {
            Some(Ok(flag)) => evaluate(flag, &self.slots, MissingBucketingKey::Excluded).encode(),
            _ => NO_EVALUATION,
        }
    }

    /// Explains the evaluation of a flag for the subject in the slots. Returns the complete trace as JSON, with `null`
    /// for the actual values, because the host has them.
    pub fn explain(&self, flag: usize) -> Option<String> {
        let flag = self.snapshot.get(flag)?.ok()?;
        let mut trace = Trace::default();
        let missing = MissingBucketingKey::Excluded;
        let evaluation = decide(flag, &self.slots, missing, &mut trace);
        Some(trace.finish(evaluation))
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}

fn evaluate_without_context(flag: Result<&CompiledFlag, &UnsupportedFlag>) -> u8 {
    let number = match flag {
        Ok(flag) => {
            let evaluation = evaluate(flag, &EmptySubject, MissingBucketingKey::FallsThrough);
            let targeted = if flag.is_targeted() {
                FlagBit::Targeted as u32
            } else {
                0
            };
            evaluation.encode() | targeted
        }
        Err(_) => {
            UnsupportedFlag::WITHOUT_CONTEXT.encode()
                | FlagBit::Targeted as u32
                | FlagBit::Unsupported as u32
        }
    };
    u8::try_from(number).unwrap_or(u8::MAX)
}
