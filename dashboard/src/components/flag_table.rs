//! Flags against environments.

use leptos::prelude::*;
use pennon_model::{
    environment::{Environment, looks_like_production},
    flag::{Flag, FlagType},
    flag_table::{FlagCell, FlagRow, FlagTable as Table, StaleReason},
    id::FlagId,
};

use super::{
    flag_switch::{FlagSwitch, Switch, label},
    icon::{Drawing, Icon},
    sparkline::Sparkline,
    table::{Cell, TimeCell},
    time::Time,
};
use crate::{html::IntoHtml as _, model::Naming, routes};

/// As many environments as surely fit beside the names; with more the table scrolls sideways.
const FITTING: usize = 4;

/// The id of a flag's row, for links to it.
fn row_id(flag: FlagId) -> String {
    format!("flag-{flag}")
}

/// A row for each flag and in it a switch for each environment, and its use; on a narrow screen a card for each flag.
#[component]
pub fn FlagTable(
    /// The flags and environments.
    table: Table,
    /// Whether the reader may switch them.
    may_edit: bool,
) -> impl IntoView {
    let columns = Columns::new(&table.environments);
    let wide = table.environments.len() > FITTING;
    let rows = table
        .flags
        .items
        .into_iter()
        .map(|row| columns.row(row, may_edit))
        .collect_view();
    view! {
        <div class="table-panel cards flags-panel" class:wide=wide>
            <table class="table" id="flags">
                <caption class="visually-hidden">"Flags and where they are on"</caption>
                <thead>{columns.head()}</thead>
                <tbody inner_html=rows.to_html()></tbody>
            </table>
        </div>
    }
    .into_html()
}

/// The environments, grouped by product when there are several products.
struct Columns {
    columns: Vec<Column>,
    /// Each product with the number of its environments; none when there is only one product to speak of.
    products: Option<Vec<(String, usize)>>,
}

struct Column {
    environment: Environment,
    /// Whether a product's group begins with it.
    first: bool,
}

impl Column {
    /// The names of the product and the environment.
    fn names(&self) -> (&str, &str) {
        let Environment { product, name, .. } = &self.environment;
        (product.as_str(), name.as_str())
    }
}

impl Columns {
    fn new(environments: &[Environment]) -> Self {
        let groups: Vec<_> = environments
            .chunk_by(|one, next| one.product == next.product)
            .collect();
        let products = groups
            .iter()
            .filter_map(|group| Some((group.first()?.product.to_string(), group.len())))
            .collect();
        let grouped = groups.len() > 1;
        let columns = groups
            .iter()
            .flat_map(|group| group.iter().enumerate())
            .map(|(place, environment)| Column {
                environment: environment.clone(),
                first: grouped && place == 0,
            })
            .collect();
        Self {
            columns,
            products: grouped.then_some(products),
        }
    }

    fn head(&self) -> impl IntoView + use<> {
        let rows = if self.products.is_some() { "2" } else { "1" };
        let products = self.products.clone().map(|products| {
            products
                .into_iter()
                .map(|(product, span)| {
                    view! {
                        <th class="product product-start" scope="colgroup" colspan=span.to_string()>
                            <span class="environment-name" title=product.clone()>
                                {product.clone()}
                            </span>
                        </th>
                    }
                })
                .collect_view()
        });
        let names = self
            .columns
            .iter()
            .map(|column| {
                let (product, name) = column.names();
                let naming = Naming {
                    with_products: self.products.is_some(),
                };
                let prefix = naming.with_products.then(|| {
                    view! { <span class="visually-hidden">{product.to_owned()} " / "</span> }
                });
                view! {
                    <th class="environment" scope="col" class:product-start=column.first>
                        <span
                            class="environment-name"
                            title=naming.name(product, name)
                        >
                            {prefix}
                            {name.to_owned()}
                        </span>
                    </th>
                }
            })
            .collect_view();
        let flag = view! {
            <th class="flag-name" scope="col" rowspan=rows>
                "Flag"
            </th>
        };
        let grouped = self.products.is_some();
        let rest = ["24 h", "Evaluated", "Created"]
            .into_iter()
            .enumerate()
            .map(|(place, head)| {
                view! {
                    <th scope="col" class:product-start=grouped && place == 0 rowspan=rows>
                        {head}
                    </th>
                }
            })
            .collect_view();
        match products {
            Some(products) => view! {
                <tr>{flag} {products} {rest}</tr>
                <tr class="continued">{names}</tr>
            }
            .into_html(),
            None => view! { <tr>{flag} {names} {rest}</tr> }.into_html(),
        }
    }

