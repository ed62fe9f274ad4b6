//! The playground on the page of a flag, beneath its configuration.

use leptos::prelude::*;
use pennon_model::{
    configuration::FlagConfiguration,
    environment::{Environment, EnvironmentStatus},
};

use super::{
    PageData,
    address::{Address, Edit},
};
use crate::{
    components::playground::{ContextForm, Playground},
    html::{Html, IntoHtml as _, hidden},
    pages::playground,
    port::query,
    routes,
    scope::scope_field,
};

/// Renders the playground. Revoked environments have none, because they serve no flags. While a form is open, the
/// playground is hidden, because its results would seem to include unsaved changes.
pub(super) fn playground(
    page: &PageData,
    environment: &Environment,
    current: &FlagConfiguration,
) -> Option<Html> {
    if environment.status == EnvironmentStatus::Revoked || page.edit != Edit::None {
        return None;
    }
    let PageData {
        address, detail, ..
    } = page;
    let without_context = Address {
        context: None,
        ..address.clone()
    };
    let own_page = playground::address(&address.key, environment.id);
    let playground = view! {
        <section class="flag-playground" aria-labelledby="flag-playground">
            <header>
                <h2 id="flag-playground">"Try it"</h2>
                <a href=own_page>"Open full page"</a>
            </header>
            <form class="playground" method="get" action=routes::flag(&address.key)>
                {hidden("environment", environment.id.to_string())}
                {scope_field()}
                <Playground
                    id=detail.flag.id
                    environment=environment.id
                    flag=current.config()
                    form=ContextForm::from(&query())
                    address=without_context.href()
                />
            </form>
        </section>
    };
    Some(playground.into_html())
}
