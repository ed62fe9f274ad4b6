//! A whole config document, compiled.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use crate::compiled::CompiledFlag;
use crate::config::{self, FlagState, ParseError};
use crate::evaluation::{Evaluation, Reason};
use crate::ttl::Ttl;

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
    skipped: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    key: Range<usize>,
    ttl: Option<Ttl>,
    flag: Result<CompiledFlag, UnsupportedFlag>,
}

/// A flag that is on, and of which the document has something that this version does not know: a newer operator, for
/// instance. Only [ahead of time](Self::AHEAD), without a context, is there an answer.
#[derive(Clone, Copy, Debug)]
pub struct UnsupportedFlag {
    offset: usize,
}

impl UnsupportedFlag {
    /// The evaluation without a context, in which neither rules nor a rollout take part.
    pub const AHEAD: Evaluation = Evaluation {
        enabled: true,
        reason: Reason::FlagEnabled,
    };

    /// Where the first value stands that is not known, in bytes from the start of the document. Where a member is missing, it
    /// is the end of its object.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

/// None has an answer, wherever it stands.
impl PartialEq for UnsupportedFlag {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Snapshot {
    /// Reads and compiles a config document. Of two flags with one key, the later one counts.
    ///
    /// A value that this version does not know makes its flag [unsupported](UnsupportedFlag), unless the flag is archived or
    /// disabled, and an entry without a usable key or switch is [skipped](Self::skipped).
    ///
    /// # Errors
    ///
    /// The text is not JSON in UTF-8, nests too deeply, or has no array `flags`.
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
        let mut skipped = 0;
        config::each(text, |entry| {
            let Ok((key, flag)) = entry else {
                skipped += 1;
                return;
            };
            let place = place(&keys, &flags, key);
            let start = keys.len();
            keys.push_str(key);
            let entry = Entry {
                key: start..keys.len(),
                ttl: flag.ttl,
                flag: compiled(flag),
            };
            match place.map(|same| flags.get_mut(same)) {
                Ok(Some(same)) => *same = entry,
                Ok(None) => {}
                Err(between) => flags.insert(between, entry),
            }
        })?;
        keys.shrink_to(keys.len().next_multiple_of(KEYS_STEP));
        flags.shrink_to(flags.len().next_multiple_of(FLAGS_STEP));
        Ok(Self {
            keys,
            flags,
            skipped,
        })
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
    pub fn flags(&self) -> impl ExactSizeIterator<Item = Result<&CompiledFlag, &UnsupportedFlag>> {
        self.flags.iter().map(Entry::flag)
    }

    /// The number of entries that have been left out, because their `key` is not a string or their `enabled` not a boolean.
    pub fn skipped(&self) -> usize {
        self.skipped
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
    pub fn get(&self, index: usize) -> Option<Result<&CompiledFlag, &UnsupportedFlag>> {
        self.flags.get(index).map(Entry::flag)
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

    fn entries(
        &self,
    ) -> impl Iterator<Item = (&str, Option<Ttl>, Result<&CompiledFlag, &UnsupportedFlag>)> {
        let entries = self.flags.iter();
        entries.map(|entry| (entry.key(&self.keys), entry.ttl, entry.flag()))
    }
}

impl Entry {
    fn key<'k>(&self, keys: &'k str) -> &'k str {
        keys.get(self.key.clone()).unwrap_or_default()
    }

    fn flag(&self) -> Result<&CompiledFlag, &UnsupportedFlag> {
        self.flag.as_ref()
    }
}

/// A kill switch must work whatever else is unknown, so a flag that is off is never unsupported.
fn compiled(flag: FlagState) -> Result<CompiledFlag, UnsupportedFlag> {
    match flag.unreadable {
        Some(ParseError { offset, .. }) if flag.enabled && !flag.archived => {
            Err(UnsupportedFlag { offset })
        }
        _ => Ok(CompiledFlag::new(
            flag.archived,
            flag.enabled,
            flag.rules,
            flag.rollout,
        )),
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
