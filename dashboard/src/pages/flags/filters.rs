//! What narrows the list.

use leptos::prelude::*;
use pennon_model::id::EnvironmentId;

use crate::{
    components::frame::Room,
    html::{Html, IntoHtml as _},
    islands::{live_results::LiveResults, search_field::SearchField},
    model::Naming,
    port::flags::{EnvironmentColumn, FlagOrder, FlagQuery, FlagState, Standing},
};

/// When a flag is stale.
pub(super) const STALE: &str = "A flag is stale when nobody has changed it for 30 days, and either no application has asked for it for 14 days, or it gives everyone the same answer in every environment. Its code can probably go. Of applications that evaluate by themselves Pennon knows only with their option reportUsage.";

/// Search, filters, the order and the choice of states.
#[component]
pub fn Filters(
    /// What is asked for.
    query: FlagQuery,
    /// The environments to choose from.
    environments: Vec<EnvironmentColumn>,
) -> impl IntoView {
    let state_field = (query.state != FlagState::default())
        .then(|| view! { <input type="hidden" name="state" value=query.state.as_str()/> });
    let standings = Standing::ALL.map(|each| {
        view! {
            <option value=each.as_str() selected=query.standing == Some(each)>
                {each.label()}
            </option>
        }
    });
    let orders = FlagOrder::ALL.map(|each| {
        let value = if each == FlagOrder::default() {
            ""
        } else {
            each.as_str()
        };
        view! {
            <option value=value selected=query.order == each>
                {each.label()}
            </option>
        }
    });
    view! {
        <search class="toolbar">
            <form class="filters" id="filters" method="get" action=Room::Flags.href() data-addressed>
                <div class="search">
                    <SearchField value=query.search.clone() label="Search name or key".to_owned()/>
                </div>
                <select class="input" name="environment" aria-label="Environment">
                    <option value="">"All environments"</option>
                    {places(&environments, query.environment)}
                </select>
                <select class="input" name="is" aria-label="On or off there">
                    <option value="">"On or off"</option>
                    {standings.collect_view()}
                </select>
                <select class="input" name="sort" aria-label="Order">
                    {orders.collect_view()}
                </select>
                <label class="check" title=STALE>
                    <input type="checkbox" name="stale" value="yes" checked=query.stale/>
                    "Stale only"
                </label>
                {state_field}
                <noscript>
                    <button class="button">"Show"</button>
                </noscript>
            </form>
            <States query/>
        </search>
        <LiveResults form="filters".to_owned()/>
    }
    .into_html()
}

/// The environments to choose from.
fn places(environments: &[EnvironmentColumn], chosen: Option<EnvironmentId>) -> Html {
    let naming = Naming::of(environments.iter().map(|each| each.product.as_str()));
    let options = environments.iter().map(|each| {
        view! {
            <option value=each.id.to_string() selected=chosen == Some(each.id)>
                {naming.name(&each.product, &each.name)}
            </option>
        }
    });
    options.collect_view().into_html()
}

/// The choice of states, by plain links that keep everything else.
#[component]
fn States(query: FlagQuery) -> impl IntoView {
    let states = FlagState::ALL.map(|each| {
        let href = FlagQuery {
            state: each,
            ..query.turned(1)
        }
        .href();
        view! {
            <a href=href aria-current=(each == query.state).then_some("true")>
                {each.label()}
            </a>
        }
    });
    view! {
        <nav class="segments" id="states" data-live aria-label="State">
            {states.collect_view()}
        </nav>
    }
    .into_html()
}
