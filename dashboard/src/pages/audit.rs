//! Who did what, and when.

use leptos::prelude::*;
use pennon_model::{
    audit::AuditFilter,
    page::{Limit, Page, PageRequest},
    time::Timestamp,
    user::Role,
};

use super::flags::page_number;
use crate::{
    components::{
        answer::page,
        empty::Empty,
        field::{Field, Input},
        frame::Section,
        icon::{Drawing, Icon},
        page_head::PageHead,
        pager::Pager,
        timeline::Timeline,
    },
    form::Form,
    html::IntoHtml as _,
    model::Naming,
    port::{
        audit::{AuditAdmin, Record},
        environments::{EnvironmentAdmin, PolledEnvironment},
        local, query, signed_in, signed_in_user, visit,
    },
    routes,
};

/// How many changes a page shows.
pub(super) fn page_length() -> Limit {
    50.try_into().unwrap_or_default()
}

/// The record of all changes, narrowed by what the address says.
#[component]
pub fn Audit() -> impl IntoView {
    let asked = Asked::from(&query());
    page(Section::Audit, "Audit", async move {
        let role = signed_in_user()?.role;
        let active = signed_in::<dyn EnvironmentAdmin>()?
            .active_environments()
            .await?;
        let environments = Environments::of(&active);
        let mut asked = asked;
        asked.filter.accounts &= role >= Role::Admin;
        environments.find(&mut asked.filter);
        let page = signed_in::<dyn AuditAdmin>()?
            .changes(&asked.filter, asked.page)
            .await?;
        Ok(view! { <List asked page environments role/> })
    })
}

/// The environments to narrow by.
#[derive(Clone)]
struct Environments {
    naming: Naming,
    /// Product and name of each.
    all: Vec<(String, String)>,
}

impl Environments {
    fn of(active: &[PolledEnvironment]) -> Self {
        let environments = active.iter().map(|polled| &polled.environment);
        let all = environments.map(|each| (each.product.to_string(), each.name.to_string()));
        let all: Vec<_> = all.collect();
        Self {
            naming: Naming::of(all.iter().map(|(product, _)| product.as_str())),
            all,
        }
    }

    /// Takes what was typed for an environment apart, if it is what one of them is called. Otherwise it is a name.
    fn find(&self, filter: &mut AuditFilter) {
        let typed = filter.environment.as_deref().unwrap_or_default();
        let is_called = |(product, name): &&(String, String)| {
            self.naming.with_products && self.naming.name(product, name) == typed
        };
        if let Some((product, name)) = self.all.iter().find(is_called) {
            (filter.product, filter.environment) = (Some(product.clone()), Some(name.clone()));
        }
    }
}

