//! A page, and its content once the server has responded.

use std::pin::Pin;

use leptos::prelude::*;

use super::{
    failure::Failure,
    frame::{Frame, Section},
    title::Title,
};
use crate::{
    error::AdminError,
    form_page::address_without_mark,
    html::{Html, IntoHtml},
    port::visit,
};

/// Renders a page of a section. The output of the future may set another title.
pub fn page<V>(
    section: Section,
    title: impl Into<String>,
    content: impl Future<Output = Result<V, AdminError>> + Send + 'static,
) -> impl IntoView
where
    V: IntoView + Send + 'static,
{
    let reload = address_without_mark();
    let content = async move {
        match reload {
            Some(address) => {
                visit()?.redirect(&address);
                Ok(().into_html())
            }
            None => content.await.map(IntoHtml::into_html),
        }
    };
    view! {
        <Title text=title/>
        <Frame section>{render(content)}</Frame>
    }
}

/// Renders the output of the future. An error takes its place and determines the status of the response.
fn render(page: impl Future<Output = Result<Html, AdminError>> + Send + 'static) -> AnyView {
    // One type for all pages, so that the code around them is compiled once.
    let page: Pin<Box<dyn Future<Output = Result<Html, AdminError>> + Send>> = Box::pin(page);
    let page = Suspend::new(page);
    view! {
        <Suspense>
            <ErrorBoundary fallback=|errors| {
                let error = errors
                    .read_untracked()
                    .iter()
                    .find_map(|(_, error)| error.downcast_ref::<AdminError>().cloned())
                    .unwrap_or(AdminError::Internal);
                view! { <Failure error/> }
            }>{page}</ErrorBoundary>
        </Suspense>
    }
    .into_any()
}
