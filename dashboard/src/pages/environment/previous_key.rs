//! The previous key of an environment, while it still works after a rotation.

use leptos::prelude::*;
use pennon_model::{
    environment::Environment,
    previous_key::{PreviousKeyClient, PreviousKeyUsage},
};

use super::Action;
use crate::{
    components::{
        client_table::client_cells,
        confirm::Confirm,
        number::format_count,
        refusal::RefusalNotice,
        table::{Cell, Table, TimeCell, heads},
        time::{Clock, Date},
    },
    form_page::FormState,
    html::{Html, html},
};

/// The name of the field with the overlap, in seconds.
pub(super) const OVERLAP: &str = "overlap";

/// The overlaps that the form of a rotation offers.
pub(super) const OVERLAPS: &[(&str, &str)] = &[
    ("0", "Reject it immediately"),
    ("3600", "Accept it for 1 hour"),
    ("86400", "Accept it for 1 day"),
    ("604800", "Accept it for 7 days"),
];

/// Renders the previous key, its end and the clients that use it. Administrators can end it.
pub(super) fn section(
    environment: &Environment,
    usage: PreviousKeyUsage,
    manages: bool,
    state: &FormState,
) -> Html {
    let ends_at = usage.key.ends_at;
    let prefix = format!("{}…", usage.key.prefix);
    let end = manages.then(|| end_form(environment, &usage, state));
    html! {
        <section class="part" aria-labelledby="previous-key">
            <h2 id="previous-key">"Previous key"</h2>
            <p>
                "The key " <code>{prefix}</code> " was rotated, and still works until " <Date at=ends_at/>
                ", " <Clock at=ends_at/> "."
            </p>
            {clients(usage.clients)}
            {end}
        </section>
    }
}

fn end_form(environment: &Environment, usage: &PreviousKeyUsage, state: &FormState) -> Html {
    let refusal = Action::EndPreviousKey.refusal(state);
    let consequence = if usage.clients.is_empty() {
        "No application has used the key since the rotation."
    } else {
        "Applications that still send the key are rejected immediately, until you give them the new one."
    };
    let prefix = format!("{}…", usage.key.prefix);
    let fields = vec![
        ("do", Action::EndPreviousKey.as_str().to_owned()),
        (
            "revision",
            Action::EndPreviousKey
                .expected(state, environment)
                .to_string(),
        ),
    ];
    html! {
        <RefusalNotice error=refusal.other/>
        <div class="form-actions">
            <Confirm
                id="end-previous-key".to_owned()
                label="End now"
                action="End now".to_owned()
                fields
                environment=environment.clone()
                posted=refusal.form
            >
                <p>
                    {consequence} " The previous key, " <code>{prefix}</code> ", never works again."
                </p>
            </Confirm>
        </div>
    }
}

/// Renders the clients that use the key.
fn clients(clients: Vec<PreviousKeyClient>) -> Html {
    if clients.is_empty() {
        return html! {
            <p class="quiet">
                "No application has used it since the rotation. When one does, it appears here within two minutes."
            </p>
        };
    }
    let rows = clients.into_iter().map(row).collect_view();
    html! {
        <p class="quiet">"These applications still use it:"</p>
        <Table
            caption="Clients with the previous key"
            head=heads(["Client", "Version", "Requests", "Last seen"])
        >
            <tbody>{rows}</tbody>
        </Table>
    }
}

fn row(usage: PreviousKeyClient) -> impl IntoView {
    let (name, version) = client_cells(usage.client);
    view! {
        <tr>
            <th class="name" scope="row">
                {name}
            </th>
            <Cell label="Version">{version}</Cell>
            <Cell label="Requests">{format_count(usage.requests)}</Cell>
            <TimeCell label="Last seen" at=usage.last_seen_at/>
        </tr>
    }
}
