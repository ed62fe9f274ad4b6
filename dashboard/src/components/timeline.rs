//! Audit entries by day.

use leptos::prelude::*;
use pennon_model::{audit::AuditEntry, id::EnvironmentId, time::Timestamp};
use serde_json::Value;

use super::{
    icon::{Drawing, Icon},
    time::{Clock, day},
};
use crate::{
    audit::{
        difference::{FieldDiff, changes},
        sentence::{Piece, sentence_of},
    },
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
    /// True to link to the histories of flags.
    #[prop(optional)]
    with_history: bool,
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
                .map(|group| html! { <li>{action(group, naming, with_history)}</li> })
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

/// Renders the link to the history of the flag of an action; nothing if it is about several flags or none.
fn history(group: &[Record]) -> Option<Html> {
    let key = only_flag(group)?;
    Some(html! {
        <a class="entry-history" href=scoped(routes::flag_history(key))>
            "History"
            <span class="visually-hidden">{format!(" of {key}")}</span>
        </a>
    })
}

/// Returns the key of the flag of an action; none if it is about several flags or none.
pub(crate) fn only_flag(group: &[Record]) -> Option<&str> {
    let mut keys = group.iter().map(|record| record.entry.flag_key.as_deref());
    let first = keys.next()??;
    keys.all(|key| key == Some(first)).then_some(first)
}

/// Returns the address of the flag with this key, in an environment if there is one.
pub(crate) fn flag_address(key: &str, environment: Option<EnvironmentId>) -> String {
    scoped(match environment {
        Some(environment) => routes::flag_in(key, environment),
        None => routes::flag(key),
    })
}

/// The entries of one action, newest first.
fn action(group: &[Record], naming: Naming, with_history: bool) -> Html {
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
        {with_history.then(|| history(group))}
        {revertible.then(|| revert(newest))}
    }
}

/// Returns the environment of an action; none if it is about several environments or none.
pub(crate) fn only_environment(group: &[Record]) -> Option<EnvironmentId> {
    let mut environments = group.iter().map(|record| record.environment);
    let first = environments.next()?;
    environments.all(|each| each == first).then_some(first?)
}

/// Renders several entries under their common description.
fn several(newest: &AuditEntry, group: &[Record], naming: Naming) -> Html {
    let flag = match only_flag(group) {
        Some(key) => {
            html! { <a href=flag_address(key, only_environment(group))><code>{key.to_owned()}</code></a> }
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
            let href = flag_address(&key, environment);
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
        let FieldDiff { member, old, new } = change;
        let old = old.map(|old| view! { <del>{old}</del> });
        let new = new.map(|new| view! { <ins>{new}</ins> });
        html! {
            <div>
                <dt>{member.label()}</dt>
                <dd>{old} " " {new}</dd>
            </div>
        }
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| view! { <dl class="changes">{rows}</dl> })
}
