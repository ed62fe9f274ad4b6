//! Public environments and public flags.

use std::sync::Arc;

use pennon_dashboard::error::AdminError;
use pennon_model::{
    environment::{ClientRules, Environment, Visibility},
    user::Role,
};

use crate::fake::{Fake, cell, environment, flag, get, post};

const NEW: &str = "/dashboard/environments/new";
const PAGE: &str = "/dashboard/environments/00000000-0000-0000-0000-000000000001";
const FLAG: &str = "/dashboard/flags/checkout";
/// The page of the flag without the playground, whose island only a server can render.
const EDITOR: &str = "/dashboard/flags/checkout?edit=details";
const TAG: &str = "class=\"tag public\"";

/// Returns a public environment with one of two flags.
fn public_shop(client_rules: ClientRules) -> Fake {
    let web = Environment {
        visibility: Visibility::Public,
        client_rules,
        sdk_key_prefix: "pnp_AAAAAAAA".to_owned(),
        ..environment(1, "shop", "web")
    };
    let mut banner = flag("banner", "Banner");
    banner.is_public = true;
    Fake {
        environments: vec![web],
        flags: vec![
            (flag("checkout", "New checkout"), vec![None]),
            (banner, vec![Some(cell(false))]),
        ],
        ..Fake::default()
    }
}

/// Returns the tag of an input with this value.
fn input<'h>(html: &'h str, value: &str) -> &'h str {
    let value = format!("value=\"{value}\"");
    let mut inputs = html.split("<input").skip(1);
    inputs
        .find_map(|input| input.split('>').next().filter(|tag| tag.contains(&value)))
        .expect("the input")
}

#[tokio::test]
async fn the_form_of_a_new_environment_sends_client_rules_only_if_it_is_public() {
    let fake = Arc::new(Fake::shop());
    let page = get(&fake, NEW).await;
    assert!(input(&page.html, "server").contains("checked"));
    assert!(!input(&page.html, "public").contains("checked"));
    assert!(input(&page.html, "full").contains("checked"));
    for form in [
        "product=p&name=a",
        "product=p&name=b&visibility=server&clientRules=answers",
        "product=p&name=c&visibility=public",
        "product=p&name=d&visibility=public&clientRules=answers",
    ] {
        post(&fake, NEW, form).await;
    }
    assert_eq!(
        *fake.calls(),
        [
            "create environment p / a: server, full",
            "create environment p / b: server, full",
            "create environment p / c: public, full",
            "create environment p / d: public, answers",
        ]
    );
}

#[tokio::test]
async fn a_refused_form_keeps_its_choices() {
    let fake = Fake {
        refusal: Some(AdminError::Conflict("It is taken.".to_owned())),
        ..Fake::shop()
    };
    let form = "product=p&name=n&visibility=public&clientRules=answers";
    let page = post(&Arc::new(fake), NEW, form).await;
    assert_eq!(page.status, Some(409));
    assert!(input(&page.html, "public").contains("checked"));
    assert!(!input(&page.html, "server").contains("checked"));
    assert!(input(&page.html, "answers").contains("checked"));
    assert!(!input(&page.html, "full").contains("checked"));
}

#[tokio::test]
async fn a_public_key_is_not_called_a_secret() {
    let fake = Arc::new(Fake::shop());
    let secret = post(&fake, NEW, "product=p&name=n").await;
    assert!(secret.html.contains("with your application's secrets"));
    let form = "product=p&name=n&visibility=public&clientRules=answers";
    let public = post(&fake, NEW, form).await;
    assert!(public.html.contains("It is public"));
    assert!(public.html.contains("It is shown only once."));
    assert!(!public.html.contains("with your application's secrets"));
    assert!(public.html.contains("mode: \"remote\""));
    assert!(!public.html.contains(">NestJS<"));
}

#[tokio::test]
async fn the_page_of_an_environment_tells_what_its_key_reveals() {
    let server = get(&Arc::new(Fake::shop()), PAGE).await.html;
    assert!(server.contains("all flags that exist here: 1 flag. Keep it secret."));
    assert!(!server.contains(TAG));
    let full = get(&Arc::new(public_shop(ClientRules::Full)), PAGE).await;
    assert!(
        full.html
            .contains("The keys, rules and rollouts of 1 public flag. Everyone can read this key.")
    );
    assert!(full.html.contains(TAG));
    assert!(full.html.contains("pnp_your_key"));
    assert!(!full.html.contains("pnk_your_key"));
    let unknown = "Until a flag with this key exists";
    assert!(server.contains(&format!("{unknown}, Pennon answers")));
    let public = format!("{unknown} and is marked Public, Pennon answers");
    assert!(full.html.contains(&public), "{}", full.html);
    let answers = get(&Arc::new(public_shop(ClientRules::Answers)), PAGE).await;
    assert!(
        answers
            .html
            .contains("The keys of 1 public flag and their results")
    );
    let mut empty = public_shop(ClientRules::Full);
    empty.flags.clear();
    let empty = get(&Arc::new(empty), PAGE).await;
    assert!(
        empty
            .html
            .contains("Nothing yet, because no flag here is public.")
    );
}

