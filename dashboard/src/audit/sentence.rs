//! The action of an audit entry in plain English.

use pennon_core::rollout::Rollout;
use pennon_model::{
    audit::{AuditAction, AuditEntry},
    list,
};
use serde_json::Value;

use super::values::{has_changed, is_public, member_of, products_of, read, text};
use crate::describe;

/// A piece of a sentence, so that a page can render the named objects as links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Plain text.
    Text(String),
    /// The key of the flag.
    Flag(String),
    /// The name of the environment.
    Environment(String),
}

impl Piece {
    /// Returns the text without the link.
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Flag(text) | Self::Environment(text) => text,
        }
    }
}

/// Describes the action of an entry, to follow the actor's name: `turned checkout_v2 on in production`.
///
/// Backticks in the templates enclose placeholders, such as the flag and the environment.
pub fn sentence_of(entry: &AuditEntry) -> Vec<Piece> {
    let template = template(entry);
    let pieces = pieces_of(&template).filter(|(_, piece)| !piece.is_empty());
    let pieces = pieces.map(|(is_placeholder, piece)| {
        let object = is_placeholder.then(|| object_of(piece, entry)).flatten();
        object.unwrap_or_else(|| Piece::Text(piece.to_owned()))
    });
    pieces.collect()
}

/// Splits a template into text and placeholders; true marks a placeholder.
fn pieces_of(template: &str) -> impl Iterator<Item = (bool, &str)> {
    std::iter::zip([false, true].into_iter().cycle(), template.split('`'))
}

/// Returns the name of the object for which a placeholder stands; none for an unknown placeholder.
fn object_of(placeholder: &str, entry: &AuditEntry) -> Option<Piece> {
    let object = match placeholder {
        "flag" => Piece::Flag(entry.flag_key.clone().unwrap_or_default()),
        "environment" => Piece::Environment(entry.environment.clone().unwrap_or_default()),
        "client rules" => Piece::Text(text(entry.new_value.as_ref(), "clientRules")),
        "old name" => Piece::Text(text(entry.old_value.as_ref(), "name")),
        "account" => Piece::Text(text(changed_object(entry), "email")),
        "token" => Piece::Text(text(changed_object(entry), "name")),
        "products" => {
            let products = products_of(entry.new_value.as_ref());
            Piece::Text(describe::products(products.as_ref()))
        }
        _ => return None,
    };
    Some(object)
}

/// Names a kind of action, for a filter.
pub fn action_label(action: AuditAction) -> &'static str {
    match action {
        AuditAction::FlagCreated => "Flag created",
        AuditAction::FlagUpdated => "Flag changed or restored",
        AuditAction::FlagArchived => "Flag archived",
        AuditAction::EnvironmentCreated => "Environment created",
        AuditAction::EnvironmentUpdated => "Environment changed",
        AuditAction::EnvironmentRevoked => "Environment revoked",
        AuditAction::FlagEnvironmentUpdated => "Switch or TTL changed",
        AuditAction::RuleCreated => "Rule added",
        AuditAction::RuleUpdated => "Rule changed",
        AuditAction::RuleDeleted => "Rule deleted",
        AuditAction::RolloutConfigured => "Rollout set",
        AuditAction::RolloutDeleted => "Rollout removed",
        AuditAction::SdkKeyRotated => "SDK key rotated",
        AuditAction::UserCreated => "Account created",
        AuditAction::UserUpdated => "Account changed",
        AuditAction::UserDeleted => "Account deleted",
        AuditAction::PasswordChanged => "Password changed",
        AuditAction::TokenCreated => "Token created",
        AuditAction::TokenRevoked => "Token revoked",
    }
}

