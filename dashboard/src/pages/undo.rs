//! The undo of the user's own last change.

use leptos::prelude::*;
use pennon_model::{id::AuditId, time::Timestamp};

use crate::{
    components::{
        empty::Empty, frame::Section, link_button::LinkButton, page::page, page_head::PageHead,
        refusal::RefusalNotice,
    },
    error::AdminError,
    form::Form,
    form_page::{handle_form, redirect},
    html::{Html, html},
    port::{audit::AuditAdmin, signed_in, visit},
    routes,
};

/// The time for which a change without an entry in the form can be undone, in milliseconds.
const PERIOD: i64 = 10 * 60 * 1000;

/// The page to which the message about a change and the shortcut post.
///
/// The field `entry` is an audit entry of the action to undo; without it, the user's own last action is undone. The
/// field `back` is the page to show afterwards. If somebody has changed the same object since, the page that previews
/// the revert follows instead.
#[component]
pub fn Undo() -> impl IntoView {
    page(Section::Audit, "Undo", async move {
        handle_form(undo, async |state| {
            if let (Some(form), None) = (&state.form, &state.error) {
                visit()?.redirect(&return_address(form));
            }
            Ok(html! { <NotUndone error=state.error/> })
        })
        .await
    })
}

async fn undo(form: Form) -> Result<Html, AdminError> {
    let audit = signed_in::<dyn AuditAdmin>()?;
    let entry = match form.text("entry").as_str() {
        "" => own_last_entry(&*audit).await?,
        entry => entry.parse().map_err(|_| AdminError::NotFound)?,
    };
    let reversal = audit.reversal(entry).await?;
    match reversal.plan {
        Ok(plan) if !plan.overwrites => {
            let undone = audit.revert(entry, &plan.fingerprint).await;
            undone.map_err(|error| error.about("in", || "Undo your change".to_owned()))?;
            redirect(&return_address(&form))
        }
        _ => redirect(&routes::audit_entry(entry)),
    }
}

async fn own_last_entry(audit: &dyn AuditAdmin) -> Result<AuditId, AdminError> {
    let now = visit()?.now().millis();
    let since = Timestamp::from_millis(now.saturating_sub(PERIOD));
    let records = audit.own_last_action(since).await?;
    let newest = records.first().map(|record| record.entry.id);
    newest.ok_or_else(|| {
        AdminError::Conflict("You have changed nothing in the last 10 minutes.".to_owned())
    })
}

/// Returns the page to show afterwards: the one that the form names, if it is a page of the dashboard.
fn return_address(form: &Form) -> String {
    routes::own_page(form.text("back")).unwrap_or_else(|| routes::AUDIT.to_owned())
}

/// The page if nothing was undone.
#[component]
fn NotUndone(error: Option<AdminError>) -> impl IntoView {
    html! {
        <PageHead above=Section::Audit title="Undo"/>
        <RefusalNotice error/>
        <Empty title="Nothing was undone">
            <p>"The audit log lists all changes. Most of them can be reverted from there."</p>
            <LinkButton href=Section::Audit.href() label="Open the audit log"/>
        </Empty>
    }
}
