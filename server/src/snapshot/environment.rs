//! The in-memory state of one environment at one moment.

use std::sync::{Arc, OnceLock};

use imbl::HashMap;
use pennon_core::ttl::Ttl;
use pennon_core::{
    CompiledFlag, Context, Evaluation, Explanation, MissingBucketingKey, StandardReason, evaluate,
    evaluate_without_context, explain,
};
use pennon_model::environment::ClientRules;
use pennon_model::id::RuleId;
use pennon_model::usage::Outcome;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::document::{Document, TagSecret};
use super::filtered::Filtered;
use super::usage::{EnvironmentCounters, FlagCounters, Origin};
use crate::store::snapshots::{ChangedFlag, LoadedFlag};

/// The flags of an environment at one revision. A snapshot is immutable. Each change creates a new snapshot, which
/// shares all unchanged flags with its predecessor.
pub(crate) struct EnvironmentSnapshot {
    revision: i64,
    usage: Arc<EnvironmentCounters>,
    client_rules: ClientRules,
    tag_secret: TagSecret,
    /// A persistent map: copying it is free, and changing a copy costs only the path to the changed entry.
    flags: HashMap<Arc<str>, Arc<ServedFlag>>,
    /// The flags with an unreadable row, by key. They are served in their last readable state.
    unreadable: HashMap<Arc<str>, UnreadableFlag>,
    active: OnceLock<ActiveFlags>,
    document: OnceLock<Arc<Document>>,
    /// Held while the document is built.
    building: Arc<Semaphore>,
    filtered: Filtered,
}

/// The active flags of a snapshot, by key.
pub(crate) type ActiveFlags = Arc<[(Arc<str>, Arc<ServedFlag>)]>;

/// An evaluation, and OpenFeature's name for its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) evaluation: Evaluation,
    pub(crate) standard_reason: StandardReason,
}

/// A flag with an unreadable row.
#[derive(Clone)]
struct UnreadableFlag {
    /// The environment's config revision in which the flag changed.
    revision: i64,
    error: Arc<str>,
}

/// The JSON of a flag in config documents, and its SHA-256.
struct Entry {
    json: Box<str>,
    hash: [u8; 32],
}

/// A flag in the forms in which it is evaluated and sent.
pub(crate) struct ServedFlag {
    compiled: CompiledFlag,
    /// The IDs of the rules by ascending priority, the order of evaluation.
    rule_ids: Box<[RuleId]>,
    /// The flag's entry in the config document; none if the flag is archived.
    entry: Option<Entry>,
    ttl: Option<Ttl>,
    /// Shared by all versions of the flag in this environment.
    usage: Arc<FlagCounters>,
}

impl EnvironmentSnapshot {
    /// Returns the environment's config revision of this snapshot.
    pub(crate) fn revision(&self) -> i64 {
        self.revision
    }

    /// Returns a snapshot without flags, which reveals nothing.
    pub(super) fn empty(usage: Arc<EnvironmentCounters>, tag_secret: TagSecret) -> Self {
        Self {
            revision: 0,
            usage,
            client_rules: ClientRules::Answers,
            tag_secret,
            flags: HashMap::new(),
            unreadable: HashMap::new(),
            active: OnceLock::new(),
            document: OnceLock::new(),
            building: Arc::new(Semaphore::new(1)),
            filtered: Filtered::default(),
        }
    }

    /// Returns what the environment's SDK key reveals.
    pub(crate) fn client_rules(&self) -> ClientRules {
        self.client_rules
    }

    /// Returns the snapshot with this setting instead.
    pub(super) fn revealing(self, client_rules: ClientRules) -> Self {
        Self {
            client_rules,
            ..self
        }
    }

    /// Returns the number of flags, including archived ones.
    pub(crate) fn size(&self) -> usize {
        self.flags.len()
    }

    /// Returns the flag with this key; none if the environment has no such flag.
    pub(crate) fn flag(&self, key: &str) -> Option<&ServedFlag> {
        self.flags.get(key).map(|flag| &**flag)
    }

