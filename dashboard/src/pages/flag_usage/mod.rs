//! The usage of one flag, by result or by reason.

mod breakdown;
pub mod changes;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use pennon_model::{id::EnvironmentId, time::Timestamp, usage::FlagEnvironmentUsage};

use self::breakdown::Breakdown;
use self::changes::{Changes, changes_since, in_place, marks};
use crate::{
    choices::choices,
    components::{
        empty::Empty,
        frame::Section,
        number::{counted, format_count},
        page::page,
        page_head::PageHead,
        snippet::Snippet,
        table::{Table, heads},
        time::time_or,
        title::Title,
        usage_chart::{Bar, UsageChart},
    },
    form::{Form, with_query},
    html::html,
    model::Naming,
    port::{
        Visit,
        audit::RecentActions,
        environments::EnvironmentAdmin,
        query, signed_in,
        usage::{FlagUsage, UsageAdmin},
        visit,
    },
    routes,
    scope::product,
};

const HOUR: i64 = 60 * 60 * 1000;

choices! {
    /// The period of the chart. Its link shows the value.
    #[derive(Default)]
    enum Period {
        #[default]
        Day = "24h",
        Week = "7d",
        Month = "30d",
    }
}

impl Period {
    fn describe(self) -> &'static str {
        match self {
            Self::Day => "in the last 24 hours",
            Self::Week => "in the last 7 days",
            Self::Month => "in the last 30 days",
        }
    }

    /// Returns the length of a bar in milliseconds, and the number of bars.
    fn bars(self) -> (i64, i64) {
        match self {
            Self::Day => (HOUR, 24),
            Self::Week => (6 * HOUR, 28),
            Self::Month => (24 * HOUR, 30),
        }
    }

    /// Returns the start of each bar, in milliseconds; the last bar is the current one. The bars of a day are hours in
    /// UTC, as the server counts them; longer bars are aligned to midnight in the visitor's time zone.
    fn bar_starts(self, visit: &dyn Visit) -> Vec<i64> {
        let (length, count) = self.bars();
        let now = visit.now();
        let midnight = |at: Timestamp| {
            let day = visit.day(&visit.local(at).date);
            day.map_or(at, |(first, _)| first).millis()
        };
        let origin = match self {
            Self::Day => 0,
            Self::Week | Self::Month => midnight(now),
        };
        let last = now.millis() - now.millis().saturating_sub(origin).rem_euclid(length);
        let bar_start = |before: i64| {
            let bar_start = last.saturating_sub(before.saturating_mul(length));
            if self == Self::Month {
                // A clock change makes a day shorter or longer, but noon is always part of it.
                midnight(Timestamp::from_millis(bar_start.saturating_add(12 * HOUR)))
            } else {
                bar_start
            }
        };
        (0..count).rev().map(bar_start).collect()
    }
}

/// The selected period, environment and breakdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct View {
    period: Period,
    environment: Option<EnvironmentId>,
    breakdown: Breakdown,
}

impl From<&Form> for View {
    fn from(form: &Form) -> Self {
        Self {
            period: Period::parse(&form.text("period")).unwrap_or_default(),
            environment: form.parsed("environment"),
            breakdown: Breakdown::parse(&form.text("by")).unwrap_or_default(),
        }
    }
}

impl View {
    /// Returns its address.
    fn href(self, key: &str) -> String {
        let period = (self.period != Period::default()).then(|| self.period.as_str().to_owned());
        let environment = self.environment.map(|environment| environment.to_string());
        let breakdown = (self.breakdown != Breakdown::default()).then_some(self.breakdown);
        let breakdown = breakdown.map(|breakdown| breakdown.as_str().to_owned());
        with_query(
            &routes::flag_usage(key),
            [
                ("environment", environment),
                ("period", period),
                ("by", breakdown),
            ],
        )
    }
}

