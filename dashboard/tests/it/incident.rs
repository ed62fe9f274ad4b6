//! The recent changes, their joint revert, and the filters of the audit log.

use std::sync::Arc;

use pennon_dashboard::error::AdminError;
use pennon_model::user::Role;

use crate::fake::{Fake, get, post};

/// The addresses of the two changes of the fake, of which a joint revert reverts both.
const SEVERAL: &str = "/dashboard/incident/revert?last=4h&entry=00000000-0000-0000-0000-000000000014&entry=00000000-0000-0000-0000-000000000015";

/// Returns the texts of all elements with this tag and an attribute such as `class="empty"`, without the tags within.
fn texts(html: &str, tag: &str, attribute: &str) -> Vec<String> {
    let closing = format!("</{tag}>");
    let opening = format!("<{tag}");
    let elements = html.split(&*opening).skip(1);
    let elements = elements.filter_map(|rest| rest.split_once('>'));
    let elements = elements.filter(|(opening, _)| opening.contains(attribute));
    let inner = elements.filter_map(|(_, rest)| rest.split(&*closing).next());
    inner.map(plain).collect()
}

/// Returns the headings of the groups of a page.
fn headings(html: &str) -> Vec<String> {
    let mut headings = texts(html, "h2", "");
    headings.retain(|heading| heading != "Shortcuts");
    headings
}

/// Returns a piece of HTML without tags.
fn plain(html: &str) -> String {
    let pieces = html.split('<').enumerate();
    let pieces = pieces.map(|(index, piece)| match piece.split_once('>') {
        Some((_, text)) if index > 0 => text,
        _ => piece,
    });
    pieces.collect::<String>().trim().to_owned()
}

/// Returns the values of an attribute.
fn attributes<'h>(html: &'h str, name: &str) -> Vec<&'h str> {
    let pattern = format!(" {name}=\"");
    let values = html.split(&*pattern).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn an_action_is_one_sentence_with_its_effect_and_a_link_to_revert_it() {
    let fake = Arc::new(Fake::shop());
    let page = get(&fake, "/dashboard/incident").await.html;
    let sentences = texts(&page, "p", "action-sentence");
    assert_eq!(
        sentences,
        [
            "changed the rollout of checkout from 10% to 50% in staging",
            "turned checkout on in staging",
            "created the environment staging",
            "created the environment production",
        ]
    );
    assert_eq!(
        texts(&page, "p", "action-actor")[1],
        "09:30 bob@example.com"
    );
    let links = attributes(&page, "href");
    let flag = "/dashboard/flags/checkout?environment=00000000-0000-0000-0000-000000000001";
    assert!(links.contains(&flag), "{links:?}");
    // Only the two changes of the flag can be reverted.
    assert_eq!(page.matches("\"visually-hidden\"> …").count(), 2);
    let all = "/dashboard/incident/revert?entry=00000000-0000-0000-0000-000000000014&amp;entry=00000000-0000-0000-0000-000000000015";
    assert!(links.contains(&all), "{links:?}");
    let older = "/dashboard/audit?from=2026-03-01T08%3A30%3A00.000Z";
    assert!(links.contains(&older), "{links:?}");
}

#[tokio::test]
async fn the_period_the_environment_and_the_groups_are_chosen_in_the_address() {
    let fake = Arc::new(Fake::two_products());
    let production = "environment=00000000-0000-0000-0000-000000000002";
    let url = format!("/dashboard/incident?last=24h&by=person&{production}");
    let by_person = get(&fake, &url);
    let people = headings(&by_person.await.html);
    assert_eq!(people, ["ana@example.com 3", "bob@example.com 1"]);
    let by_flag = get(&fake, "/dashboard/incident?last=15m&by=flag")
        .await
        .html;
    assert_eq!(headings(&by_flag), ["checkout 2", "Environments 2"]);
    let by_time = get(
        &fake,
        "/dashboard/incident?last=week&by=luck&environment=none",
    );
    assert_eq!(headings(&by_time.await.html), ["Today · 2026-03-01 4"]);
    assert_eq!(
        *fake.calls(),
        [
            "environments",
            "recent Some(\"Web shop\") Some(\"production\") from 2026-02-28T09:30:00.000Z",
            "environments",
            "recent None None from 2026-03-01T09:15:00.000Z",
            "environments",
            "recent None None from 2026-03-01T08:30:00.000Z",
        ]
    );
}

