//! The product to which the dashboard is limited, and the products of a flag.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::{
    prelude::{Owner, provide_context},
    reactive::computed::ScopedFuture,
};
use pennon_dashboard::{
    api::{destinations::destinations, session::choose_product},
    error::{AdminError, FieldError},
};
use pennon_model::{environment::ProductName, flag::FlagProducts};

use crate::fake::{Fake, cell, environment, get, post, visit};

const FLAG: &str = "/dashboard/flags/checkout";
/// The page of the flag without the playground, whose island only a server can render.
const EDITOR: &str = "/dashboard/flags/checkout?edit=details";
const FIELDSET: &str = "class=\"field product-fields\"";
const SWITCHER: &str = "class=\"product-switcher\"";

/// The parameter that selects the Web shop.
const SHOP: &str = "product=Web+shop";

fn limited_to(products: &[&str]) -> FlagProducts {
    let name = |name: &&str| ProductName::try_from((*name).to_owned()).expect("a product's name");
    let names: BTreeSet<_> = products.iter().map(name).collect();
    names.try_into().expect("a few products")
}

/// Returns the fake with its flag limited to these products.
fn limited(mut fake: Fake, products: &[&str]) -> Fake {
    for (flag, _) in &mut fake.flags {
        flag.products = Some(limited_to(products));
    }
    fake
}

/// Returns the values of an attribute in the order of the page.
fn attributes<'h>(html: &'h str, name: &str) -> Vec<&'h str> {
    let start = format!(" {name}=\"");
    let pieces = html.split(&start).skip(1);
    pieces.filter_map(|piece| piece.split('"').next()).collect()
}

/// Returns the forms of the page.
fn forms(html: &str) -> Vec<&str> {
    let forms = html.split("<form").skip(1);
    forms
        .filter_map(|form| form.split("</form>").next())
        .collect()
}

fn switcher(html: &str) -> &str {
    let forms = forms(html);
    let mut forms = forms.into_iter();
    forms
        .find(|form| form.contains(SWITCHER))
        .expect("the switcher")
}

/// Returns the products to choose from, and the selected one.
fn choices(html: &str) -> (Vec<String>, String) {
    let form = switcher(html);
    let (_, form) = form.split_once("<select").expect("a select");
    let values = attributes(form, "value").into_iter().map(str::to_owned);
    let (before, _) = form.split_once(" selected").expect("a selected option");
    let selected = attributes(before, "value").pop().unwrap_or_default();
    (values.collect(), selected.to_owned())
}

#[tokio::test]
async fn one_product_needs_no_switcher() {
    let page = get(&Arc::new(Fake::shop()), "/dashboard/flags").await;
    assert!(!page.html.contains(SWITCHER));
    let page = get(&Arc::new(Fake::default()), "/dashboard/help").await;
    assert!(!page.html.contains(SWITCHER));
}

#[tokio::test]
async fn the_switcher_offers_the_products_and_shows_the_selected_one() {
    let fake = Arc::new(Fake::two_products());
    let page = get(&fake, "/dashboard/flags").await;
    let all = ["", "Blog", "Web shop"].map(str::to_owned).to_vec();
    assert_eq!(choices(&page.html), (all.clone(), String::new()));
    let page = get(&fake, &format!("/dashboard/flags?{SHOP}")).await;
    assert_eq!(choices(&page.html), (all.clone(), "Web shop".to_owned()));
    // The parameter without a value is what the form sends for all products.
    let page = get(&fake, "/dashboard/flags?product=").await;
    assert_eq!(choices(&page.html), (all, String::new()));
}

#[tokio::test]
async fn a_choice_opens_the_section_of_the_page_or_else_the_flags() {
    let fake = Arc::new(Fake::two_products());
    for (url, section) in [
        ("/dashboard/flags?q=a", "/dashboard/flags"),
        (
            "/dashboard/environments?status=revoked",
            "/dashboard/environments",
        ),
        ("/dashboard/try?flag=nothing", "/dashboard/try"),
        ("/dashboard/audit?flagKey=checkout", "/dashboard/audit"),
        (EDITOR, "/dashboard/flags"),
        ("/dashboard/help", "/dashboard/flags"),
    ] {
        let page = get(&fake, url).await;
        let form = switcher(&page.html);
        assert!(form.contains("method=\"post\""));
        assert_eq!(
            attributes(form, "action"),
            ["/dashboard/api/choose-product"]
        );
        assert_eq!(attributes(form, "value")[0], section, "{url}");
    }
}

