//! The table of flags by environment.

use leptos::prelude::*;
use pennon_model::{
    environment::Environment,
    flag::{Flag, FlagType},
    flag_table::{FlagCell, FlagRow, FlagTable as Table, StaleReason},
    grant::Resource,
    id::FlagId,
    metadata::FlagTags,
    user::{Role, User},
};

use super::{
    flag_switch::{FlagSwitch, Switch, switch_label},
    icon::{Drawing, Icon},
    sparkline::Sparkline,
    table::{Cell, TimeCell},
    time::time_or,
};
use crate::{
    describe,
    html::{Html, IntoHtml as _, html},
    model::Naming,
    routes,
    scope::scoped,
};

/// The number of environments that always fit beside the names. With more, the table scrolls sideways.
const FITTING: usize = 4;

/// The id of the form that gets the selected flags.
pub(crate) const SELECTION: &str = "selection";

/// Returns true if a user may select flags, to change several at once.
pub(crate) fn is_selectable(user: &User) -> bool {
    user.highest_role() >= Role::Editor
}

/// Returns the id of a flag's row, for links to it.
fn row_id(flag: FlagId) -> String {
    format!("flag-{flag}")
}

/// A row for each flag with its usage and a switch for each environment; on a narrow screen, a card for each flag.
#[component]
pub fn FlagTable(
    /// The flags and environments.
    table: Table,
    /// The reader, who may switch the flags in some environments.
    user: User,
) -> impl IntoView {
    let wide = table.environments.len() > FITTING;
    let columns = Columns {
        naming: Naming::of_environments(&table.environments),
        may_switch: may_switch(&user, &table.environments),
        is_selectable: is_selectable(&user),
        environments: table.environments,
    };
    let rows = table
        .flags
        .items
        .into_iter()
        .map(|row| columns.row(row))
        .collect_view();
    html! {
        <div class="table-panel cards flags-panel" class:wide=wide class:selectable=columns.is_selectable>
            <table class="table" id="flags">
                <caption class="visually-hidden">"Flags by environment"</caption>
                <thead>{columns.head()}</thead>
                <tbody inner_html=rows.to_html()></tbody>
            </table>
        </div>
    }
}

/// The number of tags that a row shows.
const SHOWN_TAGS: usize = 3;

/// The environments, grouped by product when there are several products.
struct Columns {
    environments: Vec<Environment>,
    naming: Naming,
    /// True for each environment in which the reader may switch flags.
    may_switch: Vec<bool>,
    /// True if the reader may select flags.
    is_selectable: bool,
}

impl Columns {
    /// Returns true if a product's group begins at this index.
    fn begins_group(&self, index: usize) -> bool {
        let product = |index: usize| Some(&self.environments.get(index)?.product);
        let before = index.checked_sub(1).and_then(product);
        self.naming.with_products && before != product(index)
    }

    fn head(&self) -> Html {
        let grouped = self.naming.with_products;
        let rows = if grouped { "2" } else { "1" };
        let names = self.environments.iter().enumerate().map(|(index, environment)| {
            let prefix = grouped.then(|| {
                view! { <span class="visually-hidden">{environment.product.to_string()} " / "</span> }
            });
            view! {
                <th class="environment" scope="col" class:product-start=self.begins_group(index)>
                    <span class="environment-name" title=self.naming.name_of(environment)>
                        {prefix}
                        {environment.name.to_string()}
                    </span>
                </th>
            }
        });
        let names = names.collect_view();
        let flag = view! {
            <th class="flag-name" scope="col" rowspan=rows>
                {self.is_selectable.then(select_all)}
                "Flag"
            </th>
        };
        let rest = ["24h", "Evaluated", "Created"].into_iter().enumerate();
        let rest = rest.map(|(index, head)| {
            view! {
                <th scope="col" class:product-start=grouped && index == 0 rowspan=rows>
                    {head}
                </th>
            }
        });
        let rest = rest.collect_view();
        if !grouped {
            return html! { <tr>{flag} {names} {rest}</tr> };
        }
        html! {
            <tr>{flag} {self.products()} {rest}</tr>
            <tr class="continued">{names}</tr>
        }
    }

