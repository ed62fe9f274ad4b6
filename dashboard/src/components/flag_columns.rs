//! The columns of the flag table that show the state of flags: one for each environment, or, if there are many, one for
//! each product.

use leptos::prelude::*;
use pennon_model::{
    environment::Environment,
    flag::Flag,
    flag_table::{FlagCell, FlagState},
    grant::Resource,
    id::EnvironmentId,
    user::User,
};

use super::flag_switch::{FlagSwitch, Switch, switch_label, targeting_summary};
use crate::{
    describe,
    form::with_query,
    html::{Html, IntoHtml as _, html},
    model::Naming,
    routes,
};

/// The maximum number of environments with a column each. With more, each product has one.
const ENVIRONMENT_COLUMNS: usize = 8;

/// The maximum number of environments that the explanation of a product's state names.
const NAMED: usize = 8;

/// The columns, in the order of the environments.
pub(super) struct Columns {
    environments: Vec<Environment>,
    naming: Naming,
    /// True for each environment in which the reader may switch flags.
    may_switch: Vec<bool>,
    /// The index of the environment that cards show; none without environments.
    main: Option<usize>,
    /// True if each column is a product.
    by_product: bool,
}

impl Columns {
    /// Returns the columns for these environments, which are sorted by product.
    ///
    /// On a narrow screen, the card of a flag shows one environment, by default the preferred one, and the others on
    /// request.
    pub(super) fn new(
        environments: Vec<Environment>,
        user: &User,
        preferred: Option<EnvironmentId>,
    ) -> Self {
        Self {
            naming: Naming::of_environments(&environments),
            may_switch: may_switch(user, &environments),
            main: main_environment(&environments, preferred),
            by_product: environments.len() > ENVIRONMENT_COLUMNS,
            environments,
        }
    }

    /// Returns the number of columns.
    pub(super) fn len(&self) -> usize {
        if self.by_product {
            self.products().count()
        } else {
            self.environments.len()
        }
    }

    /// Returns true if the columns of environments have a row with their products above them.
    pub(super) fn has_product_row(&self) -> bool {
        self.naming.with_products && !self.by_product
    }

    /// Returns the name of the environment that cards show, if they have others.
    pub(super) fn main_name(&self) -> Option<String> {
        let main = self.environments.get(self.main?)?;
        (self.environments.len() > 1).then(|| self.naming.name_of(main))
    }

    /// Renders the heads of the columns: of products if they have a row of their own.
    pub(super) fn heads(&self) -> Html {
        if self.by_product || self.has_product_row() {
            self.product_heads()
        } else {
            self.environment_heads()
        }
    }

    /// Renders the heads of the environments.
    pub(super) fn environment_heads(&self) -> Html {
        let heads = self.environments.iter().enumerate().map(|(index, environment)| {
            let prefix = self.naming.with_products.then(|| {
                view! { <span class="visually-hidden">{environment.product.to_string()} " / "</span> }
            });
            view! {
                <th class="environment" scope="col" class:product-start=self.begins_product(index)>
                    <span class="environment-name" title=self.naming.name_of(environment)>
                        {prefix}
                        {environment.name.to_string()}
                    </span>
                </th>
            }
        });
        heads.collect_view().into_html()
    }

    /// Renders the head of each product: a column, or a cell above the columns of its environments.
    fn product_heads(&self) -> Html {
        let heads = self.products().map(|(product, group)| {
            if self.by_product {
                html! {
                    <th class="product environment" scope="col">
                        <a class="environment-name" href=in_product(routes::FLAGS, product) title=product>
                            {product.to_owned()}
                        </a>
                    </th>
                }
            } else {
                html! {
                    <th class="product product-start" scope="colgroup" colspan=group.len().to_string()>
                        <span class="environment-name" title=product>
                            {product.to_owned()}
                        </span>
                    </th>
                }
            }
        });
        heads.collect_view().into_html()
    }

