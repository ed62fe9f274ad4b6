//! The list of environments.

use leptos::prelude::*;
use pennon_model::{
    environment::{Environment, Visibility},
    grant::Resource,
    id::EnvironmentId,
    page::{Limit, Page},
    user::User,
};

use super::paging::page_request;
use crate::{
    components::{
        empty::Empty,
        frame::Section,
        icon::{Drawing, Icon},
        link_button::LinkButton,
        newest::Newest,
        page::page,
        page_head::PageHead,
        pager::Pager,
        public_tag::PublicTag,
        refusal::RefusalNotice,
        table::{Cell, Table, TimeCell, heads},
        time::time_or,
    },
    error::AdminError,
    form::Form,
    form_page::{FormState, handle_form, redirect},
    html::{Html, IntoHtml as _, hidden, html},
    port::{
        environments::{EnvironmentAdmin, PolledEnvironment},
        query, signed_in, signed_in_user,
    },
    routes,
    scope::{self, product, scoped},
};

/// The active environments, or the revoked ones, of one product or of all.
#[component]
pub fn Environments() -> impl IntoView {
    let query = query();
    let revoked = query.text("status") == "revoked";
    let request = page_request(&query, Limit::MAX);
    let product = product();
    let render = async move |state: FormState| {
        let user = signed_in_user()?;
        let environments = signed_in::<dyn EnvironmentAdmin>()?;
        if revoked {
            let page = environments
                .revoked_environments(product.as_deref(), request)
                .await?;
            return Ok(html! { <RevokedList page user/> });
        }
        let mut active = environments.polled_environments().await?;
        active.retain(|polled| scope::contains(&polled.environment));
        Ok(html! { <ActiveList active product user error=state.error/> })
    };
    page(
        Section::Environments,
        "Environments",
        handle_form(reorder, render),
    )
}

/// Moves an environment up or down in its product, or saves the order to which it was dragged.
async fn reorder(form: Form) -> Result<Html, AdminError> {
    let ids = form.text("order");
    let ids = ids.split_whitespace().map(str::parse);
    let mut order: Vec<EnvironmentId> = ids
        .collect::<Result<_, _>>()
        .map_err(|_| AdminError::NotFound)?;
    let moved = |name| {
        let id = form.parsed::<EnvironmentId>(name)?;
        order.iter().position(|each| *each == id)
    };
    let above = match (moved("up"), moved("down")) {
        (Some(index), _) => index.checked_sub(1),
        (None, index) => index,
    };
    if let Some(pair) = above.and_then(|above| order.get_mut(above..above.saturating_add(2))) {
        pair.reverse();
    }
    let environments = signed_in::<dyn EnvironmentAdmin>()?;
    let button = button_after_move(&form, &order);
    environments
        .order_environments(form.text("of"), order)
        .await?;
    let list = Section::Environments.path();
    match button {
        Some(button) => redirect(&format!("{list}#{button}")),
        None => redirect(list),
    }
}

/// Returns the id of the button that has the focus after a move: the one that was pressed, or the other one if the
/// environment has arrived at an end of the list.
fn button_after_move(form: &Form, order: &[EnvironmentId]) -> Option<String> {
    let pressed = ["up", "down"].into_iter();
    let mut pressed = pressed.filter_map(|name| Some((name, form.parsed::<EnvironmentId>(name)?)));
    let (name, moved) = pressed.next()?;
    let name = match name {
        "up" if order.first() == Some(&moved) => "down",
        "down" if order.last() == Some(&moved) => "up",
        name => name,
    };
    Some(button_id(name, moved))
}

/// Returns the id of the button that moves an environment in a direction.
fn button_id(direction: &str, environment: EnvironmentId) -> String {
    format!("move-{direction}-{environment}")
}

