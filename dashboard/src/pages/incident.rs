//! The recent changes, to find and take back the cause of an incident.

use leptos::prelude::*;
use pennon_model::{
    audit::AuditFilter,
    environment::Environment,
    id::{AuditId, EnvironmentId},
    time::Timestamp,
};

use crate::{
    choices::choices,
    components::{
        action_row::{ActionRow, is_of_another_day, is_revertible},
        empty::Empty,
        frame::Section,
        icon::{Drawing, Icon},
        link_button::LinkButton,
        page::page,
        page_head::PageHead,
        select::options,
        time::day,
        timeline::only_flag,
    },
    form::{Form, with_query},
    html::{Html, html},
    model::Naming,
    port::{
        audit::{AuditAdmin, RecentActions, Record},
        local, query, signed_in, visit,
    },
    routes,
    scope::{self, product, scope_field},
};

/// A period until now: the value in the address, the minutes, and its name.
type Period = (&'static str, i64, &'static str);

/// The periods to choose from.
const PERIODS: [Period; 4] = [
    ("15m", 15, "Last 15 min"),
    DEFAULT_PERIOD,
    ("4h", 4 * 60, "Last 4 h"),
    ("24h", 24 * 60, "Last 24 h"),
];

const DEFAULT_PERIOD: Period = ("1h", 60, "Last hour");

choices! {
    /// The groups of the listed actions.
    #[derive(Default)]
    enum Grouping {
        #[default]
        Time = "time",
        Person = "person",
        Flag = "flag",
    }
}

impl Grouping {
    fn label(self) -> &'static str {
        match self {
            Self::Time => "By time",
            Self::Person => "By person",
            Self::Flag => "By flag",
        }
    }
}

/// The choices in the address of the page. Unknown values are the defaults.
#[derive(Clone, Copy)]
pub(super) struct View {
    period: Period,
    environment: Option<EnvironmentId>,
    grouping: Grouping,
}

impl View {
    /// Reads the choices from the address.
    pub(super) fn of(form: &Form) -> Self {
        let period = form.text("last");
        let mut periods = PERIODS.into_iter();
        Self {
            period: periods
                .find(|(value, ..)| *value == period)
                .unwrap_or(DEFAULT_PERIOD),
            environment: form.parsed("environment"),
            grouping: Grouping::parse(&form.text("by")).unwrap_or_default(),
        }
    }

    /// Returns the address of a page with the same choices, and with these entries.
    pub(super) fn address(self, path: &str, entries: impl IntoIterator<Item = AuditId>) -> String {
        let (period, ..) = self.period;
        let choices = [
            (
                "last",
                (self.period != DEFAULT_PERIOD).then(|| period.to_owned()),
            ),
            ("environment", self.environment.map(|id| id.to_string())),
            (
                "by",
                (self.grouping != Grouping::default()).then(|| self.grouping.as_str().to_owned()),
            ),
        ];
        let entries = entries.into_iter();
        let entries = entries.map(|entry| (ENTRY, Some(entry.to_string())));
        with_query(path, choices.into_iter().chain(entries))
    }
}

/// The parameter with the id of an entry to revert.
pub(super) const ENTRY: &str = "entry";

/// The actions of a period until now, newest first or in groups, each in one sentence.
#[component]
pub fn Incident() -> impl IntoView {
    let mut view = View::of(&query());
    page(Section::Audit, "Recent changes · Audit", async move {
        let environments = scope::active_environments().await?;
        let chosen = environments
            .iter()
            .find(|each| Some(each.id) == view.environment);
        view.environment = chosen.map(|each| each.id);
        let (_, minutes, _) = view.period;
        let start = visit()?.now().plus_millis(-minutes * 60_000);
        let filter = AuditFilter {
            // The name, because the rotation of a key changes the id.
            environment: chosen.map(|each| each.name.to_string()),
            product: chosen.map(|each| each.product.to_string()).or_else(product),
            flags_of_product: true,
            from: Some(start),
            ..AuditFilter::default()
        };
        let recent = signed_in::<dyn AuditAdmin>()?
            .recent_actions(&filter)
            .await?;
        Ok(html! { <Recent view filter recent environments/> })
    })
}

