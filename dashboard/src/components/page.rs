//! A page, and its content once the service has responded.

use std::pin::Pin;

use leptos::prelude::*;

use super::{
    failure::Failure,
    frame::{Frame, Section},
    title::Title,
};
use crate::{
    error::AdminError,
    html::{Html, IntoHtml},
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
    view! {
        <Title text=title/>
        <Frame section>{render(content)}</Frame>
    }
}

/// Renders the output of the future. An error takes its place and determines the status of the response.
fn render<V>(page: impl Future<Output = Result<V, AdminError>> + Send + 'static) -> AnyView
where
    V: IntoView + Send + 'static,
{
    let page = async { page.await.map(IntoHtml::into_html) };
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
