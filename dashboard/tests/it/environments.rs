//! The list of environments, and creating one.

use std::sync::Arc;

use pennon_core::model::environment::EnvironmentStatus;
use pennon_core::model::user::Role;
use pennon_dashboard::error::AdminError;

use crate::fake::{Fake, KEY, get, post, render};

const ENVIRONMENTS: &str = "/dashboard/environments";
const NEW: &str = "/dashboard/environments/new";

#[tokio::test]
async fn environments_are_listed_with_their_status_and_the_beginning_of_their_key() {
    let mut fake = Fake::shop();
    for environment in fake.environments.iter_mut().take(1) {
        environment.status = EnvironmentStatus::Revoked;
    }
    let page = get(&Arc::new(fake), ENVIRONMENTS).await;
    for text in [
        "staging",
        "production",
        "pnk_AAAAAAAA",
        "Revoked",
        "Active",
        "New environment",
    ] {
        assert!(page.html.contains(text), "{text}");
    }
}

#[tokio::test]
async fn only_an_admin_is_offered_to_create_one() {
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
async fn the_key_is_in_the_answer_to_the_form_and_nowhere_else() {
    let fake = Arc::new(Fake::shop());
    let page = post(&fake, NEW, "product=shop&name=qa").await;
    assert_eq!(*fake.calls(), ["create environment shop / qa"]);
    assert_eq!((page.status, page.location), (None, None));
    assert!(page.html.contains(KEY));
    assert!(page.html.contains("https://flags.example.com"));
    assert!(page.html.contains("This is the only time you see it."));
    for url in [NEW, ENVIRONMENTS, "/dashboard/flags"] {
        assert!(!get(&fake, url).await.html.contains(KEY), "{url}");
    }
}

#[tokio::test]
async fn a_name_that_is_taken_is_told_under_the_name() {
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
async fn a_session_that_ended_meanwhile_loses_nothing_that_was_typed() {
    let page = render(None, NEW, Some("product=Web+shop&name=qa")).await;
    assert_eq!(page.status, Some(401));
    assert!(page.html.contains("value=\"Web shop\""));
    assert!(page.html.contains("Sign in in another tab"));
}