#[tokio::test]
async fn a_choice_is_remembered_and_shown_in_its_section() {
    let fake = Arc::new(Fake::two_products());
    for (product, section, location) in [
        (
            "Web shop",
            "/dashboard/try",
            "/dashboard/try?product=Web+shop",
        ),
        ("", "/dashboard/audit", "/dashboard/audit"),
        ("Gone", "/dashboard/help", "/dashboard/flags"),
        (
            "Blog",
            "https://evil.example",
            "/dashboard/flags?product=Blog",
        ),
    ] {
        let response = Arc::default();
        let choice = Owner::new().with(|| {
            let url = "/dashboard/api/choose-product";
            provide_context(visit(url, None, Arc::clone(&response)));
            fake.sign_in();
            ScopedFuture::new(choose_product(product.to_owned(), section.to_owned()))
        });
        choice.await.expect("a choice");
        let response = response.lock().expect("the response");
        assert_eq!(response.location.as_deref(), Some(location));
    }
    assert_eq!(
        *fake.calls(),
        [
            "remember Some(\"Web shop\")",
            "remember None",
            "remember None",
            "remember Some(\"Blog\")"
        ]
    );
}

#[tokio::test]
async fn an_unknown_product_is_selected_and_has_no_environments() {
    let fake = Arc::new(Fake::shop());
    let url = "/dashboard/flags?product=Gone+%3Cb%3E";
    let page = get(&fake, url).await;
    let (products, selected) = choices(&page.html);
    assert_eq!(products, ["", "shop", "Gone &lt;b&gt;"]);
    assert_eq!(selected, "Gone &lt;b&gt;");
    assert!(!page.html.contains("<b>"));
    assert!(!page.html.contains("role=\"switch\""));
    let page = get(&fake, "/dashboard/environments?product=Gone").await;
    assert!(page.html.contains("No environments of Gone yet"));
}

#[tokio::test]
async fn pages_work_without_the_products() {
    let fake = Fake {
        refusal: Some(AdminError::Unavailable),
        ..Fake::two_products()
    };
    let page = get(&Arc::new(fake), "/dashboard/help").await;
    assert_eq!(page.status, None);
    assert!(!page.html.contains(SWITCHER));
    assert!(page.html.contains("Glossary"));
}

#[tokio::test]
async fn sections_are_limited_to_the_selected_product() {
    let fake = Arc::new(Fake::two_products());
    let flags = get(&fake, &format!("/dashboard/flags?{SHOP}")).await;
    assert!(
        flags
            .html
            .contains("aria-label=\"New checkout in production\"")
    );
    let environments = get(&fake, &format!("/dashboard/environments?{SHOP}")).await;
    assert_eq!(environments.html.matches("scope=\"rowgroup\"").count(), 1);
    get(
        &fake,
        &format!("/dashboard/environments?status=revoked&{SHOP}"),
    )
    .await;
    let audit = get(
        &fake,
        &format!("/dashboard/audit?{SHOP}&environment=production"),
    )
    .await;
    assert!(audit.html.contains("<option value=\"production\">"));
    get(&fake, &format!("/dashboard/try?{SHOP}")).await;
    assert_eq!(
        *fake.calls(),
        [
            "flags \"\" Active of Web shop",
            "environments",
            "revoked environments Some(\"Web shop\")",
            "environments",
            "audit Some(\"Web shop\") Some(\"production\")",
            "choices Some(\"Web shop\")",
        ]
    );
    let tabs = get(&fake, &format!("{EDITOR}&{SHOP}")).await;
    assert!(tabs.html.contains("title=\"production: off\""));
    assert!(!tabs.html.contains("Blog:"));
}

