//! What a page shows once the service has answered.

use leptos::prelude::*;

use super::failure::Failure;
use crate::error::AdminError;

/// Draws what the future yields; an error of it is shown in its place and decides the response's status.
pub fn answer<V>(view: impl Future<Output = Result<V, AdminError>> + Send + 'static) -> AnyView
where
    V: IntoView + Send + 'static,
{
    let view = Suspend::new(view);
    view! {
        <Suspense>
            <ErrorBoundary fallback=|errors| {
                let error = errors
                    .read_untracked()
                    .iter()
                    .find_map(|(_, error)| error.downcast_ref::<AdminError>().cloned())
                    .unwrap_or(AdminError::Internal);
                view! { <Failure error/> }
            }>{view}</ErrorBoundary>
        </Suspense>
    }
    .into_any()
}
