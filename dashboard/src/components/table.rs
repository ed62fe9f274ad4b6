//! Tables.

use leptos::prelude::*;
use pennon_model::time::Timestamp;

use super::time::Time;
use crate::html::{Html, IntoHtml as _, html};

/// A table with a caption for screen readers; on a narrow screen, a card for each row.
#[component]
pub fn Table(
    /// The caption.
    caption: &'static str,
    /// The header cells.
    head: Html,
    /// The id of the table.
    #[prop(optional)]
    id: Option<&'static str>,
    /// The class of the panel around it.
    #[prop(default = "table-panel cards")]
    class: &'static str,
    /// The table bodies.
    children: Children,
) -> impl IntoView {
    html! {
        <div class=class>
            <table class="table" id=id>
                <caption class="visually-hidden">{caption}</caption>
                <thead>
                    <tr>{head}</tr>
                </thead>
                {children()}
            </table>
        </div>
    }
}

/// Renders header cells.
pub fn heads<const N: usize>(names: [&'static str; N]) -> Html {
    let cells = names.map(|name| view! { <th scope="col">{name}</th> });
    cells.collect_view().into_html()
}

/// A cell with its label, which is visible on cards.
#[component]
pub fn Cell(
    /// The label.
    label: &'static str,
    /// True if the cell is less important than others.
    #[prop(optional)]
    quiet: bool,
    /// The content.
    children: Children,
) -> impl IntoView {
    let content = view! { <span class="cell-label">{label}</span> {children()} };
    if quiet {
        html! { <td class="quiet">{content}</td> }
    } else {
        html! { <td>{content}</td> }
    }
}

/// A cell with a time.
#[component]
pub fn TimeCell(
    /// The label.
    label: &'static str,
    /// The time.
    at: Timestamp,
) -> impl IntoView {
    view! { <Cell label quiet=true><Time at/></Cell> }
}
