//! The playground.

use leptos::prelude::*;
use pennon_core::FlagConfig;
use pennon_model::{environment::Environment, flag::Flag, id::EnvironmentId};

use crate::{
    components::{
        empty::Empty,
        frame::Section,
        link_button::LinkButton,
        notice::{Notice, Severity},
        page::page,
        page_head::PageHead,
        playground::{ContextForm, Playground},
        select::options,
    },
    describe,
    error::AdminError,
    form::{Form, with_query},
    html::html,
    model::Naming,
    port::{
        flag_page::FlagPageAdmin,
        playground::{Choices, PlaygroundAdmin},
        query, signed_in,
    },
    routes,
    scope::{product, scope_field},
};

/// The reason for which an archived flag has no configuration in an environment where it could exist.
const ARCHIVED_BEFORE: &str =
    "This flag was archived before this environment existed, so it has no configuration here.";

/// The result of a flag for an evaluation context, with its explanation.
#[component]
pub fn PlaygroundPage() -> impl IntoView {
    let params = PlaygroundParams::from(&query());
    let title = match params.flag.as_str() {
        "" => "Try it".to_owned(),
        flag => format!("{flag} · Try it"),
    };
    page(Section::Playground, title, async move {
        Ok(view! { <Page data=PageData::load(params).await?/> })
    })
}

/// The parameters of the address.
#[derive(Clone, Default)]
struct PlaygroundParams {
    flag: String,
    environment: String,
    context_form: ContextForm,
}

impl From<&Form> for PlaygroundParams {
    fn from(form: &Form) -> Self {
        Self {
            flag: form.text("flag"),
            environment: form.text("environment"),
            context_form: ContextForm::from(form),
        }
    }
}

/// The objects that the address names.
struct PageData {
    params: PlaygroundParams,
    choices: Choices,
    /// The product to which the dashboard is limited.
    product: Option<String>,
    /// The selected environment.
    environment: Option<EnvironmentId>,
    /// The selected flag; none if no flag has this key.
    flag: Option<Flag>,
    /// The flag's configuration in this environment; none if it has none.
    config: Option<FlagConfig>,
}

impl PageData {
    async fn load(params: PlaygroundParams) -> Result<Self, AdminError> {
        let product = product();
        let choices = signed_in::<dyn PlaygroundAdmin>()?
            .choices(product.as_deref())
            .await?;
        let ids = || {
            choices
                .environments
                .iter()
                .map(|environment| environment.id)
        };
        let chosen = ids().find(|id| id.to_string() == params.environment);
        let first = ids().next();
        let admin = signed_in::<dyn FlagPageAdmin>()?;
        let (flag, environment, config) =
            match admin.flag(&params.flag, chosen, product.as_deref()).await {
                Err(AdminError::NotFound) => (None, None, None),
                detail => {
                    let detail = detail?;
                    let config = detail.configuration.map(|current| current.config());
                    let environment = detail.environment.map(|environment| environment.id);
                    (Some(detail.flag), environment, config)
                }
            };
        Ok(Self {
            environment: environment.or(chosen).or(first),
            params,
            choices,
            product,
            flag,
            config,
        })
    }
}

#[component]
fn Page(data: PageData) -> impl IntoView {
    let PageData {
        params,
        choices: Choices { keys, environments },
        product,
        environment,
        flag,
        config,
    } = data;
    let content = if environments.is_empty() {
        let title = match product {
            Some(product) => format!("No environments of {product} yet"),
            None => "No environments yet".to_owned(),
        };
        html! {
            <Empty title>
                <p>"A flag takes effect in an environment. Create one first."</p>
                <LinkButton href=Section::Environments.href() label="Go to environments"/>
            </Empty>
        }
    } else {
        let key = params.flag.clone();
        let missing = flag.as_ref().filter(|_| config.is_none());
        let not_here = missing.map(|flag| {
            let chosen = environments
                .iter()
                .find(|each| Some(each.id) == environment);
            let reason = chosen.and_then(|chosen| describe::absence(flag, chosen));
            let reason = reason.unwrap_or_else(|| ARCHIVED_BEFORE.to_owned());
            html! { <Notice severity=Severity::Warning>{reason}</Notice> }
        });
        let unknown = (flag.is_none() && !key.is_empty()).then(|| {
            view! {
                <Notice severity=Severity::Warning>
                    "No flag has the key "
                    <code>{key}</code>
                    "."
                </Notice>
            }
        });
        let playground = flag.zip(environment).zip(config);
        let playground = playground.map(|((flag, environment), config)| {
            let address = address(flag.key.as_str(), environment);
            view! { <Playground id=flag.id environment flag=config form=params.context_form address/> }
        });
        let lesson = params.flag.is_empty().then(|| {
            view! {
                <p class="hint">
                    "Choose a flag and enter a user to see the result and every step that leads to it. This changes nothing and is not counted."
                </p>
            }
        });
        html! {
            <form class="playground" method="get" action=routes::PLAYGROUND>
                {scope_field()}
                <Pick key=params.flag keys environments environment/>
                {unknown}
                {not_here}
                {lesson}
                {playground}
            </form>
        }
    };
    view! {
        <PageHead title="Try it"/>
        {content}
    }
}

/// The form that selects a flag and an environment.
#[component]
fn Pick(
    key: String,
    keys: Vec<String>,
    environments: Vec<Environment>,
    environment: Option<EnvironmentId>,
) -> impl IntoView {
    let naming = Naming::of_environments(&environments);
    let chosen = environment.map(|environment| environment.to_string());
    let environments = environments.iter();
    let environments = environments.map(|each| (each.id.to_string(), naming.name_of(each)));
    let keys = keys
        .into_iter()
        .map(|key| view! { <option value=key></option> });
    view! {
        <div class="playground-pick">
            <div class="field">
                <label for="playground-flag">"Flag"</label>
                <input
                    class="input mono"
                    id="playground-flag"
                    name="flag"
                    list="playground-flags"
                    required
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    placeholder="e.g. new_checkout"
                    value=key
                />
                <datalist id="playground-flags">{keys.collect_view()}</datalist>
            </div>
            <div class="field">
                <label for="playground-environment">"Environment"</label>
                <select class="input" id="playground-environment" name="environment">
                    {options(environments, &chosen.unwrap_or_default())}
                </select>
            </div>
            <button class="button">"Choose"</button>
        </div>
    }
}

/// Returns the address of the playground for a flag in an environment.
pub fn address(key: &str, environment: EnvironmentId) -> String {
    let (flag, environment) = (Some(key.to_owned()), Some(environment.to_string()));
    with_query(
        routes::PLAYGROUND,
        [("flag", flag), ("environment", environment)],
    )
}