fn template(entry: &AuditEntry) -> String {
    let (old, new) = (entry.old_value.as_ref(), entry.new_value.as_ref());
    match entry.action {
        AuditAction::FlagCreated => "created `flag`".to_owned(),
        AuditAction::FlagUpdated if has_changed(old, new, "archivedAt") => {
            "restored `flag`".to_owned()
        }
        AuditAction::FlagUpdated => details_template(old, new),
        AuditAction::FlagArchived => "archived `flag`".to_owned(),
        AuditAction::EnvironmentCreated => "created the environment `environment`".to_owned(),
        AuditAction::EnvironmentUpdated => environment_template(old, new),
        AuditAction::EnvironmentRevoked => "revoked the environment `environment`".to_owned(),
        AuditAction::SdkKeyRotated => "rotated the SDK key of `environment`".to_owned(),
        AuditAction::FlagEnvironmentUpdated if old.is_none() => {
            "added `flag` to `environment`".to_owned()
        }
        AuditAction::FlagEnvironmentUpdated if new.is_none() => {
            let was_on = if is_on(old) { ", where it was on" } else { "" };
            format!("removed `flag` from `environment`{was_on}")
        }
        AuditAction::FlagEnvironmentUpdated => {
            let on = if is_on(new) { "on" } else { "off" };
            match (
                has_changed(old, new, "isEnabled"),
                has_changed(old, new, "ttlOverrideSeconds"),
            ) {
                (true, true) => {
                    format!("turned `flag` {on} and changed its TTL in `environment`")
                }
                (true, false) => format!("turned `flag` {on} in `environment`"),
                _ => "changed the TTL of `flag` in `environment`".to_owned(),
            }
        }
        AuditAction::RuleCreated => "added a rule to `flag` in `environment`".to_owned(),
        AuditAction::RuleUpdated => {
            let content_members = ["value", "logic", "conditions"];
            let is_changed = |member: &str| has_changed(old, new, member);
            if content_members.into_iter().any(is_changed) {
                "changed a rule of `flag` in `environment`".to_owned()
            } else {
                "moved a rule of `flag` in `environment`".to_owned()
            }
        }
        AuditAction::RuleDeleted => "deleted a rule of `flag` in `environment`".to_owned(),
        AuditAction::RolloutConfigured => match read::<Rollout>(new) {
            Some(rollout) => format!(
                "set the rollout of `flag` to {}% in `environment`",
                rollout.percentage.get()
            ),
            None => "set the rollout of `flag` in `environment`".to_owned(),
        },
        AuditAction::RolloutDeleted => "removed the rollout of `flag` in `environment`".to_owned(),
        AuditAction::UserCreated => "created the account `account`".to_owned(),
        AuditAction::UserUpdated => account_template(old, new),
        AuditAction::UserDeleted => "deleted the account `account`".to_owned(),
        AuditAction::PasswordChanged => "changed their own password".to_owned(),
        AuditAction::TokenCreated => "created the token `token`".to_owned(),
        AuditAction::TokenRevoked => "revoked the token `token`".to_owned(),
    }
}

/// Describes a change of an account.
fn account_template(old: Option<&Value>, new: Option<&Value>) -> String {
    let mut clauses = Vec::new();
    let of_account = |clauses: &[String], what: &str| match clauses {
        [] => format!("the {what} of `account`"),
        _ => format!("their {what}"),
    };
    if has_changed(old, new, "role") {
        let role = with_article(&text(new, "role"));
        clauses.push(format!("made `account` {role}"));
    }
    if has_changed(old, new, "grants") {
        let roles = of_account(&clauses, "roles");
        clauses.push(format!(
            "changed {roles} in single products and environments"
        ));
    }
    if has_changed(old, new, "passwordReset") || clauses.is_empty() {
        clauses.push(format!("reset {}", of_account(&clauses, "password")));
    }
    list::join(&clauses, "and")
}

