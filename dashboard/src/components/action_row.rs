//! Actions of the audit log as compact rows.

use leptos::prelude::*;
use pennon_model::{audit::AuditEntry, id::AuditId};

use super::{
    icon::{Drawing, Icon},
    time::{Clock, Date},
    timeline::{flag_address, only_environment},
};
use crate::{
    audit::{sentence::Piece, summary::summary_of},
    html::{Html, IntoHtml as _, html},
    model::Naming,
    port::{audit::Record, local, visit},
    routes,
    scope::scoped,
};

/// An action in two lines: time and person, and one sentence.
#[component]
pub fn ActionRow(
    /// The entries of the action, newest first.
    records: Vec<Record>,
    /// The naming scheme of environments.
    naming: Naming,
    /// True to show the date, too.
    with_date: bool,
    /// True to link to the page that reverts the action, if the user's role allows it.
    with_revert: bool,
    /// A sentence beneath the description.
    note: Option<String>,
) -> impl IntoView {
    let newest = records.first().map(|record| record.entry.clone());
    newest.map(|newest| {
        let AuditEntry {
            id, occurred_at, ..
        } = newest;
        let sentence_id = action_id(id);
        let revert = with_revert && is_revertible(&records);
        let revert = revert.then(|| {
            html! {
                <a
                    class="button"
                    href=scoped(routes::audit_entry(id))
                    aria-describedby=sentence_id.clone()
                >
                    <Drawing icon=Icon::BACK/>
                    "Revert"
                    <span class="visually-hidden">" …"</span>
                </a>
            }
        });
        let date = with_date.then(|| html! { <Date at=occurred_at/> " " });
        html! {
            <li class="action-row">
                <div class="action-text">
                    <p class="action-actor">
                        {date}
                        <Clock at=occurred_at/>
                        " "
                        <strong>{newest.actor_identity}</strong>
                    </p>
                    <p class="action-sentence" id=sentence_id>
                        {sentence(&records, naming)}
                    </p>
                    {note.map(|note| html! { <p class="action-note">{note}</p> })}
                </div>
                {revert}
            </li>
        }
    })
}

/// Returns the id of the sentence of an action with this entry, for links to it.
pub(crate) fn action_id(newest: AuditId) -> String {
    format!("action-{newest}")
}

/// Returns the sentence of an action as plain text.
pub(crate) fn plain_sentence(records: &[Record], naming: Naming) -> String {
    let (pieces, product) = pieces(records);
    let pieces = pieces.into_iter().map(|piece| match piece {
        Piece::Environment(name) => naming.name(&product, &name),
        piece => piece.into_text(),
    });
    pieces.collect()
}

/// Returns the pieces of the sentence of an action, and the product of its environment.
fn pieces(records: &[Record]) -> (Vec<Piece>, String) {
    let entries: Vec<_> = records.iter().map(|record| &record.entry).collect();
    let product = entries.iter().find_map(|entry| entry.product.clone());
    (summary_of(&entries), product.unwrap_or_default())
}

/// Returns true if an action was not taken today.
pub(crate) fn is_of_another_day(records: &[Record]) -> bool {
    let day = records
        .first()
        .map(|newest| local(newest.entry.occurred_at).day);
    let today = visit().map(|visit| local(visit.now()).day).ok();
    day != today
}

/// Returns true if the user's role allows reverting an action.
pub(crate) fn is_revertible(records: &[Record]) -> bool {
    records.iter().all(|record| record.revertible)
}

/// Renders the sentence of an action. The flag is a link to the flag in the environment of the action.
fn sentence(records: &[Record], naming: Naming) -> Html {
    let (pieces, product) = pieces(records);
    let environment = only_environment(records);
    let pieces = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => text.into_html(),
        Piece::Flag(key) => {
            let href = flag_address(&key, environment);
            html! { <a href=href><code>{key}</code></a> }
        }
        Piece::Environment(name) => naming.name(&product, &name).into_html(),
    });
    pieces.collect_view().into_html()
}
