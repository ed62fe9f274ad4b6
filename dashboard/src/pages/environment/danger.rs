//! The forms of irreversible actions on an environment.

use leptos::prelude::*;
use pennon_model::{environment::Environment, time::Timestamp, usage::Polling};

use super::{Action, previous_key};
use crate::{
    components::{
        confirm_change::ConfirmedFields,
        field::{Field, Input},
        number::format_count,
        refusal::RefusalNotice,
        time::Time,
    },
    form_page::FormState,
    html::{Html, hidden, html},
};

/// An irreversible action.
pub(super) struct Danger {
    action: Action,
    title: &'static str,
    /// The name of the field that takes the environment's name as confirmation.
    pub(super) name_field: &'static str,
    /// The id of the field with the reason, unique on the page.
    reason_id: &'static str,
    /// The time at which applications are rejected.
    rejection: &'static str,
    consequences: &'static str,
}

/// Rotates the key.
pub(super) const ROTATION: Danger = Danger {
    action: Action::Rotate,
    title: "Rotate key",
    name_field: "rotate-name",
    reason_id: "rotate-reason",
    rejection: "immediately or after the time that you choose, until you give them the new key",
    consequences: "Switches, rules, rollouts and usage are kept. Once rejected, the old key never works again.",
};

/// Revokes the environment.
pub(super) const REVOCATION: Danger = Danger {
    action: Action::Revoke,
    title: "Revoke environment",
    name_field: "revoke-name",
    reason_id: "revoke-reason",
    rejection: "immediately and permanently",
    consequences: "The environment disappears from every flag. Its configuration can no longer be changed or restored, but its name can be reused.",
};

impl Danger {
    /// Renders the form. It describes the consequences, and requires the environment's name as confirmation.
    pub(super) fn form(
        &self,
        environment: &Environment,
        state: &FormState,
        last_used: Html,
        options: Option<Html>,
    ) -> Html {
        let refusal = self.action.refusal(state);
        let revision = self.action.expected(state, environment);
        let posted = refusal.form.clone();
        let open = posted.is_some();
        let prefix = format!("{}…", environment.sdk_key_prefix);
        let rejection = format!(" are rejected {}. ", self.rejection);
        html! {
            <details class="danger-zone" open=open>
                <summary>{self.title} "…"</summary>
                // Not in the form, because its text changes with time, and an update would report that as a conflict.
                {last_used}
                <form class="form" method="post" autocomplete="off">
                    <RefusalNotice error=refusal.other.clone()/>
                    <p>
                        "Applications that send " <code>{prefix}</code>
                        {rejection}
                        "Running apps keep their flags until the TTL expires (60 s by default)."
                    </p>
                    <p>{self.consequences}</p>
                    {options}
                    {hidden("do", self.action.as_str())}
                    {hidden("revision", revision.to_string())}
                    <p>"To confirm, type " <strong class="typed-name">{environment.name.to_string()}</strong> "."</p>
                    <Field
                        name=self.name_field
                        label="Environment name"
                        input=Input::Line
                        refusal
                    />
                    <ConfirmedFields environment=environment.clone() posted id=self.reason_id/>
                    <div class="form-actions">
                        <button class="button danger primary">{self.title}</button>
                    </div>
                </form>
            </details>
        }
    }
}

/// Renders the choice of the time for which the old key is accepted after a rotation.
pub(super) fn overlap_field(state: &FormState) -> Html {
    let overlap = state.form.as_ref();
    let overlap = overlap.map(|form| form.text(previous_key::OVERLAP));
    html! {
        <Field
            name=previous_key::OVERLAP
            label="Old key"
            input=Input::Choice(previous_key::OVERLAPS)
            hint="Accepted for some time, it lets you update applications one by one. This page shows which still use it."
            value=overlap.unwrap_or_default()
        />
    }
}

/// Renders the time at which the key was last used. While the previous key works, the usage of both is counted
/// together.
pub(super) fn last_used(
    environment: &Environment,
    polling: Polling,
    last_used: Option<Timestamp>,
) -> Html {
    let key = match environment.previous_key {
        Some(_) => "It or the previous key",
        None => "It",
    };
    let sentence = match last_used {
        None => html! { "No application has used this key yet." },
        Some(at) => html! {
            {key} " was last used " <Time at/>
            {match polling.polls.total() {
                0 => "; no flags were fetched in the last 24 hours.".to_owned(),
                1 => "; flags were fetched once in the last 24 hours.".to_owned(),
                polls => format!("; flags were fetched {} times in the last 24 hours.", format_count(polls)),
            }}
        },
    };
    html! { <p class="last-used">{sentence}</p> }
}
