//! The search of the palette.

use std::{collections::BTreeSet, sync::Arc};

use leptos::prelude::*;
use leptos::reactive::computed::ScopedFuture;
use pennon_dashboard::{api::destinations::destinations, model::Destination};
use pennon_model::environment::ProductName;
use pennon_model::flag::FlagProducts;
use pennon_model::grant::{Grant, GrantScope, Grants};
use pennon_model::{time::Timestamp, user::Role};

use crate::fake::{Fake, cell, environment, flag, visit};

async fn find(fake: &Arc<Fake>, text: &str) -> Vec<Destination> {
    let (fake, text) = (fake.clone(), text.to_owned());
    let found = Owner::new().with(|| {
        provide_context(visit("/dashboard/api/destinations", None, Arc::default()));
        fake.sign_in();
        ScopedFuture::new(destinations(text))
    });
    found.await.expect("destinations")
}

fn granted(scope: GrantScope, role: Role) -> Grants {
    let grant = Grant::new(scope, role).expect("not a viewer");
    Grants::try_from(vec![grant]).expect("one grant")
}

#[tokio::test]
async fn only_an_admin_everywhere_can_invite() {
    let shop = ProductName::try_from("shop".to_owned()).expect("a product's name");
    for (role, offered) in [(Role::Viewer, 0), (Role::Admin, 1)] {
        let fake = Arc::new(Fake {
            role,
            grants: granted(GrantScope::Product(shop.clone()), Role::Admin),
            ..Fake::shop()
        });
        let found = find(&fake, "").await;
        let count = |name| found.iter().filter(|each| each.name == name).count();
        assert_eq!(count("New environment"), 1);
        assert_eq!(count("Invite a person"), offered, "{role}");
    }
}

#[tokio::test]
async fn a_command_finds_the_only_environment_that_the_user_can_change() {
    let environments: Vec<_> = (1..=10)
        .map(|number| environment(number, "shop", &format!("stage {number}")))
        .collect();
    let last = environments.last().expect("an environment").id;
    let fake = Arc::new(Fake {
        role: Role::Viewer,
        grants: granted(GrantScope::Environment(last), Role::Editor),
        flags: vec![(
            flag("checkout", "New checkout"),
            vec![Some(cell(false)); 10],
        )],
        environments,
        ..Fake::default()
    });
    let found = find(&fake, "turn on checkout").await;
    let commands: Vec<_> = found.iter().filter(|each| each.kind == "Action").collect();
    assert_eq!(commands.len(), 1, "{found:?}");
    assert_eq!(commands[0].name, "Turn on New checkout in stage 10");
    // Without a command, the first ones are listed.
    let listed = find(&fake, "stage").await;
    let listed = listed.iter().filter(|each| each.kind == "Environment");
    assert_eq!(listed.count(), 8);
}

#[tokio::test]
async fn people_are_found_by_admins_and_archived_flags_by_everyone() {
    let mut fake = Fake::shop();
    for (flag, _) in &mut fake.flags {
        flag.archived_at = Some(Timestamp::from_millis(0));
    }
    for (role, people) in [(Role::Editor, 0), (Role::Admin, 1)] {
        let fake = Arc::new(Fake {
            role,
            flags: fake.flags.clone(),
            ..Fake::shop()
        });
        let found = find(&fake, "ana").await;
        let count = |kind: &str| found.iter().filter(|each| each.kind == kind).count();
        assert_eq!(count("Person"), people, "{role}");
        assert_eq!((count("Flag"), count("Archived flag")), (0, 1));
        // Nothing can be done with it.
        let commands = find(&fake, "turn on checkout").await;
        assert!(!commands.iter().any(|each| each.kind == "Action"));
    }
}

#[tokio::test]
async fn commands_are_few_and_only_for_environments_where_the_flag_exists() {
    let environments: Vec<_> = (1..=10)
        .map(|number| environment(number, "shop", &format!("stage {number}")))
        .collect();
    let cells = vec![Some(cell(false)); environments.len()];
    let mut checkout = flag("checkout", "New checkout");
    let count = async |flag| {
        let fake = Arc::new(Fake {
            flags: vec![(flag, cells.clone())],
            environments: environments.clone(),
            ..Fake::default()
        });
        let found = find(&fake, "turn on checkout").await;
        found.iter().filter(|each| each.kind == "Action").count()
    };
    assert_eq!(count(checkout.clone()).await, 8);
    let blog = ProductName::try_from("Blog".to_owned()).expect("a product's name");
    checkout.products = FlagProducts::try_from(BTreeSet::from([blog])).ok();
    assert!(checkout.products.is_some());
    assert_eq!(count(checkout).await, 0);
}
