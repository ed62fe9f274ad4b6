//! The differences that a change makes or would make.

use pennon_core::{rollout::Rollout, rule::Rule};
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

/// A member that pages show, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Name,
    Description,
    Products,
    Public,
    Tags,
    Owner,
    Kind,
    Visibility,
    ClientRules,
    Protected,
    ReasonRequired,
    Type,
    Key,
    PreviousKey,
    Switch,
    Ttl,
    Rule,
    Position,
    Rollout,
    Email,
    Role,
    Grants,
    Password,
    Expiry,
}

impl Member {
    const ALL: [Self; 24] = [
        Self::Name,
        Self::Description,
        Self::Products,
        Self::Public,
        Self::Tags,
        Self::Owner,
        Self::Kind,
        Self::Visibility,
        Self::ClientRules,
        Self::Protected,
        Self::ReasonRequired,
        Self::Type,
        Self::Key,
        Self::PreviousKey,
        Self::Switch,
        Self::Ttl,
        Self::Rule,
        Self::Position,
        Self::Rollout,
        Self::Email,
        Self::Role,
        Self::Grants,
        Self::Password,
        Self::Expiry,
    ];

    /// Returns the label on pages.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Name => "Name",
            Self::Description => "Description",
            Self::Products => "Products",
            Self::Public => "Public",
            Self::Tags => "Tags",
            Self::Owner => "Owner",
            Self::Kind => "Kind",
            Self::Visibility => "Visibility",
            Self::ClientRules => "Client rules",
            Self::Protected => "Protected",
            Self::ReasonRequired => "Reason required",
            Self::Type => "Type",
            Self::Key => "Key",
            Self::PreviousKey => "Previous key",
            Self::Switch => "Switch",
            Self::Ttl => "TTL",
            Self::Rule => "Rule",
            Self::Position => "Position",
            Self::Rollout => "Rollout",
            Self::Email => "E-mail",
            Self::Role => "Role",
            Self::Grants => "Roles in products and environments",
            Self::Password => "Password",
            Self::Expiry => "Expires",
        }
    }
}

/// A member that a change modified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldDiff {
    /// The member.
    pub(crate) member: Member,
    /// The value before; none if the member did not exist.
    pub(crate) old: Option<String>,
    /// The value after; none if the member no longer exists.
    pub(crate) new: Option<String>,
}

