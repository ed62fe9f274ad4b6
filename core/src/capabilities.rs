//! The words of the config document that each version of a client can read.
//!
//! All packages are released together with the server, in the same version, so a version says it all. A word that is added to
//! the document gets the version that brings it in [`since`]; the compiler asks for it.

use alloc::vec::Vec;
use core::fmt;

use crate::config::FlagConfig;
use crate::model::client::Version;
use crate::model::rollout::Strategy;
use crate::model::rule::{Logic, Operator, ValueType};

/// The first version of the packages. No version before it can read anything.
const FIRST: Version = Version::new(0, 1, 0);

/// Something in the config document that a client has to understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The form of the document itself.
    Document,
    /// The logic that combines conditions.
    Logic(Logic),
    /// The operator of a condition.
    Operator(Operator),
    /// The type of a condition's value.
    ValueType(ValueType),
    /// The strategy of a rollout.
    Strategy(Strategy),
}

/// Returns the first version that can read a word.
pub fn since(word: Word) -> Version {
    match word {
        Word::Document
        | Word::Logic(Logic::And | Logic::Or)
        | Word::Operator(
            Operator::Equal
            | Operator::NotEqual
            | Operator::Greater
            | Operator::Less
            | Operator::GreaterOrEqual
            | Operator::LessOrEqual,
        )
        | Word::ValueType(ValueType::String | ValueType::Number | ValueType::Boolean)
        | Word::Strategy(Strategy::PerUser | Strategy::PerTenant) => FIRST,
    }
}

/// Returns the words of a flag that a version cannot read, each once, in the order of the document. `since` is the table to go
/// by: [`since()`], or another one in tests.
pub fn unreadable(
    flag: &FlagConfig,
    version: &Version,
    since: impl Fn(Word) -> Version,
) -> Vec<Word> {
    let mut unreadable = Vec::new();
    for word in words(flag) {
        if *version < since(word) && !unreadable.contains(&word) {
            unreadable.push(word);
        }
    }
    unreadable
}

/// The words of a flag as the document has it. The document has no archived flags.
fn words(flag: &FlagConfig) -> impl Iterator<Item = Word> {
    let flag = (!flag.archived).then_some(flag);
    flag.into_iter().flat_map(|flag| {
        let rules = flag.rules.iter().flat_map(|rule| {
            let conditions = rule.conditions.iter().flat_map(|condition| {
                [
                    Word::Operator(condition.operator),
                    Word::ValueType(condition.operand.value_type()),
                ]
            });
            core::iter::once(Word::Logic(rule.logic)).chain(conditions)
        });
        let rollout = flag.rollout.map(|rollout| Word::Strategy(rollout.strategy));
        core::iter::once(Word::Document).chain(rules).chain(rollout)
    })
}

/// A phrase such as ``the operator `==` ``.
impl fmt::Display for Word {
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
