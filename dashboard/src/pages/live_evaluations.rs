//! The evaluations that the server makes for applications, as they come.

use leptos::prelude::*;
use pennon_core::Reason;
use pennon_model::{
    environment::{Environment, EnvironmentStatus},
    grant::Resource,
    id::EnvironmentId,
};

use super::path_id;
use crate::{
    components::{
        empty::Empty,
        frame::Section,
        link_button::LinkButton,
        notice::{Notice, Severity},
        page::page,
        page_head::PageHead,
        table::{Table, heads},
        title::Title,
    },
    describe,
    error::AdminError,
    form::with_query,
    html::{Html, html},
    port::{
        environments::EnvironmentAdmin, flag_page::FlagPageAdmin, query, signed_in, signed_in_user,
    },
    routes,
    scope::scoped,
};

/// The parameter with the key of the only flag to watch.
const FLAG: &str = "flag";

/// The evaluations of an environment, or of one flag in it. The script shows them once the user starts it.
#[component]
pub fn LiveEvaluations() -> impl IntoView {
    let id = path_id::<EnvironmentId>("id");
    let flag = Some(query().text(FLAG)).filter(|flag| !flag.is_empty());
    page(Section::Environments, "Environments", async move {
        let id = id?;
        let environments = signed_in::<dyn EnvironmentAdmin>()?;
        let environment = environments.environment(id).await?.environment;
        if environment.status == EnvironmentStatus::Revoked {
            return Err(AdminError::NotFound);
        }
        if !signed_in_user()?.may_edit(&Resource::of(&environment)) {
            return Err(AdminError::Forbidden);
        }
        if let Some(key) = &flag {
            let flags = signed_in::<dyn FlagPageAdmin>()?;
            flags.flag(key, Some(id), None).await?;
        }
        let name = environments.naming().await?.name_of(&environment);
        Ok(html! { <Page environment name flag/> })
    })
}

#[component]
fn Page(
    environment: Environment,
    /// The name of the environment, with its product if there are several.
    name: String,
    /// The key of the only flag to watch.
    flag: Option<String>,
) -> impl IntoView {
    let id = environment.id;
    let title = match &flag {
        Some(key) => format!("Live evaluations of {key} in {name} · Environments"),
        None => format!("Live evaluations in {name} · Environments"),
    };
    let all = flag.as_ref().map(|_| {
        view! { <LinkButton href=routes::live_evaluations(id) label="Show all flags"/> }
    });
    let of_flag = flag
        .as_ref()
        .map(|key| html! { " of " <code>{key.clone()}</code> });
    let events = with_query(
        routes::EVALUATION_EVENTS,
        [("environment", Some(id.to_string())), (FLAG, flag)],
    );
    html! {
        <Title text=title/>
        <PageHead
            above=Section::Environments
            between=(routes::environment(id), name.clone())
            title=html! { "Live evaluations" {of_flag} }
        >
            {all}
        </PageHead>
        <p class="live-about">
            "The evaluations that this instance of Pennon makes for applications in " <strong>{name}</strong>
            ", without the values of their contexts. Not included: those of clients that evaluate locally, and those of other instances. Nothing is stored."
        </p>
        <div class="no-scripts">
            <Notice severity=Severity::Warning>
                "This page needs scripts. Without them, the usage of a flag shows how often it is evaluated, and "
                <a href=Section::Playground.href()>"Try it"</a> " evaluates it for a context that you enter."
            </Notice>
        </div>
        <Live environment=id events/>
    }
}

/// The list and the button to start. The script alone changes it.
#[component]
fn Live(
    environment: EnvironmentId,
    /// The address of the stream.
    events: String,
) -> impl IntoView {
    let code = format!("{}#ask", routes::environment(environment));
    html! {
        <section class="live scripts" aria-label="Evaluations" data-unit data-evaluations=events>
            <div class="live-bar">
                <button class="button primary" type="button">"Start"</button>
                <p class="live-status quiet" data-status>"Stops by itself after 10 minutes."</p>
            </div>
            <div data-none>
                <Empty title="No evaluations yet">
                    <p>
                        "After Start, evaluations appear as soon as an application requests one. To try it, use the "
                        <a href=scoped(code)>"curl command"</a> " on the environment's page."
                    </p>
                </Empty>
            </div>
            <div data-some hidden>
                <Table
                    caption="Evaluations, newest first"
                    class="table-panel live-lines"
                    head=heads(["Time", "Flag", "Result", "Reason", "Context"])
                >
                    <tbody></tbody>
                </Table>
            </div>
            <template>{line(environment)}</template>
        </section>
    }
}

/// Renders the line of an evaluation with every result and reason, of which the script keeps one each.
fn line(environment: EnvironmentId) -> Html {
    let results = [true, false].map(|on| {
        view! { <span data-enabled=on.to_string()>{describe::on_off(on)}</span> }
    });
    let reasons = Reason::ALL.iter().map(|reason| {
        view! { <span data-reason=reason.as_str()>{reason_name(*reason)}</span> }
    });
    let flag = scoped(routes::flag_in("{key}", environment));
    html! {
        <tr>
            <td class="live-time">
                <time></time>
            </td>
            <th class="name" scope="row">
                <a href=flag>
                    <code></code>
                </a>
            </th>
            <td class="live-result">{results.collect_view()}</td>
            <td class="live-reason">{reasons.collect_view()}</td>
            <td class="live-context"></td>
        </tr>
    }
}

fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::FlagEnabled => "Switched on",
        Reason::FlagDisabled => "Switched off",
        Reason::FlagArchived => "Archived",
        Reason::TargetingRule => "Targeting rule",
        Reason::Rollout => "Rollout",
    }
}
