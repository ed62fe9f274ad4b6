//! The in-memory state of one environment at one moment.

use std::sync::Arc;

use imbl::HashMap;
use pennon_core::{
    CompiledFlag, Context, Evaluation, Explanation, MissingBucketingKey, Reason, StandardReason,
    evaluate, explain,
};
use pennon_model::id::RuleId;
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::document::Document;
use super::filtered::Filtered;
use super::usage::{EnvironmentUsage, FlagUsage};
use crate::store::snapshots::{ChangedFlag, LoadedFlag};

/// The flags of an environment at one revision. It never changes: a change makes a new one, which shares with its
/// predecessor every flag that stayed as it was.
pub(crate) struct EnvironmentSnapshot {
    revision: i64,
    usage: Arc<EnvironmentUsage>,
    /// Of a kind of which a copy costs nothing, and a change of a copy the path to what it touches.
    flags: HashMap<Arc<str>, Arc<ServedFlag>>,
    /// The flags of which a row cannot be read, by key. They are served in their last readable state.
    unreadable: HashMap<Arc<str>, UnreadableFlag>,
    document: OnceCell<Arc<Document>>,
    filtered: Filtered,
}

/// An evaluation, and OpenFeature's word for its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) evaluation: Evaluation,
    pub(crate) standard_reason: StandardReason,
}

/// A flag that could not be read.
#[derive(Clone)]
struct UnreadableFlag {
    /// The environment's config revision that changed the flag.
    revision: i64,
    error: Arc<str>,
}

/// A flag, ready to be evaluated and ready to be sent.
pub(crate) struct ServedFlag {
    compiled: CompiledFlag,
    /// By ascending priority, as evaluation counts them.
    rule_ids: Box<[RuleId]>,
    /// The flag's entry in the config document; none if it is archived.
    entry: Option<Box<str>>,
    /// Shared by all that the flag ever was and will be in this environment.
    usage: Arc<FlagUsage>,
}

impl EnvironmentSnapshot {
    /// The environment's config revision that this is.
    pub(crate) fn revision(&self) -> i64 {
        self.revision
    }

    /// An environment without flags as yet.
    pub(super) fn empty(usage: Arc<EnvironmentUsage>) -> Self {
        Self {
            revision: 0,
            usage,
            flags: HashMap::new(),
            unreadable: HashMap::new(),
            document: OnceCell::new(),
            filtered: Filtered::default(),
        }
    }

    /// Returns the number of flags, including archived ones.
    pub(crate) fn size(&self) -> usize {
        self.flags.len()
    }

    /// The flag with this key; none if the environment has no such flag.
    pub(crate) fn flag(&self, key: &str) -> Option<&ServedFlag> {
        self.flags.get(key).map(|flag| &**flag)
    }

    /// Counts a report of evaluations that happened elsewhere, unless one with this id is counted within an hour, by
    /// any instance. Flags that the environment does not have are passed over. False if too many reports wait to be
    /// counted.
    pub(crate) fn reported<'k>(
        &self,
        id: Uuid,
        counts: impl Iterator<Item = (&'k str, Reason, u64)>,
    ) -> bool {
        let counts: Vec<_> = counts
            .filter_map(|(key, reason, count)| {
                Some((self.flags.get(key)?.usage.flag(), reason, count))
            })
            .collect();
        counts.is_empty() || self.usage.reported(id, counts)
    }

    /// Returns the usage counters and rate limiters of the environment.
    pub(crate) fn usage(&self) -> &EnvironmentUsage {
        &self.usage
    }

    /// Decides all active flags, by key.
    pub(crate) fn decide_all(&self, context: &Context<'_>) -> Vec<(&str, Decision)> {
        let active = self.flags.iter().filter(|(_, flag)| flag.entry.is_some());
        let mut decisions: Vec<(&str, Decision)> = active
            .map(|(key, flag)| (&**key, flag.decide(context)))
            .collect();
        decisions.sort_unstable_by_key(|(key, _)| *key);
        decisions
    }

    /// The config document of all active flags: made on first use, by one for all who wait for it, and then the same
    /// bytes for as long as this lives.
    pub(crate) async fn document(self: &Arc<Self>) -> Arc<Document> {
        let make = || async {
            let snapshot = Arc::clone(self);
            match tokio::task::spawn_blocking(move || snapshot.whole_document()).await {
                Ok(document) => document,
                // The runtime is shutting down: nothing is lost by doing it here.
                Err(_) => self.whole_document(),
            }
        };
        Arc::clone(self.document.get_or_init(make).await)
    }

    /// The config document of those active flags that are among `keys`.
    pub(crate) fn filtered_document(&self, keys: &[String]) -> Arc<Document> {
        let found = keys
            .iter()
            .filter_map(|key| self.flags.get_key_value(&**key));
        let mut entries = by_key(found);
        entries.dedup_by_key(|(key, _)| *key);
        let found: Vec<&Arc<str>> = entries.iter().map(|(key, _)| *key).collect();
        self.filtered.get_or_make(&found, || document_of(&entries))
    }