/// Describes a change of a flag itself.
fn details_template(old: Option<&Value>, new: Option<&Value>) -> String {
    let becomes = if is_public(new) {
        "public"
    } else {
        "not public"
    };
    let is_toggled = is_public(old) != is_public(new);
    let parts = [
        ("name", "name"),
        ("description", "description"),
        ("products", "products"),
        ("tags", "tags"),
        ("owner", "owner"),
        ("kind", "kind"),
        ("expiresAt", "expiry"),
    ];
    let parts = parts
        .into_iter()
        .filter(|(member, _)| has_changed(old, new, member));
    let parts: Vec<&str> = parts.map(|(_, name)| name).collect();
    match (parts.as_slice(), is_toggled) {
        ([], true) => format!("made `flag` {becomes}"),
        (["products"], false) => products_template(old, new).to_owned(),
        ([], false) => "changed `flag`".to_owned(),
        (parts, false) => format!("changed {} of `flag`", list_of(parts)),
        (parts, true) => format!("changed {} of `flag` and made it {becomes}", list_of(parts)),
    }
}

fn products_template(old: Option<&Value>, new: Option<&Value>) -> &'static str {
    match (products_of(old), products_of(new)) {
        (_, None) => "made `flag` available in `products`",
        (None, Some(_)) => "limited `flag` to `products`",
        (Some(_), Some(_)) => "changed the products of `flag` to `products`",
    }
}

/// Lists members: `the name, the description and the products`.
fn list_of(members: &[&str]) -> String {
    let members: Vec<_> = members.iter().map(|each| format!("the {each}")).collect();
    list::join(&members, "and")
}

/// Describes a change of an environment itself.
fn environment_template(old: Option<&Value>, new: Option<&Value>) -> String {
    let [is_renamed, client_rules_changed] =
        ["name", "clientRules"].map(|member| has_changed(old, new, member));
    if has_changed(old, new, "previousKey") {
        return "ended the previous SDK key of `environment`".to_owned();
    }
    if has_changed(old, new, "protected") || has_changed(old, new, "reasonRequired") {
        return match (is_renamed, client_rules_changed) {
            (false, false) => "changed the safeguards of `environment`".to_owned(),
            _ => "changed `environment`".to_owned(),
        };
    }
    if has_changed(old, new, "position") {
        return "moved `environment` in the order of environments".to_owned();
    }
    let template = match (is_renamed, client_rules_changed) {
        (false, true) => "set the client rules of `environment` to `client rules`",
        (true, true) => {
            "renamed the environment `old name` to `environment` and set its client rules to `client rules`"
        }
        (_, false) => "renamed the environment `old name` to `environment`",
    };
    template.to_owned()
}

fn is_on(configuration: Option<&Value>) -> bool {
    member_of(configuration, "isEnabled") == Value::Bool(true)
}

/// The object after the change, or before it if the change deleted it.
fn changed_object(entry: &AuditEntry) -> Option<&Value> {
    entry.new_value.as_ref().or(entry.old_value.as_ref())
}

