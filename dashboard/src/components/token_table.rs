//! Personal access tokens.

use leptos::prelude::*;
use pennon_model::{time::Timestamp, token::Token};

use super::{
    confirm::Confirm,
    role,
    time::{Date, Time},
};
use crate::html::IntoHtml as _;
use crate::port::visit;

/// A row for each token, with a button that revokes it: it posts the action `revoke` and the token's id to the page.
#[component]
pub fn TokenTable(
    /// The tokens.
    tokens: Vec<Token>,
    /// The name of the action that revokes one.
    revoke: &'static str,
) -> impl IntoView {
    let now = visit().map(|visit| visit.now()).ok();
    let rows = tokens
        .into_iter()
        .map(|token| row(token, revoke, now))
        .collect_view();
    view! {
        <div class="table-panel cards">
            <table class="table">
                <caption class="visually-hidden">"Tokens"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Name"</th>
                        <th scope="col">"Begins with"</th>
                        <th scope="col">"Role"</th>
                        <th scope="col">"Created"</th>
                        <th scope="col">"Ends"</th>
                        <th scope="col">
                            <span class="visually-hidden">"Actions"</span>
                        </th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_html()
}

fn row(token: Token, revoke: &'static str, now: Option<Timestamp>) -> impl IntoView {
    let over = now.is_some_and(|now| token.expires_at <= now);
    let name = token.name.to_string();
    let end = if over {
        view! { <span class="tag">"Ended"</span> }.into_html()
    } else {
        view! { <Date at=token.expires_at/> }.into_html()
    };
    let fields = vec![("do", revoke.to_owned()), ("token", token.id.to_string())];
    view! {
        <tr>
            <th class="name" scope="row" title=name.clone()>
                {name.clone()}
            </th>
            <td>
                <span class="cell-label">"Begins with"</span>
                <code>{token.token_prefix}</code>
            </td>
            <td>
                <span class="cell-label">"Role"</span>
                {role::name(token.role)}
            </td>
            <td class="quiet">
                <span class="cell-label">"Created"</span>
                <Time at=token.created_at/>
            </td>
            <td class="quiet">
                <span class="cell-label">"Ends"</span>
                {end}
            </td>
            <td class="row-actions">
                <Confirm
                    id=format!("revoke-{}", token.id)
                    word="Revoke"
                    action=format!("Revoke {name}")
                    fields
                >
                    <p>
                        "Whatever uses this token is refused from that moment on. It cannot be brought back, only replaced by a new one."
                    </p>
                </Confirm>
            </td>
        </tr>
    }
}
