//! Personal access tokens.

use leptos::prelude::*;
use pennon_model::{time::Timestamp, token::Token};

use super::{
    confirm::Confirm,
    grants::{GrantScopes, phrases},
    role,
    table::{Cell, Table, TimeCell, heads},
    time::Date,
};
use crate::html::{IntoHtml as _, html};
use crate::port::visit;

/// A row for each token, with a button that revokes it by posting the action `revoke` and the token's id to the page.
#[component]
pub fn TokenTable(
    /// The tokens.
    tokens: Vec<Token>,
    /// The names of products and environments.
    scopes: GrantScopes,
    /// The name of the action that revokes one.
    revoke: &'static str,
) -> impl IntoView {
    let now = visit().map(|visit| visit.now()).ok();
    let rows = tokens
        .into_iter()
        .map(|token| row(token, &scopes, revoke, now))
        .collect_view();
    let head = view! {
        {heads(["Name", "Prefix", "Role", "Created", "Expires"])}
        <th scope="col">
            <span class="visually-hidden">"Actions"</span>
        </th>
    };
    html! {
        <Table caption="Tokens" head=head.into_html()>
            <tbody>{rows}</tbody>
        </Table>
    }
}

fn row(
    token: Token,
    scopes: &GrantScopes,
    revoke: &'static str,
    now: Option<Timestamp>,
) -> impl IntoView + use<> {
    let over = now.is_some_and(|now| token.expires_at <= now);
    let name = token.name.to_string();
    let end = if over {
        html! { <span class="tag">"Expired"</span> }
    } else {
        html! { <Date at=token.expires_at/> }
    };
    let grants = phrases(&token.grants, scopes);
    let grants = grants
        .into_iter()
        .map(|phrase| view! { <span class="grant">{phrase}</span> });
    let grants = grants.collect_view();
    let fields = vec![("do", revoke.to_owned()), ("token", token.id.to_string())];
    view! {
        <tr>
            <th class="name" scope="row" title=name.clone()>
                {name.clone()}
            </th>
            <Cell label="Prefix">
                <code>{token.token_prefix}</code>
            </Cell>
            <Cell label="Role">
                <span>{role::name(token.role)} {grants}</span>
            </Cell>
            <TimeCell label="Created" at=token.created_at/>
            <Cell label="Expires" quiet=true>
                {end}
            </Cell>
            <td class="row-actions">
                <Confirm
                    id=format!("revoke-{}", token.id)
                    label="Revoke"
                    action=format!("Revoke {name}")
                    fields
                >
                    <p>
                        "Scripts that use this token stop working at once. You cannot restore it, only create a new one."
                    </p>
                </Confirm>
            </td>
        </tr>
    }
}