#[component]
fn ActiveList(
    active: Vec<PolledEnvironment>,
    product: Option<String>,
    user: User,
    error: Option<AdminError>,
) -> impl IntoView {
    let create = new_environment_link(&user);
    if active.is_empty() {
        let title = match product {
            Some(product) => format!("No environments of {product} yet"),
            None => "No environments yet".to_owned(),
        };
        return html! {
            <PageHead title="Environments"/>
            <Status revoked=false/>
            <Empty title>
                <p>
                    "An environment is a place where your application runs, such as staging or production. Each has its own SDK key, and its own configuration of every flag."
                </p>
                {create}
            </Empty>
        };
    }
    let count = i64::try_from(active.len()).unwrap_or(i64::MAX);
    let groups: Vec<Vec<PolledEnvironment>> = active
        .chunk_by(|one, next| one.environment.product == next.environment.product)
        .map(<[PolledEnvironment]>::to_vec)
        .collect();
    let is_any_movable = groups.iter().any(|group| is_movable(&user, group));
    let head = view! {
        {heads(["Name", "Key", "Last request"])}
        <th scope="col" title="Share of the polls in the last 24 hours">
            "On the newest revision"
        </th>
        {heads(["Created"])}
        {is_any_movable
            .then(|| {
                view! {
                    <th scope="col">
                        <span class="visually-hidden">"Actions"</span>
                    </th>
                }
            })}
    };
    let columns = if is_any_movable { 6 } else { 5 };
    let products = groups.into_iter().enumerate().map(|(index, environments)| {
        let movable = is_movable(&user, &environments);
        view! { <Product index environments columns movable/> }
    });
    let products = products.collect_view();
    html! {
        <PageHead title="Environments" count>{create}</PageHead>
        <Status revoked=false/>
        <RefusalNotice error/>
        <Table caption="Active environments" head=head.into_html()>
            {products}
        </Table>
    }
}

/// The links to active and to revoked environments.
#[component]
fn Status(revoked: bool) -> impl IntoView {
    view! {
        <div class="toolbar">
            <nav class="segments" aria-label="Status">
                <a href=Section::Environments.href() aria-current=(!revoked).then_some("true")>
                    "Active"
                </a>
                <a href=scoped(routes::REVOKED_ENVIRONMENTS) aria-current=revoked.then_some("true")>
                    "Revoked"
                </a>
            </nav>
        </div>
    }
}

/// Renders the link to the form of a new environment, if the user may create one.
fn new_environment_link(user: &User) -> Option<impl IntoView + use<>> {
    user.may_create_environments()
        .then(|| view! { <NewEnvironmentLink/> })
}

#[component]
pub(super) fn NewEnvironmentLink() -> impl IntoView {
    view! {
        <LinkButton href=routes::NEW_ENVIRONMENT icon=Icon::PLUS primary=true label="New environment"/>
    }
}

/// Returns true if a user can move these environments of a product.
fn is_movable(user: &User, environments: &[PolledEnvironment]) -> bool {
    let [first, _, ..] = environments else {
        return false;
    };
    let product = Resource::Product(first.environment.product.clone());
    user.may_administer(&product)
}

/// The environments of one product, and the form of their order.
#[component]
fn Product(
    /// The number of the product on the page.
    index: usize,
    environments: Vec<PolledEnvironment>,
    /// The number of columns. The last of six has the buttons that move an environment.
    columns: u8,
    /// True if the reader can move them.
    movable: bool,
) -> impl IntoView {
    let form_id = format!("environment-order-{index}");
    let last = environments.len().saturating_sub(1);
    let ids = environments
        .iter()
        .map(|each| each.environment.id.to_string());
    let order = ids.collect::<Vec<_>>().join(" ");
    let product = environments
        .first()
        .map(|polled| polled.environment.product.to_string());
    let rows = environments.into_iter().enumerate().map(|(index, polled)| {
        let PolledEnvironment {
            environment,
            polling,
        } = polled;
        let id = environment.id.to_string();
        let actions = movable.then(|| moves(&environment, &form_id, (index == 0, index == last)));
        view! {
            <tr id=format!("environment-{id}") data-environment=movable.then_some(id)>
                <Name environment=environment.clone()/>
                <Key environment=environment.clone()/>
                <Cell label="Last request" quiet=true>
                    {time_or(polling.last_request_at(), "Never")}
                </Cell>
                <Cell label="On the newest revision" quiet=true>
                    <Newest polls=polling.polls/>
                </Cell>
                <TimeCell label="Created" at=environment.created_at/>
                {(columns > 5).then(|| view! { <td class="row-actions">{actions}</td> })}
            </tr>
        }
    });
    let rows = rows.collect_view();
    let form = movable.then(|| {
        view! {
            <form id=form_id.clone() method="post">
                {product.clone().map(|product| hidden("of", product))}
                {hidden("order", order)}
            </form>
        }
    });
    view! {
        <tbody data-unit=movable>
            <tr class="group">
                <th class="name" scope="rowgroup" colspan=columns.to_string() title=product.clone()>
                    {product.clone()}
                    {form}
                </th>
            </tr>
            {rows}
        </tbody>
    }
}

