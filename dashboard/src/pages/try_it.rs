//! Trying a flag for a subject that one makes up.

use leptos::prelude::*;
use pennon_core::{
    FlagConfig,
    model::{
        flag::Flag,
        id::EnvironmentId,
        page::{Limit, PageNumber, PageRequest},
    },
};

use crate::{
    components::{
        answer::answer,
        empty::Empty,
        frame::{Frame, Room},
        notice::{Notice, Weight},
        title::Title,
        trial::{Case, Trial},
    },
    error::AdminError,
    form::Form,
    port::{
        flags::{EnvironmentColumn, FlagAdmin, FlagQuery, FlagState},
        query, signed_in,
        trial::TrialAdmin,
    },
};

/// How many flags are suggested.
const SUGGESTIONS: usize = 100;

/// What a flag would be for somebody, and why.
#[component]
pub fn Try() -> impl IntoView {
    let asked = Asked::from(&query());
    let title = match asked.flag.as_str() {
        "" => "Try it".to_owned(),
        flag => format!("{flag} · Try it"),
    };
    let page = answer(async move { Ok(view! { <Page found=Found::find(asked).await?/> }) });
    view! {
        <Title text=title/>
        <Frame room=Room::Try>{page}</Frame>
    }
}

/// What the address asks.
#[derive(Clone, Default)]
struct Asked {
    flag: String,
    environment: String,
    case: Case,
}

impl From<&Form> for Asked {
    fn from(form: &Form) -> Self {
        Self {
            flag: form.text("flag"),
            environment: form.text("environment"),
            case: Case::from(form),
        }
    }
}

/// What there is of what was asked for.
struct Found {
    asked: Asked,
    keys: Vec<String>,
    environments: Vec<EnvironmentColumn>,
    environment: Option<EnvironmentId>,
    flag: Option<Flag>,
    config: Option<FlagConfig>,
}

impl Found {
    async fn find(asked: Asked) -> Result<Self, AdminError> {
        let flags = signed_in::<dyn FlagAdmin>()?;
        let longest = PageRequest {
            page: PageNumber::default(),
            limit: Limit::MAX,
        };
        let active = FlagQuery {
            page: longest,
            ..FlagQuery::default()
        };
        let suggestions = flags.flags(active).await?;
        let environments = suggestions.environments;
        let keys = suggestions.flags.items.iter();
        let keys = keys
            .map(|row| row.flag.key.to_string())
            .take(SUGGESTIONS)
            .collect();
        let flag = if asked.flag.is_empty() {
            None
        } else {
            let named = FlagQuery {
                search: asked.flag.clone(),
                state: FlagState::All,
                page: longest,
                ..FlagQuery::default()
            };
            let mut rows = flags.flags(named).await?.flags.items.into_iter();
            rows.find(|row| row.flag.key.as_str() == asked.flag)
                .map(|row| row.flag)
        };
        let chosen = environments
            .iter()
            .find(|environment| environment.id.to_string() == asked.environment)
            .or(environments.first());
        let environment = chosen.map(|environment| environment.id);
        let config = match (&flag, environment) {
            (Some(flag), Some(environment)) => {
                let trial = signed_in::<dyn TrialAdmin>()?;
                Some(trial.config(flag.id, environment).await?)
            }
            _ => None,
        };
        Ok(Self {
            asked,
            keys,
            environments,
            environment,
            flag,
            config,
        })
    }
}

#[component]
fn Page(found: Found) -> impl IntoView {
    let Found {
        asked,
        keys,
        environments,
        environment,
        flag,
        config,
    } = found;
    let content = if environments.is_empty() {
        view! {
            <Empty title="There is nowhere to try a flag yet">
                <p>"A flag takes effect in an environment. Create one first."</p>
                <a class="button" href=Room::Environments.href()>
                    "Go to environments"
                </a>
            </Empty>
        }
        .into_any()
    } else {
        let key = asked.flag.clone();
        let unknown = (flag.is_none() && !key.is_empty()).then(|| {
            view! {
                <Notice weight=Weight::Warning>
                    "There is no flag with the key "
                    <code>{key}</code>
                    "."
                </Notice>
            }
        });
        let trial = flag.zip(environment).zip(config);
        let trial = trial.map(|((flag, environment), config)| {
            let address = address(flag.key.as_str(), environment);
            view! { <Trial id=flag.id environment flag=config case=asked.case address/> }
        });
        let lesson = (trial.is_none() && unknown.is_none()).then(|| {
            view! {
                <p class="hint">
                    "Choose a flag, and then say whom it is for: you will see what that user gets, and every step that leads there. Nothing is counted and nothing changes."
                </p>
            }
        });
        view! {
            <form class="try" method="get" action=Room::Try.href()>
                <Pick key=asked.flag keys environments environment/>
                {unknown}
                {lesson}
                {trial}
            </form>
        }
        .into_any()
    };
    view! {
        <header class="page-head">
            <h1>"Try it"</h1>
        </header>
        {content}
    }
}

/// The choice of a flag and an environment.
#[component]
fn Pick(
    key: String,
    keys: Vec<String>,
    environments: Vec<EnvironmentColumn>,
    environment: Option<EnvironmentId>,
) -> impl IntoView {
    let several = environments
        .windows(2)
        .any(|pair| matches!(pair, [one, next] if one.product != next.product));
    let options = environments.into_iter().map(|each| {
        let name = if several {
            format!("{} · {}", each.product, each.name)
        } else {
            each.name
        };
        let selected = Some(each.id) == environment;
        view! { <option value=each.id.to_string() selected=selected>{name}</option> }
    });
    let keys = keys
        .into_iter()
        .map(|key| view! { <option value=key></option> });
    view! {
        <div class="try-pick">
            <div class="field">
                <label for="try-flag">"Flag"</label>
                <input
                    class="input mono"
                    id="try-flag"
                    name="flag"
                    list="try-flags"
                    required
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    placeholder="e.g. new_checkout"
                    value=key
                />
                <datalist id="try-flags">{keys.collect_view()}</datalist>
            </div>
            <div class="field">
                <label for="try-environment">"Environment"</label>
                <select class="input" id="try-environment" name="environment">
                    {options.collect_view()}
                </select>
            </div>
            <button class="button">"Choose"</button>
        </div>
    }
}

/// The address at which a flag is tried in an environment.
pub fn address(key: &str, environment: EnvironmentId) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("flag", key);
    query.append_pair("environment", &environment.to_string());
    format!("{}?{}", Room::Try.href(), query.finish())
}
