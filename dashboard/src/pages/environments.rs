//! The list of environments.

use leptos::prelude::*;
use pennon_core::model::{
    environment::{Environment, EnvironmentStatus},
    page::{Limit, Page, PageRequest},
    user::Role,
};

use super::flags::page_number;
use crate::{
    components::{
        answer::answer,
        empty::Empty,
        frame::{Frame, Room},
        icon::{Drawing, Icon},
        pager::Pager,
        time::Time,
        title::Title,
    },
    port::{environments::EnvironmentAdmin, query, signed_in, signed_in_user},
};

/// Where flags take effect.
#[component]
pub fn Environments() -> impl IntoView {
    let number = page_number(&query());
    let request = PageRequest {
        page: number.try_into().unwrap_or_default(),
        limit: Limit::MAX,
    };
    let page = answer(async move {
        let role = signed_in_user()?.role;
        let page = signed_in::<dyn EnvironmentAdmin>()?
            .environments(request)
            .await?;
        Ok(view! { <List page role/> })
    });
    view! {
        <Title text="Environments"/>
        <Frame room=Room::Environments>{page}</Frame>
    }
}

#[component]
fn List(page: Page<Environment>, role: Role) -> impl IntoView {
    let pagination = page.pagination;
    let some = pagination.total > 0;
    let create = (role >= Role::Admin).then(|| view! { <NewEnvironmentLink/> });
    let (create, list) = if some {
        let table = view! {
            <EnvironmentTable environments=page.items/>
            <Pager pagination href=|page| format!("{}?page={page}", Room::Environments.href())/>
        };
        (create, table.into_any())
    } else {
        let lesson = view! {
            <Empty title="No environments yet">
                <p>
                    "An environment is a place where your application runs: development, staging, production. Each has its own key, and each flag is on or off there by itself."
                </p>
                {create}
            </Empty>
        };
        (None, lesson.into_any())
    };
    view! {
        <header class="page-head">
            <h1>
                "Environments"
                {some.then(|| view! { <span class="count">{pagination.total}</span> })}
            </h1>
            {create}
        </header>
        {list}
    }
}

#[component]
fn NewEnvironmentLink() -> impl IntoView {
    view! {
        <a class="button primary" href="/dashboard/environments/new">
            <Drawing icon=Icon::Plus/>
            "New environment"
        </a>
    }
}

#[component]
fn EnvironmentTable(environments: Vec<Environment>) -> impl IntoView {
    let rows = environments.into_iter().map(|environment| {
        let (class, status) = match environment.status {
            EnvironmentStatus::Active => ("tag active", "Active"),
            EnvironmentStatus::Revoked => ("tag", "Revoked"),
        };
        let name = environment.name.to_string();
        let product = environment.product.to_string();
        view! {
            <tr>
                <th class="name" scope="row" title=name.clone()>
                    {name.clone()}
                </th>
                <td class="name" title=product.clone()>
                    <span class="cell-label">"Product"</span>
                    <span class="cell-text">{product.clone()}</span>
                </td>
                <td>
                    <span class="cell-label">"Key"</span>
                    <code class="quiet">{environment.sdk_key_prefix} "…"</code>
                </td>
                <td>
                    <span class="cell-label">"Status"</span>
                    <span class=class>{status}</span>
                </td>
                <td class="quiet">
                    <span class="cell-label">"Created"</span>
                    <Time at=environment.created_at/>
                </td>
            </tr>
        }
    });
    view! {
        <div class="table-panel cards">
            <table class="table">
                <caption class="visually-hidden">"Environments"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Name"</th>
                        <th scope="col">"Product"</th>
                        <th scope="col">"Key"</th>
                        <th scope="col">"Status"</th>
                        <th scope="col">"Created"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
}