/// Renders the buttons that move an environment, and the handle that the script drags. A button at the end of the list
/// is disabled.
fn moves(environment: &Environment, form: &str, (is_first, is_last): (bool, bool)) -> Html {
    let button = |name: &'static str, icon: Icon, is_at_end: bool| {
        let label = format!(
            "Move {} {name} in {}",
            environment.name, environment.product
        );
        view! {
            <button
                class="icon-button"
                id=button_id(name, environment.id)
                form=form.to_owned()
                name=name
                value=environment.id.to_string()
                title=label.clone()
                aria-label=label.clone()
                disabled=is_at_end
            >
                <Drawing icon/>
            </button>
        }
    };
    html! {
        <div class="environment-moves">
            {button("up", Icon::UP, is_first)}
            {button("down", Icon::DOWN, is_last)}
            <span class="icon-button handle" aria-hidden="true" title="Drag to reorder">
                <Drawing icon=Icon::GRIP/>
            </span>
        </div>
    }
}

/// The name of an environment, with a link to its page.
#[component]
fn Name(environment: Environment) -> impl IntoView {
    let name = environment.name.to_string();
    view! {
        <th class="name" scope="row">
            <a href=scoped(routes::environment(environment.id)) title=name.clone()>
                {name.clone()}
            </a>
        </th>
    }
}

/// The prefix of the SDK key, marked if the key is public.
#[component]
fn Key(environment: Environment) -> impl IntoView {
    let public = (environment.visibility == Visibility::Public).then(|| {
        view! { <PublicTag title="Everyone can read this key"/> }
    });
    view! {
        <Cell label="Key">
            <span class="environment-key">
                <code class="quiet">{environment.sdk_key_prefix} "…"</code>
                {public}
            </span>
        </Cell>
    }
}

#[component]
fn RevokedList(page: Page<Environment>, user: User) -> impl IntoView {
    let pagination = page.pagination;
    let create = new_environment_link(&user);
    let rows = page.items.into_iter().map(|environment| {
        let product = environment.product.to_string();
        view! {
            <tr>
                <Name environment=environment.clone()/>
                <td class="name" title=product.clone()>
                    <span class="cell-label">"Product"</span>
                    <span class="cell-text">{product.clone()}</span>
                </td>
                <Key environment=environment.clone()/>
                <TimeCell label="Created" at=environment.created_at/>
            </tr>
        }
    });
    let rows = rows.collect_view();
    let list = if pagination.total == 0 {
        html! {
            <Empty title="No revoked environments">
                <p>"Environments that were revoked, or whose key was rotated, stay here for reference."</p>
            </Empty>
        }
    } else {
        html! {
            <Table caption="Revoked environments" head=heads(["Name", "Product", "Key", "Created"])>
                <tbody>{rows}</tbody>
            </Table>
            <Pager pagination href=|page| format!("{}&page={page}", routes::REVOKED_ENVIRONMENTS)/>
        }
    };
    view! {
        <PageHead title="Environments">{create}</PageHead>
        <Status revoked=true/>
        {list}
    }
}