/// A chart of the flag's evaluations, stacked by result or by reason, and the time of the last evaluation in each
/// environment.
#[component]
pub fn FlagUsagePage() -> impl IntoView {
    let key = use_params_map()
        .read_untracked()
        .get("key")
        .unwrap_or_default();
    let view = View::from(&query());
    page(Section::Flags, "Flags", async move {
        let bar_starts = view.period.bar_starts(&*visit()?);
        let from = bar_starts.first().copied().unwrap_or_default();
        let usage = signed_in::<dyn UsageAdmin>()?
            .flag_usage(&key, Timestamp::from_millis(from))
            .await?;
        let changes = changes_since(&usage, Timestamp::from_millis(from)).await?;
        let naming = match product() {
            Some(_) => Naming::default(),
            None => signed_in::<dyn EnvironmentAdmin>()?.naming().await?,
        };
        let environments = of_product(usage.environments, product().as_ref());
        let usage = FlagUsage {
            environments: since(environments, Timestamp::from_millis(from)),
            ..usage
        };
        Ok(view! { <Usage usage view bar_starts changes naming/> })
    })
}

/// Returns the usage in the environments of the selected product; none means every product.
fn of_product(
    mut environments: Vec<FlagEnvironmentUsage>,
    product: Option<&String>,
) -> Vec<FlagEnvironmentUsage> {
    environments.retain(|each| product.is_none_or(|product| each.product == *product));
    environments
}

/// Leaves out the hour that begins before the first bar. The server returns it, because it ends after that.
fn since(
    mut environments: Vec<FlagEnvironmentUsage>,
    from: Timestamp,
) -> Vec<FlagEnvironmentUsage> {
    for environment in &mut environments {
        environment.hours.retain(|hour| hour.hour >= from);
    }
    environments
}

#[component]
fn Usage(
    usage: FlagUsage,
    view: View,
    bar_starts: Vec<i64>,
    changes: RecentActions,
    naming: Naming,
) -> impl IntoView {
    let FlagUsage { flag, environments } = usage;
    let chosen = environments
        .iter()
        .find(|environment| Some(environment.environment_id) == view.environment);
    let in_environment =
        chosen.map(|chosen| format!(" in {}", naming.name(&chosen.product, &chosen.environment)));
    let in_environment = in_environment.unwrap_or_default();
    let changes = RecentActions {
        actions: in_place(changes.actions, chosen),
        ..changes
    };
    let selected = chosen.map_or(environments.as_slice(), std::slice::from_ref);
    let bars = view.breakdown.bars(selected, &bar_starts);
    let sum = bars.iter().map(Bar::sum).fold(0, i64::saturating_add);
    let reported = bars.iter().map(|bar| bar.reported);
    let reported = reported.fold(0, i64::saturating_add);
    let when = view.period.describe();
    let evaluations = counted(sum, "evaluation", "evaluations");
    let summary = format!("{evaluations}{in_environment} {when}");
    let description = if reported > 0 {
        format!(
            "{summary}, {} of them reported by clients",
            format_count(reported)
        )
    } else {
        summary.clone()
    };
    let key = flag.key.to_string();
    let body = if environments.is_empty() {
        html! { <NeverEvaluated key=key.clone()/> }
    } else {
        let chart = if sum == 0 {
            html! {
                <Empty title=format!("Not evaluated{in_environment} {when}")>
                    <p>"It may be evaluated rarely, or its code may be gone."</p>
                </Empty>
            }
        } else {
            let days = view.period == Period::Month;
            let marks = marks(&changes.actions, naming);
            let (length, _) = view.period.bars();
            let last = bar_starts.last().copied().unwrap_or_default();
            let end = Timestamp::from_millis(last.saturating_add(length));
            html! {
                <section class="panel usage-panel" aria-labelledby="usage-sum">
                    <h2 id="usage-sum">{summary.clone()}</h2>
                    <UsageChart series=view.breakdown.series() bars marks end summary=description.clone() days/>
                </section>
            }
        };
        html! {
            <div class="usage-views">
                <PeriodLinks key=key.clone() view/>
                <BreakdownLinks key=key.clone() view/>
            </div>
            {chart}
            <Changes changes naming key=key.clone()/>
            <EnvironmentTable key=key.clone() environments view naming/>
        }
    };
    view! {
        <Title text=format!("Usage of {} · Flags", flag.key)/>
        <PageHead
            above=Section::Flags
            between=(routes::flag(&key), flag.name.to_string())
            title=html! { "Usage of " <code>{flag.key.to_string()}</code> }
        />
        {body}
    }
}

