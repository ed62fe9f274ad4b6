//! Changes in the order in which they were made, day by day.

use leptos::prelude::*;
use pennon_core::model::{audit::AuditEntry, id::EnvironmentId, time::Timestamp};
use serde_json::Value;

use super::{
    icon::{Drawing, Icon},
    time::{Clock, day},
};
use crate::{
    deed::{Change, Piece, changes, deed},
    model::{Naming, flag_address},
    pages::environments::environment_href,
    port::{audit::Record, visit},
};

/// Records under the day on which they were made, the newest first. Days and times are in UTC.
#[component]
pub fn Timeline(
    /// The records, the newest first.
    records: Vec<Record>,
    /// What environments are called.
    naming: Naming,
) -> impl IntoView {
    let now = visit().map_or(Timestamp::from_millis(0), |visit| visit.now());
    let name = |record: &Record| day(record.entry.occurred_at, now);
    let days = records
        .chunk_by(|one, next| name(one) == name(next))
        .filter_map(|records| Some((name(records.first()?), records.to_vec())))
        .map(|(day, records)| {
            let records = records
                .into_iter()
                .map(|record| view! { <li>{entry(record, naming)}</li> }.into_any())
                .collect_view();
            view! {
                <section class="day">
                    <h2>{day}</h2>
                    <ol class="timeline">{records}</ol>
                </section>
            }
            .into_any()
        });
    view! { <div class="days">{days.collect_view()}</div> }.into_any()
}

fn entry(record: Record, naming: Naming) -> AnyView {
    let Record {
        entry,
        environment,
        revertible,
    } = record;
    let revert = revertible.then(|| {
        let href = format!("/dashboard/audit/{}", entry.id);
        view! {
            <a class="button small" href=href>
                <Drawing icon=Icon::Back/>
                "Revert"
                <span class="visually-hidden">" …"</span>
            </a>
        }
    });
    view! {
        <span class="entry-time">
            <Clock at=entry.occurred_at/>
        </span>
        <div class="entry">
            <Deed entry=entry.clone() environment naming/>
            <Changes old=entry.old_value new=entry.new_value/>
        </div>
        {revert}
    }
    .into_any()
}

/// The address of a flag's history.
pub(crate) fn history_href(key: &str) -> String {
    format!("{}/history", flag_address(key))
}

/// Who did what, in a sentence with links.
#[component]
pub fn Deed(
    /// What is recorded.
    entry: AuditEntry,
    /// The environment concerned.
    environment: Option<EnvironmentId>,
    /// What environments are called.
    naming: Naming,
) -> impl IntoView {
    let product = entry.product.clone().unwrap_or_default();
    let pieces = deed(&entry).into_iter().map(|piece| match piece {
        Piece::Words(words) => words.into_any(),
        Piece::Flag(key) => {
            let href = history_href(&key);
            view! { <a href=href><code>{key}</code></a> }.into_any()
        }
        Piece::Environment(name) => {
            let href = environment.map(environment_href);
            view! { <a href=href title=product.clone()>{naming.name(&product, &name)}</a> }
                .into_any()
        }
    });
    let pieces = pieces.collect_view();
    view! { <p class="deed"><strong>{entry.actor_identity}</strong> " " {pieces}</p> }.into_any()
}

/// What is different: the old struck through, the new beside it.
#[component]
pub fn Changes(
    /// The object before.
    old: Option<Value>,
    /// The object after.
    new: Option<Value>,
) -> impl IntoView {
    let changes = changes(old.as_ref(), new.as_ref());
    let rows = changes.into_iter().map(|change| {
        let Change { name, old, new } = change;
        let old = old.map(|old| view! { <del>{old}</del> });
        let new = new.map(|new| view! { <ins>{new}</ins> });
        view! {
            <div>
                <dt>{name}</dt>
                <dd>{old} " " {new}</dd>
            </div>
        }
        .into_any()
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| view! { <dl class="changes">{rows}</dl> })
}
