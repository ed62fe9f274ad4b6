//! Forms that were refused: their input, and the state that they expect.

use std::sync::Arc;

use pennon_dashboard::error::{AdminError, FieldError, UnchangeableFlag, UnconfirmedChange};
use pennon_model::{environment::Environment, flag::Flag, id::FlagId, metadata::FlagMetadata};
use uuid::Uuid;

use crate::fake::{Fake, Response, flag, get, post};

const DETAILS: &str = "/dashboard/flags/checkout";
const PRODUCTION: &str = "/dashboard/environments/00000000-0000-0000-0000-000000000002";

fn invalid(field: &str) -> AdminError {
    AdminError::Invalid(vec![FieldError {
        field: field.to_owned(),
        detail: "is too long".to_owned(),
    }])
}

/// Posts a form to the shop, which refuses it with this error.
async fn refused(refusal: AdminError, url: &str, form: &str) -> Response {
    let fake = Fake {
        refusal: Some(refusal),
        ..Fake::shop()
    };
    post(&Arc::new(fake), url, form).await
}

/// Returns the revisions that the forms of a page expect.
fn revisions(page: &Response) -> Vec<&str> {
    let fields = page.html.split("name=\"revision\" value=\"").skip(1);
    fields.filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn a_form_with_an_error_still_expects_the_state_that_it_had() {
    // The flag and the environments have revision 1, and the user saw an earlier one.
    let id = "flag=00000000-0000-0000-0000-000000000000&revision=0";
    let details = format!("do=details&{id}&name=N&tags=x");
    let page = refused(invalid("tags"), DETAILS, &details).await;
    assert_eq!(revisions(&page).first(), Some(&"0"));
    let page = refused(AdminError::Stale, DETAILS, &details).await;
    assert_eq!(revisions(&page).first(), Some(&"1"));

    let rename = "do=rename&revision=0&name=N";
    let page = refused(invalid("name"), PRODUCTION, rename).await;
    assert_eq!(revisions(&page), ["0", "1", "1", "1"]);
    let page = refused(AdminError::Stale, PRODUCTION, rename).await;
    assert_eq!(revisions(&page), ["1", "1", "1", "1"]);
}

#[tokio::test]
async fn details_that_somebody_else_changed_are_listed() {
    let saved = Flag {
        description: Some("Theirs".to_owned().try_into().expect("a description")),
        is_public: true,
        metadata: FlagMetadata {
            expires_at: "2026-03-01".to_owned().try_into().ok(),
            ..FlagMetadata::default()
        },
        ..flag("checkout", "New checkout")
    };
    assert!(saved.metadata.expires_at.is_some());
    let mut fake = Fake::shop();
    fake.refusal = Some(AdminError::Stale);
    for (flag, _) in &mut fake.flags {
        *flag = saved.clone();
    }
    let form = "do=details&flag=00000000-0000-0000-0000-000000000000&revision=0\
        &name=New+checkout&description=Mine&owner=Me&expiresAt=2026-03-01";
    let page = post(&Arc::new(fake), DETAILS, form).await;
    let (_, notice) = page.html.split_once("role=\"alert\"").expect("a notice");
    let (notice, _) = notice.split_once("</ul>").expect("a list");
    for text in [
        "Description: <strong>Theirs",
        "Public: <strong>yes",
        "Owner: <strong>none",
    ] {
        assert!(notice.contains(text), "{text}: {notice}");
    }
    assert_eq!(notice.matches("<li>").count(), 3, "{notice}");
}

#[tokio::test]
async fn a_page_that_cannot_be_read_after_a_refusal_keeps_the_form() {
    // The list of people cannot be read, either.
    let form = "person=00000000-0000-0000-0000-000000000000&revision=1&role=viewer&password=secret";
    let page = refused(AdminError::Unavailable, "/dashboard/people", form).await;
    assert_eq!(page.status, Some(503));
    assert!(page.html.contains("Send again"), "{}", page.html);
    assert!(page.html.contains("name=\"role\" value=\"viewer\""));
    assert!(!page.html.contains("secret"));
}

#[tokio::test]
async fn a_page_says_that_a_form_may_have_been_saved() {
    let form = "person=00000000-0000-0000-0000-000000000000&revision=1&role=viewer";
    let page = refused(AdminError::OutcomeUnknown, "/dashboard/people", form).await;
    assert_eq!(page.status, Some(503));
    assert!(page.html.contains("<h1>Maybe not saved"), "{}", page.html);
    assert!(page.html.contains("may or may not have been saved"));
    assert!(page.html.contains("Send again"));
    assert!(!page.html.contains("Nothing was changed"));
}

#[tokio::test]
async fn a_reason_stays_typed() {
    let form =
        "do=rotate&revision=1&overlap=0&rotate-name=prod&confirmed=yes&reason=Leaked+on+Friday";
    let page = refused(invalid("confirmation"), PRODUCTION, form).await;
    assert!(page.html.contains("value=\"prod\""));
    assert_eq!(page.html.matches("Leaked on Friday").count(), 1);
}

#[tokio::test]
async fn a_text_keeps_the_line_break_at_its_start() {
    let form = "name=N&key=k&type=boolean&description=%0AText";
    let page = refused(invalid("key"), "/dashboard/new-flag", form).await;
    assert!(page.html.contains(">\n\nText</textarea>"), "{}", page.html);
}

#[tokio::test]
async fn an_error_of_the_ttl_belongs_to_its_field() {
    let environment = "environment=00000000-0000-0000-0000-000000000001";
    let url = format!("{DETAILS}?{environment}&edit=ttl");
    let page = get(&Arc::new(Fake::shop()), &url).await;
    assert!(
        page.html.contains("aria-describedby=\"ttl-hint\""),
        "{}",
        page.html
    );
    let form = format!(
        "do=ttl&flag=00000000-0000-0000-0000-000000000000&{environment}&expected=&ttl=soon"
    );
    let page = post(&Arc::new(Fake::shop()), DETAILS, &form).await;
    assert_eq!(page.status, Some(400));
    assert!(
        page.html
            .contains("aria-describedby=\"ttl-hint ttl-error\"")
    );
    assert!(page.html.contains("id=\"ttl-error\""));
    assert!(page.html.contains("value=\"soon\""));
}

#[tokio::test]
async fn a_changed_role_leads_back_to_the_same_page_of_the_list() {
    let form = "person=00000000-0000-0000-0000-000000000000&revision=1&role=admin";
    let page = post(&Arc::new(Fake::shop()), "/dashboard/people?page=2", form).await;
    let row = "/dashboard/people?page=2#person-00000000-0000-0000-0000-000000000000";
    assert_eq!(page.location.as_deref(), Some(row));
}

/// Returns the opening tag that contains this text.
fn tag<'h>(html: &'h str, text: &str) -> &'h str {
    let mut tags = html
        .split('<')
        .map(|rest| rest.split('>').next().unwrap_or_default());
    tags.find(|tag| tag.contains(text))
        .unwrap_or_else(|| panic!("{text}: {html}"))
}

