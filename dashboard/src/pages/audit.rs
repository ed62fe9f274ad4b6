//! The audit log.

use std::collections::BTreeSet;

use leptos::prelude::*;
use pennon_model::{
    audit::{AuditAction, AuditFilter},
    environment::Environment,
    page::Page,
    time::Timestamp,
};

use super::paging::{page_length, page_request};
use crate::{
    audit::sentence::action_label,
    components::{
        empty::Empty,
        field::{Field, Input},
        frame::Section,
        icon::{Drawing, Icon},
        link_button::LinkButton,
        page::page,
        page_head::PageHead,
        pager::Pager,
        select::options,
        timeline::Timeline,
    },
    form::{Form, with_query},
    html::html,
    model::Naming,
    port::{
        audit::{AuditAdmin, Record},
        local, query, signed_in, signed_in_user, visit,
    },
    routes,
    scope::{self, product, scope_field},
};

/// All audit entries that match the filter in the address.
#[component]
pub fn Audit() -> impl IntoView {
    let mut filter = from_address(&query());
    let request = page_request(&query(), page_length());
    page(Section::Audit, "Audit", async move {
        let is_administrator = signed_in_user()?.is_administrator();
        let environments = scope::active_environments().await?;
        filter.accounts &= is_administrator;
        let entries = with_environment_of_name(&environments, &filter);
        let page = signed_in::<dyn AuditAdmin>()?
            .changes(&entries, request)
            .await?;
        let export = address(&entries, routes::AUDIT_EXPORT, None);
        Ok(view! { <List filter page export environments is_administrator/> })
    })
}

/// Returns the filter with the text for the environment split into product and name, if it is the full name of an
/// environment. The address keeps the text, because its product is the one that is selected for the whole dashboard.
fn with_environment_of_name(environments: &[Environment], filter: &AuditFilter) -> AuditFilter {
    let naming = Naming::of_environments(environments);
    let text = filter.environment.as_deref().unwrap_or_default();
    let has_name = |each: &&Environment| naming.with_products && naming.name_of(each) == text;
    match environments.iter().find(has_name) {
        Some(found) => AuditFilter {
            product: Some(found.product.to_string()),
            environment: Some(found.name.to_string()),
            ..filter.clone()
        },
        None => filter.clone(),
    }
}

