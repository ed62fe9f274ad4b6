//! The list of flags, and creating one.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::reactive::computed::ScopedFuture;
use pennon_dashboard::api::flags::set_enabled;
use pennon_dashboard::error::{AdminError, FieldError};
use pennon_model::{
    id::{EnvironmentId, FlagId},
    metadata::FlagTags,
    time::Timestamp,
    user::Role,
};
use uuid::Uuid;

use crate::fake::{Fake, cell, environment, flag, get, post};

const FLAGS: &str = "/dashboard/flags";
const NEW: &str = "/dashboard/new-flag";

fn count(html: &str, part: &str) -> usize {
    html.matches(part).count()
}

#[tokio::test]
async fn every_environment_has_a_switch_in_the_row() {
    let page = get(&Arc::new(Fake::shop()), FLAGS).await;
    assert_eq!(count(&page.html, "role=\"switch\""), 2);
    assert!(page.html.contains("aria-label=\"New checkout in staging\""));
    assert!(
        page.html
            .contains("aria-label=\"New checkout in production\"")
    );
    assert_eq!(count(&page.html, "aria-checked=\"false\""), 1);
    assert_eq!(count(&page.html, "data-state=\"partly\""), 1);
    assert!(page.html.contains("25%"));
    assert!(page.html.contains("2 h ago"));
    assert_eq!(
        count(&page.html, "action=\"/dashboard/api/set-enabled\""),
        1
    );
    // The switch of production, which is protected, asks for confirmation.
    assert_eq!(count(&page.html, "data-effect"), 1);
    assert_eq!(page.status, None);
}

#[tokio::test]
async fn products_are_named_when_there_are_several() {
    let mut fake = Fake::shop();
    fake.environments
        .push(environment(3, "warehouse", "production"));
    fake.flags = vec![(
        flag("a", "A"),
        vec![Some(cell(true)), None, Some(cell(true))],
    )];
    let page = get(&Arc::new(fake), FLAGS).await;
    assert!(page.html.contains("colspan=\"2\""));
    assert!(
        page.html
            .contains("aria-label=\"A in warehouse / production\"")
    );
    assert!(page.html.contains("Not configured here"));
}

#[tokio::test]
async fn hostile_names_stay_text() {
    let mut fake = Fake::shop();
    let hostile = "</title><img src=x onerror=alert(1)>\"'&";
    fake.flags = vec![(flag("a", hostile), vec![Some(cell(true)), Some(cell(true))])];
    fake.environments = vec![
        environment(1, hostile, hostile),
        environment(2, "b", hostile),
    ];
    let fake = Arc::new(fake);
    for url in [
        FLAGS,
        "/dashboard/environments",
        "/dashboard/flags?q=%3C/title%3E%3Cimg%20src=x%3E",
    ] {
        let page = get(&fake, url).await;
        assert!(!page.html.contains("<img"), "{url}");
        assert_eq!(count(&page.html, "</title>"), 1, "{url}");
    }
}

#[tokio::test]
async fn a_viewer_sees_locked_switches() {
    let fake = Fake {
        role: Role::Viewer,
        ..Fake::shop()
    };
    let page = get(&Arc::new(fake), FLAGS).await;
    assert_eq!(count(&page.html, "role=\"switch\""), 2);
    assert_eq!(count(&page.html, " disabled"), 2);
    assert!(!page.html.contains("set-enabled"));
    assert!(!page.html.contains("New flag"));
}

#[tokio::test]
async fn an_archived_flag_cannot_be_switched_or_selected() {
    let mut fake = Fake::shop();
    for (flag, _) in &mut fake.flags {
        flag.archived_at = Some(Timestamp::from_millis(0));
    }
    let fake = Arc::new(fake);
    let page = get(&fake, "/dashboard/flags?state=archived").await;
    assert!(page.html.contains("<span class=\"tag\">Archived"));
    assert!(!page.html.contains("set-enabled"));
    assert!(!page.html.contains("Select New checkout"), "{}", page.html);
}

#[tokio::test]
async fn an_empty_server_shows_the_first_steps() {
    let page = get(&Arc::new(Fake::default()), FLAGS).await;
    assert!(
        page.html
            .contains("Create an environment, such as production")
    );
    assert!(page.html.contains("href=\"/dashboard/environments/new\""));

    let fake = Fake {
        flags: Vec::new(),
        ..Fake::shop()
    };
    let page = get(&Arc::new(fake), FLAGS).await;
    assert!(page.html.contains("No flags yet"));
    assert!(page.html.contains("isEnabled"));
}

