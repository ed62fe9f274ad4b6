//! The list of environments, and creating one.

use std::sync::Arc;

use pennon_dashboard::error::AdminError;
use pennon_model::client::{Client, Version};
use pennon_model::environment::{Environment, EnvironmentStatus};
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::previous_key::{PreviousKey, PreviousKeyClient, PreviousKeyUsage};
use pennon_model::user::Role;

use crate::fake::{Fake, KEY, NOW, environment, get, post, render};

const ENVIRONMENTS: &str = "/dashboard/environments";
const NEW: &str = "/dashboard/environments/new";

#[tokio::test]
async fn environments_are_listed_by_product_with_key_prefix_and_polls() {
    let page = get(&Arc::new(Fake::shop()), ENVIRONMENTS).await;
    for text in [
        "shop",
        "staging",
        "production",
        "pnk_AAAAAAAA",
        "90",
        "New environment",
    ] {
        assert!(page.html.contains(text), "{text}");
    }
    assert_eq!(page.html.matches("scope=\"rowgroup\"").count(), 1);
}

#[tokio::test]
async fn a_reloaded_answer_to_a_form_leads_to_the_page_and_changes_nothing() {
    let fake = Arc::new(Fake::shop());
    let page = format!("{NEW}?product=Web+shop");
    for form in [Some("product=Web+shop&name=staging"), None] {
        let answer = render(Some(&fake), &format!("{page}&answered=yes"), form).await;
        assert_eq!(answer.location.as_ref(), Some(&page));
    }
    assert!(!fake.calls().iter().any(|call| call.starts_with("create")));
}

