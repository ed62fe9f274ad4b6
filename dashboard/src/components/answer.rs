//! A page, and what it shows once the service has answered.

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

/// Draws a page of a section. What the future yields can set another title.
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
        <Frame section>{answer(content)}</Frame>
    }
}

/// Renders what the future yields; an error of it is shown in its place and decides the response's status.
fn answer<V>(page: impl Future<Output = Result<V, AdminError>> + Send + 'static) -> AnyView
where
    V: IntoView + Send + 'static,
{
    let page = async { page.await.map(IntoHtml::into_html) };
    // One type for all pages, so that what is around them is compiled once.
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