    /// Renders a cell for each product, above those of its environments.
    fn products(&self) -> Html {
        let same = |one: &Environment, next: &Environment| one.product == next.product;
        let cells = self.environments.chunk_by(same).map(|group| {
            let product = group
                .first()
                .map(|environment| environment.product.to_string());
            view! {
                <th class="product product-start" scope="colgroup" colspan=group.len().to_string()>
                    <span class="environment-name" title=product.clone()>
                        {product.clone()}
                    </span>
                </th>
            }
        });
        cells.collect_view().into_html()
    }

    fn row(&self, row: FlagRow) -> impl IntoView + use<> {
        let FlagRow {
            flag,
            cells,
            last_evaluated_at,
            hours,
            stale,
        } = row;
        let environments = self.environments.iter().zip(&self.may_switch);
        let cells = cells.into_iter().zip(environments).enumerate();
        let cells = cells.map(|(index, (cell, (environment, may_switch)))| {
            self.cell(
                &flag,
                environment,
                self.begins_group(index),
                cell,
                *may_switch,
            )
        });
        let cells = cells.collect_view();
        let name = flag.name.to_string();
        let key = flag.key.to_string();
        let is_selectable = self.is_selectable && flag.archived_at.is_none();
        view! {
            <tr id=row_id(flag.id)>
                <th class="flag-name" scope="row">
                    {is_selectable.then(|| select(&flag))}
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
                        {type_name(flag.kind).map(|name| view! { <span class="flag-type">{name}</span> })}
                        {tags(&flag.metadata.tags)}
                    </div>
                </th>
                {cells}
                <td class:product-start=self.naming.with_products>
                    <span class="cell-label">"Last 24h"</span>
                    <a class="sparkline-link" href=scoped(routes::flag_usage(&key))>
                        <Sparkline hours/>
                    </a>
                </td>
                <Cell label="Evaluated" quiet=true>
                    <span>{time_or(last_evaluated_at, "Never")}</span>
                </Cell>
                <TimeCell label="Created" at=flag.created_at/>
            </tr>
        }
    }

    fn cell(
        &self,
        flag: &Flag,
        environment: &Environment,
        begins_group: bool,
        cell: Option<FlagCell>,
        may_switch: bool,
    ) -> impl IntoView + use<> {
        let Environment {
            id, product, name, ..
        } = environment;
        let environment_name = self.naming.name_of(environment);
        let product = self.naming.with_products.then(|| {
            view! { <span class="cell-product">{product.to_string()}</span> }
        });
        let switch = cell.map_or_else(|| missing(flag, environment), |cell| {
            let (flag_name, environment_name) = (flag.name.to_string(), environment_name.clone());
            let confirmation_href =
                environment.has_safeguards().then(|| routes::flag(flag.key.as_str()));
            let needs_reason = environment.is_reason_required;
            if may_switch && flag.archived_at.is_none() {
                html! {
                    <FlagSwitch
                        flag=flag.id
                        name=flag_name
                        environment=*id
                        environment_name
                        confirmation_href
                        needs_reason
                        cell
                    />
                }
            } else {
                html! { <Switch label=switch_label(&flag_name, &environment_name) cell locked=true/> }
            }
        });
        view! {
            <td class="environment" class:product-start=begins_group>
                <span class="cell-label" title=environment_name>
                    {product} <span>{name.to_string()}</span>
                </span>
                {switch}
            </td>
        }
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

/// Returns for each environment whether a user may switch flags in it.
fn may_switch(user: &User, environments: &[Environment]) -> Vec<bool> {
    let role_for = |environment: &Environment| user.role_for(&Resource::of(environment));
    let may_switch = |environment: &Environment| role_for(environment) >= Role::Editor;
    environments.iter().map(may_switch).collect()
}

/// Renders the place of a switch in an environment in which the flag is not configured.
fn missing(flag: &Flag, environment: &Environment) -> Html {
    let title = match describe::absence(flag, environment) {
        Some(why) => format!("Not configured here. {why}"),
        None => "Not configured here".to_owned(),
    };
    html! { <span class="quiet" title=title>"–"</span> }
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
fn type_name(kind: FlagType) -> Option<&'static str> {
    match kind {
        FlagType::Boolean => None,
        FlagType::String => Some("String"),
        FlagType::Multivariate => Some("Multivariate"),
    }
}
