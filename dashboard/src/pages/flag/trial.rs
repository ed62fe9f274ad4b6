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
    components::trial::{Case, Trial},
    html::{Html, IntoHtml as _},
    pages::try_it,
    port::query,
    routes,
};

/// What the flag would be for somebody, as the page shows it. Nothing where nobody is served any more, and nothing while
/// something is being edited, or one might take it for what is not saved yet.
pub(super) fn trial(
    shown: &Shown,
    environment: &Environment,
    standing: &FlagConfiguration,
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
    let own_page = try_it::address(&address.key, environment.id);
    let trial = view! {
        <section class="flag-trial" aria-labelledby="flag-trial">
            <header>
                <h2 id="flag-trial">"Try it"</h2>
                <a href=own_page>"On a page of its own"</a>
            </header>
            <form class="try" method="get" action=routes::flag(&address.key)>
                <input type="hidden" name="environment" value=environment.id.to_string()/>
                <Trial
                    id=detail.flag.id
                    environment=environment.id
                    flag=standing.config(&detail.flag)
                    case=Case::from(&query())
                    address=page.href()
                />
            </form>
        </section>
    };
    Some(trial.into_html())
}
