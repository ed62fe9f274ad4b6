//! The history of one flag.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use pennon_model::{audit::AuditFilter, page::Page};

use super::flags::{page_length, page_request};
use crate::{
    components::{
        frame::Section, page::page, page_head::Crumbs, pager::Pager, timeline::Timeline,
        title::Title,
    },
    error::AdminError,
    html::html,
    model::Naming,
    port::{
        audit::{AuditAdmin, Record},
        environments::EnvironmentAdmin,
        query, signed_in,
    },
    routes,
};

/// The changes of one flag, in all environments.
#[component]
pub fn History() -> impl IntoView {
    let key = use_params_map().read_untracked().get("key");
    let request = page_request(&query(), page_length());
    page(Section::Flags, "Flags", async move {
        let key = key.ok_or(AdminError::NotFound)?;
        let filter = AuditFilter {
            flag_key: Some(key.clone()),
            ..AuditFilter::default()
        };
        let page = signed_in::<dyn AuditAdmin>()?
            .changes(&filter, request)
            .await?;
        if page.pagination.total == 0 {
            // Every flag has an entry for its creation, so this flag does not exist.
            return Err(AdminError::NotFound);
        }
        let naming = signed_in::<dyn EnvironmentAdmin>()?.naming().await?;
        Ok(view! { <List key_of_flag=key page naming/> })
    })
}

#[component]
fn List(key_of_flag: String, page: Page<Record>, naming: Naming) -> impl IntoView {
    let pagination = page.pagination;
    let here = routes::flag_history(&key_of_flag);
    html! {
        <Title text=format!("History of {key_of_flag} · Flags")/>
        <header class="page-head">
            <Crumbs section=Section::Flags between=(routes::flag(&key_of_flag), key_of_flag.clone())/>
            <h1>
                "History of " <code>{key_of_flag}</code> " "
                <span class="count">{pagination.total}</span>
            </h1>
        </header>
        <Timeline records=page.items naming/>
        <Pager pagination href=move |page| format!("{here}?page={page}")/>
    }
}
