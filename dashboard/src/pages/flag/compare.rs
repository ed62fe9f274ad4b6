//! The configurations of a flag in all environments, side by side.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use pennon_core::rule::Rule;
use pennon_model::{
    configuration::{ConfigurationPart, FlagComparison, FlagConfiguration},
    environment::Environment,
    flag::Flag,
    grant::Resource,
    user::User,
};

use super::address::{Address, Edit};
use crate::{
    components::{
        empty::Empty,
        frame::Section,
        page::page,
        page_head::PageHead,
        select::options,
        table::{Table, heads},
        title::Title,
    },
    describe,
    error::AdminError,
    html::{Html, IntoHtml as _, html},
    model::Naming,
    port::{flag_page::FlagPageAdmin, query, signed_in, signed_in_user},
    routes,
    scope::{product, scope_field},
};

/// The maximum number of rules that a cell lists.
const SHOWN_RULES: usize = 4;

/// The parameter with the environment to compare with.
const REFERENCE: &str = "with";

/// The parts of a configuration, in the order of the columns.
const PARTS: [(ConfigurationPart, &str); 4] = [
    (ConfigurationPart::Switch, "Switch"),
    (ConfigurationPart::Rules, "Rules"),
    (ConfigurationPart::Rollout, "Rollout"),
    (ConfigurationPart::Ttl, "TTL"),
];

/// The configurations of a flag in all environments, compared with one of them. Every difference, and every environment
/// as a whole, has a link to the preview of a copy that removes it.
#[component]
pub fn Compare() -> impl IntoView {
    let key = use_params_map().read_untracked().get("key");
    let reference = query().parsed(REFERENCE);
    page(Section::Flags, "Flags", async move {
        let key = key.ok_or(AdminError::NotFound)?;
        let admin = signed_in::<dyn FlagPageAdmin>()?;
        let comparison = admin.comparison(&key, product().as_deref()).await?;
        let user = signed_in_user()?;
        let FlagComparison { flag, environments } = comparison;
        let naming = Naming::of_environments(environments.iter().map(|(each, _)| each));
        let configured = environments
            .into_iter()
            .filter_map(|(environment, configuration)| Some((environment, configuration?)));
        let mut rows: Vec<_> = configured.collect();
        let chosen = rows.iter().position(|(each, _)| Some(each.id) == reference);
        if rows.is_empty() {
            return Ok(html! {
                <Head flag/>
                <Empty title="Not configured anywhere">
                    <p>"The flag exists in no active environment here."</p>
                </Empty>
            });
        }
        let reference = rows.remove(chosen.unwrap_or_default());
        let table = Comparison {
            flag,
            naming,
            reference,
            user,
        };
        Ok(table.render(&rows))
    })
}

#[component]
fn Head(flag: Flag) -> impl IntoView {
    let key = flag.key.to_string();
    html! {
        <Title text=format!("Environments of {key} · Flags")/>
        <PageHead
            above=Section::Flags
            between=(routes::flag(&key), key.clone())
            title=html! { "Environments of " <code>{key.clone()}</code> }
        />
    }
}

/// The comparison of all environments with one.
struct Comparison {
    flag: Flag,
    naming: Naming,
    /// The environment to compare with, and the flag's configuration there.
    reference: (Environment, FlagConfiguration),
    user: User,
}

impl Comparison {
    fn render(self, others: &[(Environment, FlagConfiguration)]) -> Html {
        let first = self.row(&self.reference, true);
        let rows = others.iter().map(|other| self.row(other, false));
        let rows = rows.collect_view();
        let choices = std::iter::once(&self.reference).chain(others);
        let choices = choices.map(|(each, _)| (each.id.to_string(), self.naming.name_of(each)));
        let choices: Vec<_> = choices.collect();
        let chosen = self.reference.0.id.to_string();
        html! {
            <Head flag=self.flag.clone()/>
            <form
                class="comparison-choice"
                method="get"
                action=routes::flag_comparison(self.flag.key.as_str())
            >
                {scope_field()}
                <label for="reference">"Compare with"</label>
                <select class="input" id="reference" name=REFERENCE>
                    {options(choices, &chosen)}
                </select>
                <button class="button">"Compare"</button>
            </form>
            <Table
                caption="Configurations by environment"
                class="table-panel cards comparison"
                head=heads(["Environment", "Switch", "Rules", "Rollout", "TTL"])
            >
                <tbody>{first} {rows}</tbody>
            </Table>
        }
    }

