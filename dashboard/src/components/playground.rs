//! The playground of a flag: the fields of the context, and the result.

use leptos::prelude::*;
use pennon_core::{
    Context, FlagConfig,
    rule::{Attribute, ValueType},
};
use pennon_model::id::{EnvironmentId, FlagId};

use super::{
    escape::in_textarea,
    explanation::{EvaluationResult, Steps},
    notice::{Notice, Severity},
    select::value_types,
};
use crate::{
    context_form::{self, AttributeRow, Fields},
    evaluated::{Evaluated, Served, VERSION, explain_flag, verdict},
    form::Form,
    html::{hidden, html},
    islands::playground::{PlaygroundIsland, RESULT_ID},
};

/// The number of empty rows after those that are filled in.
const EMPTY_ROWS: usize = 2;

/// The evaluation context of the playground, as typed.
#[derive(Clone, Default)]
pub struct ContextForm {
    /// Shows the context as JSON instead of a form.
    as_json: bool,
    /// The input, if it was typed as JSON.
    json: Option<String>,
    fields: Fields,
}

/// Reads the fields of the form, or a `context` as JSON; `show` is the button that converts one into the other.
impl From<&Form> for ContextForm {
    fn from(form: &Form) -> Self {
        let names = form.texts("attribute");
        let rows = names
            .into_iter()
            .zip(form.texts("type"))
            .zip(form.texts("value"));
        let row = |((name, kind), value): ((_, String), _)| AttributeRow {
            name,
            kind: ValueType::parse(&kind).unwrap_or(ValueType::String),
            value,
        };
        let fields = Fields {
            built_in: Attribute::BUILT_IN.map(|attribute| form.text(attribute.as_str())),
            rows: rows.map(row).collect(),
        };
        let json = Some(form.text("context")).filter(|json| !json.is_empty());
        let as_json = match form.text("show").as_str() {
            "json" => true,
            "form" => false,
            _ => form.text("as") == "json",
        };
        let parsed = Self {
            as_json,
            json,
            fields,
        };
        match parsed.context() {
            Ok(_) => parsed,
            // An invalid context cannot be converted, so keep the input as typed.
            Err(_) => Self {
                as_json: parsed.json.is_some(),
                ..parsed
            },
        }
    }
}

impl ContextForm {
    /// Returns the context as one line of JSON; none if it is empty or invalid.
    pub fn context_as_json(&self) -> Option<String> {
        let context = self.context().ok()?;
        (context != Context::default()).then(|| context_form::compact(&context))
    }

    fn context(&self) -> Result<Context<'static>, Vec<String>> {
        match &self.json {
            Some(json) => context_form::read(json),
            None => self.fields.context(),
        }
    }

    /// Returns the fields to show, converted from the JSON if it was typed and is valid.
    fn fields(&self) -> Fields {
        match (&self.json, self.context()) {
            (Some(_), Ok(context)) => Fields::of(&context),
            _ => self.fields.clone(),
        }
    }

    /// Returns the JSON to show.
    fn json(&self) -> String {
        let json = self.json.clone();
        json.unwrap_or_else(|| context_form::write(&self.context().unwrap_or_default()))
    }
}

/// Evaluates a flag for a context and renders the result.
pub fn evaluate(flag: &FlagConfig, form: &ContextForm) -> Evaluated {
    match form.context() {
        Err(faults) => Evaluated {
            html: view! { <Faults faults/> }.to_html(),
            served: None,
        },
        Ok(context) => {
            let explanation = explain_flag(flag, &context);
            let served = Served {
                flag: serde_json::to_string(flag).unwrap_or_default(),
                context: context_form::compact(&context),
                verdict: verdict(&explanation),
                version: VERSION.to_owned(),
            };
            let html = view! {
                <EvaluationResult explanation=explanation.clone()/>
                <Steps flag=flag.clone() explanation/>
            };
            Evaluated {
                html: html.to_html(),
                served: Some(served),
            }
        }
    }
}

/// The context form and the result, which updates as the fields change.
#[component]
pub fn Playground(
    /// The flag's id.
    id: FlagId,
    /// The environment's id.
    environment: EnvironmentId,
    /// The flag's configuration in the environment.
    flag: FlagConfig,
    /// The evaluation context.
    form: ContextForm,
    /// The address of the page for this flag and environment, to which a context can be added.
    address: String,
) -> impl IntoView {
    let Evaluated { html, served } = evaluate(&flag, &form);
    let (fields, other_format, label, address) = if form.as_json {
        let fields = html! { <JsonField json=form.json()/> };
        (
            fields,
            "form",
            "Show as a form",
            format!("{address}&as=json"),
        )
    } else {
        let fields = html! { <FormFields fields=form.fields()/> };
        (fields, "json", "Show as JSON", address)
    };
    view! {
        <PlaygroundIsland flag=id environment served address>
            <div class="playground-context">
                {fields}
                <div class="form-actions">
                    <button class="button">"Try it"</button>
                    <button class="button" name="show" value=other_format>
                        {label}
                    </button>
                </div>
            </div>
            <div class="playground-answer panel" id=RESULT_ID inner_html=html></div>
        </PlaygroundIsland>
    }
}

#[component]
fn JsonField(json: String) -> impl IntoView {
    view! {
        <div class="field">
            <label for="playground-json">"Context as JSON"</label>
            <textarea class="input mono" id="playground-json" name="context" rows="14" spellcheck="false">
                {in_textarea(&json)}
            </textarea>
            {hidden("as", "json")}
        </div>
    }
}

#[component]
fn FormFields(fields: Fields) -> impl IntoView {
    let built_in =
        Attribute::BUILT_IN
            .into_iter()
            .zip(fields.built_in)
            .map(|(attribute, value)| {
                let name = attribute.as_str().to_owned();
                let id = format!("playground-{name}");
                view! {
                    <div class="field">
                        <label class="mono" for=id.clone()>
                            {name.clone()}
                        </label>
                        <input
                            class="input"
                            id=id
                            name=name
                            autocomplete="off"
                            autocapitalize="off"
                            spellcheck="false"
                            value=value
                        />
                    </div>
                }
            });
    let empty = (0..EMPTY_ROWS).map(|_| AttributeRow::default());
    let rows = fields.rows.into_iter().filter(|row| !row.name.is_empty());
    let rows = rows.chain(empty).map(|row| view! { <RowFields row/> });
    view! {
        <div class="playground-built-in">{built_in.collect_view()}</div>
        <fieldset class="playground-rows">
            <legend>"Custom attributes"</legend>
            {rows.collect_view()}
        </fieldset>
    }
}

#[component]
fn RowFields(row: AttributeRow) -> impl IntoView {
    view! {
        <div class="playground-row">
            <input
                class="input mono"
                name="attribute"
                aria-label="Attribute name"
                placeholder="e.g. plan"
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                value=row.name
            />
            <select class="input" name="type" aria-label="Attribute type">
                {value_types(row.kind)}
            </select>
            <input
                class="input"
                name="value"
                aria-label="Attribute value"
                placeholder="e.g. pro"
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                value=row.value
            />
        </div>
    }
}

#[component]
fn Faults(faults: Vec<String>) -> impl IntoView {
    let faults = faults.into_iter().map(|fault| view! { <li>{fault}</li> });
    view! {
        <Notice severity=Severity::Danger>
            <p>"Fix the context to see the result."</p>
            <ul>{faults.collect_view()}</ul>
        </Notice>
    }
}
