//! Random flags, and random contexts for their evaluation.

use pennon_core::FlagConfig;
use pennon_core::context::{Context, CustomValue};
use proptest::option;
use proptest::prelude::Strategy;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::generate;

/// The number of flags in a round. Each of them costs the server a few requests.
const FLAGS: usize = 10;

/// The number of contexts for which each flag of a round is evaluated.
const CONTEXTS: usize = 200;

/// A random value that can be simplified.
pub(crate) type Tree<T> = Box<dyn ValueTree<Value = T>>;

/// The source of rounds.
pub(crate) struct Cases(TestRunner);

/// Flags and contexts. Each flag is evaluated for each context.
pub(crate) struct Round {
    flags: Vec<Tree<FlagConfig>>,
    contexts: Vec<Tree<Context<'static>>>,
}

impl Cases {
    pub(crate) fn from_seed(seed: u64) -> Self {
        let mut bytes = [0; 32];
        for (byte, seed) in bytes.iter_mut().zip(seed.to_le_bytes()) {
            *byte = seed;
        }
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Self(TestRunner::new_with_rng(Config::default(), rng))
    }

    pub(crate) fn round(&mut self) -> Round {
        Round {
            flags: self.trees(&flag().boxed(), FLAGS),
            contexts: self.trees(&context().boxed(), CONTEXTS),
        }
    }

    fn trees<S: Strategy + 'static>(&mut self, strategy: &S, count: usize) -> Vec<Tree<S::Value>> {
        let tree = |_| -> Tree<S::Value> {
            let tree = strategy.new_tree(&mut self.0);
            Box::new(tree.expect("hardly anything is filtered out"))
        };
        (0..count).map(tree).collect()
    }
}

impl Round {
    /// Returns the flags, with the keys `flag_0`, `flag_1` and so on.
    pub(crate) fn flags(&self) -> Vec<FlagConfig> {
        let flags = self.flags.iter().map(ValueTree::current).enumerate();
        flags.map(|(index, flag)| keyed(flag, index)).collect()
    }

    pub(crate) fn contexts(&self) -> Vec<Context<'static>> {
        self.contexts.iter().map(ValueTree::current).collect()
    }

    pub(crate) fn pairs(&self) -> usize {
        self.flags.len() * self.contexts.len()
    }

    /// Returns the index of the flag for the evaluation at a position. All evaluations of one flag are adjacent.
    pub(crate) fn flag_at(&self, position: usize) -> usize {
        position / self.contexts.len()
    }

    /// Returns the index of the context for the evaluation at a position.
    pub(crate) fn context_at(&self, position: usize) -> usize {
        position % self.contexts.len()
    }

    /// Removes a flag and a context from the round, to simplify them.
    pub(crate) fn take(
        &mut self,
        flag: usize,
        context: usize,
    ) -> (Tree<FlagConfig>, Tree<Context<'static>>) {
        (
            self.flags.swap_remove(flag),
            self.contexts.swap_remove(context),
        )
    }
}

/// Returns a flag whose key is made from its index.
pub(crate) fn keyed(flag: FlagConfig, index: usize) -> FlagConfig {
    FlagConfig {
        key: format!("flag_{index}").into(),
        ..flag
    }
}

/// Generates flags as clients get them, without archived ones.
fn flag() -> impl Strategy<Value = FlagConfig> {
    generate::flag().prop_map(|flag| FlagConfig {
        archived: false,
        ttl: None,
        ..flag
    })
}

/// Generates contexts that the server accepts.
fn context() -> impl Strategy<Value = Context<'static>> {
    let email = select(&["a@b.example", "ada@example.com", "o'hara+news@example.org"][..]);
    let email = option::weighted(0.8, email.prop_map(Into::into));
    (generate::context(), email).prop_map(|(mut context, email)| {
        context.email = email;
        context.custom.retain(|_, value| match value {
            CustomValue::Number(number) => number.is_finite(),
            CustomValue::String(_) | CustomValue::Boolean(_) => true,
        });
        context
    })
}

/// Returns a context as callers send it.
pub(crate) fn json(context: &Context<'_>) -> Value {
    let custom = context.custom.iter().map(|(name, value)| {
        let value = match value {
            CustomValue::String(text) => json!(text),
            CustomValue::Number(number) => json!(number),
            CustomValue::Boolean(boolean) => json!(boolean),
        };
        (name.to_string(), value)
    });
    let mut object = Map::new();
    for (name, value) in [
        ("userId", &context.user_id),
        ("tenantId", &context.tenant_id),
        ("email", &context.email),
        ("country", &context.country),
    ] {
        if let Some(value) = value {
            object.insert(name.to_owned(), json!(value));
        }
    }
    object.insert("customAttributes".to_owned(), custom.collect());
    object.into()
}
