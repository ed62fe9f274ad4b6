//! The outcome of a change for each of several flags.

use leptos::prelude::*;
use pennon_model::{
    bulk::{BulkAction, BulkChange},
    flag::Flag,
    metadata::FlagTags,
    plan::Plan,
};

use crate::{
    audit::values::tags_of,
    components::{
        effect::findings,
        table::{Cell, Table, heads},
    },
    describe,
    error::UnchangeableFlag,
    html::{Html, IntoHtml as _, html, with_code},
    routes,
    scope::scoped,
};

/// A change, and its plan or the flags that prevent it.
pub struct Planned {
    /// The change.
    pub change: BulkChange,
    /// Its plan, or the flags that cannot change.
    pub plan: Result<Plan, Vec<UnchangeableFlag>>,
}

/// The outcome for one flag.
enum Outcome {
    /// The change is not known yet.
    Open,
    /// The flag is already as requested.
    Unchanged(String),
    /// The flag changes.
    Changed { now: String, then: String },
    /// The flag could change, but another one cannot.
    Changeable,
    /// The flag cannot change, for this reason.
    Refused(String),
}

/// The flags, and how each changes once that is known.
#[component]
pub fn Outcomes(
    /// The flags; none for those that no longer exist.
    flags: Vec<Option<Flag>>,
    /// The change, if it is complete.
    planned: Option<Planned>,
) -> impl IntoView {
    let head = match planned.as_ref().map(|planned| &planned.plan) {
        None => heads(["Flag"]),
        Some(Ok(_)) => heads(["Flag", "Now", "Then"]),
        Some(Err(_)) => heads(["Flag", "Obstacle"]),
    };
    let warnings = planned.as_ref().map(warnings);
    let rows = flags.into_iter().enumerate().map(|(index, flag)| {
        let outcome = match &planned {
            Some(planned) => planned.outcome(index, flag.as_ref()),
            None => Outcome::Open,
        };
        html! {
            <tr>
                <th scope="row">{flag.as_ref().map_or_else(gone, name)}</th>
                {cells(outcome)}
            </tr>
        }
    });
    let rows = rows.collect_view().into_html();
    html! {
        {warnings}
        <Table caption="The selected flags" head id="flags" class="table-panel cards outcomes">
            <tbody>{rows}</tbody>
        </Table>
    }
}

fn gone() -> Html {
    html! { <span class="quiet">"A deleted flag"</span> }
}

/// Renders the name and the key of a flag.
fn name(flag: &Flag) -> Html {
    let key = flag.key.to_string();
    html! {
        <a href=scoped(routes::flag(&key))>{flag.name.to_string()}</a>
        <div class="flag-key">
            <code>{key}</code>
        </div>
    }
}

fn cells(outcome: Outcome) -> Html {
    match outcome {
        Outcome::Open => ().into_html(),
        Outcome::Unchanged(now) => html! {
            <Cell label="Now">
                <span>{now}</span>
            </Cell>
            <Cell label="Then" quiet=true>
                <span>"No change"</span>
            </Cell>
        },
        Outcome::Changed { now, then } => html! {
            <Cell label="Now">
                <span>{now}</span>
            </Cell>
            <Cell label="Then">
                <span class="changed">{then}</span>
            </Cell>
        },
        Outcome::Changeable => html! {
            <Cell label="Obstacle" quiet=true>
                <span>"None"</span>
            </Cell>
        },
        Outcome::Refused(detail) => html! {
            <Cell label="Obstacle">
                <span class="refused">{with_code(&detail)}</span>
            </Cell>
        },
    }
}

impl Planned {
    fn outcome(&self, index: usize, flag: Option<&Flag>) -> Outcome {
        let plan = match &self.plan {
            Ok(plan) => plan,
            Err(refused) => {
                let refused = refused.iter().find(|each| each.index == index);
                return match refused {
                    Some(each) => Outcome::Refused(each.detail.clone()),
                    None => Outcome::Changeable,
                };
            }
        };
        let Some(flag) = flag else {
            return Outcome::Open;
        };
        match &self.change.action {
            BulkAction::Tag { .. } => retagged(plan, flag),
            BulkAction::Archive => Outcome::Changed {
                now: "Active".to_owned(),
                then: "Archived".to_owned(),
            },
            BulkAction::Switch { is_enabled, .. } => {
                match plan.effects.iter().find(|effect| effect.flag == flag.id) {
                    Some(effect) => {
                        let [now, then] = [&effect.before, &effect.after]
                            .map(|each| describe::flag(each.enabled, &each.rules, each.rollout));
                        Outcome::Changed { now, then }
                    }
                    None if *is_enabled => Outcome::Unchanged("Already on".to_owned()),
                    None => Outcome::Unchanged("Already off".to_owned()),
                }
            }
        }
    }
}

/// Returns the outcome of adding and removing tags.
fn retagged(plan: &Plan, flag: &Flag) -> Outcome {
    let text = |tags: Option<&FlagTags>| tags.map_or("No tags".to_owned(), ToString::to_string);
    let mut changes = plan.changes.iter();
    if let Some(change) = changes.find(|change| change.flag.as_ref() == Some(&flag.key)) {
        let [now, then] = [&change.old_value, &change.new_value]
            .map(|flag| text(tags_of(flag.as_ref()).as_ref()));
        Outcome::Changed { now, then }
    } else {
        let tags = Some(&flag.metadata.tags).filter(|tags| !tags.is_empty());
        Outcome::Unchanged(text(tags))
    }
}

/// Renders the warnings about clients that cannot read the flags as they will be.
fn warnings(planned: &Planned) -> Html {
    let gaps = planned.plan.iter().flat_map(Plan::gaps);
    findings(gaps.map(|gap| with_code(&gap.to_string())).collect())
}
