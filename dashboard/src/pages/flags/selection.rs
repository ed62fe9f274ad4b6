//! The selection of flags in the list, and the actions for all selected flags.

use leptos::prelude::*;
use pennon_model::{bulk::BulkActionName, user::User};

use crate::{
    components::flag_table::SELECTION,
    html::{hidden, html},
    pages::change_flags::{ACTION, LIST, verb},
    routes,
    scope::scope_field,
};

/// The actions, in the order of their buttons.
const ACTIONS: [BulkActionName; 4] = [
    BulkActionName::Tag,
    BulkActionName::Enable,
    BulkActionName::Disable,
    BulkActionName::Archive,
];

/// Returns true if the user may perform an action on some flag.
fn is_offered(action: BulkActionName, user: &User) -> bool {
    match action {
        BulkActionName::Tag | BulkActionName::Archive => user.may_edit_flags(),
        BulkActionName::Enable | BulkActionName::Disable => user.may_edit_something(),
    }
}

/// The bar with the actions. It is shown while a flag is selected; each action opens a preview.
#[component]
pub fn SelectionBar(
    /// The address of the list, to return to.
    list: String,
    /// The reader, who gets only actions that the role permits.
    user: User,
) -> impl IntoView {
    let list = list.split_once('?').map(|(_, query)| hidden(LIST, query));
    let offered = ACTIONS
        .into_iter()
        .filter(|action| is_offered(*action, &user));
    let actions = offered.map(|action| {
        view! {
            <button class="button" name=ACTION value=action.as_str()>
                {verb(action)}
            </button>
        }
    });
    let actions = actions.collect_view();
    html! {
        <form
            class="selection-bar"
            id=SELECTION
            method="get"
            action=routes::CHANGE_FLAGS
            data-addressed
            aria-label="Selected flags"
        >
            <p data-selected-count role="status">
                "Selected flags"
            </p>
            {list}
            {scope_field()}
            <div class="selection-actions">{actions}</div>
        </form>
    }
}