    /// Renders the cells of a flag, which are in the order of the environments.
    pub(super) fn cells(&self, flag: &Flag, cells: &[Option<FlagCell>]) -> Html {
        let cell_of = |index: usize| cells.get(index).copied().flatten();
        let others = self.others();
        if !self.by_product {
            let cells = self
                .environments
                .iter()
                .enumerate()
                .map(|(index, environment)| {
                    self.cell(flag, index, environment, cell_of(index), "environment")
                })
                .collect_view();
            return html! { {cells} {others} };
        }
        let main = self
            .main
            .and_then(|index| Some((index, self.environments.get(index)?)));
        let main = main.map(|(index, environment)| {
            self.cell(
                flag,
                index,
                environment,
                cell_of(index),
                "environment narrow-only",
            )
        });
        let mut first = 0_usize;
        let products = self.products().map(|(product, group)| {
            let cells: Vec<_> = (first..).map(cell_of).zip(group).collect();
            first = first.saturating_add(group.len());
            product_cell(flag, product, &cells)
        });
        let products = products.collect_view();
        html! { {main} {products} {others} }
    }

    /// Renders the cell of a flag in an environment.
    fn cell(
        &self,
        flag: &Flag,
        index: usize,
        environment: &Environment,
        cell: Option<FlagCell>,
        class: &'static str,
    ) -> Html {
        let name = self.naming.name_of(environment);
        let label = if self.naming.with_products {
            html! {
                <span class="cell-label" title=name.clone()>
                    <span class="cell-product">{environment.product.to_string()}</span>
                    " "
                    <span>{environment.name.to_string()}</span>
                </span>
            }
        } else {
            html! { <span class="cell-label">{environment.name.to_string()}</span> }
        };
        let may_switch = self.may_switch.get(index) == Some(&true);
        let switch = match cell {
            None => missing(flag, environment),
            Some(cell) if may_switch && flag.archived_at.is_none() => {
                let confirmation_href = environment
                    .has_safeguards()
                    .then(|| routes::flag(flag.key.as_str()));
                html! {
                    <FlagSwitch
                        flag=flag.id
                        name=flag.name.to_string()
                        environment=environment.id
                        environment_name=name
                        confirmation_href
                        needs_reason=environment.is_reason_required
                        cell
                    />
                }
            }
            Some(cell) => {
                let label = switch_label(flag.name.as_str(), &name);
                html! { <Switch label cell locked=true/> }
            }
        };
        html! {
            <td
                class=class
                class:main=self.main == Some(index)
                class:product-start=self.begins_product(index)
            >
                {label}
                {switch}
            </td>
        }
    }

    /// Renders what opens the rest of a card: the other environments, or the products.
    fn others(&self) -> Option<Html> {
        let text = match self.environments.len().checked_sub(1)? {
            0 => return None,
            _ if self.by_product && self.naming.with_products => {
                format!("All {} products", self.len())
            }
            1 => "1 more environment".to_owned(),
            others => format!("{others} more environments"),
        };
        Some(html! {
            <td class="others narrow-only">
                <details>
                    <summary>{text}</summary>
                </details>
            </td>
        })
    }

    /// Returns true if the column at this index is the first one of a product.
    fn begins_product(&self, index: usize) -> bool {
        let product = |index: usize| Some(&self.environments.get(index)?.product);
        let before = index.checked_sub(1).and_then(product);
        self.has_product_row() && before != product(index)
    }

    /// Returns each product with its environments.
    fn products(&self) -> impl Iterator<Item = (&str, &[Environment])> {
        let groups = self
            .environments
            .chunk_by(|one, next| one.product == next.product);
        groups.filter_map(|group| Some((group.first()?.product.as_str(), group)))
    }
}

