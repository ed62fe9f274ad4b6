//! Roles in single products and environments: giving, removing and following them.

use std::collections::BTreeSet;
use std::sync::Arc;

use pennon_model::environment::ProductName;
use pennon_model::flag::FlagProducts;
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::user::Role;

use crate::fake::{Fake, environment, get, post};

const PERSON: &str = "/dashboard/people/00000000-0000-0000-0000-000000000000";
const ACCOUNT: &str = "/dashboard/account";
const FLAGS: &str = "/dashboard/flags";

fn in_shop() -> GrantScope {
    let shop = ProductName::try_from("shop".to_owned());
    GrantScope::Product(shop.expect("a product's name"))
}

fn in_staging() -> GrantScope {
    GrantScope::Environment(environment(1, "shop", "staging").id)
}

/// Returns the shop, seen by a user with this role everywhere and another one in a product or environment.
fn shop_as(role: Role, scope: GrantScope, granted: Role) -> Arc<Fake> {
    let grant = Grant::new(scope, granted).expect("not a viewer");
    Arc::new(Fake {
        role,
        grants: Grants::try_from(vec![grant]).expect("one grant"),
        ..Fake::shop()
    })
}

#[tokio::test]
async fn the_page_of_a_user_lists_their_grants_and_offers_every_product_and_environment() {
    let page = get(&shop_as(Role::Admin, in_staging(), Role::Editor), PERSON).await;
    for text in [
        "<strong>Editor</strong>",
        "aria-label=\"Remove editor in shop / staging\"",
        "value=\"environment:00000000-0000-0000-0000-000000000001\"",
        "value=\"product:shop\">shop, all environments</option>",
        ">shop / production</option>",
        // The token has the same grant.
        "<span class=\"grant\">Editor in shop / staging</span>",
    ] {
        assert!(page.html.contains(text), "{text}: {}", page.html);
    }
}

#[tokio::test]
async fn a_role_below_the_one_everywhere_is_not_called_higher() {
    let fake = shop_as(Role::Admin, in_staging(), Role::Editor);
    for url in ["/dashboard/people", PERSON] {
        let page = get(&fake, url).await;
        assert!(!page.html.contains("Has a higher role"), "{url}");
    }
}

#[tokio::test]
async fn a_grant_of_a_revoked_environment_can_be_removed() {
    let revoked = GrantScope::Environment(environment(9, "shop", "old").id);
    let page = get(&shop_as(Role::Admin, revoked, Role::Editor), PERSON).await;
    let button = "aria-label=\"Remove editor in a revoked environment\"";
    assert!(page.html.contains(button), "{}", page.html);
}

#[tokio::test]
async fn grants_are_given_and_removed_at_the_revision_of_the_page() {
    let fake = Arc::new(Fake::shop());
    let here = Some(PERSON.to_owned());
    let given = "do=grant&revision=3&scope=product%3Ashop&role=editor";
    assert_eq!(post(&fake, PERSON, given).await.location, here);
    let removed =
        "do=remove-grant&revision=4&scope=environment%3A00000000-0000-0000-0000-000000000001";
    assert_eq!(post(&fake, PERSON, removed).await.location, here);
    let nobody = "00000000-0000-0000-0000-000000000000";
    assert_eq!(
        *fake.calls(),
        [
            format!("grant {nobody}@3 editor in {:?}", in_shop()),
            format!("remove grant of {nobody}@4 in {:?}", in_staging()),
        ]
    );
}

#[tokio::test]
async fn a_grant_without_a_product_or_environment_is_refused_at_its_field() {
    let fake = Arc::new(Fake::shop());
    for scope in ["", "&scope=", "&scope=shop", "&scope=environment%3A1"] {
        let form = format!("do=grant&revision=3&role=admin{scope}");
        let page = post(&fake, PERSON, &form).await;
        assert_eq!(page.status, Some(400), "{scope}");
        let error = "Must be a product or an environment.";
        assert!(page.html.contains(error), "{scope}: {}", page.html);
        let admin = "<option value=\"admin\" selected>";
        assert!(page.html.contains(admin), "the input is kept");
    }
    assert!(!fake.calls().iter().any(|call| call.starts_with("grant")));
}