/// The name of the environment in the filter.
fn called(filter: &AuditFilter) -> String {
    let naming = Naming {
        with_products: filter.product.is_some(),
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    naming.name(&text(&filter.product), &text(&filter.environment))
}

/// What the address asks for, with the days as they are written there.
#[derive(Clone)]
struct Asked {
    filter: AuditFilter,
    page: PageRequest,
    from: String,
    to: String,
}

/// Reads the address. A day counts from its beginning or to its end, in the visitor's time zone; what is neither a day nor a
/// time counts for nothing.
impl From<&Form> for Asked {
    fn from(form: &Form) -> Self {
        let day = |date: &str| visit().ok()?.day(date);
        let moment = |field: &str| -> Option<(Timestamp, Timestamp)> {
            let text = form.text(field);
            let exact = text.parse().map(|moment| (moment, moment));
            day(&text).or(exact.ok())
        };
        let from = moment("from").map(|(first, _)| first);
        let to = moment("to").map(|(_, last)| last);
        let day = |moment: Option<Timestamp>| {
            let day = moment.map(|moment| local(moment).date);
            day.unwrap_or_default()
        };
        let given = |field: &str| {
            let text = form.text(field).trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        Self {
            filter: AuditFilter {
                flag_key: given("flagKey"),
                environment: given("environment"),
                product: given("product"),
                from,
                to,
                accounts: form.text("include") == "accounts",
            },
            page: PageRequest {
                page: page_number(form).try_into().unwrap_or_default(),
                limit: page_length(),
            },
            from: day(from),
            to: day(to),
        }
    }
}

impl Asked {
    fn is_narrowed(&self) -> bool {
        let AuditFilter {
            flag_key,
            environment,
            from,
            to,
            ..
        } = &self.filter;
        flag_key.is_some() || environment.is_some() || from.is_some() || to.is_some()
    }

    /// The address at which a page or the export is to be had. Moments are exact, so that it means the same everywhere.
    fn href(&self, path: &str, page: Option<i64>) -> String {
        let moment = |moment: Option<Timestamp>| moment.map(|moment| moment.to_string());
        let filter = &self.filter;
        let pairs = [
            ("flagKey", filter.flag_key.clone()),
            ("environment", filter.environment.clone()),
            ("product", filter.product.clone()),
            ("from", moment(filter.from)),
            ("to", moment(filter.to)),
            ("include", filter.accounts.then(|| "accounts".to_owned())),
            ("page", page.map(|page| page.to_string())),
        ];
        let given = pairs
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let given = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(given)
            .finish();
        if given.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{given}")
        }
    }
}

#[component]
fn List(asked: Asked, page: Page<Record>, environments: Environments, role: Role) -> impl IntoView {
    let pagination = page.pagination;
    let export = (pagination.total > 0).then(|| {
        let href = asked.href(routes::AUDIT_EXPORT, None);
        view! {
            <a class="button" href=href download="pennon-audit.json">
                <Drawing icon=Icon::Download/>
                "Export as JSON"
            </a>
        }
    });
    let list = if page.items.is_empty() {
        view! { <Nothing narrowed=asked.is_narrowed()/> }.into_html()
    } else {
        let asked = asked.clone();
        // Those of entries count, too: they may be of a product that is not there any more.
        let known = environments.all.iter().map(|(product, _)| product.as_str());
        let recorded = page.items.iter();
        let recorded = recorded.filter_map(|record| record.entry.product.as_deref());
        let naming = Naming::of(known.chain(recorded));
        view! {
            <Timeline records=page.items.clone() naming/>
            <Pager pagination href=move |page| asked.href(Section::Audit.href(), Some(page))/>
        }
        .into_html()
    };
    view! {
        <PageHead title="Audit" count=pagination.total>{export}</PageHead>
        <Filters asked environments role/>
        {list}
    }
    .into_html()
}

/// What to narrow the list by. The form is sent as an address, which can be shared.
#[component]
fn Filters(asked: Asked, environments: Environments, role: Role) -> impl IntoView {
    let narrowed = asked.is_narrowed() || asked.filter.accounts;
    let called = called(&asked.filter);
    let names = environments.all.iter().map(|(product, name)| {
        let name = environments.naming.name(product, name);
        view! { <option value=name></option> }
    });
    let names = names.collect_view();
    let accounts = (role >= Role::Admin).then(|| {
        view! {
            <label class="check">
                <input type="checkbox" name="include" value="accounts" checked=asked.filter.accounts/>
                "Accounts too"
            </label>
        }
    });
    view! {
        <search>
            <form class="audit-filters" method="get" action=Section::Audit.href()>
                <Field
                    name="flagKey"
                    label="Flag key"
                    input=Input::Code
                    value=asked.filter.flag_key.unwrap_or_default()
                    optional=true
                />
                <div class="field">
                    <label for="environment">"Environment"</label>
                    <input
                        class="input"
                        id="environment"
                        name="environment"
                        list="environments"
                        autocomplete="off"
                        value=called
                    />
                    <datalist id="environments">{names}</datalist>
                </div>
                <Day name="from" label="From" value=asked.from/>
                <Day name="to" label="To" value=asked.to/>
                {accounts}
                <div class="form-actions">
                    <button class="button">"Filter"</button>
                    {narrowed
                        .then(|| {
                            view! {
                                <a class="button" href=Section::Audit.href()>
                                    "Show all"
                                </a>
                            }
                        })}
                </div>
            </form>
        </search>
    }
    .into_html()
}

#[component]
fn Day(name: &'static str, label: &'static str, value: String) -> impl IntoView {
    view! {
        <div class="field">
            <label for=name>{label}</label>
            <input class="input" type="date" id=name name=name value=value/>
        </div>
    }
}

#[component]
fn Nothing(narrowed: bool) -> impl IntoView {
    if narrowed {
        view! {
            <Empty title="Nothing was changed that fits">
                <p>"Names and keys have to be exact."</p>
                <a class="button" href=Section::Audit.href()>
                    "Show all changes"
                </a>
            </Empty>
        }
        .into_html()
    } else {
        view! {
            <Empty title="Nothing has been changed yet">
                <p>"Every change of a flag or an environment is recorded here: who made it, when, and what was different before."</p>
            </Empty>
        }
        .into_html()
    }
}
