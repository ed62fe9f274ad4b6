//! The table of flags by environment.

use leptos::prelude::*;
use pennon_model::{
    flag::{Flag, FlagType},
    flag_table::{FlagRow, FlagTable as Table, StaleReason},
    id::{EnvironmentId, FlagId},
    metadata::FlagTags,
    user::User,
};

use super::{
    flag_columns::Columns,
    icon::{Drawing, Icon},
    sparkline::Sparkline,
    table::{Cell, TimeCell},
    time::time_or,
};
use crate::{
    html::{Html, html},
    routes,
    scope::scoped,
};

/// The number of columns that always fit beside the names and the times. With more, the table omits the time of
/// creation, and may scroll sideways.
const FITTING: usize = 4;

/// The id of the form that gets the selected flags.
pub(crate) const SELECTION: &str = "selection";

/// Returns true if a user may select flags, to change several at once.
pub(crate) fn is_selectable(user: &User) -> bool {
    user.may_edit_something()
}

/// Returns the id of a flag's row, for links to it.
fn row_id(flag: FlagId) -> String {
    format!("flag-{flag}")
}

/// A row for each flag with its usage, and a switch for each environment or a summary for each product; on a narrow
/// screen, a card for each flag.
#[component]
pub fn FlagTable(
    /// The flags and environments.
    table: Table,
    /// The reader, who may switch the flags in some environments.
    user: User,
    /// The environment that cards show, if the table has it.
    preferred: Option<EnvironmentId>,
) -> impl IntoView {
    let Table {
        environments,
        flags,
    } = table;
    let columns = Columns::new(environments, &user, preferred);
    let is_wide = columns.len() > FITTING;
    let is_selectable = is_selectable(&user);
    let main = columns.main_name();
    let is_folded = main.is_some();
    let head = head(&columns, is_selectable, is_wide);
    let rows = flags.items.into_iter();
    let rows = rows.map(|flag| row(&columns, flag, is_selectable, is_wide));
    let rows = rows.collect_view();
    let hint = main.map(|name| {
        view! {
            <p class="hint narrow-only">
                "Cards show " <bdi>{name}</bdi> ". Choose another environment above, and this browser remembers it."
            </p>
        }
    });
    html! {
        {hint}
        <div
            class="table-panel cards flags-panel"
            class:wide=is_wide
            class:selectable=is_selectable
            class:folded=is_folded
        >
            <table class="table" id="flags">
                <caption class="visually-hidden">"Flags by environment"</caption>
                <thead>{head}</thead>
                <tbody inner_html=rows.to_html()></tbody>
            </table>
        </div>
    }
}

/// The number of tags that a row shows.
const SHOWN_TAGS: usize = 3;

/// Renders the rows of the head.
fn head(columns: &Columns, is_selectable: bool, is_wide: bool) -> Html {
    let has_two_rows = columns.has_product_row();
    let rows = if has_two_rows { "2" } else { "1" };
    let rest = ["24h", "Evaluated", "Created"];
    let rest = rest.iter().take(if is_wide { 2 } else { 3 }).enumerate();
    let rest = rest.map(|(index, head)| {
        view! {
            <th scope="col" class:product-start=has_two_rows && index == 0 rowspan=rows>
                {*head}
            </th>
        }
    });
    let rest = rest.collect_view();
    let environments = has_two_rows.then(|| {
        let heads = columns.environment_heads();
        view! { <tr class="continued">{heads}</tr> }
    });
    html! {
        <tr>
            <th class="flag-name" scope="col" rowspan=rows>
                {is_selectable.then(select_all)}
                "Flag"
            </th>
            {columns.heads()}
            {rest}
        </tr>
        {environments}
    }
}