/// Reads the filter from the address. A date includes the whole day, and a time without a zone the whole minute, in the
/// visitor's time zone. Other values that are no time are ignored, and so is an unknown action.
fn from_address(form: &Form) -> AuditFilter {
    let parse_time = |field: &str| -> Option<(Timestamp, Timestamp)> {
        let text = form.text(field);
        let exact = text.parse().map(|moment| (moment, moment));
        let visit = visit().ok()?;
        let local = visit.day(&text).or_else(|| visit.minute(&text));
        local.or(exact.ok())
    };
    let text_of = |field: &str| {
        let text = form.text(field).trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    AuditFilter {
        flag_key: text_of("flagKey"),
        environment: text_of("environment"),
        product: product(),
        flags_of_product: true,
        from: parse_time("from").map(|(first, _)| first),
        to: parse_time("to").map(|(_, last)| last),
        actor: text_of("actor"),
        action: AuditAction::parse(&form.text("action")).ok(),
        accounts: form.text("include") == "accounts",
    }
}

fn is_filtered(filter: &AuditFilter) -> bool {
    let AuditFilter {
        flag_key,
        environment,
        from,
        to,
        actor,
        action,
        ..
    } = filter;
    let is_about = flag_key.is_some() || environment.is_some();
    let is_by = actor.is_some() || action.is_some();
    is_about || is_by || from.is_some() || to.is_some()
}

/// Returns the address of a page or of the export. Times are exact, so the address means the same in every time zone.
fn address(filter: &AuditFilter, path: &str, page: Option<i64>) -> String {
    let format_time = |moment: Option<Timestamp>| moment.map(|moment| moment.to_string());
    with_query(
        path,
        [
            ("flagKey", filter.flag_key.clone()),
            ("environment", filter.environment.clone()),
            ("product", filter.product.clone()),
            ("actor", filter.actor.clone()),
            (
                "action",
                filter.action.map(|action| action.as_str().to_owned()),
            ),
            ("from", format_time(filter.from)),
            ("to", format_time(filter.to)),
            ("include", filter.accounts.then(|| "accounts".to_owned())),
            ("page", page.map(|page| page.to_string())),
        ],
    )
}

#[component]
fn List(
    filter: AuditFilter,
    page: Page<Record>,
    export: String,
    environments: Vec<Environment>,
    is_administrator: bool,
) -> impl IntoView {
    let pagination = page.pagination;
    let recorded = page.items.iter();
    let actors = recorded.map(|record| record.entry.actor_identity.clone());
    let own = signed_in_user().map(|user| user.email);
    let actors: BTreeSet<_> = actors.chain(own).collect();
    let export = (pagination.total > 0).then(|| {
        view! {
            <a class="button" href=export download="pennon-audit.json">
                <Drawing icon=Icon::DOWNLOAD/>
                "Export as JSON"
            </a>
        }
    });
    let list = if pagination.total == 0 {
        html! { <NoEntries filtered=is_filtered(&filter) product=filter.product.clone()/> }
    } else {
        let filter = filter.clone();
        // Includes the products of entries, some of which no longer exist.
        let known = environments.iter().map(|each| each.product.as_str());
        let recorded = page.items.iter();
        let recorded = recorded.filter_map(|record| record.entry.product.as_deref());
        let naming = Naming::of(known.chain(recorded));
        html! {
            <Timeline records=page.items.clone() naming with_history=true/>
            <Pager pagination href=move |page| address(&filter, routes::AUDIT, Some(page))/>
        }
    };
    html! {
        <PageHead title="Audit" count=pagination.total>
            <div class="page-actions">
                <LinkButton href=routes::INCIDENT label="Recent changes" icon=Icon::CLOCK/>
                {export}
            </div>
        </PageHead>
        <Filters filter environments actors is_administrator/>
        {list}
    }
}

/// The filters. The form submits them in the address, which can be shared.
#[component]
fn Filters(
    filter: AuditFilter,
    environments: Vec<Environment>,
    /// The suggested identities of actors.
    actors: BTreeSet<String>,
    is_administrator: bool,
) -> impl IntoView {
    let filtered = is_filtered(&filter) || filter.accounts;
    let naming = Naming::of_environments(&environments);
    let names = environments.iter().map(|each| naming.name_of(each));
    let names: Vec<_> = names.collect();
    let actors: Vec<_> = actors.into_iter().collect();
    // Only administrators see entries about accounts, and only on request.
    let listed = AuditAction::ALL.iter();
    let listed = listed.filter(|action| filter.accounts || !action.is_about_accounts());
    let actions = listed.map(|&action| (action.as_str(), action_label(action)));
    let action = filter.action.map(AuditAction::as_str).unwrap_or_default();
    let accounts = is_administrator.then(|| {
        view! {
            <label class="check">
                <input type="checkbox" name="include" value="accounts" checked=filter.accounts/>
                "Include account changes"
            </label>
        }
    });
    html! {
        <search>
            <form class="audit-filters" method="get" action=routes::AUDIT>
                {scope_field()}
                <Field
                    name="flagKey"
                    label="Flag key"
                    input=Input::Code
                    value=filter.flag_key.unwrap_or_default()
                    optional=true
                />
                <Suggested name="environment" label="Environment" value=filter.environment options=names/>
                <Suggested name="actor" label="Person" value=filter.actor options=actors/>
                <div class="field">
                    <label for="action">"Action"</label>
                    <select class="input" id="action" name="action">
                        <option value="">"All actions"</option>
                        {options(actions, action)}
                    </select>
                </div>
                <Minute name="from" label="From" at=filter.from/>
                <Minute name="to" label="To" at=filter.to/>
                {accounts}
                <div class="form-actions">
                    <button class="button">"Filter"</button>
                    {filtered
                        .then(|| {
                            view! {
                                <LinkButton href=Section::Audit.href() label="Show all"/>
                            }
                        })}
                </div>
            </form>
        </search>
    }
}

/// A field for an exact text, with suggestions.
#[component]
fn Suggested(
    name: &'static str,
    label: &'static str,
    value: Option<String>,
    /// The suggestions.
    options: Vec<String>,
) -> impl IntoView {
    let list = format!("{name}s");
    let options = options.into_iter();
    let options = options.map(|each| view! { <option value=each></option> });
    view! {
        <div class="field">
            <label for=name>{label}</label>
            <input
                class="input"
                id=name
                name=name
                list=list.clone()
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                value=value
            />
            <datalist id=list>{options.collect_view()}</datalist>
        </div>
    }
}

/// A field for a minute in the visitor's time zone.
#[component]
fn Minute(name: &'static str, label: &'static str, at: Option<Timestamp>) -> impl IntoView {
    let value = at.map(|at| {
        let at = local(at);
        format!("{}T{}", at.date, at.hour_and_minute())
    });
    view! {
        <div class="field minute">
            <label for=name>{label}</label>
            <input class="input" type="datetime-local" id=name name=name value=value/>
        </div>
    }
}

#[component]
fn NoEntries(filtered: bool, product: Option<String>) -> impl IntoView {
    if filtered {
        html! {
            <Empty title="No changes match these filters">
                <p>"Enter the exact flag key, environment name or e-mail address, or choose other times."</p>
                <LinkButton href=Section::Audit.href() label="Show all changes"/>
            </Empty>
        }
    } else {
        let title = match product {
            Some(product) => format!("No changes in {product} yet"),
            None => "No changes yet".to_owned(),
        };
        html! {
            <Empty title>
                <p>"Every change to a flag or an environment is recorded here: who made it, when, and the values before and after."</p>
            </Empty>
        }
    }
}