#[tokio::test]
async fn a_search_without_results_shows_an_empty_state() {
    let fake = Arc::new(Fake {
        flags: Vec::new(),
        ..Fake::shop()
    });
    let page = get(&fake, "/dashboard/flags?q=zebra&state=all").await;
    assert!(page.html.contains("No flags match “zebra”"));
    assert_eq!(*fake.calls(), ["flags \"zebra\" All"]);
}

#[tokio::test]
async fn an_outage_is_reported_in_place_of_the_list() {
    let fake = Fake {
        refusal: Some(AdminError::Unavailable),
        ..Fake::shop()
    };
    let page = get(&Arc::new(fake), FLAGS).await;
    assert_eq!(page.status, Some(503));
    assert!(page.html.contains("cannot reach its database"));
    assert!(page.html.contains("<nav"), "the sidebar is still there");
}

#[tokio::test]
async fn creating_a_flag_redirects_to_its_page() {
    let fake = Arc::new(Fake::shop());
    let form = "name=Dark+mode&key=dark_mode&description=one%0D%0Atwo&type=boolean";
    let page = post(&fake, NEW, form).await;
    assert_eq!(
        *fake.calls(),
        ["create flag dark_mode \"one\\ntwo\" boolean"]
    );
    let flag = "/dashboard/flags/dark_mode";
    assert_eq!(page.location.as_deref(), Some(flag));
}

#[tokio::test]
async fn opening_the_form_creates_nothing() {
    let fake = Arc::new(Fake::shop());
    let page = get(&fake, NEW).await;
    assert!(fake.calls().is_empty());
    assert!(page.html.contains(" data-form"), "{}", page.html);
}

#[tokio::test]
async fn errors_are_shown_below_their_fields_and_no_input_is_lost() {
    let wrong = |field: &str| FieldError {
        field: field.to_owned(),
        detail: format!("is a bad {field}"),
    };
    let refusal = AdminError::Invalid(vec![wrong("key"), wrong("name"), wrong("elsewhere")]);
    let fake = Arc::new(Fake {
        refusal: Some(refusal),
        ..Fake::shop()
    });
    let page = post(
        &fake,
        NEW,
        "name=N%22&key=k&description=D%3C/textarea%3E&type=string",
    )
    .await;
    assert_eq!(page.status, Some(400));
    assert_eq!(page.location, None);
    assert!(page.html.contains("Is a bad key."));
    assert!(page.html.contains("id=\"key-error\""));
    assert!(
        page.html
            .contains("aria-describedby=\"key-hint key-error\"")
    );
    assert!(page.html.contains("elsewhere: is a bad elsewhere"));
    assert_eq!(count(&page.html, "aria-invalid=\"true\""), 2);
    assert!(page.html.contains("value=\"N&quot;\""));
    assert!(page.html.contains("D&lt;/textarea&gt;"));
    assert_eq!(fake.calls().len(), 1, "the port is called once");
}

#[tokio::test]
async fn a_conflict_is_shown_below_the_key() {
    let refusal = Some(AdminError::Conflict("The key is taken.".to_owned()));
    let fake = Fake {
        refusal,
        ..Fake::shop()
    };
    let page = post(&Arc::new(fake), NEW, "name=N&key=k&type=boolean").await;
    assert_eq!(page.status, Some(409));
    let (_, after) = page
        .html
        .split_once("id=\"key-error\"")
        .expect("an error of the key");
    assert!(after.contains("The key is taken."));
}

#[tokio::test]
async fn a_switch_reaches_the_port_only_with_a_session() {
    let fake = Arc::new(Fake::shop());
    let ids = (
        FlagId::new(Uuid::nil()),
        EnvironmentId::new(Uuid::from_u128(1)),
    );
    let switch = |signed_in: bool| {
        let fake = fake.clone();
        Owner::new().with(|| {
            if signed_in {
                fake.sign_in();
            }
            let label = Some("Dark & light in staging".to_owned());
            ScopedFuture::new(set_enabled(ids.0, ids.1, true, Some(1), label))
        })
    };
    assert_eq!(switch(false).await, Err(AdminError::SignedOut));
    assert!(fake.calls().is_empty());
    let drawn = switch(true).await.expect("a switch");
    assert!(
        drawn.contains("aria-label=\"Dark &amp; light in staging\""),
        "{drawn}"
    );
    assert!(drawn.contains("aria-checked=\"true\""), "{drawn}");
    assert!(drawn.contains("name=\"revision\" value=\"2\""), "{drawn}");
    assert_eq!(fake.calls().len(), 1);
}