/// Renders the row of a flag.
fn row(columns: &Columns, row: FlagRow, is_selectable: bool, is_wide: bool) -> Html {
    let FlagRow {
        flag,
        cells,
        last_evaluated_at,
        hours,
        stale,
    } = row;
    let cells = columns.cells(&flag, &cells);
    let usage = scoped(routes::flag_usage(flag.key.as_str()));
    let created_at = flag.created_at;
    html! {
        <tr id=row_id(flag.id)>
            {name_cell(&flag, stale, is_selectable)}
            {cells}
            <td class:product-start=columns.has_product_row()>
                <span class="cell-label">"Last 24h"</span>
                <a class="sparkline-link" href=usage>
                    <Sparkline hours/>
                </a>
            </td>
            <Cell label="Evaluated" quiet=true>
                <span>{time_or(last_evaluated_at, "Never")}</span>
            </Cell>
            {(!is_wide).then(|| view! { <TimeCell label="Created" at=created_at/> })}
        </tr>
    }
}

/// Renders the head of a flag's row.
fn name_cell(flag: &Flag, stale: Option<StaleReason>, is_selectable: bool) -> Html {
    let name = flag.name.to_string();
    let key = flag.key.to_string();
    let is_selectable = is_selectable && flag.archived_at.is_none();
    html! {
        <th class="flag-name" scope="row">
            {is_selectable.then(|| select(flag))}
            <div class="flag-title">
                <a href=scoped(routes::flag(&key)) title=name.clone()>
                    {name.clone()}
                </a>
                {flag.archived_at.map(|_| view! { <span class="tag">"Archived"</span> })}
                {stale.map(|stale| view! { <span class="tag" title=describe_stale_reason(stale)>"Stale"</span> })}
            </div>
            <div class="flag-key">
                <code title=key.clone()>{key.clone()}</code>
                <button
                    class="icon-button"
                    type="button"
                    data-copy=key.clone()
                    data-copied=format!("Copied {key}")
                    aria-label=format!("Copy the key {key}")
                >
                    <Drawing icon=Icon::COPY/>
                </button>
                {type_name(flag.flag_type).map(|name| view! { <span class="flag-type">{name}</span> })}
                {tags(&flag.metadata.tags)}
            </div>
        </th>
    }
}

/// Renders the box that selects a flag. An update of the page does not change it.
fn select(flag: &Flag) -> Html {
    html! {
        <label class="select">
            <input
                type="checkbox"
                name="flag"
                value=flag.id.to_string()
                form=SELECTION
                autocomplete="off"
                aria-label=format!("Select {}", flag.name)
                data-unit
                data-addressed
            />
        </label>
    }
}

/// Renders the box that selects all flags of the page, which needs scripts.
fn select_all() -> Html {
    html! {
        <label class="select">
            <input
                type="checkbox"
                autocomplete="off"
                aria-label="Select all flags on this page"
                data-select-all
                data-unit
                data-addressed
            />
        </label>
    }
}

/// Describes why a flag is stale.
fn describe_stale_reason(stale: StaleReason) -> &'static str {
    match stale {
        StaleReason::Expired => "Expired",
        StaleReason::Unused => "Unchanged for 30 days and not evaluated for 14 days",
        StaleReason::Constant => {
            "Unchanged for 30 days and the same for everyone in every environment"
        }
    }
}

/// Renders the first tags of a flag, and the number of the others.
fn tags(tags: &FlagTags) -> Option<Html> {
    let shown: Vec<_> = tags
        .iter()
        .take(SHOWN_TAGS)
        .map(ToString::to_string)
        .collect();
    let more = tags.len().saturating_sub(shown.len());
    let more = (more > 0).then(|| format!(" +{more}"));
    let title = format!("Tags: {tags}");
    (!tags.is_empty()).then(|| {
        html! {
            <span class="flag-tags" title=title>
                <span class="visually-hidden">"Tags: "</span>
                {shown.join(", ")}
                {more}
            </span>
        }
    })
}

/// Returns the name of a type other than boolean.
fn type_name(flag_type: FlagType) -> Option<&'static str> {
    match flag_type {
        FlagType::Boolean => None,
        FlagType::String => Some("String"),
        FlagType::Multivariate => Some("Multivariate"),
    }
}
