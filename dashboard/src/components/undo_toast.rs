//! The message about the user's last change.

use leptos::prelude::*;
use leptos_router::hooks::use_location;
use pennon_model::time::Timestamp;

use super::icon::{Drawing, Icon};
use crate::{
    audit_text::{Piece, sentence_of},
    describe,
    html::{Html, hidden, html},
    port::{
        audit::{AuditAdmin, Record},
        signed_in, visit,
    },
    routes,
    scope::scoped,
};

/// The age of the last change up to which the message appears, in milliseconds.
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
        Some(toast(records.first()?, records.len(), back))
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

fn toast(newest: &Record, count: usize, back: String) -> Html {
    let pieces = sentence_of(&newest.entry)
        .into_iter()
        .map(|piece| match piece {
            Piece::Text(text) | Piece::Flag(text) | Piece::Environment(text) => text,
        });
    let more = match count.saturating_sub(1) {
        0 => String::new(),
        1 => ", and 1 more change".to_owned(),
        more => format!(", and {more} more changes"),
    };
    let sentence = format!("{}{more}.", pieces.collect::<String>());
    html! {
        <div class="toasts" role="status">
            <div class="toast" data-undo>
                <p>{describe::capitalize(&sentence)}</p>
                <form method="post" action=scoped(routes::UNDO)>
                    {hidden("entry", newest.entry.id.to_string())}
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
