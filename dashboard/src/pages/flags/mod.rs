//! The list of flags.

mod address;
pub mod empty;
pub mod filters;
pub mod selection;

use leptos::prelude::*;
use pennon_model::{
    first_steps::FirstSteps,
    flag_table::{FlagTable as Table, FlagTableQuery},
    id::EnvironmentId,
    page::Pagination,
    user::User,
};

use self::{
    address::{address, at_page, from_address, is_default},
    empty::{NoEnvironment, NoFlags, NoMatch},
    filters::{Filters, STALE},
    selection::SelectionBar,
};
use crate::{
    components::{
        first_steps::{FirstStepList, are_shown},
        flag_switch::SwitchDialogs,
        flag_table::{FlagTable, is_selectable},
        frame::Section,
        new_flag_link::NewFlagLink,
        not_switched::NotSwitched,
        number::counted,
        page::page,
        page_head::PageHead,
        pager::Pager,
    },
    form::Form,
    html::html,
    port::{
        environments::EnvironmentAdmin, flags::FlagAdmin, query, signed_in, signed_in_user, visit,
    },
};

/// The number of flags up to which an installation may be new.
const FEW: i64 = 5;

/// The page with the flag list.
#[component]
pub fn Flags() -> impl IntoView {
    let query = from_address(&query());
    page(Section::Flags, "Flags", async move {
        let user = signed_in_user()?;
        let table = signed_in::<dyn FlagAdmin>()?.flags(query.clone()).await?;
        let preferred = preferred_environment(&query, &table);
        let may_be_new = is_default(&query) && table.flags.pagination.total <= FEW;
        let steps = if may_be_new {
            Some(signed_in::<dyn EnvironmentAdmin>()?.first_steps().await?)
        } else {
            None
        };
        let steps = steps.filter(are_shown);
        Ok(view! { <List query table user preferred steps/> })
    })
}

#[component]
fn List(
    query: FlagTableQuery,
    table: Table,
    user: User,
    preferred: Option<EnvironmentId>,
    steps: Option<FirstSteps>,
) -> impl IntoView {
    let total = table.flags.pagination.total;
    let has_no_flags = total == 0 && is_default(&query);
    let no_environment = table.environments.is_empty();
    // Without flags, the first steps have the button.
    let may_create = user.may_edit_flags() && !has_no_flags;
    let create = may_create.then(|| view! { <NewFlagLink/> });
    let first_steps = steps.map(|steps| html! { <FirstStepList steps user=user.clone()/> });
    let list = if has_no_flags {
        html! { <NoFlags/> }
    } else {
        let may_create = user.may_create_environments();
        let warning = no_environment.then(|| view! { <NoEnvironment may_create/> });
        html! {
            {warning}
            <Filters query=query.clone() environments=table.environments.clone()/>
            <Results query table user preferred/>
            <SwitchDialogs/>
        }
    };
    let count =
        (!has_no_flags).then(|| html! { <span class="count" id="count" data-live>{total}</span> });
    view! {
        <PageHead title=html! { "Flags" {count} }>{create}</PageHead>
        <NotSwitched/>
        {first_steps}
        {list}
    }
}

/// The flags that match the query. With scripts, this part changes while the user types.
#[component]
fn Results(
    query: FlagTableQuery,
    table: Table,
    user: User,
    preferred: Option<EnvironmentId>,
) -> impl IntoView {
    let pagination = table.flags.pagination;
    let state_hint = (query.state.is_some() && query.environment.is_none())
        .then(|| view! { <p class="hint">"In at least one environment."</p> });
    let stale = query.stale.then(|| view! { <p class="hint">{STALE}</p> });
    let rows = if table.flags.items.is_empty() {
        html! { <NoMatch query=query.clone()/> }
    } else {
        let table = keep_environment(table, query.environment);
        let bar = is_selectable(&user)
            .then(|| html! { <SelectionBar list=address(&query) user=user.clone()/> });
        html! {
            <FlagTable table user preferred/>
            {bar}
        }
    };
    html! {
        <div class="results" id="results" data-live data-note=note(pagination)>
            {state_hint}
            {stale}
            {rows}
            <Pager pagination href=move |page| address(&at_page(&query, page))/>
        </div>
    }
}

/// Returns the address of the list with this query.
pub(super) fn address_of_list(query: &str) -> String {
    address(&from_address(&Form::parse(query.as_bytes())))
}

/// Returns the number of flags as text, for screen readers.
fn note(pagination: Pagination) -> String {
    match pagination.total {
        0 => "No flags".to_owned(),
        total => counted(total, "flag", "flags"),
    }
}

/// Returns the environment that cards show: the one that the reader chose last, in this query or in an earlier one.
fn preferred_environment(query: &FlagTableQuery, table: &Table) -> Option<EnvironmentId> {
    let visit = visit().ok()?;
    let mut listed = table.environments.iter();
    let chosen = query.environment;
    let chosen = chosen.filter(|chosen| listed.any(|environment| environment.id == *chosen));
    if let Some(chosen) = chosen {
        visit.prefer_environment(chosen);
    }
    chosen.or_else(|| visit.preferred_environment())
}

/// Returns the table with only this environment, if the table has it.
fn keep_environment(mut table: Table, environment: Option<EnvironmentId>) -> Table {
    let index = table
        .environments
        .iter()
        .position(|column| Some(column.id) == environment);
    if let Some(index) = index {
        table.environments = table.environments.split_off(index);
        table.environments.truncate(1);
        for row in &mut table.flags.items {
            row.cells = row.cells.get(index).copied().into_iter().collect();
        }
    }
    table
}
