//! Audit entries by day.

use leptos::prelude::*;
use pennon_model::{audit::AuditEntry, id::EnvironmentId, time::Timestamp};
use serde_json::Value;

use super::{
    icon::{Drawing, Icon},
    time::{Clock, day},
};
use crate::{
    audit_text::{FieldDiff, Piece, changes, sentence_of},
    html::{Html, IntoHtml as _, html},
    model::Naming,
    port::{audit::Record, local, visit},
    routes,
    scope::scoped,
};

/// Records grouped by day, newest first.
#[component]
pub fn Timeline(
    /// The records, newest first.
    records: Vec<Record>,
    /// The naming scheme of environments.
    naming: Naming,
) -> impl IntoView {
    let now = visit().map_or(Timestamp::from_millis(0), |visit| visit.now());
    let today = local(now);
    let name = |record: &Record| day(&local(record.entry.occurred_at), &today);
    let days = records
        .chunk_by(|one, next| name(one) == name(next))
        .filter_map(|records| Some((name(records.first()?), records.to_vec())))
        .map(|(day, records)| {
            let records = records
                .chunk_by(|one, next| one.entry.group_id == next.entry.group_id)
                .map(|group| html! { <li>{action(group, naming)}</li> })
                .collect_view();
            html! {
                <section class="day">
                    <h2>{day}</h2>
                    <ol class="timeline">{records}</ol>
                </section>
            }
        });
    html! { <div class="days">{days.collect_view()}</div> }
}

/// Renders the link to revert the action that wrote an entry.
fn revert(entry: &AuditEntry) -> impl IntoView + use<> {
    let href = scoped(routes::audit_entry(entry.id));
    view! {
        <a class="button small" href=href>
            <Drawing icon=Icon::BACK/>
            "Revert"
            <span class="visually-hidden">" …"</span>
        </a>
    }
}

/// The entries of one action, newest first.
fn action(group: &[Record], naming: Naming) -> Html {
    let Some(Record { entry: newest, .. }) = group.first() else {
        return ().into_html();
    };
    let revertible = group.iter().all(|record| record.revertible);
    let entries = match group {
        [record] => html! { <Entry record=record.clone() naming/> },
        group => several(newest, group, naming),
    };
    html! {
        <span class="entry-time">
            <Clock at=newest.occurred_at/>
        </span>
        {entries}
        {revertible.then(|| revert(newest))}
    }
}

/// Renders several entries under their common description.
fn several(newest: &AuditEntry, group: &[Record], naming: Naming) -> Html {
    let of_one_flag = group
        .iter()
        .all(|record| record.entry.flag_key == newest.flag_key);
    let flag = match newest.flag_key.as_ref().filter(|_| of_one_flag) {
        Some(key) => {
            html! { <a href=scoped(routes::flag_history(key))><code>{key.clone()}</code></a> }
        }
        None => "several objects".into_html(),
    };
    let changes = group.iter().cloned().map(|record| {
        let Record {
            entry, environment, ..
        } = record;
        html! {
            <li class="entry">
                <p class="audit-sentence">{sentence(&entry, environment, naming)}</p>
                <Changes old=entry.old_value new=entry.new_value/>
            </li>
        }
    });
    html! {
        <div class="entry">
            <p class="audit-sentence">
                <strong>{newest.actor_identity.clone()}</strong>
                " changed "
                {flag}
                " in one action:"
            </p>
            {reason(newest)}
            <ul class="entry-group">{changes.collect_view()}</ul>
        </div>
    }
}

/// The description of an entry with links, and the differences that it made.
#[component]
pub fn Entry(
    /// The record.
    record: Record,
    /// The naming scheme of environments.
    naming: Naming,
) -> impl IntoView {
    let Record {
        entry, environment, ..
    } = record;
    let sentence = sentence(&entry, environment, naming);
    let reason = reason(&entry);
    html! {
        <div class="entry">
            <p class="audit-sentence"><strong>{entry.actor_identity}</strong> " " {sentence}</p>
            {reason}
            <Changes old=entry.old_value new=entry.new_value/>
        </div>
    }
}

/// Renders the reason for a change, if the actor gave one.
fn reason(entry: &AuditEntry) -> Option<Html> {
    let reason = entry.reason.as_ref()?.to_string();
    Some(html! { <p class="audit-reason"><span class="quiet">"Reason: "</span> {reason}</p> })
}

/// Renders the audit description without the actor.
fn sentence(entry: &AuditEntry, environment: Option<EnvironmentId>, naming: Naming) -> Html {
    let product = entry.product.clone().unwrap_or_default();
    let pieces = sentence_of(entry).into_iter().map(|piece| match piece {
        Piece::Text(text) => text.into_html(),
        Piece::Flag(key) => {
            let href = scoped(routes::flag_history(&key));
            html! { <a href=href><code>{key}</code></a> }
        }
        Piece::Environment(name) => {
            let href = environment.map(|id| scoped(routes::environment(id)));
            html! { <a href=href title=product.clone()>{naming.name(&product, &name)}</a> }
        }
    });
    pieces.collect_view().into_html()
}

/// The differences: the old value struck through, the new one beside it.
#[component]
pub fn Changes(
    /// The object before.
    old: Option<Value>,
    /// The object after.
    new: Option<Value>,
) -> impl IntoView {
    let changes = changes(old.as_ref(), new.as_ref());
    let rows = changes.into_iter().map(|change| {
        let FieldDiff { name, old, new } = change;
        let old = old.map(|old| view! { <del>{old}</del> });
        let new = new.map(|new| view! { <ins>{new}</ins> });
        html! {
            <div>
                <dt>{name}</dt>
                <dd>{old} " " {new}</dd>
            </div>
        }
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| view! { <dl class="changes">{rows}</dl> })
}
