//! The revert of several actions as one: a preview, and a button.

use leptos::prelude::*;
use pennon_model::id::AuditId;

use super::{
    incident::{ENTRY, View},
    revert::{Planned, SHOWN, not_reverted, omitted},
};
use crate::{
    components::{
        action_row::{ActionRow, is_of_another_day},
        frame::Section,
        number::counted,
        page::page,
        page_head::PageHead,
    },
    error::AdminError,
    form::Form,
    form_page::{FormState, handle_form, redirect},
    html::{Html, html},
    model::Naming,
    port::{
        audit::{AuditAdmin, JointReversal, SelectedAction},
        environments::EnvironmentAdmin,
        query, signed_in,
    },
    routes,
};

/// The preview of the revert of several actions, with a form that posts to this page.
///
/// The address names an entry of each action. A period would be shorter, but select other actions after each change;
/// these stay the same while the user reads. If the objects of these actions change meanwhile, or if the revert would
/// omit other actions than the preview, the fingerprint of the plan differs, and nothing is reverted.
#[component]
pub fn RevertSeveral() -> impl IntoView {
    let query = query();
    page(Section::Audit, "Revert changes · Audit", async move {
        let view = View::of(&query);
        let ids = query.texts(ENTRY);
        let ids: Option<Vec<AuditId>> = ids.iter().map(|id| id.parse().ok()).collect();
        let ids = ids.filter(|ids| !ids.is_empty());
        let ids = &ids.ok_or(AdminError::NotFound)?;
        let render = async move |state: FormState| {
            let reversal = signed_in::<dyn AuditAdmin>()?.joint_reversal(ids).await?;
            let naming = signed_in::<dyn EnvironmentAdmin>()?.naming().await?;
            Ok(view! { <Preview reversal naming view state/> })
        };
        handle_form(|form| revert(ids, view, form), render).await
    })
}

async fn revert(ids: &[AuditId], view: View, form: Form) -> Result<Html, AdminError> {
    let audit = signed_in::<dyn AuditAdmin>()?;
    let reverted = audit.revert_jointly(ids, &form.text("fingerprint")).await;
    let about = || format!("Revert {}", counted(ids.len(), "change", "changes"));
    reverted.map_err(|error| error.about("in", about))?;
    redirect(&view.address(routes::INCIDENT, []))
}

#[component]
fn Preview(reversal: JointReversal, naming: Naming, view: View, state: FormState) -> impl IntoView {
    let JointReversal { actions, plan } = reversal;
    let (kept, reverted): (Vec<_>, Vec<_>) = actions
        .into_iter()
        .partition(|action| action.omitted.is_some());
    let changes = counted(reverted.len(), "change", "changes");
    let back = view.address(routes::INCIDENT, []);
    let kept = (!kept.is_empty()).then(|| {
        html! {
            <section class="panel reversal-part" aria-labelledby="kept">
                <h2 id="kept">"Cannot be reverted"</h2>
                <ol class="action-list">{rows(kept, naming)}</ol>
            </section>
        }
    });
    let more = omitted(reverted.len(), "more", "more");
    let was = (!reverted.is_empty()).then(|| {
        html! {
            <section class="panel reversal-part" aria-labelledby="was">
                <h2 id="was">"What changed"</h2>
                <ol class="action-list">{rows(reverted, naming)}</ol>
                {more}
            </section>
        }
    });
    let plan = match plan {
        Ok(plan) => {
            let verb = format!("Revert {changes}");
            html! { <Planned plan naming verb back posted=state.form error=state.error/> }
        }
        Err(obstacle) => not_reverted("Nothing can be reverted. ", obstacle, back),
    };
    html! {
        <PageHead above=Section::Audit title=format!("Revert {changes}")/>
        <div class="reversal">
            {kept}
            {was}
            {plan}
        </div>
    }
}

/// Renders the first actions.
fn rows(actions: Vec<SelectedAction>, naming: Naming) -> impl IntoView {
    let rows = actions.into_iter().take(SHOWN).map(|action| {
        let SelectedAction { records, omitted } = action;
        let with_date = is_of_another_day(&records);
        html! { <ActionRow records naming with_date with_revert=false note=omitted/> }
    });
    rows.collect_view()
}
