//! The clients that fetch an environment's flags.

use leptos::prelude::*;
use pennon_model::{
    client::{Client, ClientUsage},
    page::Page,
};

use super::{
    number::{counted, format_count},
    table::{Cell, Table, TimeCell, heads},
};
use crate::html::{Html, IntoHtml as _, html};

/// The packages and versions in use, most recently seen first, or a sentence that explains when they appear.
#[component]
pub fn ClientTable(
    /// The most recently seen clients.
    clients: Page<ClientUsage>,
) -> impl IntoView {
    let Page { items, pagination } = clients;
    if items.is_empty() {
        return html! {
            <p class="quiet">
                "No client has fetched flags here in the last 31 days. When one does, its package and version appear within two minutes."
            </p>
        };
    }
    let shown = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let has_other = items.iter().any(|usage| usage.client == Client::Other);
    let rows = items.into_iter().map(row).collect_view();
    html! {
        <p class="quiet">
            "Packages that fetched flags or kept a stream open in the last 31 days."
        </p>
        <Table caption="Clients" head=heads(["Client", "Version", "Requests", "Last seen"])>
            <tbody>{rows}</tbody>
        </Table>
        {has_other
            .then(|| {
                view! {
                    <p class="quiet">
                        "Other clients do not identify as a Pennon package, or exceed 50 names in an hour."
                    </p>
                }
            })}
        {(pagination.total > shown)
            .then(|| {
                view! {
                    <p class="quiet">
                        {format!(
                            "The {shown} most recently seen of {}. The API lists all of them.",
                            format_count(pagination.total),
                        )}
                    </p>
                }
            })}
    }
}

/// Renders the name and the version of a client.
pub(crate) fn client_cells(client: Client) -> (Html, Html) {
    match client {
        Client::Known(package, version) => (
            html! { <code>{package.as_str()}</code> },
            html! { <code>{version.to_string()}</code> },
        ),
        Client::Newer(package) => (
            html! { <code>{package.as_str()}</code> },
            "Newer than this server".into_html(),
        ),
        Client::Other => ("Other clients".into_html(), "Unknown".into_html()),
    }
}

fn row(usage: ClientUsage) -> impl IntoView {
    let (name, version) = client_cells(usage.client);
    view! {
        <tr>
            <th class="name" scope="row">
                {name}
            </th>
            <Cell label="Version">{version}</Cell>
            <Cell label="Requests">{requests(usage.polls, usage.streams)}</Cell>
            <TimeCell label="Last seen" at=usage.last_seen_at/>
        </tr>
    }
}

/// `1,240 fetches, 1 stream`, without the part that is 0.
fn requests(polls: i64, streams: i64) -> String {
    let count = |number: i64, one, many| (number != 0).then(|| counted(number, one, many));
    let parts = [
        count(polls, "fetch", "fetches"),
        count(streams, "stream", "streams"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        // In this hour, a stream was open that had been opened earlier.
        "Open stream".to_owned()
    } else {
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::requests;

    #[test]
    fn requests_omit_counts_of_zero() {
        assert_eq!(requests(1240, 1), "1,240 fetches, 1 stream");
        assert_eq!(requests(1, 0), "1 fetch");
        assert_eq!(requests(0, 2), "2 streams");
        assert_eq!(requests(0, 0), "Open stream");
    }
}