    fn whole_document(&self) -> Arc<Document> {
        Arc::new(document_of(&by_key(self.flags.iter())))
    }

    /// The revision from which on flags must be read to know all changes, among them the repair of unreadable flags.
    pub(super) fn known_up_to(&self) -> i64 {
        let unreadable = self.unreadable.values().map(|flag| flag.revision);
        let before = |oldest: i64| oldest.saturating_sub(1).min(self.revision);
        unreadable.min().map_or(self.revision, before)
    }

    /// Returns true if a flag is news: a newer revision, or the repair of one that could not be read.
    pub(super) fn lacks(&self, flag: &ChangedFlag) -> bool {
        let is_repaired = flag.fault.is_none() && self.unreadable.contains_key(&*flag.key);
        flag.revision > self.revision || is_repaired
    }

    /// The keys of flags that cannot be read, and why.
    pub(super) fn faults(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.unreadable.iter().map(|(key, flag)| (key, &flag.error))
    }

    /// The snapshot after `changed` flags have taken the place of their former selves.
    pub(super) fn with(&self, changed: Vec<ChangedFlag>, revision: i64) -> Self {
        self.succeeded_by(
            self.flags.clone(),
            self.unreadable.clone(),
            changed,
            revision,
        )
    }

    /// Returns a snapshot of `all` flags, after a full read.
    pub(super) fn rebuilt(&self, all: Vec<ChangedFlag>, revision: i64) -> Self {
        self.succeeded_by(HashMap::new(), HashMap::new(), all, revision)
    }

    /// Puts flags into a snapshot that follows this one. A flag that cannot be read keeps its state in this snapshot;
    /// without one, it is off.
    fn succeeded_by(
        &self,
        mut flags: HashMap<Arc<str>, Arc<ServedFlag>>,
        mut unreadable: HashMap<Arc<str>, UnreadableFlag>,
        changed: Vec<ChangedFlag>,
        revision: i64,
    ) -> Self {
        for flag in changed {
            let key: Arc<str> = Arc::from(&*flag.key);
            let served = match (flag.loaded, self.flags.get(&key)) {
                (None, Some(last)) => Arc::clone(last),
                (loaded, _) => {
                    let loaded = loaded.unwrap_or_else(|| LoadedFlag::off(flag.key, false));
                    Arc::new(ServedFlag::new(loaded, self.usage.flag(flag.id)))
                }
            };
            match flag.fault {
                Some(error) => {
                    let fault = UnreadableFlag {
                        revision: flag.revision,
                        error: error.to_string().into(),
                    };
                    unreadable.insert(Arc::clone(&key), fault);
                }
                None => drop(unreadable.remove(&key)),
            }
            flags.insert(key, served);
        }
        Self {
            revision,
            usage: Arc::clone(&self.usage),
            flags,
            unreadable,
            document: OnceCell::new(),
            filtered: Filtered::default(),
        }
    }
}

/// The entries of active flags, by key.
fn by_key<'f>(
    flags: impl Iterator<Item = (&'f Arc<str>, &'f Arc<ServedFlag>)>,
) -> Vec<(&'f Arc<str>, &'f str)> {
    let mut entries: Vec<_> = flags
        .filter_map(|(key, flag)| Some((key, flag.entry.as_deref()?)))
        .collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}

fn document_of(entries: &[(&Arc<str>, &str)]) -> Document {
    Document::new(entries.iter().map(|(_, entry)| *entry))
}

impl ServedFlag {
    fn new(flag: LoadedFlag, usage: Arc<FlagUsage>) -> Self {
        let LoadedFlag { config, rule_ids } = flag;
        let entry = if config.archived {
            None
        } else {
            serde_json::to_string(&config).ok()
        };
        Self {
            compiled: config.into(),
            rule_ids: rule_ids.into(),
            entry: entry.map(String::into_boxed_str),
            usage,
        }
    }

    /// Decides the flag for a context.
    pub(crate) fn evaluate(&self, context: &Context<'_>) -> Evaluation {
        evaluate(&self.compiled, context, MissingBucketingKey::Excluded)
    }

    /// Decides the flag as [`evaluate`](Self::evaluate) does, and returns every step of the way, with the ids of the
    /// flag's rules by ascending priority.
    pub(crate) fn explain(&self, context: &Context<'_>) -> (Explanation, &[RuleId]) {
        let explanation = explain(&self.compiled, context, MissingBucketingKey::Excluded);
        (explanation, &self.rule_ids)
    }

    /// Counts evaluations that ended for this reason.
    pub(crate) fn count(&self, reason: Reason, evaluations: u64) {
        self.usage.evaluated(reason, evaluations);
    }

    /// Decides the flag as [`evaluate`](Self::evaluate) does, for OpenFeature.
    pub(crate) fn decide(&self, context: &Context<'_>) -> Decision {
        let evaluation = self.evaluate(context);
        Decision {
            evaluation,
            standard_reason: self.compiled.standard_reason(evaluation.reason),
        }
    }
}