/// Returns the index of the environment that cards show: the preferred one, or else the first with safeguards, or else
/// the last one of the first product, because production comes last.
fn main_environment(
    environments: &[Environment],
    preferred: Option<EnvironmentId>,
) -> Option<usize> {
    let position = |matches: &dyn Fn(&Environment) -> bool| environments.iter().position(matches);
    let last_of_first = || {
        let first = environments.first()?;
        environments
            .iter()
            .rposition(|environment| environment.product == first.product)
    };
    position(&|environment| Some(environment.id) == preferred)
        .or_else(|| position(&Environment::has_safeguards))
        .or_else(last_of_first)
}

/// Renders the state of a flag in the environments of a product, with a link to them.
fn product_cell(flag: &Flag, product: &str, cells: &[(Option<FlagCell>, &Environment)]) -> Html {
    let configured: Vec<_> = cells
        .iter()
        .filter_map(|(cell, environment)| Some(((*cell)?, *environment)))
        .collect();
    let label = view! { <span class="cell-label">{product.to_owned()}</span> };
    if configured.is_empty() {
        return html! {
            <td class="environment">
                {label}
                <span class="quiet" title="Not configured here">
                    "–"
                </span>
            </td>
        };
    }
    let (state, text) = state_in_product(configured.iter().map(|(cell, _)| *cell));
    html! {
        <td class="environment">
            {label}
            <a
                class="product-state"
                href=in_product(&routes::flag(flag.key.as_str()), product)
                title=where_on(&configured)
            >
                <span class="state" data-state=state.as_str()></span>
                {text}
            </a>
        </td>
    }
}

/// Summarizes the state of a flag in several environments: as one state, and in words.
fn state_in_product(cells: impl Iterator<Item = FlagCell>) -> (FlagState, String) {
    let states: Vec<_> = cells.map(|cell| cell.state()).collect();
    let all = states.len();
    let off = states
        .iter()
        .filter(|state| **state == FlagState::Off)
        .count();
    let on = all.saturating_sub(off);
    let state = match states.first() {
        Some(first) if states.iter().all(|state| state == first) => *first,
        Some(_) if on > 0 => FlagState::Partly,
        _ => FlagState::Off,
    };
    if on > 0 && off > 0 {
        return (state, format!("{on} of {all} on"));
    }
    (state, describe::state_label(state).to_owned())
}

/// Names the environments in which a flag is on; none if there is no such environment.
fn where_on(cells: &[(FlagCell, &Environment)]) -> Option<String> {
    let names: Vec<_> = cells
        .iter()
        .filter(|(cell, _)| cell.enabled)
        .map(|(cell, environment)| match targeting_summary(*cell) {
            Some(summary) => format!("{} ({summary})", environment.name),
            None => environment.name.to_string(),
        })
        .collect();
    let more = names.len().saturating_sub(NAMED);
    let names: Vec<_> = names.into_iter().take(NAMED).collect();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    (!names.is_empty()).then(|| format!("On in {}{more}", names.join(", ")))
}

/// Returns the address of a page, limited to a product.
fn in_product(page: &str, product: &str) -> String {
    with_query(page, [("product", Some(product.to_owned()))])
}

/// Returns for each environment whether a user may switch flags in it.
fn may_switch(user: &User, environments: &[Environment]) -> Vec<bool> {
    let may_switch = |environment| user.may_edit(&Resource::of(environment));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(enabled: bool, rollout: Option<u8>) -> FlagCell {
        FlagCell {
            enabled,
            revision: 1,
            rules: 0,
            rollout,
            ttl: None,
        }
    }

    #[test]
    fn the_state_in_a_product_counts_the_environments_in_which_the_flag_is_on() {
        let (on, off, partly) = (cell(true, None), cell(false, None), cell(true, Some(25)));
        for (cells, state, text) in [
            (vec![off, off], FlagState::Off, "Off"),
            (vec![on, on], FlagState::On, "On"),
            (vec![on, partly], FlagState::Partly, "On for some"),
            (vec![on, off, partly], FlagState::Partly, "2 of 3 on"),
            (vec![on], FlagState::On, "On"),
        ] {
            assert_eq!(
                state_in_product(cells.into_iter()),
                (state, text.to_owned())
            );
        }
    }
}
