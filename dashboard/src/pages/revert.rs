//! Taking a change back: what that would do, and a button.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use pennon_core::model::id::AuditId;
use serde_json::Value;

use crate::{
    components::{
        answer::answer,
        frame::{Frame, Room},
        notice::{Notice, Weight},
        refusal::RefusalNotice,
        time::Time,
        timeline::{Changes, Deed, history_href},
        title::Title,
    },
    deed::{changes, effect},
    error::AdminError,
    model::Naming,
    port::{
        audit::{AuditAdmin, Plan, Reversal},
        environments::EnvironmentAdmin,
        signed_in, signed_in_user, visit,
    },
};

/// The preview of a reversal, with a form that posts to it.
#[component]
pub fn Revert() -> impl IntoView {
    let id = use_params_map().read_untracked().get("id");
    let page = answer(async move {
        let id = id.and_then(|id| id.parse().ok());
        let id: AuditId = id.ok_or(AdminError::NotFound)?;
        let visit = visit()?;
        signed_in_user()?;
        let audit = signed_in::<dyn AuditAdmin>()?;
        let mut refused = None;
        let reversal = audit.reversal(id).await?;
        if let Some(form) = visit.form() {
            let revision = form.parsed("revision").unwrap_or_default();
            match audit.revert(id, revision).await {
                Ok(()) => visit.redirect(&afterwards(reversal.record.entry.flag_key.as_deref())),
                Err(error) => {
                    visit.set_status(error.status());
                    refused = Some(error);
                }
            }
        }
        let reversal = audit.reversal(id).await?;
        let naming = signed_in::<dyn EnvironmentAdmin>()?.naming().await?;
        Ok(view! { <Preview reversal naming refused/> })
    });
    view! {
        <Title text="Revert a change · Audit"/>
        <Frame room=Room::Audit>{page}</Frame>
    }
}

/// Where the new change is seen first.
fn afterwards(flag_key: Option<&str>) -> String {
    flag_key.map_or_else(|| Room::Audit.href().to_owned(), history_href)
}

#[component]
fn Preview(reversal: Reversal, naming: Naming, refused: Option<AdminError>) -> impl IntoView {
    let Reversal { record, plan } = reversal;
    let entry = record.entry;
    let back = afterwards(entry.flag_key.as_deref());
    let plan = match plan {
        Ok(plan) => view! { <Planned plan left=entry.new_value.clone() back refused/> }.into_any(),
        Err(obstacle) => view! {
            <Notice weight=Weight::Warning>
                <strong>"It cannot be reverted. "</strong>
                {obstacle}
            </Notice>
            <div class="form-actions">
                <a class="button" href=back>
                    "Back to the changes"
                </a>
            </div>
        }
        .into_any(),
    };
    view! {
        <header class="page-head">
            <nav class="crumbs" aria-label="Breadcrumbs">
                <a href=Room::Audit.href()>"Audit"</a>
            </nav>
            <h1>"Revert a change"</h1>
        </header>
        <div class="reversal">
            <section class="panel reversal-part" aria-labelledby="was">
                <h2 id="was">"What was done " <Time at=entry.occurred_at/></h2>
                <Deed entry=entry.clone() environment=record.environment naming/>
                <Changes old=entry.old_value new=entry.new_value/>
            </section>
            {plan}
        </div>
    }
    .into_any()
}

#[component]
fn Planned(
    plan: Plan,
    left: Option<Value>,
    back: String,
    refused: Option<AdminError>,
) -> impl IntoView {
    let Plan {
        action,
        now,
        then,
        revision,
    } = plan;
    let meanwhile = overwrites(left.as_ref(), now.as_ref(), then.as_ref()).then(|| {
        view! {
            <Notice weight=Weight::Warning>
                "It has been changed again since. What stands there now goes, too."
            </Notice>
        }
    });
    view! {
        <section class="panel reversal-part" aria-labelledby="will">
            <h2 id="will">"What will change now"</h2>
            <RefusalNotice error=refused/>
            {meanwhile}
            {effect(action, now.as_ref()).map(|effect| view! { <p>{effect}</p> })}
            <Changes old=now new=then/>
            <form class="form-actions" method="post">
                <input type="hidden" name="revision" value=revision/>
                <button class="button primary">"Revert"</button>
                <a class="button" href=back>
                    "Leave it as it is"
                </a>
            </form>
        </section>
    }
    .into_any()
}

/// Whether a member that will change has been changed again since, after a change that left it otherwise.
fn overwrites(left: Option<&Value>, now: Option<&Value>, then: Option<&Value>) -> bool {
    if left.is_none() || now.is_none() {
        return false;
    }
    let since = changes(left, now);
    let mut will = changes(now, then).into_iter();
    will.any(|change| since.iter().any(|since| since.name == change.name))
}