#[tokio::test]
async fn the_question_before_a_change_keeps_the_form_and_can_be_canceled() {
    let shop = Fake::shop();
    let environments: Vec<_> = shop.environments.iter().map(Environment::path).collect();
    let form = "do=details&flag=00000000-0000-0000-0000-000000000000&revision=1&name=N&confirmed=no&reason=Friday";
    let ask = async |needs_reason: bool, confirmed: &str| {
        let change = UnconfirmedChange {
            action: None,
            environments: environments.clone(),
            is_protected: true,
            needs_reason,
        };
        let form = form.replace("confirmed=no", &format!("confirmed={confirmed}"));
        refused(AdminError::Unconfirmed(change), DETAILS, &form)
            .await
            .html
    };
    let page = ask(false, "").await;
    assert!(
        page.contains("staging, production are protected."),
        "{page}"
    );
    assert!(page.contains("name=\"name\" value=\"N\""));
    assert!(
        !page.contains("name=\"reason\" value"),
        "the field is the only one: {page}"
    );
    assert!(
        !page.contains("type=\"hidden\" name=\"confirmed\""),
        "{page}"
    );
    assert!(page.contains("\nFriday</textarea>"), "{page}");
    let cancel = tag(&page, "value=\"no\"");
    assert!(
        cancel.contains("formnovalidate") && cancel.contains("autofocus"),
        "{cancel}"
    );
    assert!(!tag(&page, "id=\"reason\"").contains("autofocus"));

    let page = ask(true, "").await;
    assert!(tag(&page, "id=\"reason\"").contains("autofocus"));
    assert!(!tag(&page, "value=\"no\"").contains("autofocus"));
    assert!(!page.contains("Enter a reason."));
    let page = ask(true, "yes").await;
    assert!(page.contains("Enter a reason."), "{page}");
    assert!(tag(&page, "id=\"reason\"").contains("aria-invalid"));
}