    /// Counts a report of local evaluations, unless any instance has counted a report with this ID within an hour.
    /// Ignores flags that the environment does not have. Returns false if too many reports wait to be counted.
    pub(crate) fn record_report<'k>(
        &self,
        id: Uuid,
        counts: impl Iterator<Item = (&'k str, Outcome, u64)>,
    ) -> bool {
        let counts: Vec<_> = counts
            .filter_map(|(key, outcome, count)| {
                Some((self.flags.get(key)?.usage.flag(), outcome, count))
            })
            .collect();
        counts.is_empty() || self.usage.record_report(id, counts)
    }

    /// Returns the usage counters, rate limiters and watchers of the environment.
    pub(crate) fn usage(&self) -> &Arc<EnvironmentCounters> {
        &self.usage
    }

    /// Returns all active flags, by key.
    pub(crate) fn active_flags(&self) -> ActiveFlags {
        let active = self.active.get_or_init(|| by_key(self.flags.iter()));
        Arc::clone(active)
    }

    /// Returns the config document of all active flags. The first caller builds it, concurrent callers wait for it, and
    /// all later ones get the same bytes.
    pub(crate) async fn document(self: &Arc<Self>) -> Arc<Document> {
        if let Some(document) = self.document.get() {
            return Arc::clone(document);
        }
        let turn = Arc::clone(&self.building).acquire_owned().await;
        if let Some(document) = self.document.get() {
            return Arc::clone(document);
        }
        let snapshot = Arc::clone(self);
        // The turn lasts until the document is built, even if the caller is canceled.
        let build = move || {
            let _turn = turn;
            snapshot.built()
        };
        let document = tokio::task::spawn_blocking(build).await;
        // An error means that the runtime is shutting down, so blocking this thread does no harm.
        document.unwrap_or_else(|_| self.built())
    }

    fn built(&self) -> Arc<Document> {
        let build = || Arc::new(Document::whole(self.active_flags(), self.document_secret()));
        Arc::clone(self.document.get_or_init(build))
    }

    /// Returns the config document of the active flags among `keys`.
    pub(crate) fn filtered_document(&self, keys: &[String]) -> Arc<Document> {
        let found = keys
            .iter()
            .filter_map(|key| self.flags.get_key_value(&**key));
        self.filtered
            .document(by_key(found), self.document_secret())
    }

    #[cfg(test)]
    pub(super) fn filtered(&self) -> &Filtered {
        &self.filtered
    }

    /// Returns the secret of the entity tags of documents, if the SDK key does not reveal rules.
    fn document_secret(&self) -> Option<TagSecret> {
        match self.client_rules {
            ClientRules::Full => None,
            ClientRules::Answers => Some(self.tag_secret),
        }
    }

    /// Returns the revision after which to read flags to get all changes, including repairs of unreadable flags.
    pub(super) fn latest_revision(&self) -> i64 {
        let unreadable = self.unreadable.values().map(|flag| flag.revision);
        let before = |oldest: i64| oldest.saturating_sub(1).min(self.revision);
        unreadable.min().map_or(self.revision, before)
    }

    /// Returns true if the flag has a newer revision, or a previously unreadable flag can be read again.
    pub(super) fn lacks(&self, flag: &ChangedFlag) -> bool {
        let is_repaired = flag.fault.is_none() && self.unreadable.contains_key(&*flag.key);
        flag.revision > self.revision || is_repaired
    }

    /// Returns the keys of unreadable flags, with the errors.
    pub(super) fn faults(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.unreadable.iter().map(|(key, flag)| (key, &flag.error))
    }

    /// Returns a snapshot in which the `changed` flags replace their previous versions.
    pub(super) fn with(&self, changed: Vec<ChangedFlag>, revision: i64) -> Self {
        self.succeeded_by(
            self.flags.clone(),
            self.unreadable.clone(),
            changed,
            revision,
        )
    }

    /// Returns the same snapshot, for the environment that replaces this one.
    pub(super) fn copied(&self) -> Self {
        self.with(Vec::new(), self.revision)
    }

    /// Returns a snapshot of `all` flags, after a full read.
    pub(super) fn rebuilt(&self, all: Vec<ChangedFlag>, revision: i64) -> Self {
        self.succeeded_by(HashMap::new(), HashMap::new(), all, revision)
    }