#[tokio::test]
async fn the_full_name_of_an_environment_in_the_audit_log_selects_no_product() {
    let fake = Arc::new(Fake::two_products());
    let page = get(&fake, "/dashboard/audit?environment=Blog+%2F+production").await;
    assert_eq!(
        *fake.calls(),
        ["environments", "audit Some(\"Blog\") Some(\"production\")"]
    );
    assert!(page.html.contains("value=\"Blog / production\""));
    let links = attributes(&page.html, "href");
    assert!(links.contains(&"/dashboard/audit?environment=Blog+%2F+production&amp;page=2"));
    let export = "/dashboard/audit/export?environment=production&amp;product=Blog";
    assert!(links.contains(&export), "{links:?}");
}

#[tokio::test]
async fn links_and_forms_keep_the_selected_product() {
    let mut fake = Fake::two_products();
    // The copy form asks for one of these.
    for (number, name) in [(3, "staging"), (4, "development")] {
        fake.environments
            .push(environment(number, "Web shop", name));
        for (_, cells) in &mut fake.flags {
            cells.push(Some(cell(false)));
        }
    }
    let fake = Arc::new(fake);
    for url in [
        "/dashboard/flags?",
        "/dashboard/flags?q=nothing&",
        "/dashboard/new-flag?",
        "/dashboard/flags/checkout?edit=details&",
        "/dashboard/flags/checkout?edit=ttl&",
        "/dashboard/flags/checkout?edit=copy&",
        "/dashboard/flags/checkout/history?",
        "/dashboard/environments?",
        "/dashboard/environments?status=revoked&",
        "/dashboard/environments/new?",
        "/dashboard/environments/00000000-0000-0000-0000-000000000002?",
        "/dashboard/try?",
        "/dashboard/try?flag=nothing&as=json&",
        "/dashboard/audit?",
        "/dashboard/audit?flagKey=checkout&",
        "/dashboard/incident?",
        "/dashboard/incident?last=4h&by=flag&",
        "/dashboard/incident/revert?entry=00000000-0000-0000-0000-000000000014&",
        "/dashboard/help?",
        "/dashboard/nowhere?",
    ] {
        let page = get(&fake, &format!("{url}{SHOP}")).await;
        let pages =
            |address: &&str| address.starts_with("/dashboard") && !address.contains("/api/");
        for link in attributes(&page.html, "href").into_iter().filter(pages) {
            assert!(link.contains(SHOP), "{link} on {url}");
        }
        for form in forms(&page.html) {
            let action = attributes(form, "action").first().copied();
            let is_kept = if form.contains("method=\"get\"") {
                form.contains("name=\"product\"")
            } else {
                action
                    .filter(pages)
                    .is_none_or(|action| action.contains(SHOP))
            };
            assert!(
                is_kept || form.contains("method=\"dialog\""),
                "{form} on {url}"
            );
        }
    }
}

#[tokio::test]
async fn the_palette_finds_pages_of_the_selected_product() {
    let fake = Arc::new(Fake::two_products());
    let find = |url: &'static str| {
        let fake = fake.clone();
        Owner::new().with(|| {
            provide_context(visit(url, None, Arc::default()));
            fake.sign_in();
            ScopedFuture::new(destinations("check".to_owned()))
        })
    };
    let url = "/dashboard/api/destinations";
    let found = find(url).await.expect("destinations");
    assert_eq!(found[0].href, FLAG);
    let found = find("/dashboard/api/destinations?product=Web+shop").await;
    let found = found.expect("destinations");
    assert!(
        found.iter().all(|each| each
            .href
            .split('#')
            .next()
            .is_some_and(|href| href.ends_with(SHOP))),
        "{found:?}"
    );
    assert_eq!(
        *fake.calls(),
        [
            "find check None",
            "find people check",
            "find check Some(\"Web shop\")",
            "find people check"
        ]
    );
}

#[tokio::test]
async fn commands_keep_the_selected_product() {
    let fake = Arc::new(Fake::two_products());
    for command in ["usage check", "history check"] {
        let found = Owner::new().with(|| {
            let url = "/dashboard/api/destinations?product=Web+shop";
            provide_context(visit(url, None, Arc::default()));
            fake.sign_in();
            ScopedFuture::new(destinations(command.to_owned()))
        });
        let found = found.await.expect("destinations");
        assert_eq!(found[0].kind, "Action", "{command}");
        assert!(found[0].href.ends_with(SHOP), "{found:?}");
    }
}