    fn row(&self, row: FlagRow, may_edit: bool) -> impl IntoView + use<> {
        let FlagRow {
            flag,
            cells,
            last_evaluated_at,
            hours,
            stale,
        } = row;
        let cells = self
            .columns
            .iter()
            .zip(cells)
            .map(|(column, cell)| self.cell(&flag, column, cell, may_edit))
            .collect_view();
        let name = flag.name.to_string();
        let key = flag.key.to_string();
        let evaluated = match last_evaluated_at {
            Some(at) => view! { <Time at/> }.into_html(),
            None => "never".into_html(),
        };
        view! {
            <tr id=row_id(flag.id)>
                <th class="flag-name" scope="row">
                    <div class="flag-title">
                        <a href=routes::flag(&key) title=name.clone()>
                            {name.clone()}
                        </a>
                        {flag.archived_at.map(|_| view! { <span class="tag">"Archived"</span> })}
                        {stale.map(|stale| view! { <span class="tag" title=why(stale)>"Stale"</span> })}
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
                    </div>
                </th>
                {cells}
                <td class:product-start=self.products.is_some()>
                    <span class="cell-label">"Last 24 h"</span>
                    <a class="sparkline-link" href=format!("{}/usage", routes::flag(&key))>
                        <Sparkline hours/>
                    </a>
                </td>
                <Cell label="Evaluated" quiet=true>
                    <span>{evaluated}</span>
                </Cell>
                <TimeCell label="Created" at=flag.created_at/>
            </tr>
        }
    }

    fn cell(
        &self,
        flag: &Flag,
        column: &Column,
        cell: Option<FlagCell>,
        may_edit: bool,
    ) -> impl IntoView + use<> {
        let (product, name) = column.names();
        let grouped = self.products.is_some();
        let naming = Naming {
            with_products: grouped,
        };
        let place = naming.name(product, name);
        let product =
            grouped.then(|| view! { <span class="cell-product">{product.to_owned()}</span> });
        let environment = column.environment.id;
        let switch = cell.map(|cell| {
            let (flag_name, place) = (flag.name.to_string(), place.clone());
            let asks = looks_like_production(name).then(|| routes::flag(flag.key.as_str()));
            if may_edit && flag.archived_at.is_none() {
                view! { <FlagSwitch flag=flag.id name=flag_name environment place asks cell/> }
                    .into_html()
            } else {
                view! { <Switch label=label(&flag_name, &place) cell locked=true/> }.into_html()
            }
        });
        view! {
            <td class="environment" class:product-start=column.first>
                <span class="cell-label" title=place>
                    {product} <span>{name.to_owned()}</span>
                </span>
                {switch.unwrap_or_else(|| view! { <span class="quiet" title="Not configured here">"–"</span> }.into_html())}
            </td>
        }
    }
}

/// Why a flag is stale.
fn why(stale: StaleReason) -> &'static str {
    match stale {
        StaleReason::Unasked => {
            "Unchanged for 30 days, and no application has asked for it for 14 days"
        }
        StaleReason::Constant => {
            "Unchanged for 30 days, and the same answer for everyone in every environment"
        }
    }
}

/// The name of a type that is not the usual one.
fn type_name(kind: FlagType) -> Option<&'static str> {
    match kind {
        FlagType::Boolean => None,
        FlagType::String => Some("String"),
        FlagType::Multivariate => Some("Multivariate"),
    }
}