#[component]
fn Recent(
    view: View,
    filter: AuditFilter,
    recent: RecentActions,
    environments: Vec<Environment>,
) -> impl IntoView {
    let RecentActions { actions, has_more } = recent;
    let revertible = actions.iter().filter(|action| is_revertible(action));
    let revertible = revertible.filter_map(|action| Some(action.first()?.entry.id));
    let revertible: Vec<_> = revertible.collect();
    let revert = (!revertible.is_empty()).then(|| {
        html! {
            <a class="button revert-all" href=view.address(routes::REVERT_SEVERAL, revertible)>
                <Drawing icon=Icon::BACK/>
                "Revert all of these"
            </a>
        }
    });
    let count = actions.len();
    let more = has_more.then(|| {
        html! {
            <p class="quiet">
                {format!("These are the newest {count} actions. ")}
                <a href=in_audit_log(&filter, Naming::of_environments(&environments))>"Show all changes of this period"</a>
            </p>
        }
    });
    let products = environments.iter().map(|each| each.product.as_str());
    let recorded = actions.iter().flatten();
    let recorded = recorded.filter_map(|record| record.entry.product.as_deref());
    let naming = Naming::of(products.chain(recorded));
    let list = if actions.is_empty() {
        html! { <NoActions view filter/> }
    } else {
        let groups = groups(view.grouping, actions).into_iter();
        let groups = groups.map(|(name, actions)| group(&name, actions, view.grouping, naming));
        html! { <div class="action-groups">{groups.collect_view()}</div> }
    };
    html! {
        <PageHead above=Section::Audit title="Recent changes">
            {revert}
        </PageHead>
        <Choices view environments/>
        {list}
        {more}
    }
}

/// Returns the address of the audit log with the same entries. An environment is named with its product, because the
/// parameter for the product selects one for the whole dashboard.
fn in_audit_log(filter: &AuditFilter, naming: Naming) -> String {
    let product = filter.product.as_deref().unwrap_or_default();
    let environment = filter.environment.as_ref();
    with_query(
        routes::AUDIT,
        [
            (
                "environment",
                environment.map(|name| naming.name(product, name)),
            ),
            ("from", filter.from.map(|from: Timestamp| from.to_string())),
        ],
    )
}

/// Groups actions, in the order of the newest action of each group.
fn groups(grouping: Grouping, actions: Vec<Vec<Record>>) -> Vec<(String, Vec<Vec<Record>>)> {
    let now = visit().map_or(Timestamp::from_millis(0), |visit| visit.now());
    let today = local(now);
    let mut groups: Vec<(String, Vec<Vec<Record>>)> = Vec::new();
    for action in actions {
        let Some(newest) = action.first().map(|record| &record.entry) else {
            continue;
        };
        let name = match grouping {
            Grouping::Time => day(&local(newest.occurred_at), &today),
            Grouping::Person => newest.actor_identity.clone(),
            Grouping::Flag => match only_flag(&action) {
                Some(key) => key.to_owned(),
                None if action.iter().any(|record| record.entry.flag_key.is_some()) => {
                    "Several flags".to_owned()
                }
                None => "Environments".to_owned(),
            },
        };
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.push(action),
            None => groups.push((name, vec![action])),
        }
    }
    groups
}

fn group(name: &str, actions: Vec<Vec<Record>>, grouping: Grouping, naming: Naming) -> Html {
    let count = actions.len();
    let rows = actions.into_iter().map(|records| {
        let with_date = grouping != Grouping::Time && is_of_another_day(&records);
        html! { <ActionRow records naming with_date with_revert=true note=None/> }
    });
    html! {
        <section class="action-group">
            <h2>{name.to_owned()} " " <span class="count">{count}</span></h2>
            <ol class="action-list">{rows.collect_view()}</ol>
        </section>
    }
}

/// The choices. The form submits them in the address, which can be shared.
#[component]
fn Choices(view: View, environments: Vec<Environment>) -> impl IntoView {
    let naming = Naming::of_environments(&environments);
    let periods = PERIODS.map(|(value, _, name)| (value, name));
    let environments = environments.iter();
    let environments = environments.map(|each| (each.id.to_string(), naming.name_of(each)));
    let environment = view.environment.map(|id| id.to_string());
    let groupings = Grouping::ALL.map(|each| (each.as_str(), each.label()));
    html! {
        <search>
            <form class="incident-choices" method="get" action=routes::INCIDENT>
                {scope_field()}
                <select class="input" name="last" aria-label="Period">
                    {options(periods, view.period.0)}
                </select>
                <select class="input" name="environment" aria-label="Environment">
                    <option value="">"All environments"</option>
                    {options(environments, &environment.unwrap_or_default())}
                </select>
                <select class="input" name="by" aria-label="Groups">
                    {options(groupings, view.grouping.as_str())}
                </select>
                <button class="button">"Show"</button>
            </form>
        </search>
    }
}

/// The page if there are no actions in the period.
#[component]
fn NoActions(view: View, filter: AuditFilter) -> impl IntoView {
    let (_, _, period) = view.period;
    let place = filter.environment.or(filter.product);
    let place = place.map(|place| format!(" in {place}"));
    let title = format!(
        "No changes{} in the {}",
        place.unwrap_or_default(),
        period.to_lowercase()
    );
    let longest = PERIODS.last().copied().filter(|each| *each != view.period);
    let longer = longest.map(|period| {
        let href = View { period, ..view }.address(routes::INCIDENT, []);
        html! { <LinkButton href label="Show the last 24 h"/> }
    });
    html! {
        <Empty title>
            <p>"Nobody changed a flag or an environment here, so the cause is elsewhere or older."</p>
            {longer}
            <LinkButton href=Section::Audit.href() label="Show the audit log"/>
        </Empty>
    }
}
