//! The history of one flag.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use pennon_model::{
    audit::AuditFilter,
    page::{Page, PageRequest},
};

use super::paging::{page_length, page_request};
use crate::{
    components::{
        empty::Empty, frame::Section, page::page, page_head::PageHead, pager::Pager,
        timeline::Timeline, title::Title,
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
    scope::product,
};

/// The changes of one flag, in the environments of one product or of all.
#[component]
pub fn History() -> impl IntoView {
    let key = use_params_map().read_untracked().get("key");
    let request = page_request(&query(), page_length());
    page(Section::Flags, "Flags", async move {
        let key = key.ok_or(AdminError::NotFound)?;
        let everywhere = AuditFilter {
            flag_key: Some(key.clone()),
            ..AuditFilter::default()
        };
        let filter = AuditFilter {
            product: product(),
            flags_of_product: true,
            ..everywhere.clone()
        };
        let audit = signed_in::<dyn AuditAdmin>()?;
        let page = audit.changes(&filter, request).await?;
        if page.pagination.total == 0 {
            let is_limited = filter.product.is_some();
            let exists = is_limited && has_entries(&*audit, &everywhere).await?;
            // Every flag has an entry for its creation, so without any entry this flag does not exist.
            return exists
                .then(|| html! { <NoEntries key_of_flag=key product=filter.product/> })
                .ok_or(AdminError::NotFound);
        }
        let naming = match filter.product {
            Some(_) => Naming::default(),
            None => signed_in::<dyn EnvironmentAdmin>()?.naming().await?,
        };
        Ok(html! { <List key_of_flag=key page naming/> })
    })
}

async fn has_entries(audit: &dyn AuditAdmin, filter: &AuditFilter) -> Result<bool, AdminError> {
    let page = audit.changes(filter, PageRequest::default()).await?;
    Ok(page.pagination.total > 0)
}

#[component]
fn Head(key_of_flag: String, total: i64) -> impl IntoView {
    html! {
        <Title text=format!("History of {key_of_flag} · Flags")/>
        <PageHead
            above=Section::Flags
            between=(routes::flag(&key_of_flag), key_of_flag.clone())
            title=html! { "History of " <code>{key_of_flag.clone()}</code> }
            count=total
        />
    }
}

/// The page of a flag that has never been configured in the environments of the selected product.
#[component]
fn NoEntries(key_of_flag: String, product: Option<String>) -> impl IntoView {
    let product = product.unwrap_or_default();
    let everywhere = routes::flag_history(&key_of_flag);
    html! {
        <Head key_of_flag total=0/>
        <Empty title=format!("No changes in {product}")>
            <p>"The flag has never existed in an environment of this product."</p>
            <a class="button" href=everywhere>
                "Show all products"
            </a>
        </Empty>
    }
}

#[component]
fn List(key_of_flag: String, page: Page<Record>, naming: Naming) -> impl IntoView {
    let pagination = page.pagination;
    let here = routes::flag_history(&key_of_flag);
    html! {
        <Head key_of_flag total=pagination.total/>
        <Timeline records=page.items naming/>
        <Pager pagination href=move |page| format!("{here}?page={page}")/>
    }
}
