//! The differences that a change makes or would make.

use pennon_core::{rollout::Rollout, rule::Rule, ttl::Ttl};
use pennon_model::{
    audit::AuditAction,
    environment::Visibility,
    grant::{Grant, GrantScope, Grants},
    metadata::FlagKind,
    time::Timestamp,
};
use serde_json::Value;

use super::values::{
    grants_of, has_changed, is_public, member_of, products_of, read, tags_of, text,
};
use crate::{
    describe,
    port::{LocalTime, local},
};

/// The label of a flag's TTL.
pub const TTL_LABEL: &str = "TTL";

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

/// Returns the effects of a planned change beyond its members, as sentences.
pub fn effects(
    action: AuditAction,
    now: Option<&Value>,
    after: Option<&Value>,
) -> Vec<&'static str> {
    match action {
        AuditAction::FlagArchived => {
            vec!["The flag is archived: it is off everywhere, and its key cannot be reused."]
        }
        AuditAction::FlagUpdated if !member_of(now, "archivedAt").is_null() => {
            vec!["The flag is restored, switched off everywhere."]
        }
        AuditAction::FlagUpdated => scope_effects(now, after),
        AuditAction::EnvironmentUpdated if has_changed(now, after, "clientRules") => {
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
    if has_changed(now, after, "products") {
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
    let is_reset = member_of(object, "passwordReset") == Value::Bool(true);
    let password = is_reset.then(|| "Reset".to_owned());
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
        ("Previous key", previous_key_of(object)),
        ("Switch", switch),
        (TTL_LABEL, ttl),
        ("Rule", rule.as_ref().map(describe::rule)),
        ("Position", position),
        ("Rollout", rollout.map(describe::rollout)),
        ("E-mail", plain("email")),
        ("Role", plain("role")),
        (
            "Roles in products and environments",
            grants_of(object).map(|grants| roles_by_scope(&grants)),
        ),
        ("Password", password),
        ("Expires", expiry_of(object)),
    ]
}

/// Lists the roles of an account in products and environments: `admin in Shop, editor in the environment 0198…`.
fn roles_by_scope(grants: &Grants) -> String {
    let grants = grants.iter().map(|Grant { scope, role }| match scope {
        GrantScope::Product(product) => format!("{role} in {product}"),
        GrantScope::Environment(id) => format!("{role} in the environment {id}"),
    });
    grants.collect::<Vec<_>>().join(", ")
}

/// The previous key of an environment, with its end in the visitor's time zone.
fn previous_key_of(environment: Option<&Value>) -> Option<String> {
    let key = member_of(environment, "previousKey");
    let end = date_and_time(&local(text(Some(&key), "endsAt").parse().ok()?));
    Some(format!("{}…, until {end}", text(Some(&key), "prefix")))
}

/// The expiry of a token, in the visitor's time zone, or of a flag, which expires at the start of a day in UTC.
fn expiry_of(object: Option<&Value>) -> Option<String> {
    let at: Timestamp = text(object, "expiresAt").parse().ok()?;
    if member_of(object, "tokenPrefix").is_string() {
        return Some(date_and_time(&local(at)));
    }
    let end = LocalTime::in_utc(at);
    let is_day = at == Timestamp::of_day(at.day());
    // The API accepts any time.
    let end = if is_day {
        end.date
    } else {
        date_and_time(&end)
    };
    Some(format!("{end} (UTC)"))
}

fn date_and_time(at: &LocalTime) -> String {
    format!("{} {}", at.date, at.hour_and_minute())
}

/// The kind of a flag, if it has one.
fn kind_of(flag: Option<&Value>) -> Option<FlagKind> {
    FlagKind::parse(member_of(flag, "kind").as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn difference(name: &'static str, old: Option<&str>, new: Option<&str>) -> FieldDiff {
        FieldDiff {
            name,
            old: old.map(ToOwned::to_owned),
            new: new.map(ToOwned::to_owned),
        }
    }

    /// Returns the names of the members that are listed for a new object.
    fn names(object: &Value) -> Vec<&'static str> {
        let members = changes(None, Some(object)).into_iter();
        members.map(|change| change.name).collect()
    }

    #[test]
    fn an_account_lists_its_roles_in_products_and_a_new_password() {
        let account = |grants: Value| json!({"role": "viewer", "grants": grants});
        let granted = account(json!([{"product": "Shop", "environmentId": null, "role": "admin"}]));
        assert_eq!(
            changes(Some(&granted), Some(&account(json!([])))),
            [difference(
                "Roles in products and environments",
                Some("admin in Shop"),
                None
            )]
        );
        let reset = json!({"role": "viewer", "grants": [], "passwordReset": true});
        assert_eq!(
            changes(Some(&account(json!([]))), Some(&reset)),
            [difference("Password", None, Some("Reset"))]
        );
    }

    #[test]
    fn an_environment_lists_its_previous_key() {
        let key = json!({"prefix": "pnk_Y2hl", "endsAt": "2026-03-01T00:00:00.000Z"});
        let (during, after) = (json!({"previousKey": key}), json!({}));
        let key = Some("pnk_Y2hl…, until 2026-03-01 00:00");
        assert_eq!(
            changes(Some(&during), Some(&after)),
            [difference("Previous key", key, None)]
        );
    }

    #[test]
    fn a_flag_lists_public_only_if_it_is_or_was() {
        let flag = |public: bool| json!({"name": "Checkout", "public": public});
        let (secret, public) = (flag(false), flag(true));
        assert_eq!(
            changes(Some(&secret), Some(&public)),
            [difference("Public", Some("No"), Some("Yes"))]
        );
        assert_eq!(
            changes(Some(&public), Some(&secret)),
            [difference("Public", Some("Yes"), Some("No"))]
        );
        assert_eq!(names(&public), ["Name", "Public"]);
        assert_eq!(names(&secret), ["Name"]);
    }

    #[test]
    fn other_metadata_of_a_flag_is_listed() {
        let tagged = json!({"name": "A", "tags": ["a", "b"]});
        let full = json!({
            "name": "A", "tags": ["b"], "owner": "Team", "kind": "kill_switch", "expiresAt": "2026-03-01T00:00:00.000Z",
        });
        assert_eq!(
            changes(Some(&tagged), Some(&full)),
            [
                difference("Tags", Some("a, b"), Some("b")),
                difference("Owner", None, Some("Team")),
                difference("Kind", None, Some("Kill switch")),
                difference("Expires", None, Some("2026-03-01 (UTC)")),
            ]
        );
        assert_eq!(
            changes(Some(&tagged), Some(&json!({"name": "A"}))),
            [difference("Tags", Some("a, b"), None)]
        );
    }

    #[test]
    fn an_expiry_that_is_not_the_start_of_a_day_is_listed_with_its_time() {
        let at = |time: &str| json!({"name": "A", "expiresAt": time});
        let (old, new) = (
            at("2026-03-01T00:00:00.000Z"),
            at("2026-03-01T09:30:00.000Z"),
        );
        let expected = difference(
            "Expires",
            Some("2026-03-01 (UTC)"),
            Some("2026-03-01 09:30 (UTC)"),
        );
        assert_eq!(changes(Some(&old), Some(&new)), [expected]);
    }

    #[test]
    fn client_rules_are_listed_for_public_environments() {
        let environment = |visibility: &str, rules: &str| json!({"name": "web", "visibility": visibility, "clientRules": rules});
        let (full, answers) = (
            environment("public", "full"),
            environment("public", "answers"),
        );
        assert_eq!(
            changes(Some(&full), Some(&answers)),
            [difference("Client rules", Some("Full"), Some("Answers"))]
        );
        assert_eq!(names(&full), ["Name", "Visibility", "Client rules"]);
        assert_eq!(names(&environment("server", "full")), ["Name"]);
    }

    #[test]
    fn a_default_ttl_is_not_listed() {
        let configuration = json!({"isEnabled": false, "ttlOverrideSeconds": null});
        assert_eq!(names(&configuration), ["Switch"]);
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
    fn products_are_listed_unless_the_flag_has_always_been_in_every_product() {
        let flag = |products: Value| json!({"name": "Checkout", "products": products});
        let (every, blog) = (flag(Value::Null), flag(json!(["blog"])));
        assert_eq!(
            changes(Some(&every), Some(&blog)),
            [difference("Products", Some("Every product"), Some("blog"))]
        );
        assert_eq!(names(&every), ["Name"]);
        assert_eq!(names(&blog), ["Name", "Products"]);
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
            [difference(
                "Rule",
                Some("ON when country is DE"),
                Some("ON when country is FR")
            )]
        );
        assert_eq!(names(&new), ["Rule", "Position"]);
    }

    #[test]
    fn a_planned_change_says_what_becomes_of_its_object() {
        let archived = json!({"name": "A", "archivedAt": "2026-03-01T00:00:00.000Z"});
        for (action, now, after, expected) in [
            (
                AuditAction::FlagUpdated,
                Some(archived),
                Some(json!({"name": "A", "archivedAt": null})),
                "The flag is restored, switched off everywhere.",
            ),
            (
                AuditAction::RuleCreated,
                None,
                Some(json!({})),
                "The rule is restored at its old position.",
            ),
            (
                AuditAction::RuleDeleted,
                Some(json!({})),
                None,
                "The rule is deleted.",
            ),
            (
                AuditAction::RolloutDeleted,
                Some(json!({})),
                None,
                "The rollout is removed.",
            ),
        ] {
            assert_eq!(effects(action, now.as_ref(), after.as_ref()), [expected]);
        }
        let rules = |rules: &str| json!({"clientRules": rules});
        let described = |now, after| {
            let all = effects(
                AuditAction::EnvironmentUpdated,
                Some(&rules(now)),
                Some(&rules(after)),
            );
            all.concat()
        };
        assert!(described("full", "answers").starts_with("Clients that evaluate locally stop"));
        assert!(described("answers", "full").starts_with("Everyone can read the rules"));
    }
}