#[tokio::test]
async fn several_flags_are_switched_in_an_environment_of_the_selected_product() {
    let fake = Arc::new(Fake::two_products());
    let url = "/dashboard/change-flags?do=enable&flag=00000000-0000-0000-0000-000000000000";
    let offered = async |query: &str| {
        let page = get(&fake, &format!("{url}{query}")).await;
        page.html.matches("<option value=\"0").count()
    };
    assert_eq!(offered("").await, 2);
    assert_eq!(offered(&format!("&{SHOP}")).await, 1);
    let other = "&environment=00000000-0000-0000-0000-000000000001";
    assert_eq!(offered(&format!("&{SHOP}{other}")).await, 2);
}

#[tokio::test]
async fn redirects_keep_the_selected_product() {
    let fake = Arc::new(Fake::two_products());
    let url = format!("/dashboard/new-flag?{SHOP}");
    let page = post(&fake, &url, "name=Dark+mode&key=dark_mode&type=boolean").await;
    let flag = format!("/dashboard/flags/dark_mode?{SHOP}");
    assert_eq!(page.location, Some(flag));

    let ids = "flag=00000000-0000-0000-0000-000000000000&environment=00000000-0000-0000-0000-000000000002";
    let form = format!("do=ttl&{ids}&expected=&ttl=30");
    let page = post(&fake, &format!("{FLAG}?{SHOP}"), &form).await;
    assert_eq!(page.location, Some(format!("{FLAG}?{SHOP}")));

    let page = get(&fake, &format!("/dashboard?{SHOP}")).await;
    assert_eq!(page.location, Some(format!("/dashboard/flags?{SHOP}")));
}

#[tokio::test]
async fn the_form_of_a_new_flag_offers_products_once_there_are_two() {
    let page = get(&Arc::new(Fake::shop()), "/dashboard/new-flag").await;
    assert!(!page.html.contains(FIELDSET));
    let fake = Arc::new(Fake::two_products());
    let page = get(&fake, &format!("/dashboard/new-flag?{SHOP}")).await;
    assert!(page.html.contains(FIELDSET));
    assert!(page.html.contains("value=\"all\" checked"));
    assert!(!page.html.contains("value=\"Web shop\" checked"));

    let form = "name=N&key=k&type=boolean&scope=some&products=Blog&other-product=App";
    post(&fake, "/dashboard/new-flag", form).await;
    let form = "name=N&key=k&type=boolean&scope=all&products=Blog";
    post(&fake, "/dashboard/new-flag", form).await;
    assert_eq!(
        *fake.calls(),
        [
            "create flag k \"\" boolean for [\"Blog\", \"App\"]",
            "create flag k \"\" boolean",
        ]
    );
}

#[tokio::test]
async fn products_that_were_refused_stay_chosen() {
    let error = FieldError {
        field: "products".to_owned(),
        detail: "must have at least one product".to_owned(),
    };
    let fake = Arc::new(Fake {
        refusal: Some(AdminError::Invalid(vec![error])),
        ..Fake::two_products()
    });
    let form = "name=N&key=k&type=boolean&scope=some&products=Blog&other-product=App";
    let page = post(&fake, "/dashboard/new-flag", form).await;
    assert_eq!(page.status, Some(400));
    assert!(page.html.contains("Must have at least one product."));
    assert!(
        page.html
            .contains("aria-describedby=\"products-hint products-error\"")
    );
    assert!(page.html.contains("value=\"some\" checked autofocus"));
    assert!(page.html.contains("value=\"Blog\" checked"));
    assert!(page.html.contains("value=\"App\""));
}

#[tokio::test]
async fn a_limited_flag_shows_its_products_and_where_it_is_missing() {
    let mut fake = limited(Fake::two_products(), &["Blog", "App"]);
    fake.flags[0].1 = vec![Some(cell(false)), None];
    let fake = Arc::new(fake);
    let page = get(&fake, EDITOR).await;
    assert!(
        page.html
            .contains("<li class=\"tag\">App</li><li class=\"tag\">Blog</li>")
    );
    let list = get(&fake, "/dashboard/flags").await;
    let title = "Not configured here. The flag is limited to App, Blog.";
    assert!(list.html.contains(title));
    let elsewhere = get(&fake, &format!("{FLAG}?{SHOP}")).await;
    assert!(elsewhere.html.contains("Not configured in Web shop"));
    assert!(
        elsewhere
            .html
            .contains("href=\"/dashboard/flags/checkout\"")
    );
}