#[tokio::test]
async fn a_selection_without_a_flag_that_can_change_has_no_rest() {
    let obstacle = UnchangeableFlag {
        index: 0,
        detail: "The flag is on.".to_owned(),
    };
    // The flag was selected twice.
    let id = "flag=00000000-0000-0000-0000-000000000000";
    let url = format!("/dashboard/change-flags?do=archive&{id}&{id}");
    let refusal = AdminError::UnchangeableFlags(vec![obstacle]);
    let page = refused(refusal.clone(), &url, "fingerprint=f").await;
    assert_eq!(page.status, Some(409));
    for text in [
        "Archive 1 flag",
        "This flag cannot be changed",
        "The flag is on.",
    ] {
        assert!(page.html.contains(text), "{text}: {}", page.html);
    }
    assert!(!page.html.contains("Continue with"));
    assert!(!page.html.contains(&refusal.to_string()));
}

#[tokio::test]
async fn a_tag_cannot_be_added_and_removed_at_once() {
    let id = "flag=00000000-0000-0000-0000-000000000000";
    let url = format!("/dashboard/change-flags?do=tag&{id}&addTags=a,b&removeTags=b");
    let fake = Arc::new(Fake::shop());
    let page = get(&fake, &url).await.html;
    assert!(page.contains("Must not contain a tag to add."), "{page}");
    assert!(tag(&page, "name=\"removeTags\"").contains("value=\"b\""));
    assert_eq!(*fake.calls(), [""; 0]);
}

#[tokio::test]
async fn the_other_flags_of_a_refused_selection_keep_the_change_and_the_list() {
    let mut fake = Fake::shop();
    fake.flags.push((flag("banner", "Banner"), Vec::new()));
    for ((flag, _), number) in fake.flags.iter_mut().zip(1..) {
        flag.id = FlagId::new(Uuid::from_u128(number));
    }
    fake.refusal = Some(AdminError::UnchangeableFlags(vec![UnchangeableFlag {
        index: 0,
        detail: "The flag has 20 tags.".to_owned(),
    }]));
    let id = |number: u128| format!("flag={}", Uuid::from_u128(number));
    let (first, second) = (id(1), id(2));
    let change = "do=tag&addTags=a&removeTags=b&list=stale%3Dyes";
    let url = format!("/dashboard/change-flags?{change}&{first}&{second}");
    let page = get(&Arc::new(fake), &url).await.html;
    assert!(
        page.contains("1 of the 2 flags cannot be changed"),
        "{page}"
    );
    assert_eq!(page.matches("The flag has 20 tags.").count(), 1, "{page}");
    let rest = format!("/dashboard/change-flags?{change}&{second}").replace('&', "&amp;");
    assert!(page.contains(&format!("href=\"{rest}\"")), "{page}");
    assert!(page.contains("Continue with the other flag"));
    assert!(page.contains("href=\"/dashboard/flags?stale=yes\""));
}

#[tokio::test]
async fn the_focus_is_in_the_first_field_or_in_the_one_with_an_error() {
    let url = "/dashboard/new-flag";
    let page = get(&Arc::new(Fake::shop()), url).await.html;
    assert!(tag(&page, "id=\"name\"").contains("autofocus"));
    assert!(!tag(&page, "id=\"key\"").contains("autofocus"));
    let page = refused(invalid("key"), url, "name=N&key=k&type=boolean")
        .await
        .html;
    assert!(!tag(&page, "id=\"name\"").contains("autofocus"));
    let key = tag(&page, "id=\"key\"");
    assert!(
        key.contains("autofocus") && key.contains("aria-invalid=\"true\""),
        "{key}"
    );
    assert!(
        key.contains("aria-describedby=\"key-hint key-error\""),
        "{key}"
    );
}
