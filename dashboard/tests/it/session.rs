//! Signing in, and requests without a session.

use std::sync::Arc;

use crate::fake::{Fake, get, render};

const LOGIN: &str = "/dashboard/login";

#[tokio::test]
async fn the_right_password_leads_to_the_requested_page() {
    let form = Some("sign-in-email=ana%40example.com&sign-in-password=correct+horse");
    let page = render(None, LOGIN, form).await;
    assert_eq!(page.location.as_deref(), Some("/dashboard"));
    let page = render(
        None,
        "/dashboard/login?next=%2Fdashboard%2Fenvironments",
        form,
    )
    .await;
    assert_eq!(page.location.as_deref(), Some("/dashboard/environments"));
    let page = render(None, "/dashboard/login?next=%2F%2Fevil.example", form).await;
    assert_eq!(page.location.as_deref(), Some("/dashboard"));
}

#[tokio::test]
async fn a_wrong_password_keeps_the_address_and_forgets_the_password() {
    let page = render(
        None,
        LOGIN,
        Some("sign-in-email=ana%40example.com&sign-in-password=hunter2"),
    )
    .await;
    assert_eq!((page.status, page.location), (Some(401), None));
    assert!(page.html.contains("do not match"));
    assert!(page.html.contains("value=\"ana@example.com\""));
    assert!(!page.html.contains("hunter2"));
}

#[tokio::test]
async fn a_form_that_waits_for_the_sign_in_page_is_kept_without_passwords() {
    let form = "email=ben%40example.com&password=hunter2&currentPassword=hunter3&newPassword=";
    let page = render(None, LOGIN, Some(form)).await;
    assert_eq!(page.status, Some(401));
    assert!(page.html.contains("value=\"ben@example.com\""));
    assert!(page.html.contains("name=\"newPassword\""));
    assert!(page.html.contains("asked for it again"));
    assert!(!page.html.contains("hunter"));
}

#[tokio::test]
async fn pages_require_a_session() {
    let page = render(None, "/dashboard/flags", None).await;
    assert_eq!(page.status, Some(401));
    assert!(page.html.contains("href=\"/dashboard/login\""));
}

#[tokio::test]
async fn an_unknown_address_shows_a_page_with_a_link_back() {
    let page = get(&Arc::new(Fake::shop()), "/dashboard/nowhere").await;
    assert_eq!(page.status, Some(404));
    assert!(page.html.contains("Go to the flags"));
}

#[tokio::test]
async fn pages_carry_no_inline_styles() {
    let fake = Arc::new(Fake::shop());
    for url in [
        LOGIN,
        "/dashboard/flags",
        "/dashboard/new-flag",
        "/dashboard/environments",
    ] {
        assert!(!get(&fake, url).await.html.contains(" style="), "{url}");
    }
}
