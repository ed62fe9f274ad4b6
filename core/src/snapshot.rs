//! A whole config document, compiled.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use crate::compiled::CompiledFlag;
use crate::config::{self, ParseError};
use crate::model::configuration::Ttl;

/// A flag without rules takes at least this much of a document of the service,
const BYTES_PER_FLAG: usize = 80;

/// and this much of it is its key, roughly.
const KEY_BYTES: usize = 12;

/// How room for keys and for flags is measured out, so that it seldom is of another size.
const KEYS_STEP: usize = 4_096;
const FLAGS_STEP: usize = 256;

/// The flags of one environment, in the order of their keys; a flag is known by its index.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// All keys in one text: ten thousand texts of their own would take several times the memory.
    keys: String,
    flags: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: Range<usize>,
    ttl: Option<Ttl>,
    flag: CompiledFlag,
}

impl Snapshot {
    /// Reads and compiles a config document. Of two flags with one key, the later one counts.
    pub fn parse(text: &[u8]) -> Result<Self, ParseError> {
        let flags = text.len() / BYTES_PER_FLAG;
        Self::read(text, flags, flags * KEY_BYTES)
    }

    /// The same for the document that follows this snapshot's, which is likely to have as much in it.
    pub fn parse_next(&self, text: &[u8]) -> Result<Self, ParseError> {
        if self.is_empty() {
            return Self::parse(text);
        }
        Self::read(text, self.flags.len(), self.keys.len())
    }

    /// Makes room for so much beforehand, and keeps room for a little more: to grow bit by bit, or to be of another
    /// size each time, would leave holes in a memory that never shrinks.
    fn read(text: &[u8], flags: usize, key_bytes: usize) -> Result<Self, ParseError> {
        let mut keys = String::with_capacity(key_bytes.next_multiple_of(KEYS_STEP));
        let mut flags = Vec::with_capacity(flags.next_multiple_of(FLAGS_STEP));
        config::each(text, |key, flag| {
            let place = place(&keys, &flags, key);
            let start = keys.len();
            keys.push_str(key);
            let entry = Entry {
                key: start..keys.len(),
                ttl: flag.ttl,
                flag: CompiledFlag::new(flag.archived, flag.enabled, flag.rules, flag.rollout),
            };
            match place.map(|same| flags.get_mut(same)) {
                Ok(Some(same)) => *same = entry,
                Ok(None) => {}
                Err(between) => flags.insert(between, entry),
            }
        })?;
        keys.shrink_to(keys.len().next_multiple_of(KEYS_STEP));
        flags.shrink_to(flags.len().next_multiple_of(FLAGS_STEP));
        Ok(Self { keys, flags })
    }

    /// How many flags there are.
    pub fn len(&self) -> usize {
        self.flags.len()
    }

    /// Whether there is no flag.
    pub fn is_empty(&self) -> bool {
        self.flags.is_empty()
    }

    /// All flags.
    pub fn flags(&self) -> impl ExactSizeIterator<Item = &CompiledFlag> {
        self.flags.iter().map(|entry| &entry.flag)
    }

    /// The keys of all flags.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.flags.iter().map(|entry| entry.key(&self.keys))
    }

    /// How many bytes all keys take together, or some more.
    pub fn bytes_of_keys(&self) -> usize {
        self.keys.len()
    }

    /// How long clients may keep each flag, where that differs from their default.
    pub fn ttls(&self) -> impl ExactSizeIterator<Item = Option<Ttl>> {
        self.flags.iter().map(|entry| entry.ttl)
    }

    /// The flag at `index`.
    pub fn get(&self, index: usize) -> Option<&CompiledFlag> {
        self.flags.get(index).map(|entry| &entry.flag)
    }

    /// The index of the flag with this key.
    pub fn find(&self, key: &str) -> Option<usize> {
        place(&self.keys, &self.flags, key).ok()
    }

    /// The keys of the flags in which this snapshot differs from another one: new ones, changed ones, and those that it
    /// does not have any more; in order.
    pub fn changes_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a str> {
        let mut mine = self.entries().peekable();
        let mut theirs = before.entries().peekable();
        core::iter::from_fn(move || {
            loop {
                let order = match (mine.peek(), theirs.peek()) {
                    (Some((mine, ..)), Some((theirs, ..))) => mine.cmp(theirs),
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (None, None) => return None,
                };
                let new = if order.is_le() { mine.next() } else { None };
                let old = if order.is_ge() { theirs.next() } else { None };
                if new != old {
                    return new.or(old).map(|(key, ..)| key);
                }
            }
        })
    }

    fn entries(&self) -> impl Iterator<Item = (&str, Option<Ttl>, &CompiledFlag)> {
        let entries = self.flags.iter();
        entries.map(|entry| (entry.key(&self.keys), entry.ttl, &entry.flag))
    }
}

impl Entry {
    fn key<'k>(&self, keys: &'k str) -> &'k str {
        keys.get(self.key.clone()).unwrap_or_default()
    }
}

/// Where the flag with this key is, or else where it belongs. The service sorts, so in its documents that is behind the
/// last one.
fn place(keys: &str, flags: &[Entry], key: &str) -> Result<usize, usize> {
    match flags.last() {
        Some(last) if last.key(keys) < key => Err(flags.len()),
        _ => flags.binary_search_by(|entry| entry.key(keys).cmp(key)),
    }
}
