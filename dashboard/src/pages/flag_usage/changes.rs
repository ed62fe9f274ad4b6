//! The changes of a flag in the period of its chart: marks on the chart, and a list.

use leptos::prelude::*;
use pennon_model::{audit::AuditFilter, time::Timestamp, usage::FlagEnvironmentUsage};

use crate::{
    components::{
        action_row::{ActionRow, action_id, plain_sentence},
        usage_chart::ChartMark,
    },
    error::AdminError,
    html::html,
    model::Naming,
    port::{
        audit::{AuditAdmin, RecentActions, Record},
        local, signed_in,
        usage::FlagUsage,
    },
    routes,
    scope::{product, scoped},
};

/// Returns the changes of a flag since a time, newest first, as far as the selected product has them.
pub(super) async fn changes_since(
    usage: &FlagUsage,
    from: Timestamp,
) -> Result<RecentActions, AdminError> {
    let filter = AuditFilter {
        flag_key: Some(usage.flag.key.to_string()),
        product: product(),
        flags_of_product: true,
        from: Some(from),
        ..AuditFilter::default()
    };
    signed_in::<dyn AuditAdmin>()?.recent_actions(&filter).await
}

/// Returns the actions that changed the flag itself or its configuration in an environment; in all if it is none.
pub(super) fn in_place(
    mut actions: Vec<Vec<Record>>,
    environment: Option<&FlagEnvironmentUsage>,
) -> Vec<Vec<Record>> {
    // By names, because the rotation of a key changes the id.
    let is_there = |Record { entry, .. }: &Record| {
        environment.is_none_or(|chosen| {
            let name = entry.environment.as_ref();
            let is_it = |name| {
                name == &chosen.environment && entry.product.as_ref() == Some(&chosen.product)
            };
            name.is_none_or(is_it)
        })
    };
    actions.retain(|action| action.iter().any(is_there));
    actions
}

/// Returns a mark for each action, which leads to its row.
pub(super) fn marks(actions: &[Vec<Record>], naming: Naming) -> Vec<ChartMark> {
    let mark = |records: &Vec<Record>| {
        let entry = &records.first()?.entry;
        let at = local(entry.occurred_at);
        let label = format!(
            "{} {}: {} {}",
            at.date,
            at.hour_and_minute(),
            entry.actor_identity,
            plain_sentence(records, naming)
        );
        Some(ChartMark {
            at: entry.occurred_at,
            label,
            href: format!("#{}", action_id(entry.id)),
        })
    };
    actions.iter().filter_map(mark).collect()
}

/// The changes in the period of the chart, newest first.
#[component]
pub fn Changes(
    /// The changes.
    changes: RecentActions,
    /// The naming scheme of environments.
    naming: Naming,
    /// The key of the flag.
    key: String,
) -> impl IntoView {
    let RecentActions { actions, has_more } = changes;
    let count = actions.len();
    let rows = actions.into_iter().map(|records| {
        html! { <ActionRow records naming with_date=true with_revert=true note=None/> }
    });
    let rows = rows.collect_view();
    let more = has_more.then(|| {
        let history = scoped(routes::flag_history(&key));
        html! { <p class="hint">"Older changes are in the " <a href=history>"history"</a> "."</p> }
    });
    (count > 0).then(|| {
        html! {
            <section class="action-group usage-changes">
                <h2>"Changes " <span class="count">{count}</span></h2>
                <ol class="action-list">{rows}</ol>
                {more}
            </section>
        }
    })
}
