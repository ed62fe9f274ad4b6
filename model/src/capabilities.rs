//! The values in the config document that each client version supports.
//!
//! All packages are released together with the server under the same version, so a client's version determines the
//! values that it supports. For each value that is added to the document, [`since`] must return the version that
//! introduces it; the compiler enforces that.

use std::fmt;

use crate::client::{Client, Version};
use crate::list;
use pennon_core::FlagConfig;
use pennon_core::rollout::Strategy;
use pennon_core::rule::{Logic, Operator, ValueType};

/// The maximum number of clients that a sentence names.
const MAX_NAMES: usize = 5;

/// The first version of the packages. Any earlier version supports no values.
const FIRST: Version = Version::new(0, 1, 0);

/// A value in the config document that a client must support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// The format of the document itself.
    Document,
    /// The logic of a rule.
    Logic(Logic),
    /// The operator of a condition.
    Operator(Operator),
    /// The type of a condition's value.
    ValueType(ValueType),
    /// The strategy of a rollout.
    Strategy(Strategy),
}

/// Values that some clients in use do not support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The values, at least one.
    pub capabilities: Vec<Capability>,
    /// The clients, at least one.
    pub clients: Vec<Client>,
}

impl Capability {
    /// Returns all values.
    fn all() -> impl Iterator<Item = Self> {
        let logics = Logic::ALL.iter().copied().map(Self::Logic);
        let operators = Operator::ALL.iter().copied().map(Self::Operator);
        let types = ValueType::ALL.iter().copied().map(Self::ValueType);
        let strategies = Strategy::ALL.iter().copied().map(Self::Strategy);
        let others = logics.chain(operators).chain(types).chain(strategies);
        std::iter::once(Self::Document).chain(others)
    }
}

/// Returns the first version that supports a value.
pub fn since(capability: Capability) -> Version {
    match capability {
        Capability::Document
        | Capability::Logic(Logic::And | Logic::Or)
        | Capability::Operator(
            Operator::Equal
            | Operator::NotEqual
            | Operator::Greater
            | Operator::Less
            | Operator::GreaterOrEqual
            | Operator::LessOrEqual,
        )
        | Capability::ValueType(ValueType::String | ValueType::Number | ValueType::Boolean)
        | Capability::Strategy(Strategy::PerUser | Strategy::PerTenant) => FIRST,
    }
}

/// Returns the values of a flag that a version does not support, without duplicates, in the order of the document.
/// `since` is the lookup: [`since()`], or a fake in tests.
pub fn unsupported(
    flag: &FlagConfig,
    version: &Version,
    since: impl Fn(Capability) -> Version,
) -> Vec<Capability> {
    let capabilities = distinct([flag]);
    missing(&capabilities, version, &since).collect()
}

/// Returns true if a version supports all values.
pub fn supports_all(version: &Version, since: impl Fn(Capability) -> Version) -> bool {
    Capability::all().all(|capability| *version >= since(capability))
}

/// Returns the values in these flags that clients do not support. Clients that lack the same values form one gap.
/// Clients of unknown versions are ignored.
pub fn gaps<'f>(
    flags: impl IntoIterator<Item = &'f FlagConfig>,
    clients: &[Client],
    since: impl Fn(Capability) -> Version,
) -> Vec<Gap> {
    let used = distinct(flags);
    let mut gaps: Vec<Gap> = Vec::new();
    for client in clients {
        let Client::Known(_, version) = client else {
            continue;
        };
        let capabilities: Vec<Capability> = missing(&used, version, &since).collect();
        match gaps.iter_mut().find(|gap| gap.capabilities == capabilities) {
            _ if capabilities.is_empty() => {}
            Some(gap) => gap.clients.push(client.clone()),
            None => gaps.push(Gap {
                capabilities,
                clients: vec![client.clone()],
            }),
        }
    }
    gaps
}

/// Returns the values that a version does not support.
fn missing(
    capabilities: &[Capability],
    version: &Version,
    since: &impl Fn(Capability) -> Version,
) -> impl Iterator<Item = Capability> {
    let capabilities = capabilities.iter().copied();
    capabilities.filter(move |capability| *version < since(*capability))
}

/// Returns the values of flags, without duplicates.
fn distinct<'f>(flags: impl IntoIterator<Item = &'f FlagConfig>) -> Vec<Capability> {
    let mut distinct = Vec::new();
    for capability in flags.into_iter().flat_map(capabilities) {
        if !distinct.contains(&capability) {
            distinct.push(capability);
        }
    }
    distinct
}

/// Returns the values of a flag in the document; none for an archived flag, which the document omits.
fn capabilities(flag: &FlagConfig) -> impl Iterator<Item = Capability> {
    let flag = (!flag.archived).then_some(flag);
    flag.into_iter().flat_map(|flag| {
        let rules = flag.rules.iter().flat_map(|rule| {
            let conditions = rule.conditions.iter().flat_map(|condition| {
                [
                    Capability::Operator(condition.operator),
                    Capability::ValueType(condition.operand.value_type()),
                ]
            });
            std::iter::once(Capability::Logic(rule.logic)).chain(conditions)
        });
        let rollout = flag
            .rollout
            .map(|rollout| Capability::Strategy(rollout.strategy));
        std::iter::once(Capability::Document)
            .chain(rules)
            .chain(rollout)
    })
}

/// Formats a phrase such as ``the operator `==` ``.
impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => formatter.write_str("the config document"),
            Self::Logic(logic) => write!(formatter, "the logic `{logic}`"),
            Self::Operator(operator) => write!(formatter, "the operator `{operator}`"),
            Self::ValueType(kind) => write!(formatter, "the value type `{kind}`"),
            Self::Strategy(strategy) => write!(formatter, "the rollout strategy `{strategy}`"),
        }
    }
}

/// Formats a sentence such as ``Update `@pennon/core/0.1.0`, in use within the last 7 days: it cannot read the operator
/// `==`.``
impl fmt::Display for Gap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.clients.iter().take(MAX_NAMES);
        let mut names: Vec<String> = names.map(|client| format!("`{client}`")).collect();
        let left_out = self.clients.len().saturating_sub(names.len());
        if left_out > 0 {
            names.push(format!("{left_out} more"));
        }
        let pronoun = if self.clients.len() == 1 {
            "it"
        } else {
            "they"
        };
        let capabilities: Vec<String> = self.capabilities.iter().map(ToString::to_string).collect();
        write!(
            formatter,
            "Update {}, in use within the last 7 days: {pronoun} cannot read {}.",
            list::join(&names, "and"),
            list::join(&capabilities, "and"),
        )
    }
}