/// The links that select the period.
#[component]
fn PeriodLinks(key: String, view: View) -> impl IntoView {
    let periods = Period::ALL.map(|period| {
        let href = View { period, ..view }.href(&key);
        view! {
            <a href=href aria-current=(period == view.period).then_some("true")>
                {period.as_str()}
            </a>
        }
    });
    html! {
        <nav class="segments" aria-label="Period">
            {periods.collect_view()}
        </nav>
    }
}

/// The links that select the breakdown of the bars.
#[component]
fn BreakdownLinks(key: String, view: View) -> impl IntoView {
    let links = Breakdown::ALL.map(|breakdown| {
        let href = View { breakdown, ..view }.href(&key);
        view! {
            <a href=href aria-current=(breakdown == view.breakdown).then_some("true")>
                {breakdown.label()}
            </a>
        }
    });
    html! {
        <nav class="segments" aria-label="Breakdown">
            {links.collect_view()}
        </nav>
    }
}

/// The environments, each with its number of evaluations and the time of the last one.
#[component]
fn EnvironmentTable(
    key: String,
    environments: Vec<FlagEnvironmentUsage>,
    view: View,
    naming: Naming,
) -> impl IntoView {
    let all_environments = View {
        environment: None,
        ..view
    };
    let sums = |environment: &FlagEnvironmentUsage| {
        let hours = &environment.hours;
        let counts = hours.iter().flat_map(|hour| hour.evaluations.values());
        let reported = hours.iter().flat_map(|hour| hour.reported.values());
        (
            counts.copied().fold(0, i64::saturating_add),
            reported.copied().fold(0, i64::saturating_add),
        )
    };
    let (total, total_reported) = environments.iter().map(sums).fold(
        (0_i64, 0_i64),
        |(total, total_reported), (count, reported)| {
            (
                total.saturating_add(count),
                total_reported.saturating_add(reported),
            )
        },
    );
    let rows = environments
        .iter()
        .map(|environment| {
            let environment_view = View {
                environment: Some(environment.environment_id),
                ..view
            };
            let name = naming.name(&environment.product, &environment.environment);
            let (count, reported) = sums(environment);
            view! {
                <tr>
                    <th class="name" scope="row">
                        <a href=environment_view.href(&key) aria-current=(view.environment == environment_view.environment).then_some("true")>
                            {name}
                        </a>
                    </th>
                    <td>{format_count(count)}</td>
                    <td>{format_count(reported)}</td>
                    <td class="quiet">{time_or(environment.last_evaluated_at, "Never")}</td>
                </tr>
            }
        })
        .collect_view();
    html! {
        <Table
            caption="Evaluations by environment"
            class="table-panel usage-places"
            head=heads(["Environment", "Evaluations", "Reported", "Last evaluated"])
        >
            <tbody>
                <tr>
                    <th class="name" scope="row">
                        <a href=all_environments.href(&key) aria-current=view.environment.is_none().then_some("true")>
                            "All environments"
                        </a>
                    </th>
                    <td>{format_count(total)}</td>
                    <td>{format_count(total_reported)}</td>
                    <td></td>
                </tr>
                {rows}
            </tbody>
        </Table>
        <p class="hint usage-note">
            "Counts arrive within minutes and are kept for 31 days. Clients that evaluate locally report theirs, unless "
            <code>"reportUsage"</code> " is off. Anyone with the SDK key can forge such a report."
        </p>
    }
}

/// The empty state, with code that evaluates the flag.
#[component]
fn NeverEvaluated(key: String) -> impl IntoView {
    let base_url = visit().map_or_else(|_| String::new(), |visit| visit.base_url());
    let code = format!(
        "import {{ FeatureFlagsClient }} from \"@pennon/core\";\n\nconst flags = new FeatureFlagsClient({{\n  \
         sdkKey: process.env.PENNON_SDK_KEY,\n  baseUrl: \"{base_url}\",\n  reportUsage: true,\n}});\n\
         await flags.initialize();\n\nflags.isEnabled(\"{key}\");"
    );
    let title = match product() {
        Some(product) => format!("Not evaluated in {product} yet"),
        None => "Not evaluated yet".to_owned(),
    };
    view! {
        <Empty title>
            <p>
                "Evaluations are counted by environment and reason, without anything about contexts. Clients that evaluate locally report their counts about once a minute."
            </p>
            <Snippet title="Node.js" code/>
        </Empty>
    }
}