#[tokio::test]
async fn the_products_of_a_flag_can_be_changed() {
    let fake = Arc::new(limited(Fake::shop(), &["App"]));
    let page = get(&fake, EDITOR).await;
    assert!(page.html.contains(FIELDSET));
    assert!(page.html.contains("value=\"some\" checked"));
    assert!(page.html.contains("value=\"App\" checked"));
    assert!(page.html.contains("value=\"shop\""));
    let id = "00000000-0000-0000-0000-000000000000";
    let form = format!("do=details&flag={id}&revision=1&name=N&scope=all&products=App");
    post(&fake, FLAG, &form).await;
    assert_eq!(
        *fake.calls(),
        ["describe at 1: N, None, public: false, disable: false"]
    );
}

#[tokio::test]
async fn a_flag_that_is_on_elsewhere_asks_before_it_leaves() {
    let refusal = "The flag is still on in Blog/production.";
    let fake = Arc::new(Fake {
        refusal: Some(AdminError::Conflict(refusal.to_owned())),
        environments: vec![
            environment(1, "Blog", "production"),
            environment(2, "Web shop", "production"),
        ],
        ..Fake::two_products()
    });
    let id = "00000000-0000-0000-0000-000000000000";
    let form = format!("do=details&flag={id}&revision=1&name=New&scope=some&products=Web+shop");
    let page = post(&fake, FLAG, &form).await;
    assert_eq!(page.status, Some(409));
    assert!(page.html.contains(refusal));
    assert!(page.html.contains("name=\"disable\""));
    assert!(page.html.contains("value=\"New\""));
    assert!(page.html.contains("value=\"Web shop\" checked"));
    assert!(!page.html.contains("id=\"name-error\""));

    let fake = Arc::new(Fake::two_products());
    let page = post(&fake, FLAG, &format!("{form}&disable=yes")).await;
    assert_eq!(page.location.as_deref(), Some(FLAG));
    assert_eq!(
        *fake.calls(),
        ["describe at 1: New, Some([\"Web shop\"]), public: false, disable: true"]
    );
}

#[tokio::test]
async fn environments_of_other_products_that_prevent_archiving_are_named() {
    let mut fake = Fake::two_products();
    fake.flags[0].1 = vec![None, Some(cell(true))];
    fake.refusal = Some(AdminError::Conflict("The flag is still on.".to_owned()));
    let id = "00000000-0000-0000-0000-000000000000";
    let form = format!("do=archive&flag={id}&revision=1");
    let page = post(&Arc::new(fake), &format!("{FLAG}?product=Blog"), &form).await;
    assert!(page.html.contains("Not archived."));
    assert!(page.html.contains(">Web shop / production</a>"));
    assert!(page.html.contains(&format!("&amp;{SHOP}")));
}

#[tokio::test]
async fn the_audit_log_of_an_incident_keeps_the_product_and_the_full_name_of_the_environment() {
    let fake = Arc::new(Fake::two_products());
    get(&fake, "/dashboard/incident?product=Blog").await;
    let call = fake.calls().pop().unwrap_or_default();
    assert!(call.starts_with("recent Some(\"Blog\") None"), "{call}");
    let blog = "environment=00000000-0000-0000-0000-000000000001";
    let page = get(&fake, &format!("/dashboard/incident?{blog}"))
        .await
        .html;
    let link = "href=\"/dashboard/audit?environment=Blog+%2F+production&amp;from=";
    assert!(page.contains(link), "{page}");
}

#[tokio::test]
async fn the_chosen_environment_stays_chosen_before_a_flag_is() {
    let second = "00000000-0000-0000-0000-000000000002";
    let address = format!("/dashboard/try?environment={second}");
    let page = get(&Arc::new(Fake::two_products()), &address).await.html;
    let option = format!("<option value=\"{second}\" selected>Web shop / production</option>");
    assert!(page.contains(&option), "{page}");
}
