//! Actions of the audit log in one sentence each.

use pennon_core::rollout::{Rollout, Strategy};
use pennon_model::audit::{AuditAction, AuditEntry};

use super::{
    difference::{FieldDiff, Member, changes},
    sentence::{Piece, sentence_of},
    values::read,
};

/// Describes an action in one sentence, to follow the actor's name, with its effect: `changed the rollout of checkout
/// from 10% to 50% in production`. The entries are those of one action.
pub fn summary_of(entries: &[&AuditEntry]) -> Vec<Piece> {
    match entries {
        [] => Vec::new(),
        [entry] => sentence_with_effect(entry),
        [first, ..] => {
            let flags = distinct(entries.iter().map(|entry| entry.flag_key.as_ref()));
            let environments = entries.iter();
            let environments =
                environments.map(|entry| Some((&entry.product, entry.environment.as_ref()?)));
            let environments = distinct(environments);
            let anonymous = anonymous_sentence(first);
            let is_repeated = entries
                .iter()
                .all(|entry| anonymous_sentence(entry) == anonymous);
            let places = entries
                .iter()
                .map(|entry| Some((&entry.flag_key, &entry.product, &entry.environment)));
            let sentence = if is_repeated && distinct(places) == entries.len() {
                sentence_of(first)
            } else {
                let text = |text: String| Piece::Text(text);
                let flag = entries.iter().find_map(|entry| entry.flag_key.clone());
                let environment = entries.iter().find_map(|entry| entry.environment.clone());
                let mut sentence = vec![text(format!("made {} changes", entries.len()))];
                if let Some(flag) = flag {
                    sentence.extend([text(" to ".to_owned()), Piece::Flag(flag)]);
                }
                if let Some(environment) = environment {
                    sentence.extend([text(" in ".to_owned()), Piece::Environment(environment)]);
                }
                sentence
            };
            let counted = sentence.into_iter().map(|piece| match piece {
                Piece::Flag(_) if flags > 1 => Piece::Text(format!("{flags} flags")),
                Piece::Environment(_) if environments > 1 => {
                    Piece::Text(format!("{environments} environments"))
                }
                piece => piece,
            });
            counted.collect()
        }
    }
}