#[tokio::test]
async fn environments_are_moved_up_down_and_to_any_place() {
    let fake = Arc::new(Fake::shop());
    let [staging, production] =
        [1, 2].map(|number| format!("00000000-0000-0000-0000-00000000000{number}"));
    let page = get(&fake, ENVIRONMENTS).await;
    for text in [
        "aria-label=\"Move production up in shop\"",
        "aria-label=\"Move staging down in shop\"",
        &format!("name=\"order\" value=\"{staging} {production}\""),
    ] {
        assert!(page.html.contains(text), "{text}: {}", page.html);
    }
    fake.calls().clear();
    let order = format!("of=shop&order={staging}+{production}");
    // The focus is on the pressed button, or on the other one if that is disabled now.
    for (moved, focused) in [
        (
            format!("&up={production}"),
            format!("#move-down-{production}"),
        ),
        (format!("&down={staging}"), format!("#move-up-{staging}")),
        // At the end of the list, and after a drag, the order is that of the form.
        (format!("&up={staging}"), format!("#move-down-{staging}")),
        (
            format!("&down={production}"),
            format!("#move-up-{production}"),
        ),
        (String::new(), String::new()),
    ] {
        let answer = post(&fake, ENVIRONMENTS, &format!("{order}{moved}")).await;
        assert_eq!(answer.location, Some(format!("{ENVIRONMENTS}{focused}")));
    }
    let (kept, swapped) = (
        format!("order shop: {staging} {production}"),
        format!("order shop: {production} {staging}"),
    );
    let expected = [&swapped, &swapped, &kept, &kept, &kept];
    assert_eq!(fake.calls().iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn only_an_admin_of_a_product_with_several_environments_can_move_them() {
    let moves = "class=\"environment-moves\"";
    let grant = |role| {
        let product = "Shop".to_owned().try_into().expect("a product's name");
        Grant::new(GrantScope::Product(product), role).expect("not a viewer")
    };
    for (role, grants, offered) in [
        (Role::Admin, vec![], 4),
        (Role::Editor, vec![], 0),
        (Role::Viewer, vec![grant(Role::Admin)], 2),
        (Role::Viewer, vec![grant(Role::Editor)], 0),
    ] {
        let fake = Fake {
            role,
            grants: Grants::try_from(grants).expect("at most one grant"),
            environments: vec![
                environment(1, "Blog", "staging"),
                environment(2, "Blog", "production"),
                environment(3, "Shop", "staging"),
                environment(4, "Shop", "production"),
                environment(5, "Wiki", "production"),
            ],
            ..Fake::default()
        };
        let page = get(&Arc::new(fake), ENVIRONMENTS).await;
        assert_eq!(page.html.matches(moves).count(), offered, "{role}");
    }
}

#[tokio::test]
async fn destructive_actions_send_the_expected_revision_and_the_typed_name() {
    let fake = Arc::new(Fake::shop());
    let url = format!("{ENVIRONMENTS}/00000000-0000-0000-0000-000000000002");
    let page = post(
        &fake,
        &url,
        "do=rotate&revision=7&overlap=3600&rotate-name=production",
    )
    .await;
    assert!(page.html.contains(KEY));
    let page = post(&fake, &url, "do=end-previous-key&revision=7").await;
    assert_eq!(page.location, Some(url.clone()));
    let page = post(&fake, &url, "do=revoke&revision=7&revoke-name=production").await;
    assert_eq!(page.location, Some(url.clone()));
    assert_eq!(
        *fake.calls(),
        [
            "rotate 00000000-0000-0000-0000-000000000002 at 7 with 3600: production",
            "end previous key 00000000-0000-0000-0000-000000000002 at 7",
            "revoke 00000000-0000-0000-0000-000000000002 at 7: production",
        ]
    );
}

#[tokio::test]
async fn ending_a_previous_key_that_has_expired_succeeds() {
    let fake = Fake {
        refusal: Some(AdminError::NotFound),
        ..Fake::shop()
    };
    let url = format!("{ENVIRONMENTS}/00000000-0000-0000-0000-000000000002");
    let page = post(&Arc::new(fake), &url, "do=end-previous-key&revision=7").await;
    assert_eq!(page.location, Some(url));
}

#[tokio::test]
async fn a_product_in_another_case_is_refused_where_environments_are_created() {
    let fake = Arc::new(Fake::two_products());
    let clone = format!("{ENVIRONMENTS}/00000000-0000-0000-0000-000000000001/clone");
    for page in [NEW, &clone] {
        let form = get(&fake, page).await.html;
        let suggested = "<datalist id=\"product-list\"><option value=\"Blog\">";
        assert!(form.contains(suggested), "{form}");
        let answer = post(&fake, page, "product=web+shop&name=staging").await;
        assert_eq!(answer.status, Some(400));
        let error = "The product “Web shop” exists: spell it the same way, or choose another name.";
        assert!(answer.html.contains(error), "{}", answer.html);
        assert!(answer.html.contains("value=\"web shop\""));
        let answer = post(&fake, page, "product=Web+shop&name=staging").await;
        assert!(answer.html.contains(KEY));
    }
}

#[tokio::test]
async fn only_an_admin_can_change_an_environment() {
    let url = format!("{ENVIRONMENTS}/00000000-0000-0000-0000-000000000002");
    for (role, offered) in [
        (Role::Viewer, false),
        (Role::Editor, false),
        (Role::Admin, true),
    ] {
        let fake = Fake {
            role,
            ..Fake::shop()
        };
        let page = get(&Arc::new(fake), &url).await;
        assert!(page.html.contains("pnk_your_key"));
        assert_eq!(page.html.contains("Rotate key"), offered);
    }
}

#[tokio::test]
async fn only_an_editor_can_open_the_live_evaluations_of_an_active_environment() {
    let url = format!("{ENVIRONMENTS}/00000000-0000-0000-0000-000000000002");
    let live = format!("{url}/live");
    for (role, status) in [
        (Role::Viewer, Some(403)),
        (Role::Editor, None),
        (Role::Admin, None),
    ] {
        let fake = Arc::new(Fake {
            role,
            ..Fake::shop()
        });
        let page = get(&fake, &live).await;
        assert_eq!(page.status, status, "{role}");
        assert_eq!(page.html.contains("data-evaluations="), status.is_none());
        let page = get(&fake, &url).await;
        let link = format!("href=\"{live}\"");
        assert_eq!(page.html.contains(&link), status.is_none(), "{role}");
    }
    let mut revoked = environment(1, "shop", "production");
    revoked.status = EnvironmentStatus::Revoked;
    let fake = Arc::new(Fake {
        environments: vec![revoked],
        ..Fake::default()
    });
    let url = format!("{ENVIRONMENTS}/00000000-0000-0000-0000-000000000001");
    let live = format!("{url}/live");
    assert_eq!(get(&fake, &live).await.status, Some(404));
    assert!(!get(&fake, &url).await.html.contains(&live));
}

#[tokio::test]
async fn live_evaluations_of_a_flag_name_it_in_the_address_of_the_stream() {
    let live = format!("{ENVIRONMENTS}/00000000-0000-0000-0000-000000000002/live");
    let page = get(&Arc::new(Fake::shop()), &format!("{live}?flag=checkout")).await;
    let stream = "/dashboard/events/evaluations\
         ?environment=00000000-0000-0000-0000-000000000002&amp;flag=checkout";
    assert!(page.html.contains(stream), "{}", page.html);
    let page = get(&Arc::new(Fake::shop()), &format!("{live}?flag=nothing")).await;
    assert_eq!(page.status, Some(404));
}

#[tokio::test]
async fn the_previous_key_is_shown_with_its_clients_and_only_an_admin_can_end_it() {
    let url = format!("{ENVIRONMENTS}/00000000-0000-0000-0000-000000000002");
    let version = Version::new(0, 1, 0);
    let client = PreviousKeyClient {
        client: Client::from_header("@pennon/nest/0.1.0", &version),
        requests: 1240,
        last_seen_at: NOW,
    };
    let usage = PreviousKeyUsage {
        key: PreviousKey {
            prefix: "pnk_Previous".to_owned(),
            ends_at: NOW.plus_days(7),
        },
        clients: vec![client],
    };
    for (role, offered) in [(Role::Editor, false), (Role::Admin, true)] {
        let fake = Fake {
            role,
            previous_key: Some(usage.clone()),
            ..Fake::shop()
        };
        let page = get(&Arc::new(fake), &url).await;
        for text in [
            "pnk_Previous…",
            "2026-03-08",
            "@pennon/nest",
            "0.1.0",
            "1,240",
        ] {
            assert!(page.html.contains(text), "{text}");
        }
        assert_eq!(page.html.contains("End now"), offered);
    }
    let page = get(&Arc::new(Fake::shop()), &url).await;
    assert!(!page.html.contains("Previous key"));
}

#[tokio::test]
async fn a_revoked_environment_leads_to_the_one_that_replaced_it() {
    let revoked = Environment {
        status: EnvironmentStatus::Revoked,
        sdk_key_prefix: "pnk_Previous".to_owned(),
        ..environment(1, "shop", "production")
    };
    let rotated = Environment {
        previous_key: Some(PreviousKey {
            prefix: "pnk_Previous".to_owned(),
            ends_at: NOW.plus_days(7),
        }),
        ..environment(2, "shop", "renamed")
    };
    let same_name = environment(2, "shop", "production");
    let url = format!("{ENVIRONMENTS}/00000000-0000-0000-0000-000000000001");
    let link = format!("href=\"{ENVIRONMENTS}/00000000-0000-0000-0000-000000000002\"");
    let other = environment(2, "shop", "staging");
    for (successor, works, is_linked) in [
        (rotated, true, true),
        (same_name, false, true),
        (other, false, false),
    ] {
        let fake = Arc::new(Fake {
            environments: vec![revoked.clone(), successor],
            ..Fake::default()
        });
        let html = get(&fake, &url).await.html;
        let (_, notice) = html
            .split_once("This environment is revoked.")
            .expect("a notice");
        let (notice, _) = notice.split_once("</div>").expect("the end of the notice");
        assert_eq!(notice.contains("2026-03-08"), works, "{notice}");
        assert_eq!(notice.contains("never works again"), !works, "{notice}");
        assert_eq!(notice.contains(&link), is_linked, "{notice}");
    }
}

#[tokio::test]
async fn only_an_admin_can_create_an_environment() {
    for role in [Role::Viewer, Role::Editor] {
        let page = get(
            &Arc::new(Fake {
                role,
                ..Fake::shop()
            }),
            ENVIRONMENTS,
        )
        .await;
        assert!(!page.html.contains("New environment"));
        let fake = Arc::new(Fake {
            role,
            ..Fake::shop()
        });
        let page = get(&fake, "/dashboard/environments?status=revoked").await;
        assert!(!page.html.contains("New environment"));
        let page = get(
            &Arc::new(Fake {
                role,
                ..Fake::default()
            }),
            "/dashboard/flags",
        )
        .await;
        assert!(page.html.contains("Ask an admin"));
    }
}

#[tokio::test]
async fn only_the_response_to_the_form_contains_the_key() {
    let fake = Arc::new(Fake::shop());
    let page = post(&fake, NEW, "product=shop&name=qa").await;
    assert_eq!(
        *fake.calls(),
        ["create environment shop / qa: server, full"]
    );
    assert_eq!((page.status, page.location), (None, None));
    assert!(page.html.contains(KEY));
    assert!(page.html.contains("https://flags.example.com"));
    assert!(page.html.contains("It is shown only once."));
    for url in [NEW, ENVIRONMENTS, "/dashboard/flags"] {
        assert!(!get(&fake, url).await.html.contains(KEY), "{url}");
    }
}

#[tokio::test]
async fn a_taken_name_is_reported_below_the_name() {
    let refusal = Some(AdminError::Conflict("It is taken.".to_owned()));
    let page = post(
        &Arc::new(Fake {
            refusal,
            ..Fake::shop()
        }),
        NEW,
        "product=p&name=n",
    )
    .await;
    assert_eq!(page.status, Some(409));
    let (_, after) = page
        .html
        .split_once("id=\"name-error\"")
        .expect("an error of the name");
    assert!(after.contains("It is taken."));
}

#[tokio::test]
async fn an_expired_session_loses_no_input() {
    let page = render(None, NEW, Some("product=Web+shop&name=qa")).await;
    assert_eq!(page.status, Some(401));
    assert!(page.html.contains("value=\"Web shop\""));
    assert!(page.html.contains("Sign in in another tab"));
}
