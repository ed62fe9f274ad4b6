//! What one environment serves at one moment.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use pennon_core::{CompiledFlag, Context, Evaluation, FlagConfig, MissingBucketingValue, evaluate};

use super::document::Document;

/// The flags of an environment at one revision. It never changes: a change makes a new one, which shares with its
/// predecessor every flag that stayed as it was.
#[derive(Default)]
pub(crate) struct EnvironmentSnapshot {
    revision: i64,
    flags: HashMap<Arc<str>, Arc<ServedFlag>>,
    document: OnceLock<Arc<Document>>,
}

/// A flag, ready to be evaluated and ready to be sent.
struct ServedFlag {
    compiled: CompiledFlag,
    /// The flag's entry in the config document; none if it is archived.
    entry: Option<Box<str>>,
}

impl EnvironmentSnapshot {
    /// The environment's config revision that this is.
    pub(crate) fn revision(&self) -> i64 {
        self.revision
    }

    /// Decides a flag for a context; none if the environment has no such flag.
    pub(crate) fn evaluate(&self, key: &str, context: &Context<'_>) -> Option<Evaluation> {
        let flag = self.flags.get(key)?;
        Some(evaluate(
            &flag.compiled,
            context,
            MissingBucketingValue::Excluded,
        ))
    }

    /// The config document of all active flags: made on first use, and then the same bytes for as long as this lives.
    pub(crate) async fn document(self: &Arc<Self>) -> Arc<Document> {
        if let Some(document) = self.document.get() {
            return Arc::clone(document);
        }
        let snapshot = Arc::clone(self);
        let make = move || {
            Arc::clone(
                snapshot
                    .document
                    .get_or_init(|| snapshot.document_of(|_| true)),
            )
        };
        match tokio::task::spawn_blocking(make).await {
            Ok(document) => document,
            // The runtime is shutting down: nothing is lost by doing it here.
            Err(_) => Arc::clone(self.document.get_or_init(|| self.document_of(|_| true))),
        }
    }

    /// The config document of those active flags that are among `keys`.
    pub(crate) fn filtered_document(&self, keys: &[String]) -> Arc<Document> {
        self.document_of(|key| keys.iter().any(|wanted| wanted == key))
    }

    fn document_of(&self, wanted: impl Fn(&str) -> bool) -> Arc<Document> {
        let mut entries: Vec<(&str, &str)> = self
            .flags
            .iter()
            .filter(|(key, _)| wanted(key))
            .filter_map(|(key, flag)| Some((&**key, flag.entry.as_deref()?)))
            .collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        Arc::new(Document::new(entries.into_iter().map(|(_, entry)| entry)))
    }

    /// The snapshot after `changed` flags have taken the place of their former selves.
    pub(crate) fn with(&self, changed: Vec<FlagConfig>, revision: i64) -> Self {
        let mut flags = self.flags.clone();
        for config in changed {
            flags.insert(Arc::from(&*config.key), Arc::new(ServedFlag::new(config)));
        }
        Self {
            revision,
            flags,
            document: OnceLock::new(),
        }
    }
}

impl ServedFlag {
    fn new(config: FlagConfig) -> Self {
        let entry = if config.archived {
            None
        } else {
            serde_json::to_string(&config).ok()
        };
        Self {
            compiled: config.into(),
            entry: entry.map(String::into_boxed_str),
        }
    }
}