/// Counts the different values.
fn distinct<T: PartialEq>(values: impl Iterator<Item = Option<T>>) -> usize {
    let mut known = Vec::new();
    for value in values.flatten() {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    known.len()
}

/// The sentence of an entry without the names of the flag and the environment.
fn anonymous_sentence(entry: &AuditEntry) -> Vec<Piece> {
    let pieces = sentence_of(entry).into_iter().map(|piece| match piece {
        Piece::Flag(_) => Piece::Flag(String::new()),
        Piece::Environment(_) => Piece::Environment(String::new()),
        piece @ Piece::Text(_) => piece,
    });
    pieces.collect()
}

fn sentence_with_effect(entry: &AuditEntry) -> Vec<Piece> {
    let (old, new) = (entry.old_value.as_ref(), entry.new_value.as_ref());
    if entry.action == AuditAction::RolloutConfigured
        && let (Some(old), Some(new)) = (read::<Rollout>(old), read::<Rollout>(new))
    {
        let change = if old.strategy == new.strategy {
            let (old, new) = (old.percentage.get(), new.percentage.get());
            format!(" from {old}% to {new}% in ")
        } else {
            format!(" from {} to {} in ", share(old), share(new))
        };
        return vec![
            Piece::Text("changed the rollout of ".to_owned()),
            Piece::Flag(entry.flag_key.clone().unwrap_or_default()),
            Piece::Text(change),
            Piece::Environment(entry.environment.clone().unwrap_or_default()),
        ];
    }
    let mut pieces = sentence_of(entry);
    let effect = short_effect(entry).map(|effect| Piece::Text(format!(": {effect}")));
    pieces.extend(effect);
    pieces
}

fn share(rollout: Rollout) -> String {
    let subjects = match rollout.strategy {
        Strategy::PerUser => "users",
        Strategy::PerTenant => "tenants",
    };
    format!("{}% of {subjects}", rollout.percentage.get())
}

/// Returns the effect of an entry, if its sentence does not contain it, such as `ON when country is DE`.
fn short_effect(entry: &AuditEntry) -> Option<String> {
    let differences = changes(entry.old_value.as_ref(), entry.new_value.as_ref());
    let mut differences = differences.into_iter();
    match entry.action {
        AuditAction::RuleCreated | AuditAction::RuleUpdated => {
            differences.find_map(|difference| match difference.member {
                Member::Rule => difference.new,
                _ => short_difference(difference),
            })
        }
        AuditAction::RuleDeleted | AuditAction::RolloutDeleted => {
            differences.find_map(|difference| Some(format!("it was {}", difference.old?)))
        }
        AuditAction::FlagUpdated | AuditAction::FlagEnvironmentUpdated => {
            let mut others = differences.filter(|difference| difference.member != Member::Switch);
            let only = others.next().filter(|_| others.next().is_none());
            only.and_then(short_difference)
        }
        _ => None,
    }
}

fn short_difference(difference: FieldDiff) -> Option<String> {
    let (old, new) = (isolated(difference.old?), isolated(difference.new?));
    Some(format!("{old} → {new}"))
}

/// Keeps letters of another direction from reordering the text around them.
fn isolated(text: String) -> String {
    if text.is_ascii() {
        text
    } else {
        format!("\u{2068}{text}\u{2069}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::audit::test_entry::entry;

    fn plain_summary(entries: &[AuditEntry]) -> String {
        let entries: Vec<_> = entries.iter().collect();
        summary_of(&entries)
            .into_iter()
            .map(Piece::into_text)
            .collect()
    }

    #[test]
    fn a_summary_of_one_entry_has_its_effect() {
        let describe = |action, old, new| plain_summary(&[entry(action, old, new)]);
        let rollout = |percentage: u8| json!({"percentage": percentage, "strategy": "per_user"});
        assert_eq!(
            describe(AuditAction::RolloutConfigured, rollout(10), rollout(50)),
            "changed the rollout of checkout from 10% to 50% in prod"
        );
        assert_eq!(
            describe(AuditAction::RolloutConfigured, Value::Null, rollout(50)),
            "set the rollout of checkout to 50% in prod"
        );
        let per_tenant = json!({"percentage": 50, "strategy": "per_tenant"});
        assert_eq!(
            describe(AuditAction::RolloutConfigured, rollout(50), per_tenant),
            "changed the rollout of checkout from 50% of users to 50% of tenants in prod"
        );
        assert_eq!(
            describe(
                AuditAction::FlagUpdated,
                json!({"name": "Old", "owner": "Ana"}),
                json!({"name": "New", "owner": "Ben"})
            ),
            "changed the name and the owner of checkout"
        );
        assert_eq!(
            describe(
                AuditAction::FlagEnvironmentUpdated,
                json!({"isEnabled": false, "ttlOverrideSeconds": null}),
                json!({"isEnabled": true, "ttlOverrideSeconds": null})
            ),
            "turned checkout on in prod"
        );
        assert_eq!(
            describe(
                AuditAction::FlagUpdated,
                json!({"name": "Old"}),
                json!({"name": "New"})
            ),
            "changed the name of checkout: Old → New"
        );
        assert_eq!(
            describe(
                AuditAction::FlagUpdated,
                json!({"name": "قديم"}),
                json!({"name": "جديد"})
            ),
            "changed the name of checkout: \u{2068}قديم\u{2069} → \u{2068}جديد\u{2069}"
        );
        let rule = json!({
            "id": "x", "priority": 1, "logic": "and", "value": true,
            "conditions": [{"attribute": "country", "operator": "==", "valueType": "string", "valueString": "DE"}],
        });
        assert_eq!(
            describe(AuditAction::RuleCreated, Value::Null, rule.clone()),
            "added a rule to checkout in prod: ON when country is DE"
        );
        assert_eq!(
            describe(AuditAction::RuleDeleted, rule, Value::Null),
            "deleted a rule of checkout in prod: it was ON when country is DE"
        );
    }

    #[test]
    fn a_summary_of_several_entries_counts_flags_and_environments() {
        let switch = |key: &str, environment: &str, on: bool| AuditEntry {
            flag_key: Some(key.to_owned()),
            environment: Some(environment.to_owned()),
            ..entry(
                AuditAction::FlagEnvironmentUpdated,
                json!({"isEnabled": !on}),
                json!({"isEnabled": on}),
            )
        };
        assert_eq!(
            plain_summary(&[switch("a", "prod", true), switch("b", "prod", true)]),
            "turned 2 flags on in prod"
        );
        assert_eq!(
            plain_summary(&[switch("a", "prod", true), switch("a", "staging", true)]),
            "turned a on in 2 environments"
        );
        assert_eq!(
            plain_summary(&[switch("a", "prod", true), switch("b", "prod", false)]),
            "made 2 changes to 2 flags in prod"
        );
        let rule = entry(AuditAction::RuleDeleted, json!({}), Value::Null);
        assert_eq!(
            plain_summary(&[rule.clone(), rule]),
            "made 2 changes to checkout in prod"
        );
        let added = |key: &str| AuditEntry {
            flag_key: Some(key.to_owned()),
            ..entry(AuditAction::RuleCreated, Value::Null, json!({}))
        };
        assert_eq!(
            plain_summary(&[added("a"), added("b")]),
            "added a rule to 2 flags in prod"
        );
        assert_eq!(
            plain_summary(&[added("a"), added("b"), added("b")]),
            "made 3 changes to 2 flags in prod"
        );
        let archived = AuditEntry {
            environment: None,
            ..entry(AuditAction::FlagArchived, json!({}), json!({}))
        };
        assert_eq!(
            plain_summary(&[
                archived,
                entry(AuditAction::RuleDeleted, json!({}), Value::Null)
            ]),
            "made 2 changes to checkout in prod"
        );
    }
}