#[tokio::test]
async fn a_token_is_narrowed_to_a_product_or_environment() {
    let fake = Arc::new(Fake::shop());
    for scope in ["", "product%3Ashop"] {
        let form = format!("do=token&name=ci&role=editor&expiresAt=7&scope={scope}");
        let page = post(&fake, ACCOUNT, &form).await;
        assert!(page.html.contains("Token deploy is ready"));
    }
    assert_eq!(
        *fake.calls(),
        [
            "token ci, editor in None, 7 days".to_owned(),
            format!("token ci, editor in {:?}, 7 days", Some(in_shop())),
        ]
    );
}

#[tokio::test]
async fn a_user_can_narrow_tokens_to_the_roles_that_they_have_somewhere() {
    let page = get(&shop_as(Role::Viewer, in_shop(), Role::Editor), ACCOUNT).await;
    assert!(page.html.contains("value=\"editor\""));
    assert!(!page.html.contains("value=\"admin\""));
    assert!(page.html.contains("Editor in shop, all environments."));
}

#[tokio::test]
async fn new_flags_are_offered_to_editors_of_a_product_but_not_of_an_environment() {
    for (scope, offered) in [(in_shop(), true), (in_staging(), false)] {
        let fake = shop_as(Role::Viewer, scope, Role::Admin);
        let page = get(&fake, FLAGS).await;
        assert_eq!(page.html.contains(">New flag<"), offered);
        let page = get(&fake, "/dashboard/environments").await;
        assert_eq!(page.html.contains("New environment"), offered);
    }
}

#[tokio::test]
async fn a_new_flag_of_an_editor_of_a_product_is_limited_to_it() {
    let new = "/dashboard/new-flag";
    let with_blog = |role, granted| {
        let mut fake = Fake {
            role,
            grants: shop_as(role, in_shop(), granted).grants.clone(),
            ..Fake::shop()
        };
        fake.environments.push(environment(9, "Blog", "production"));
        Arc::new(fake)
    };
    let page = get(&with_blog(Role::Viewer, Role::Editor), new).await.html;
    for text in [
        "type=\"hidden\" name=\"scope\" value=\"some\"",
        "name=\"products\" value=\"shop\" checked",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // All other choices would be refused.
    for text in [
        "value=\"all\"",
        "name=\"products\" value=\"Blog\"",
        "other-product",
    ] {
        assert!(!page.contains(text), "{text}: {page}");
    }
    let page = get(&with_blog(Role::Editor, Role::Admin), new).await.html;
    for text in [
        "value=\"all\" checked",
        "name=\"products\" value=\"Blog\"",
        "other-product",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let page = get(&shop_as(Role::Editor, in_shop(), Role::Admin), new).await;
    assert!(!page.html.contains("name=\"products\""));
}

#[tokio::test]
async fn an_editor_of_a_product_without_an_environment_can_add_it_to_a_flag() {
    let product = |name: &str| ProductName::try_from(name.to_owned()).expect("a product's name");
    let grants = ["shop", "New"].map(|name| {
        Grant::new(GrantScope::Product(product(name)), Role::Editor).expect("not a viewer")
    });
    let mut fake = Fake {
        role: Role::Viewer,
        grants: Grants::try_from(grants.to_vec()).expect("two grants"),
        ..Fake::shop()
    };
    let products = FlagProducts::try_from(BTreeSet::from([product("shop")]));
    fake.flags[0].0.products = Some(products.expect("one product"));
    let form = get(&Arc::new(fake), "/dashboard/flags/checkout?edit=details").await;
    for text in [
        "name=\"products\" value=\"shop\" checked",
        "name=\"products\" value=\"New\"",
    ] {
        assert!(form.html.contains(text), "{text}: {}", form.html);
    }
    assert!(!form.html.contains("other-product"), "{}", form.html);
}

#[tokio::test]
async fn an_account_and_a_token_get_the_least_role_unless_another_one_is_chosen() {
    let fake = Arc::new(Fake::shop());
    for page in ["/dashboard/people/new", "/dashboard/account"] {
        let form = get(&fake, page).await.html;
        assert!(form.contains("value=\"viewer\" selected"), "{form}");
    }
}

#[tokio::test]
async fn the_own_account_has_no_form_for_a_forgotten_password() {
    let page = get(&Arc::new(Fake::shop()), PERSON).await.html;
    assert!(
        page.contains("change your password on the account page"),
        "{page}"
    );
    assert!(page.contains("This is your own account: you are signed out immediately."));
    assert!(!page.contains("Reset password"));
    // Its token has expired.
    assert!(page.contains(", and their token stops working"));
    assert!(
        page.contains("<span class=\"tag\">Expired</span>"),
        "{page}"
    );
}
