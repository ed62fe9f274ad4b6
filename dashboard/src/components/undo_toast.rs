//! The message about the user's last change.

use leptos::prelude::*;
use leptos_router::hooks::use_location;
use pennon_model::{id::AuditId, time::Timestamp};

use super::{
    action_row::plain_sentence,
    icon::{Drawing, Icon},
};
use crate::{
    describe,
    html::{Html, hidden, html},
    port::{
        audit::{AuditAdmin, Record},
        environments::EnvironmentAdmin,
        signed_in, visit,
    },
    routes,
    scope::scoped,
};

/// The age of the last change up to which the message appears, in milliseconds. The cookie ends before; the rest is for
/// the redirect and the next page.
const PERIOD: i64 = 15_000;

/// The message about a change that the user has just made, with a button to undo it. It follows the user to other pages
/// for some seconds. The page waits for it, but does not fail without it.
#[component]
pub fn UndoToast() -> impl IntoView {
    let location = use_location();
    let path = location.pathname.get_untracked();
    let back = match location.search.get_untracked() {
        query if query.is_empty() => path,
        query => format!("{path}?{}", query.trim_start_matches('?')),
    };
    let toast = Suspend::new(async move {
        let records = last_action().await?;
        let newest = records.first()?.entry.id;
        let naming = signed_in::<dyn EnvironmentAdmin>().ok()?.naming().await;
        let summary = plain_sentence(&records, naming.ok()?);
        Some(toast(newest, &summary, back))
    });
    view! { <Suspense>{toast}</Suspense> }.into_any()
}

/// Returns the entries of the user's last action, if it was a moment ago and can be reverted.
async fn last_action() -> Option<Vec<Record>> {
    let visit = visit().ok()?;
    if !visit.offers_undo() {
        return None;
    }
    let since = Timestamp::from_millis(visit.now().millis().saturating_sub(PERIOD));
    let audit = signed_in::<dyn AuditAdmin>().ok()?;
    let records = audit.own_last_action(since).await.ok()?;
    let newest = records.first()?.entry.id;
    audit.reversal(newest).await.ok()?.plan.ok()?;
    Some(records)
}

fn toast(newest: AuditId, summary: &str, back: String) -> Html {
    html! {
        <div class="toasts" role="status">
            <div class="toast" data-undo>
                <p>{describe::sentence(summary)}</p>
                <form method="post" action=scoped(routes::UNDO)>
                    {hidden("entry", newest.to_string())}
                    {hidden("back", back)}
                    <button class="button">"Undo"</button>
                </form>
                <button class="icon-button scripts" type="button" aria-label="Close" data-close>
                    <Drawing icon=Icon::CLOSE/>
                </button>
            </div>
        </div>
    }
}
