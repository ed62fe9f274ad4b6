//! Cloning an environment.

use std::sync::Arc;

use pennon_dashboard::error::AdminError;
use pennon_model::environment::{ClientRules, Environment, EnvironmentStatus, Visibility};
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::user::Role;

use crate::fake::{Fake, KEY, environment, get, post};

const PAGE: &str = "/dashboard/environments/00000000-0000-0000-0000-000000000001";
const CLONE: &str = "/dashboard/environments/00000000-0000-0000-0000-000000000001/clone";

/// Returns the fake with its first environment changed.
fn with_first(change: impl FnOnce(Environment) -> Environment) -> Arc<Fake> {
    let mut fake = Fake::shop();
    let first = change(fake.environments.remove(0));
    fake.environments.insert(0, first);
    Arc::new(fake)
}

#[tokio::test]
async fn the_form_begins_with_the_members_of_the_original() {
    let page = get(&Arc::new(Fake::shop()), CLONE).await;
    for text in [
        "<h1>Clone staging<",
        "name=\"product\" value=\"shop\"",
        "name=\"name\" value=\"\"",
        "name=\"visibility\" value=\"server\" checked",
    ] {
        assert!(page.html.contains(text), "{text}: {}", page.html);
    }
    let public = with_first(|first| Environment {
        visibility: Visibility::Public,
        client_rules: ClientRules::Answers,
        ..first
    });
    let page = get(&public, CLONE).await;
    for text in [
        "name=\"visibility\" value=\"public\" checked",
        "name=\"clientRules\" value=\"answers\" checked",
    ] {
        assert!(page.html.contains(text), "{text}: {}", page.html);
    }
}

#[tokio::test]
async fn the_response_to_the_form_shows_the_key_of_the_clone() {
    let fake = Arc::new(Fake::shop());
    let page = post(&fake, CLONE, "product=shop&name=test&visibility=server").await;
    assert!(page.html.contains(KEY));
    assert!(page.html.contains("test is ready"));
    let public = "product=Blog&name=web&visibility=public&clientRules=answers";
    post(&fake, CLONE, public).await;
    let calls = fake.calls();
    let clones: Vec<_> = calls
        .iter()
        .filter(|call| call.starts_with("clone"))
        .collect();
    assert_eq!(
        clones,
        [
            "clone 00000000-0000-0000-0000-000000000001 to shop / test: server, full",
            "clone 00000000-0000-0000-0000-000000000001 to Blog / web: public, answers",
        ]
    );
}

#[tokio::test]
async fn a_revoked_environment_cannot_be_cloned() {
    let revoked = with_first(|first| Environment {
        status: EnvironmentStatus::Revoked,
        ..first
    });
    assert!(!get(&revoked, PAGE).await.html.contains(CLONE));
    assert!(!get(&revoked, CLONE).await.html.contains("Clone staging"));
}

#[tokio::test]
async fn a_refused_clone_says_why() {
    for error in [AdminError::Forbidden, AdminError::Unavailable] {
        let fake = Fake {
            refusal: Some(error.clone()),
            ..Fake::shop()
        };
        let page = post(&Arc::new(fake), CLONE, "product=shop&name=test").await;
        assert_eq!(page.status, Some(error.status()));
    }
}

#[tokio::test]
async fn a_clone_is_offered_to_administrators_of_a_product() {
    let grant = |scope| vec![Grant::new(scope, Role::Admin).expect("not a viewer")];
    let blog = "Blog".to_owned().try_into().expect("a product's name");
    let staging = environment(1, "shop", "staging").id;
    for (role, grants, offered) in [
        (Role::Admin, vec![], true),
        (Role::Editor, vec![], false),
        (Role::Viewer, grant(GrantScope::Product(blog)), true),
        (Role::Viewer, grant(GrantScope::Environment(staging)), false),
    ] {
        let fake = Fake {
            role,
            grants: Grants::try_from(grants).expect("at most one grant"),
            ..Fake::shop()
        };
        let page = get(&Arc::new(fake), PAGE).await;
        assert_eq!(page.html.contains(CLONE), offered, "{role}");
    }
}