fn with_article(role: &str) -> String {
    match role {
        "editor" | "admin" => format!("an {role}"),
        role => format!("a {role}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::audit::test_entry::entry;

    fn plain_sentence(action: AuditAction, old: Value, new: Value) -> String {
        let pieces = sentence_of(&entry(action, old, new)).into_iter();
        pieces.map(Piece::into_text).collect()
    }

    #[test]
    fn a_switch_is_described_by_its_new_state() {
        let describe = |old, new| plain_sentence(AuditAction::FlagEnvironmentUpdated, old, new);
        assert_eq!(
            describe(json!({"isEnabled": false}), json!({"isEnabled": true})),
            "turned checkout on in prod"
        );
        assert_eq!(
            describe(
                json!({"isEnabled": true, "ttlOverrideSeconds": null}),
                json!({"isEnabled": true, "ttlOverrideSeconds": 30})
            ),
            "changed the TTL of checkout in prod"
        );
        assert_eq!(
            describe(
                json!({"isEnabled": true, "ttlOverrideSeconds": 5}),
                json!({"isEnabled": false, "ttlOverrideSeconds": 30})
            ),
            "turned checkout off and changed its TTL in prod"
        );
    }

    #[test]
    fn other_products_of_a_flag_are_named() {
        let describe = |old: Value, new: Value| {
            let flag = |products| json!({"name": "Checkout", "products": products});
            plain_sentence(AuditAction::FlagUpdated, flag(old), flag(new))
        };
        let (blog, both) = (json!(["Blog"]), json!(["Blog", "`flag` & shop"]));
        assert_eq!(
            describe(Value::Null, both.clone()),
            "limited checkout to Blog, `flag` & shop"
        );
        assert_eq!(
            describe(blog.clone(), both),
            "changed the products of checkout to Blog, `flag` & shop"
        );
        assert_eq!(
            describe(blog.clone(), Value::Null),
            "made checkout available in every product"
        );
        let (old, new) = (
            json!({"name": "A", "products": null}),
            json!({"name": "B", "products": ["Blog"]}),
        );
        assert_eq!(
            plain_sentence(AuditAction::FlagUpdated, old, new),
            "changed the name and the products of checkout"
        );
        let older = json!({"name": "A"});
        let sentence = plain_sentence(AuditAction::FlagUpdated, older, json!({"name": "B"}));
        assert_eq!(sentence, "changed the name of checkout");
    }

    #[test]
    fn a_flag_becomes_public_and_not_public() {
        let describe = |old, new| plain_sentence(AuditAction::FlagUpdated, old, new);
        let flag = |name: &str, public: bool| json!({"name": name, "public": public});
        let (secret, public) = (flag("Checkout", false), flag("Checkout", true));
        assert_eq!(
            describe(secret.clone(), public.clone()),
            "made checkout public"
        );
        assert_eq!(
            describe(public.clone(), secret.clone()),
            "made checkout not public"
        );
        assert_eq!(
            describe(secret.clone(), flag("B", true)),
            "changed the name of checkout and made it public"
        );
        let older = json!({"name": "Checkout"});
        assert_eq!(
            describe(older, public.clone()),
            "made checkout public",
            "older entries have no such member"
        );
    }

    #[test]
    fn other_metadata_of_a_flag_is_named() {
        let describe = |old, new| plain_sentence(AuditAction::FlagUpdated, old, new);
        let (plain, tagged) = (
            json!({"name": "A"}),
            json!({"name": "A", "tags": ["a", "b"]}),
        );
        assert_eq!(
            describe(plain.clone(), tagged.clone()),
            "changed the tags of checkout"
        );
        let full = json!({
            "name": "A", "tags": ["b"], "owner": "Team", "kind": "kill_switch", "expiresAt": "2026-03-01T00:00:00.000Z",
        });
        assert_eq!(
            describe(tagged.clone(), full.clone()),
            "changed the tags, the owner, the kind and the expiry of checkout"
        );
    }

    #[test]
    fn other_client_rules_are_named() {
        let environment = |name: &str, rules: &str| json!({"name": name, "visibility": "public", "clientRules": rules});
        let (full, answers) = (environment("web", "full"), environment("web", "answers"));
        let describe = |old, new| plain_sentence(AuditAction::EnvironmentUpdated, old, new);
        assert_eq!(
            describe(full.clone(), answers.clone()),
            "set the client rules of prod to answers"
        );
        assert_eq!(
            describe(answers.clone(), environment("app", "full")),
            "renamed the environment web to prod and set its client rules to full"
        );
    }

    #[test]
    fn a_flag_joins_and_leaves_environments() {
        let describe = |old, new| plain_sentence(AuditAction::FlagEnvironmentUpdated, old, new);
        let configuration = |on: bool| json!({"isEnabled": on, "ttlOverrideSeconds": null});
        assert_eq!(
            describe(Value::Null, configuration(false)),
            "added checkout to prod"
        );
        assert_eq!(
            describe(configuration(false), Value::Null),
            "removed checkout from prod"
        );
        assert_eq!(
            describe(configuration(true), Value::Null),
            "removed checkout from prod, where it was on"
        );
    }

    #[test]
    fn names_that_look_like_placeholders_stay_text() {
        let sentence = plain_sentence(
            AuditAction::EnvironmentUpdated,
            json!({"name": "`flag`"}),
            json!({"name": "prod"}),
        );
        assert_eq!(sentence, "renamed the environment `flag` to prod");
    }

    #[test]
    fn every_action_has_a_sentence() {
        for action in AuditAction::ALL {
            let sentence = plain_sentence(*action, json!({}), json!({}));
            assert!(
                !sentence.contains('`') && !sentence.is_empty(),
                "{sentence}"
            );
        }
    }

    #[test]
    fn every_placeholder_is_known() {
        let changes = [
            ("archivedAt", Value::Null, json!("2026-03-01T00:00:00.000Z")),
            ("isEnabled", json!(false), json!(true)),
            ("ttlOverrideSeconds", Value::Null, json!(30)),
            ("name", json!("A"), json!("B")),
            ("products", Value::Null, json!(["Blog"])),
            ("products", json!(["Blog"]), json!(["Shop"])),
            ("public", json!(false), json!(true)),
            ("previousKey", json!({}), Value::Null),
            ("protected", json!(false), json!(true)),
            ("position", json!(1), json!(2)),
            ("clientRules", json!("full"), json!("answers")),
            ("logic", json!("and"), json!("or")),
            ("role", json!("viewer"), json!("admin")),
            ("grants", json!([]), json!([1])),
            ("passwordReset", Value::Null, json!(true)),
        ];
        let rollout = json!({"percentage": 10, "strategy": "per_user"});
        let mut objects = vec![
            (json!({}), json!({})),
            (Value::Null, json!({})),
            (Value::Null, rollout),
        ];
        for (first, old, new) in &changes {
            for (second, second_old, second_new) in &changes {
                let old = json!({"isEnabled": true, *second: second_old, *first: old});
                let new = json!({"isEnabled": true, *second: second_new, *first: new});
                objects.push((old.clone(), Value::Null));
                objects.extend([(old.clone(), new.clone()), (new, old)]);
            }
        }
        for action in AuditAction::ALL {
            for (old, new) in &objects {
                let entry = entry(*action, old.clone(), new.clone());
                let template = template(&entry);
                for (_, name) in pieces_of(&template).filter(|(is_placeholder, _)| *is_placeholder)
                {
                    assert!(object_of(name, &entry).is_some(), "`{name}` in {template}");
                }
            }
        }
    }

    #[test]
    fn a_rule_is_changed_by_any_of_its_parts_and_else_moved() {
        let describe = |old, new| plain_sentence(AuditAction::RuleUpdated, old, new);
        let rule = |logic: &str, priority: u8| json!({"logic": logic, "conditions": [], "priority": priority});
        assert_eq!(
            describe(rule("and", 1), rule("or", 1)),
            "changed a rule of checkout in prod"
        );
        assert_eq!(
            describe(rule("and", 1), rule("and", 2)),
            "moved a rule of checkout in prod"
        );
    }

    #[test]
    fn a_required_reason_is_a_safeguard() {
        let environment =
            |required: bool| json!({"name": "prod", "protected": true, "reasonRequired": required});
        assert_eq!(
            plain_sentence(
                AuditAction::EnvironmentUpdated,
                environment(false),
                environment(true)
            ),
            "changed the safeguards of prod"
        );
    }

    #[test]
    fn another_role_of_an_account_is_named() {
        let account = |role: &str| json!({"email": "eve@example.com", "role": role});
        for (role, expected) in [
            ("viewer", "made eve@example.com a viewer"),
            ("editor", "made eve@example.com an editor"),
            ("admin", "made eve@example.com an admin"),
        ] {
            let sentence = plain_sentence(AuditAction::UserUpdated, account(""), account(role));
            assert_eq!(sentence, expected);
        }
    }
}