/// Returns the effects of a planned change beyond its members, as sentences.
pub(crate) fn effects(
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
pub(crate) fn changes(old: Option<&Value>, new: Option<&Value>) -> Vec<FieldDiff> {
    let changes = Member::ALL.into_iter().filter_map(|member| {
        let (before, after) = (shown(member, old, new), shown(member, new, old));
        (before != after).then_some(FieldDiff {
            member,
            old: before,
            new: after,
        })
    });
    changes.collect()
}

/// Returns a member's value in an object as pages show it; none if it has none, or a default that it also has in the
/// other object of the change.
fn shown(member: Member, object: Option<&Value>, other: Option<&Value>) -> Option<String> {
    match member {
        Member::Name => string(object, "name"),
        Member::Description => string(object, "description").filter(|text| !text.is_empty()),
        Member::Products => {
            is_listed(object, other, "products").then(|| match products_of(object) {
                Some(products) => describe::products(Some(&products)),
                None => describe::capitalize(&describe::products(None)),
            })
        }
        Member::Public => yes_or_no(object, other, "public"),
        Member::Tags => tags_of(object).map(|tags| tags.to_string()),
        Member::Owner => string(object, "owner"),
        Member::Kind => kind_of(object).map(|kind| describe::kind(kind).to_owned()),
        Member::Visibility => if_public(object, "visibility"),
        Member::ClientRules => if_public(object, "clientRules"),
        Member::Protected => yes_or_no(object, other, "protected"),
        Member::ReasonRequired => yes_or_no(object, other, "reasonRequired"),
        Member::Type => string(object, "type"),
        Member::Key => string(object, "sdkKeyPrefix").map(|prefix| format!("{prefix}…")),
        Member::PreviousKey => previous_key_of(object),
        Member::Switch => {
            let on = member_of(object, "isEnabled").as_bool();
            on.map(|on| describe::on_off(on).to_owned())
        }
        Member::Ttl => is_listed(object, other, "ttlOverrideSeconds").then(|| {
            let ttl = serde_json::from_value(member_of(object, "ttlOverrideSeconds"));
            describe::time_to_live(ttl.unwrap_or_default())
        }),
        Member::Rule => read::<Rule>(object).as_ref().map(describe::rule),
        Member::Position => position_of(object).map(|position| position.to_string()),
        Member::Rollout => read::<Rollout>(object).map(describe::rollout),
        Member::Email => string(object, "email"),
        Member::Role => string(object, "role"),
        Member::Grants => grants_of(object).map(|grants| roles_by_scope(&grants)),
        Member::Password => is_true(object, "passwordReset").then(|| "Reset".to_owned()),
        Member::Expiry => expiry_of(object),
    }
}

/// Returns a member that is text; none if there is none.
fn string(object: Option<&Value>, member: &str) -> Option<String> {
    let value = member_of(object, member);
    value.as_str().map(ToOwned::to_owned)
}

fn is_true(object: Option<&Value>, member: &str) -> bool {
    member_of(object, member) == Value::Bool(true)
}

/// Returns true for a member of the object that may be null, unless it is null in both objects of a change.
fn is_listed(object: Option<&Value>, other: Option<&Value>, member: &str) -> bool {
    let exists = object.is_some_and(|object| object.get(member).is_some());
    let is_set = |object| !member_of(object, member).is_null();
    exists && (is_set(object) || is_set(other))
}

/// Returns a member that is false by default; none if it is true in neither object of a change.
fn yes_or_no(object: Option<&Value>, other: Option<&Value>, member: &str) -> Option<String> {
    let value = is_true(object, member);
    let is_shown = object.is_some() && (value || is_true(other, member));
    is_shown.then(|| if value { "Yes" } else { "No" }.to_owned())
}

/// Returns a member of a public environment; none for other environments, where it has no effect.
fn if_public(environment: Option<&Value>, member: &str) -> Option<String> {
    let is_public = text(environment, "visibility") == Visibility::Public.as_str();
    let value = string(environment, member).filter(|_| is_public);
    value.map(|value| describe::capitalize(&value))
}

/// Returns the position of a rule among those of a flag, or of an environment among those of its product.
fn position_of(object: Option<&Value>) -> Option<i64> {
    let rule = read::<Rule>(object);
    let priority = rule.map(|rule| i64::from(rule.priority.get()));
    priority.or_else(|| member_of(object, "position").as_i64())
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

    fn difference(member: Member, old: Option<&str>, new: Option<&str>) -> FieldDiff {
        FieldDiff {
            member,
            old: old.map(ToOwned::to_owned),
            new: new.map(ToOwned::to_owned),
        }
    }

    /// Returns the labels of the members that are listed for a new object.
    fn labels(object: &Value) -> Vec<&'static str> {
        let members = changes(None, Some(object)).into_iter();
        members.map(|change| change.member.label()).collect()
    }

    #[test]
    fn an_account_lists_its_roles_in_products_and_a_new_password() {
        let account = |grants: Value| json!({"role": "viewer", "grants": grants});
        let granted = account(json!([{"product": "Shop", "environmentId": null, "role": "admin"}]));
        assert_eq!(
            changes(Some(&granted), Some(&account(json!([])))),
            [difference(Member::Grants, Some("admin in Shop"), None)]
        );
        let reset = json!({"role": "viewer", "grants": [], "passwordReset": true});
        assert_eq!(
            changes(Some(&account(json!([]))), Some(&reset)),
            [difference(Member::Password, None, Some("Reset"))]
        );
    }

    #[test]
    fn an_environment_lists_its_previous_key() {
        let key = json!({"prefix": "pnk_Y2hl", "endsAt": "2026-03-01T00:00:00.000Z"});
        let (during, after) = (json!({"previousKey": key}), json!({}));
        let key = Some("pnk_Y2hl…, until 2026-03-01 00:00");
        assert_eq!(
            changes(Some(&during), Some(&after)),
            [difference(Member::PreviousKey, key, None)]
        );
    }

    #[test]
    fn a_flag_lists_public_only_if_it_is_or_was() {
        let flag = |public: bool| json!({"name": "Checkout", "public": public});
        let (secret, public) = (flag(false), flag(true));
        assert_eq!(
            changes(Some(&secret), Some(&public)),
            [difference(Member::Public, Some("No"), Some("Yes"))]
        );
        assert_eq!(
            changes(Some(&public), Some(&secret)),
            [difference(Member::Public, Some("Yes"), Some("No"))]
        );
        assert_eq!(labels(&public), ["Name", "Public"]);
        assert_eq!(labels(&secret), ["Name"]);
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
                difference(Member::Tags, Some("a, b"), Some("b")),
                difference(Member::Owner, None, Some("Team")),
                difference(Member::Kind, None, Some("Kill switch")),
                difference(Member::Expiry, None, Some("2026-03-01 (UTC)")),
            ]
        );
        assert_eq!(
            changes(Some(&tagged), Some(&json!({"name": "A"}))),
            [difference(Member::Tags, Some("a, b"), None)]
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
            Member::Expiry,
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
            [difference(
                Member::ClientRules,
                Some("Full"),
                Some("Answers")
            )]
        );
        assert_eq!(labels(&full), ["Name", "Visibility", "Client rules"]);
        assert_eq!(labels(&environment("server", "full")), ["Name"]);
    }

    #[test]
    fn a_default_ttl_is_not_listed() {
        let configuration = json!({"isEnabled": false, "ttlOverrideSeconds": null});
        assert_eq!(labels(&configuration), ["Switch"]);
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
            [difference(
                Member::Products,
                Some("Every product"),
                Some("blog")
            )]
        );
        assert_eq!(labels(&every), ["Name"]);
        assert_eq!(labels(&blog), ["Name", "Products"]);
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
                Member::Rule,
                Some("ON when country is DE"),
                Some("ON when country is FR")
            )]
        );
        assert_eq!(labels(&new), ["Rule", "Position"]);
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