    fn row(
        &self,
        (environment, configuration): &(Environment, FlagConfiguration),
        is_reference: bool,
    ) -> Html {
        let href = self.address(environment).href();
        let cells = PARTS.map(|(part, label)| self.cell(environment, configuration, (part, label)));
        let is_same = |(part, _)| is_same(part, &self.reference.1, configuration);
        let note = if is_reference {
            html! { <span class="quiet">"Compared with the others"</span> }
        } else if PARTS.into_iter().all(is_same) {
            let reference = self.naming.name_of(&self.reference.0);
            html! { <span class="quiet">{format!("Same as {reference}")}</span> }
        } else {
            self.make_equal(environment, None).into_html()
        };
        html! {
            <tr>
                <th class="name" scope="row">
                    <a href=href>{self.naming.name_of(environment)}</a>
                    <div>{note}</div>
                </th>
                {cells.collect_view()}
            </tr>
        }
    }

    fn cell(
        &self,
        environment: &Environment,
        configuration: &FlagConfiguration,
        (part, label): (ConfigurationPart, &'static str),
    ) -> Html {
        let differs = !is_same(part, &self.reference.1, configuration);
        let link = differs.then(|| self.make_equal(environment, Some(part)));
        let mark = differs.then(|| view! { <span class="visually-hidden">"Differs: "</span> });
        html! {
            <td class:differs=differs>
                <span class="cell-label">{label}</span>
                <div>
                    {mark}
                    {describe_part(part, configuration)}
                    {link}
                </div>
            </td>
        }
    }

    /// Renders the link to the preview that copies the reference, or a part of it, to an environment; nothing if the
    /// reader may not change the flag there.
    fn make_equal(
        &self,
        environment: &Environment,
        part: Option<ConfigurationPart>,
    ) -> Option<Html> {
        let may_edit = self.user.may_edit(&Resource::of(environment));
        if !may_edit || self.flag.archived_at.is_some() {
            return None;
        }
        let copy = Edit::Copy(Some(environment.id), part);
        let href = self.address(&self.reference.0).editing(copy);
        let label = format!("Make like {}", self.naming.name_of(&self.reference.0));
        let column = part.and_then(|part| PARTS.into_iter().find(|(each, _)| *each == part));
        let copied = column
            .map_or("everything", |(_, label)| label)
            .to_lowercase();
        let object = format!(": {copied} in {}", self.naming.name_of(environment));
        Some(html! {
            <a class="make-equal" href=href>
                {label}
                <span class="visually-hidden">{object}</span>
            </a>
        })
    }

    fn address(&self, environment: &Environment) -> Address {
        Address {
            key: self.flag.key.to_string(),
            environment: Some(environment.id),
            context: None,
        }
    }
}

fn rules(configuration: &FlagConfiguration) -> impl Iterator<Item = &Rule> {
    configuration.rules.iter().map(|rule| &rule.rule)
}

/// Returns true if a part of two configurations is the same, including the priorities of rules.
fn is_same(part: ConfigurationPart, one: &FlagConfiguration, other: &FlagConfiguration) -> bool {
    let [(one_switch, one_rollout), (other_switch, other_rollout)] = [one, other].map(|each| {
        let rollout = each.rollout.as_ref().map(|rollout| rollout.rollout);
        (each.target.configuration.switch(), rollout)
    });
    match part {
        ConfigurationPart::Switch => one_switch.is_enabled == other_switch.is_enabled,
        ConfigurationPart::Ttl => one_switch.ttl == other_switch.ttl,
        ConfigurationPart::Rules => rules(one).eq(rules(other)),
        ConfigurationPart::Rollout => one_rollout == other_rollout,
    }
}

fn describe_part(part: ConfigurationPart, configuration: &FlagConfiguration) -> Html {
    let switch = configuration.target.configuration.switch();
    match part {
        ConfigurationPart::Switch => describe::on_off(switch.is_enabled).into_html(),
        ConfigurationPart::Ttl => describe::time_to_live(switch.ttl).into_html(),
        ConfigurationPart::Rollout => match &configuration.rollout {
            None => html! { <span class="quiet">"None"</span> },
            Some(rollout) => describe::rollout(rollout.rollout).into_html(),
        },
        ConfigurationPart::Rules if configuration.rules.is_empty() => {
            html! { <span class="quiet">"None"</span> }
        }
        ConfigurationPart::Rules => {
            let more = configuration.rules.len().saturating_sub(SHOWN_RULES);
            let more =
                (more > 0).then(|| view! { <li class="quiet">{format!("and {more} more")}</li> });
            let shown = rules(configuration).take(SHOWN_RULES);
            let shown = shown.map(|rule| view! { <li>{describe::rule(rule)}</li> });
            html! { <ol class="comparison-rules">{shown.collect_view()} {more}</ol> }
        }
    }
}