    /// Returns the snapshot that follows this one: `flags` with the `changed` ones replaced. An unreadable flag keeps
    /// its state in this snapshot, or is off if it has none.
    fn succeeded_by(
        &self,
        mut flags: HashMap<Arc<str>, Arc<ServedFlag>>,
        mut unreadable: HashMap<Arc<str>, UnreadableFlag>,
        changed: Vec<ChangedFlag>,
        revision: i64,
    ) -> Self {
        for flag in changed {
            let key: Arc<str> = Arc::from(&*flag.key);
            if flag.is_hidden {
                flags.remove(&key);
                unreadable.remove(&key);
                continue;
            }
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
            client_rules: self.client_rules,
            tag_secret: self.tag_secret,
            flags,
            unreadable,
            active: OnceLock::new(),
            document: OnceLock::new(),
            building: Arc::new(Semaphore::new(1)),
            filtered: Filtered::default(),
        }
    }
}

/// Returns the active ones of these flags, by key.
fn by_key<'f>(flags: impl Iterator<Item = (&'f Arc<str>, &'f Arc<ServedFlag>)>) -> ActiveFlags {
    let active = flags.filter(|(_, flag)| flag.entry.is_some());
    let mut active: Vec<_> = active
        .map(|(key, flag)| (Arc::clone(key), Arc::clone(flag)))
        .collect();
    active.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    active.dedup_by(|(one, _), (other, _)| one == other);
    active.into()
}

impl From<String> for Entry {
    fn from(json: String) -> Self {
        Self {
            hash: Sha256::digest(&json).into(),
            json: json.into(),
        }
    }
}

impl ServedFlag {
    fn new(flag: LoadedFlag, usage: Arc<FlagCounters>) -> Self {
        let LoadedFlag { config, rule_ids } = flag;
        let ttl = config.ttl;
        let entry = if config.archived {
            None
        } else {
            serde_json::to_string(&config).ok()
        };
        Self {
            compiled: config.into(),
            rule_ids: rule_ids.into(),
            entry: entry.map(Entry::from),
            ttl,
            usage,
        }
    }

    /// Evaluates the flag for a context.
    pub(crate) fn evaluate(&self, context: &Context<'_>) -> Evaluation {
        evaluate(&self.compiled, context, MissingBucketingKey::Excluded)
    }

    /// Returns true if the flag has rules or a rollout, so that its evaluation can depend on the context.
    pub(crate) fn is_targeted(&self) -> bool {
        self.compiled.is_targeted()
    }

    /// Evaluates the flag without a context, as clients do.
    pub(crate) fn evaluate_without_context(&self) -> Evaluation {
        evaluate_without_context(&self.compiled)
    }

    /// Evaluates the flag like [`evaluate`](Self::evaluate), and returns every step, with the IDs of the flag's rules
    /// by ascending priority.
    pub(crate) fn explain(&self, context: &Context<'_>) -> (Explanation, &[RuleId]) {
        let explanation = explain(&self.compiled, context, MissingBucketingKey::Excluded);
        (explanation, &self.rule_ids)
    }

    /// Returns the flag's entry in the config document, which is empty if the flag is archived.
    pub(crate) fn entry(&self) -> &str {
        self.entry.as_ref().map_or("", |entry| &entry.json)
    }

    /// Returns the hash of the flag's entry, which is empty if the flag is archived.
    pub(super) fn entry_hash(&self) -> &[u8] {
        self.entry.as_ref().map_or(&[], |entry| &entry.hash)
    }

    /// Returns the TTL override.
    pub(crate) fn ttl(&self) -> Option<Ttl> {
        self.ttl
    }

    /// Counts an evaluation.
    pub(crate) fn count(&self, evaluation: Evaluation) {
        self.usage.count(evaluation.into(), Origin::Server, 1);
    }

    /// Counts evaluations that a client reported.
    pub(crate) fn count_reported(&self, outcome: Outcome, evaluations: u64) {
        self.usage.count(outcome, Origin::Client, evaluations);
    }

    /// Evaluates the flag like [`evaluate`](Self::evaluate), for OpenFeature.
    pub(crate) fn decide(&self, context: &Context<'_>) -> Decision {
        let evaluation = self.evaluate(context);
        Decision {
            evaluation,
            standard_reason: self.compiled.standard_reason(evaluation.reason),
        }
    }
}