#[tokio::test]
async fn links_of_the_list_keep_every_filter_and_begin_at_the_first_page() {
    let environment = "environment=00000000-0000-0000-0000-000000000002";
    let filters =
        format!("q=new&{environment}&is=off&stale=yes&tag=a&owner=Team&kind=release&sort=name");
    let address = format!("{FLAGS}?{filters}&state=all&page=2");
    let page = get(&Arc::new(Fake::shop()), &address).await.html;
    let filters = filters.replace('&', "&amp;");
    // The only flag is on the first page.
    assert!(page.contains("Page 2 is past the end of 1"), "{page}");
    let previous = format!("href=\"{FLAGS}?{filters}&amp;state=all\" class=\"button\"");
    assert!(page.contains(&previous), "{page}");
    let archived = format!("<a href=\"{FLAGS}?{filters}&amp;state=archived\"");
    assert!(page.contains(&archived), "{page}");
    // The form has no field of its own for the archived flags.
    assert!(page.contains("name=\"state\" value=\"all\""), "{page}");
}

#[tokio::test]
async fn an_empty_list_says_which_flags_it_lacks() {
    let mut fake = Fake::shop();
    fake.flags.clear();
    let fake = Arc::new(fake);
    for (query, title) in [
        ("page=2", "No flags on this page"),
        ("stale=yes", "No flags match these filters"),
        ("state=archived", "No archived flags"),
        ("state=archived&product=shop", "No archived flags in shop"),
        ("state=archived&q=x", "No flags match “x”"),
    ] {
        let page = get(&fake, &format!("{FLAGS}?{query}")).await;
        let heading = format!(">{title}<");
        assert!(page.html.contains(&heading), "{title}: {}", page.html);
    }
}

#[tokio::test]
async fn a_state_applies_to_any_environment_unless_one_is_chosen() {
    let fake = Arc::new(Fake::shop());
    let hint = "In at least one environment.";
    let page = get(&fake, "/dashboard/flags?is=on").await;
    assert!(page.html.contains(hint));
    let production = "environment=00000000-0000-0000-0000-000000000002";
    let page = get(&fake, &format!("{FLAGS}?is=on&{production}")).await;
    assert!(!page.html.contains(hint));
    assert_eq!(count(&page.html, "role=\"switch\""), 1);
    let name = "aria-checked=\"true\" aria-label=\"New checkout in production\"";
    assert!(page.html.contains(name), "{}", page.html);
}

#[tokio::test]
async fn only_an_admin_reads_where_to_create_an_environment() {
    for (role, offered) in [(Role::Editor, false), (Role::Admin, true)] {
        let mut fake = Fake::shop();
        fake.role = role;
        fake.environments.clear();
        let page = get(&Arc::new(fake), FLAGS).await.html;
        assert!(page.contains("No environment is active"), "{page}");
        assert_eq!(page.contains("Create one"), offered, "{role}");
    }
}

#[tokio::test]
async fn the_tabs_of_a_flag_tell_where_it_is_on() {
    let fake = Arc::new(Fake::shop());
    let page = get(&fake, "/dashboard/flags/checkout?edit=details")
        .await
        .html;
    assert!(page.contains("title=\"staging: off\""), "{page}");
    assert!(page.contains("title=\"production: on for some\""), "{page}");
    assert!(page.contains(">Compare<") && page.contains("Copy to…"));
    let alone = Fake {
        environments: vec![environment(1, "shop", "production")],
        flags: vec![(flag("checkout", "New checkout"), vec![Some(cell(true))])],
        ..Fake::default()
    };
    let page = get(&Arc::new(alone), "/dashboard/flags/checkout?edit=details")
        .await
        .html;
    assert!(page.contains("title=\"production: on\""), "{page}");
    assert!(!page.contains(">Compare<") && !page.contains("Copy to…"));
}

#[tokio::test]
async fn the_form_of_a_rollout_that_was_removed_adds_one() {
    let page = get(
        &Arc::new(Fake::shop()),
        "/dashboard/flags/checkout?edit=rollout",
    )
    .await;
    assert!(page.html.contains("id=\"recipe-form\""), "{}", page.html);
}

#[tokio::test]
async fn a_row_shows_three_tags_and_counts_the_others() {
    let mut fake = Fake::shop();
    for (flag, _) in &mut fake.flags {
        flag.metadata.tags = FlagTags::parse_list("a, b, c, d, e").expect("tags");
    }
    let page = get(&Arc::new(fake), FLAGS).await.html;
    assert!(page.contains("title=\"Tags: a, b, c, d, e\""), "{page}");
    assert!(page.contains("a, b, c") && page.contains(" +2"), "{page}");
}
