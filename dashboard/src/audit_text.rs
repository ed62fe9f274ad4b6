//! Audit entries in plain English: the action, and the differences that it made.

use pennon_core::{rollout::Rollout, rule::Rule, ttl::Ttl};
use pennon_model::{
    audit::{AuditAction, AuditEntry},
    environment::Visibility,
    flag::FlagProducts,
    metadata::{FlagKind, FlagTags},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::describe;

/// The label of a flag's TTL.
pub const TIME_TO_LIVE: &str = "Time to live";

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

/// A member that a change modified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDiff {
    /// The member's label.
    pub name: &'static str,
    /// The value before; none if the member did not exist.
    pub old: Option<String>,
    /// The value after; none if the member no longer exists.
    pub new: Option<String>,
}

/// Describes the action of an entry, to follow the actor's name: `turned checkout_v2 on in production`.
///
/// Backticks in the templates enclose placeholders, such as the flag and the environment.
pub fn sentence_of(entry: &AuditEntry) -> Vec<Piece> {
    let template = template(entry);
    template
        .split('`')
        .filter(|piece| !piece.is_empty())
        .map(|piece| match piece {
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
            text => Piece::Text(text.to_owned()),
        })
        .collect()
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
        AuditAction::FlagEnvironmentUpdated => "Switch or time to live changed",
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
    let changed = |member: &str| member_of(old, member) != member_of(new, member);
    match entry.action {
        AuditAction::FlagCreated => "created `flag`".to_owned(),
        AuditAction::FlagUpdated if changed("archivedAt") => "restored `flag`".to_owned(),
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
            match (changed("isEnabled"), changed("ttlOverrideSeconds")) {
                (true, true) => {
                    format!("turned `flag` {on} and changed its time to live in `environment`")
                }
                (true, false) => format!("turned `flag` {on} in `environment`"),
                _ => "changed the time to live of `flag` in `environment`".to_owned(),
            }
        }
        AuditAction::RuleCreated => "added a rule to `flag` in `environment`".to_owned(),
        AuditAction::RuleUpdated => {
            let content_members = ["value", "logic", "conditions"];
            if content_members.into_iter().any(changed) {
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
        AuditAction::UserUpdated if changed("role") => {
            format!("made `account` {}", with_article(&text(new, "role")))
        }
        AuditAction::UserUpdated if changed("grants") => {
            "changed the roles of `account` in single products and environments".to_owned()
        }
        AuditAction::UserUpdated => "reset the password of `account`".to_owned(),
        AuditAction::UserDeleted => "deleted the account `account`".to_owned(),
        AuditAction::PasswordChanged => "changed their own password".to_owned(),
        AuditAction::TokenCreated => "created the token `token`".to_owned(),
        AuditAction::TokenRevoked => "revoked the token `token`".to_owned(),
    }
}

/// Describes a change of a flag itself.
fn details_template(old: Option<&Value>, new: Option<&Value>) -> String {
    let changed = |member: &str| member_of(old, member) != member_of(new, member);
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
    let parts = parts.into_iter().filter(|(member, _)| changed(member));
    let parts: Vec<&str> = parts.map(|(_, name)| name).collect();
    match (parts.as_slice(), is_toggled) {
        ([], true) => format!("made `flag` {becomes}"),
        (["products"], false) => products_template(old, new).to_owned(),
        ([], false) => "changed the description of `flag`".to_owned(),
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
    match members.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Describes a change of an environment itself.
fn environment_template(old: Option<&Value>, new: Option<&Value>) -> String {
    let changed = |member: &str| member_of(old, member) != member_of(new, member);
    if changed("previousKey") {
        return "ended the previous SDK key of `environment`".to_owned();
    }
    if changed("protected") || changed("reasonRequired") {
        return match (changed("name"), changed("clientRules")) {
            (false, false) => "changed the safeguards of `environment`".to_owned(),
            _ => "changed `environment`".to_owned(),
        };
    }
    if changed("position") {
        return "moved `environment` in the order of environments".to_owned();
    }
    let template = match (changed("name"), changed("clientRules")) {
        (false, true) => "set the client rules of `environment` to `client rules`",
        (true, true) => {
            "renamed the environment `old name` to `environment` and set its client rules to `client rules`"
        }
        (_, false) => "renamed the environment `old name` to `environment`",
    };
    template.to_owned()
}

/// Returns the effects of a planned change beyond its members, as sentences.
pub fn effects(
    action: AuditAction,
    now: Option<&Value>,
    after: Option<&Value>,
) -> Vec<&'static str> {
    match action {
        AuditAction::FlagArchived => vec![
            "The flag is archived: it is off everywhere, and its key cannot be reused. This fails while the flag is on anywhere.",
        ],
        AuditAction::FlagUpdated if !member_of(now, "archivedAt").is_null() => {
            vec!["The flag is restored, switched off everywhere."]
        }
        AuditAction::FlagUpdated => scope_effects(now, after),
        AuditAction::EnvironmentUpdated
            if member_of(now, "clientRules") != member_of(after, "clientRules") =>
        {
            vec![match text(after, "clientRules").as_str() {
                "answers" => "Clients that evaluate locally stop getting changes.",
                _ => "Everyone can read the rules and rollouts of the flags in the environment.",
            }]
        }
        AuditAction::RuleCreated => vec!["The rule is restored at its old position."],
        AuditAction::RuleDeleted => vec!["The rule is deleted."],
        AuditAction::RolloutDeleted => vec!["The rollout is removed."],
        _ => Vec::new(),
    }
}

/// Returns the effects of a flag's other products and of `public`.
fn scope_effects(now: Option<&Value>, after: Option<&Value>) -> Vec<&'static str> {
    let mut effects = Vec::new();
    if member_of(now, "products") != member_of(after, "products") {
        effects.push(match products_of(after) {
            Some(_) => "The flag exists only in the environments of its products.",
            None => "The flag exists in the environments of every product.",
        });
    }
    match (is_public(now), is_public(after)) {
        (false, true) => {
            effects
                .push("The flag exists in public environments, whose SDK keys everyone can read.");
        }
        (true, false) => effects.push("The flag does not exist in public environments."),
        _ => {}
    }
    effects
}

/// Returns the members that differ, without those for internal use.
pub fn changes(old: Option<&Value>, new: Option<&Value>) -> Vec<FieldDiff> {
    let (before, after) = (shown_members(old, new), shown_members(new, old));
    before
        .into_iter()
        .zip(after)
        .filter(|((_, old), (_, new))| old != new)
        .map(|((name, old), (_, new))| FieldDiff { name, old, new })
        .collect()
}

/// The members that pages show, in their order. A default that the change did not replace is omitted.
fn shown_members(
    object: Option<&Value>,
    other: Option<&Value>,
) -> Vec<(&'static str, Option<String>)> {
    let plain = |member: &str| {
        let value = member_of(object, member);
        value.as_str().map(ToOwned::to_owned)
    };
    let rule = read::<Rule>(object);
    let rollout = read::<Rollout>(object);
    let has = |member: &str| object.is_some_and(|object| object.get(member).is_some());
    let is_set = |member: &str| {
        let values = [object, other].map(|object| member_of(object, member));
        values.iter().any(|value| !value.is_null())
    };
    let ttl = (has("ttlOverrideSeconds") && is_set("ttlOverrideSeconds")).then(|| {
        let ttl: Option<Ttl> =
            serde_json::from_value(member_of(object, "ttlOverrideSeconds")).unwrap_or_default();
        describe::time_to_live(ttl)
    });
    let products = (has("products") && is_set("products")).then(|| match products_of(object) {
        Some(products) => describe::products(Some(&products)),
        None => describe::capitalize(&describe::products(None)),
    });
    let yes_or_no = |member: &str| {
        let is_true = |object| member_of(object, member) == Value::Bool(true);
        let matters = object.is_some() && (is_true(object) || is_true(other));
        matters.then(|| if is_true(object) { "Yes" } else { "No" }.to_owned())
    };
    let position = rule.as_ref().map(|rule| i64::from(rule.priority.get()));
    let position = position.or_else(|| member_of(object, "position").as_i64());
    let position = position.map(|position| position.to_string());
    let is_public_environment = text(object, "visibility") == Visibility::Public.as_str();
    let capitalized = |member| plain(member).map(|value| describe::capitalize(&value));
    let of_public = |member| capitalized(member).filter(|_| is_public_environment);
    let switch = member_of(object, "isEnabled")
        .as_bool()
        .map(|on| describe::on_off(on).to_owned());
    vec![
        ("Name", plain("name")),
        (
            "Description",
            plain("description").filter(|text| !text.is_empty()),
        ),
        ("Products", products),
        ("Public", yes_or_no("public")),
        ("Tags", tags_of(object).map(|tags| tags.to_string())),
        ("Owner", plain("owner")),
        (
            "Kind",
            kind_of(object).map(|kind| describe::kind(kind).to_owned()),
        ),
        ("Visibility", of_public("visibility")),
        ("Client rules", of_public("clientRules")),
        ("Protected", yes_or_no("protected")),
        ("Reason required", yes_or_no("reasonRequired")),
        ("Type", plain("type")),
        (
            "Key",
            plain("sdkKeyPrefix").map(|prefix| format!("{prefix}…")),
        ),
        ("Switch", switch),
        (TIME_TO_LIVE, ttl),
        ("Rule", rule.as_ref().map(describe::rule)),
        ("Position", position),
        ("Rollout", rollout.map(describe::rollout)),
        ("E-mail", plain("email")),
        ("Role", plain("role")),
        ("Expires", plain("expiresAt")),
    ]
}

/// The products of a flag; none for every product.
fn products_of(flag: Option<&Value>) -> Option<FlagProducts> {
    serde_json::from_value(member_of(flag, "products")).unwrap_or_default()
}

/// The tags of a flag; none if it has no tags.
pub(crate) fn tags_of(flag: Option<&Value>) -> Option<FlagTags> {
    let tags: FlagTags = serde_json::from_value(member_of(flag, "tags")).ok()?;
    Some(tags).filter(|tags| !tags.is_empty())
}

/// The kind of a flag, if it has one.
fn kind_of(flag: Option<&Value>) -> Option<FlagKind> {
    FlagKind::parse(member_of(flag, "kind").as_str()?).ok()
}

/// Returns true for a public flag.
fn is_public(flag: Option<&Value>) -> bool {
    member_of(flag, "public") == Value::Bool(true)
}

fn is_on(configuration: Option<&Value>) -> bool {
    member_of(configuration, "isEnabled") == Value::Bool(true)
}

/// The object after the change, or before it if the change deleted it.
fn changed_object(entry: &AuditEntry) -> Option<&Value> {
    entry.new_value.as_ref().or(entry.old_value.as_ref())
}

fn member_of(object: Option<&Value>, member: &str) -> Value {
    let value = object.and_then(|object| object.get(member));
    value.cloned().unwrap_or_default()
}

fn text(object: Option<&Value>, member: &str) -> String {
    let value = member_of(object, member);
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn read<T: DeserializeOwned>(object: Option<&Value>) -> Option<T> {
    object.and_then(|object| serde_json::from_value(object.clone()).ok())
}

fn with_article(role: &str) -> String {
    match role {
        "editor" | "admin" => format!("an {role}"),
        role => format!("a {role}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use pennon_model::{id::AuditId, time::Timestamp};
    use serde_json::json;

    use super::*;

    pub(crate) fn entry(action: AuditAction, old: Value, new: Value) -> AuditEntry {
        let id = "00000000-0000-0000-0000-000000000001".parse::<AuditId>();
        let id = id.unwrap_or_else(|_| unreachable!("an identifier"));
        AuditEntry {
            id,
            group_id: id,
            action,
            actor_identity: "ana@example.com".to_owned(),
            occurred_at: Timestamp::from_millis(0),
            reason: None,
            flag_key: Some("checkout".to_owned()),
            environment: Some("prod".to_owned()),
            product: Some("shop".to_owned()),
            old_value: Some(old).filter(|old| !old.is_null()),
            new_value: Some(new).filter(|new| !new.is_null()),
        }
    }

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
            "changed the time to live of checkout in prod"
        );
        assert_eq!(
            describe(
                json!({"isEnabled": true, "ttlOverrideSeconds": 5}),
                json!({"isEnabled": false, "ttlOverrideSeconds": 30})
            ),
            "turned checkout off and changed its time to live in prod"
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
        let difference = |old: &str, new: &str| FieldDiff {
            name: "Public",
            old: Some(old.to_owned()),
            new: Some(new.to_owned()),
        };
        assert_eq!(
            changes(Some(&secret), Some(&public)),
            [difference("No", "Yes")]
        );
        assert_eq!(
            changes(Some(&public), Some(&secret)),
            [difference("Yes", "No")]
        );
        let names = |flag| -> Vec<_> {
            let members = changes(None, Some(flag)).into_iter();
            members.map(|change| change.name).collect()
        };
        assert_eq!(names(&public), ["Name", "Public"]);
        assert_eq!(names(&secret), ["Name"]);
    }

    #[test]
    fn other_metadata_of_a_flag_is_named_and_listed() {
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
        let difference = |name, old: Option<&str>, new: Option<&str>| FieldDiff {
            name,
            old: old.map(ToOwned::to_owned),
            new: new.map(ToOwned::to_owned),
        };
        assert_eq!(
            changes(Some(&tagged), Some(&full)),
            [
                difference("Tags", Some("a, b"), Some("b")),
                difference("Owner", None, Some("Team")),
                difference("Kind", None, Some("Kill switch")),
                difference("Expires", None, Some("2026-03-01T00:00:00.000Z")),
            ]
        );
        assert_eq!(
            changes(Some(&tagged), Some(&plain)),
            [difference("Tags", Some("a, b"), None)]
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
        assert_eq!(
            changes(Some(&full), Some(&answers)),
            [FieldDiff {
                name: "Client rules",
                old: Some("Full".to_owned()),
                new: Some("Answers".to_owned()),
            }]
        );
        let names = |environment: &Value| -> Vec<_> {
            let members = changes(None, Some(environment)).into_iter();
            members.map(|change| change.name).collect()
        };
        assert_eq!(names(&full), ["Name", "Visibility", "Client rules"]);
        let server = json!({"name": "prod", "visibility": "server", "clientRules": "full"});
        assert_eq!(names(&server), ["Name"]);
    }

    #[test]
    fn planned_changes_of_a_scope_have_effects() {
        let flag = |products: Value, public: bool| json!({"products": products, "public": public});
        let (blog, all) = (json!(["Blog"]), Value::Null);
        let of = |now, after| effects(AuditAction::FlagUpdated, Some(&now), Some(&after));
        assert_eq!(
            of(flag(blog.clone(), true), flag(all.clone(), false)),
            [
                "The flag exists in the environments of every product.",
                "The flag does not exist in public environments.",
            ]
        );
        assert_eq!(
            of(flag(blog.clone(), false), flag(blog, true)),
            ["The flag exists in public environments, whose SDK keys everyone can read."]
        );
        assert_eq!(of(flag(all.clone(), true), flag(all, true)), [""; 0]);
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
        let joined = changes(None, Some(&configuration(false)));
        let names: Vec<_> = joined.into_iter().map(|change| change.name).collect();
        assert_eq!(
            names,
            ["Switch"],
            "the default time to live is no difference"
        );
    }

    #[test]
    fn products_are_listed_unless_the_flag_has_always_been_in_every_product() {
        let flag = |products: Value| json!({"name": "Checkout", "products": products});
        let (every, blog) = (flag(Value::Null), flag(json!(["blog"])));
        assert_eq!(
            changes(Some(&every), Some(&blog)),
            [FieldDiff {
                name: "Products",
                old: Some("Every product".to_owned()),
                new: Some("blog".to_owned()),
            }]
        );
        let names = |flag| -> Vec<_> {
            let members = changes(None, Some(flag)).into_iter();
            members.map(|change| change.name).collect()
        };
        assert_eq!(names(&every), ["Name"]);
        assert_eq!(names(&blog), ["Name", "Products"]);
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
    fn only_differences_are_listed_and_rules_are_described() {
        let rule = |country: &str, updated: &str| {
            json!({
                "id": "x", "priority": 1, "logic": "and", "value": true, "updatedAt": updated,
                "conditions": [{"attribute": "country", "operator": "==", "valueType": "string", "valueString": country}],
            })
        };
        let (old, new) = (rule("DE", "1"), rule("FR", "2"));
        assert_eq!(
            changes(Some(&old), Some(&new)),
            [FieldDiff {
                name: "Rule",
                old: Some("ON when country is DE".to_owned()),
                new: Some("ON when country is FR".to_owned()),
            }]
        );
        let names: Vec<_> = changes(None, Some(&new))
            .into_iter()
            .map(|change| change.name)
            .collect();
        assert_eq!(names, ["Rule", "Position"]);
    }
}