#[tokio::test]
async fn a_period_without_changes_leads_to_a_longer_one() {
    let page = get(&Arc::new(Fake::default()), "/dashboard/incident").await;
    assert!(page.html.contains("No changes in the last hour"));
    assert!(attributes(&page.html, "href").contains(&"/dashboard/incident?last=24h"));
    assert!(!page.html.contains("Revert all"));
    let page = get(&Arc::new(Fake::default()), "/dashboard/incident?last=24h").await;
    assert!(page.html.contains("No changes in the last 24 h"));
    assert!(!page.html.contains("Show the last 24 h"), "{}", page.html);
}

#[tokio::test]
async fn a_joint_revert_names_what_it_omits_and_is_posted_with_its_fingerprint() {
    let fake = Arc::new(Fake::shop());
    let page = get(&fake, SEVERAL).await.html;
    assert!(page.contains("<h1>Revert 3 changes"));
    assert!(page.contains("The flag is archived."));
    assert!(page.contains("name=\"fingerprint\" value=\"f\""));
    let links = attributes(&page, "href");
    assert!(links.contains(&"/dashboard/incident?last=4h"), "{links:?}");
    assert!(
        !links
            .iter()
            .any(|link| link.starts_with("/dashboard/audit/")),
        "{links:?}"
    );
    // All changes are of today.
    assert_eq!(
        texts(&page, "p", "action-actor")
            .first()
            .map(|text| text.contains("2026-")),
        Some(false)
    );
    let reverted = post(&fake, SEVERAL, "fingerprint=f&confirmed=yes").await;
    let location = reverted.location.as_deref();
    assert_eq!(location, Some("/dashboard/incident?last=4h"));
    assert_eq!(*fake.calls(), ["plan the revert of 2", "revert 2 at f"]);
    for nothing in ["", "?entry=", "?entry=x"] {
        let page = get(&fake, &format!("/dashboard/incident/revert{nothing}")).await;
        assert_eq!(page.status, Some(404));
    }
}

#[tokio::test]
async fn a_joint_revert_that_is_refused_shows_the_plan_again() {
    let fake = Fake {
        refusal: Some(AdminError::Forbidden),
        ..Fake::shop()
    };
    let page = post(&Arc::new(fake), SEVERAL, "fingerprint=f").await;
    assert_eq!(page.status, Some(403));
    assert_eq!(page.location, None);
}

#[tokio::test]
async fn the_audit_log_is_limited_by_person_action_and_minute() {
    let fake = Arc::new(Fake::shop());
    let page = get(
        &fake,
        "/dashboard/audit?actor=bob%40example.com&action=FLAG_ARCHIVED&from=2026-03-01T08%3A15&to=2026-03-01",
    )
    .await;
    assert_eq!(
        *fake.calls(),
        [
            "environments",
            "audit None None by bob@example.com FlagArchived from 2026-03-01T08:15:00.000Z to 2026-03-01T23:59:59.999Z",
        ]
    );
    let values = attributes(&page.html, "value");
    for value in ["bob@example.com", "2026-03-01T08:15", "2026-03-01T23:59"] {
        assert!(values.contains(&value), "{value}");
    }
    assert!(
        page.html
            .contains("<option value=\"FLAG_ARCHIVED\" selected>Flag archived")
    );
    assert!(page.html.contains("Include account changes"));
    let export = "/dashboard/audit/export?actor=bob%40example.com&amp;action=FLAG_ARCHIVED&amp;from=2026-03-01T08%3A15%3A00.000Z&amp;to=2026-03-01T23%3A59%3A59.999Z";
    let links = attributes(&page.html, "href");
    assert!(links.contains(&export), "{links:?}");
    fake.calls().clear();
    get(&fake, "/dashboard/audit?action=&actor=+&from=soon").await;
    assert_eq!(*fake.calls(), ["environments", "audit None None"]);
}

#[tokio::test]
async fn the_audit_log_includes_accounts_for_admins_on_request() {
    let log = async |role: Role, query: &str| {
        let fake = Fake {
            role,
            ..Fake::shop()
        };
        get(&Arc::new(fake), &format!("/dashboard/audit{query}"))
            .await
            .html
    };
    let asked = "?include=accounts";
    let page = log(Role::Admin, asked).await;
    assert!(page.contains(">Password changed</option>"));
    assert!(page.contains(">Show all<"));
    let next = "/dashboard/audit?include=accounts&amp;page=2";
    assert!(attributes(&page, "href").contains(&next), "{page}");
    let page = log(Role::Admin, "").await;
    assert!(page.contains("Include account changes"));
    assert!(!page.contains(">Password changed</option>") && !page.contains(">Show all<"));
    let page = log(Role::Editor, asked).await;
    assert!(!page.contains("Include account changes"), "{page}");
    assert!(!page.contains(">Password changed</option>"));
}