#[tokio::test]
async fn public_environments_are_marked_in_the_list() {
    let list = "/dashboard/environments";
    let page = get(&Arc::new(public_shop(ClientRules::Full)), list).await;
    assert_eq!(page.html.matches(TAG).count(), 1);
    let page = get(&Arc::new(Fake::shop()), list).await;
    assert_eq!(page.html.matches(TAG).count(), 0);
}

#[tokio::test]
async fn administrators_change_the_client_rules_of_a_public_environment() {
    let fake = Arc::new(public_shop(ClientRules::Answers));
    let page = get(&fake, PAGE).await;
    let current = input(&page.html, "answers");
    assert!(current.contains("checked") && current.contains("data-current"));
    assert!(!input(&page.html, "full").contains("data-current"));
    assert!(
        page.html
            .contains("Everyone will be able to read the rules")
    );
    let page = post(&fake, PAGE, "do=client-rules&revision=7&clientRules=full").await;
    assert_eq!(page.location.as_deref(), Some(PAGE));
    assert_eq!(
        *fake.calls(),
        ["set client rules 00000000-0000-0000-0000-000000000001 at 7: full"]
    );

    let page = get(&Arc::new(public_shop(ClientRules::Full)), PAGE).await;
    assert!(
        page.html
            .contains("Clients that evaluate locally stop getting changes.")
    );
    let page = get(&Arc::new(Fake::shop()), PAGE).await;
    assert!(!page.html.contains("Change client rules"));
    let editor = Fake {
        role: Role::Editor,
        ..public_shop(ClientRules::Full)
    };
    let page = get(&Arc::new(editor), PAGE).await;
    assert!(!page.html.contains("Change client rules"));
}

#[tokio::test]
async fn an_error_of_the_client_rules_describes_their_fields() {
    let fake = Fake {
        refusal: Some(AdminError::invalid("clientRules", "must be chosen")),
        ..public_shop(ClientRules::Answers)
    };
    let page = post(&Arc::new(fake), PAGE, "do=client-rules&revision=1").await;
    for text in [
        "aria-describedby=\"client-rules-hint client-rules-error\"",
        "id=\"client-rules-error\"",
        "Must be chosen.",
    ] {
        assert!(page.html.contains(text), "{text}: {}", page.html);
    }
}

#[tokio::test]
async fn stale_client_rules_are_refused_in_their_form() {
    let fake = Fake {
        refusal: Some(AdminError::Stale),
        ..public_shop(ClientRules::Answers)
    };
    let form = "do=client-rules&revision=1&clientRules=full";
    let page = post(&Arc::new(fake), PAGE, form).await;
    assert_eq!(page.status, Some(409));
    let (_, after) = page
        .html
        .split_once("class=\"client-rules\"")
        .expect("the form");
    assert!(after.contains("Somebody else changed this first"));
    assert!(input(after, "full").contains("checked"));
    assert!(input(after, "answers").contains("data-current"));
}

#[tokio::test]
async fn a_flag_is_public_only_if_the_field_says_so() {
    let fake = Arc::new(public_shop(ClientRules::Full));
    let form = "name=N&key=k&type=boolean";
    post(&fake, "/dashboard/new-flag", form).await;
    post(&fake, "/dashboard/new-flag", &format!("{form}&public=yes")).await;
    let ids = "flag=00000000-0000-0000-0000-000000000000&revision=1";
    post(&fake, FLAG, &format!("do=details&{ids}&name=N&public=yes")).await;
    post(&fake, FLAG, &format!("do=details&{ids}&name=N&disable=yes")).await;
    assert_eq!(
        *fake.calls(),
        [
            "create flag k \"\" boolean",
            "create flag k \"\" boolean, public",
            "describe at 1: N, None, public: true, disable: false",
            "describe at 1: N, None, public: false, disable: true",
        ]
    );
}

#[tokio::test]
async fn the_field_shows_the_state_of_the_flag() {
    let fake = Arc::new(public_shop(ClientRules::Full));
    let new = get(&fake, "/dashboard/new-flag").await;
    assert!(!input(&new.html, "yes").contains("checked"));
    let secret = get(&fake, EDITOR).await;
    assert!(!input(&secret.html, "yes").contains("checked"));
    assert!(!secret.html.contains(TAG));
    let public = get(&fake, "/dashboard/flags/banner?edit=details").await;
    assert!(input(&public.html, "yes").contains("checked"));
    assert!(public.html.contains(TAG));
}

#[tokio::test]
async fn a_flag_that_is_not_public_tells_why_it_is_not_configured() {
    let why = "The flag is not public, so it does not exist in public environments.";
    let fake = Arc::new(public_shop(ClientRules::Full));
    let list = get(&fake, "/dashboard/flags").await;
    assert!(list.html.contains(&format!("Not configured here. {why}")));
    let page = get(&fake, FLAG).await;
    assert!(page.html.contains("Not configured anywhere"));
    assert!(page.html.contains(why));
    let page = get(&fake, &format!("{FLAG}?product=shop")).await;
    assert!(page.html.contains("Not configured in shop"));
    assert!(page.html.contains(why));

    let mut empty = public_shop(ClientRules::Full);
    empty.environments.clear();
    let page = get(&Arc::new(empty), FLAG).await;
    assert!(page.html.contains("No environments yet"));
    assert!(!page.html.contains(why));
}
