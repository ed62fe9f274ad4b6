//! Trying the flag for somebody, right beneath what it does.

use leptos::prelude::*;
use pennon_model::{
    configuration::FlagConfiguration,
    environment::{Environment, EnvironmentStatus},
};

use super::{
    Shown,
    address::{Address, Edit},
};
use crate::{
    components::playground::{ContextForm, Playground},
    html::{Html, IntoHtml as _},
    pages::playground,
    port::query,
    routes,
};

/// What the flag would be for somebody, as the page shows it. Nothing where nobody is served any more, and nothing while
/// something is being edited, or one might take it for what is not saved yet.
pub(super) fn playground(
    shown: &Shown,
    environment: &Environment,
    current: &FlagConfiguration,
) -> Option<Html> {
    if environment.status == EnvironmentStatus::Revoked || shown.edit != Edit::Nothing {
        return None;
    }
    let Shown {
        address, detail, ..
    } = shown;
    let page = Address {
        context: None,
        ..address.clone()
    };
    let own_page = playground::address(&address.key, environment.id);
    let playground = view! {
        <section class="flag-playground" aria-labelledby="flag-playground">
            <header>
                <h2 id="flag-playground">"Try it"</h2>
                <a href=own_page>"On a page of its own"</a>
            </header>
            <form class="playground" method="get" action=routes::flag(&address.key)>
                <input type="hidden" name="environment" value=environment.id.to_string()/>
                <Playground
                    id=detail.flag.id
                    environment=environment.id
                    flag=current.config()
                    case=ContextForm::from(&query())
                    address=page.href()
                />
            </form>
        </section>
    };
    Some(playground.into_html())
}
