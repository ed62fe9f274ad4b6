//! The fields of a targeting rule.

use leptos::prelude::*;
use pennon_core::rule::{Attribute, Logic, MAX_CONDITIONS, Operator, Priority, ValueType};

use super::{
    field::field_error,
    icon::{Drawing, Icon},
    select::{options, value_types},
};
use crate::{
    describe,
    error::FieldError,
    html::{Html, IntoHtml as _, html},
    islands::rule_editor::RuleEditor,
    targeting_form::{ConditionForm, RuleForm},
};

/// The value and the conditions of a rule, and a sentence that describes it. They are the fields of a [`RuleForm`],
/// within a form `rule-form`.
#[component]
pub fn RuleFields(
    /// The values of the fields.
    input: RuleForm,
    /// The errors of the fields.
    errors: Vec<FieldError>,
    /// Suggested names of custom attributes.
    suggestions: Vec<String>,
) -> impl IntoView {
    let rule = input.rule(Priority::FIRST).ok();
    let verdicts = [
        ("true", describe::on_off(true)),
        ("false", describe::on_off(false)),
    ];
    let verdicts = verdicts.map(|(value, verdict)| {
        view! {
            <label>
                <input type="radio" name="value" value=value checked=value == input.value/>
                {verdict}
            </label>
        }
    });
    html! {
        <div class="rule-fields">
            <div class="rule-line">
                <fieldset class="choices">
                    <legend class="visually-hidden">"Outcome"</legend>
                    {verdicts}
                </fieldset>
                <span>"when"</span>
                {logic(&input)}
            </div>
            {conditions(input, &errors, suggestions, true)}
            <p class="aloud" role="status" id="rule-aloud">
                {describe::rule_or_hint(rule.as_ref())}
            </p>
        </div>
        <RuleEditor/>
    }
}

/// Renders the choice between all and any of the conditions.
pub(super) fn logic(input: &RuleForm) -> Html {
    let logics = Logic::ALL.iter().map(|logic| {
        let label = match logic {
            Logic::And => "all of these hold",
            Logic::Or => "any of these holds",
        };
        (logic.as_str(), label)
    });
    html! {
        <select class="input" name="logic" aria-label="How the conditions combine">
            {options(logics, &input.logic)}
        </select>
    }
}

/// Renders the conditions of a rule. The buttons `add` and `remove` submit the form, which the server renders again
/// with one condition more or less. `are_required` is false if the form may be sent without them.
pub(super) fn conditions(
    input: RuleForm,
    errors: &[FieldError],
    suggestions: Vec<String>,
    are_required: bool,
) -> Html {
    let built_in = Attribute::BUILT_IN.map(|each| each.as_str().to_owned());
    let names = suggestions.into_iter().chain(built_in);
    let names = names.map(|name| view! { <option value=name></option> });
    let names = names.collect_view();
    let count = input.conditions.len();
    let is_full = count >= MAX_CONDITIONS;
    let conditions = input.conditions.into_iter().enumerate();
    let conditions = conditions.map(|(index, input)| {
        let prefix = format!("conditions/{index}/");
        let own = errors.iter().filter_map(|error| {
            let field = error.field.strip_prefix(&prefix)?;
            Some((field.to_owned(), error.detail.clone()))
        });
        let row = ConditionRow {
            index,
            errors: own.collect(),
            is_refused: !errors.is_empty(),
            is_alone: count == 1,
            is_required: are_required,
        };
        row.render(input)
    });
    let conditions = conditions.collect_view();
    let too_few = errors.iter().any(|error| error.field == "conditions");
    let too_few = too_few.then(|| field_error("A rule needs 1 to 50 conditions."));
    html! {
        <div class="conditions">{conditions}</div>
        {too_few}
        <button
            class="button"
            name="add"
            value="condition"
            formnovalidate=true
            hidden=is_full
        >
            <Drawing icon=Icon::PLUS/>
            "Add condition"
        </button>
        <datalist id="attributes">{names}</datalist>
    }
}

/// A condition in its form.
struct ConditionRow {
    /// The position, from 0.
    index: usize,
    /// The errors, each with its field.
    errors: Vec<(String, String)>,
    /// True if the form has errors, in this condition or elsewhere.
    is_refused: bool,
    /// True if it is the only condition, which cannot be removed.
    is_alone: bool,
    /// True if the browser requires an attribute.
    is_required: bool,
}

impl ConditionRow {
    /// Renders attribute, operator, type, and value. Each type of value has its own field; the browser submits the one
    /// that is not disabled.
    fn render(self, input: ConditionForm) -> Html {
        let Self {
            index,
            errors,
            is_refused,
            is_alone,
            is_required,
        } = self;
        let number = index.saturating_add(1);
        let kind = ValueType::parse(&input.value_type).unwrap_or(ValueType::String);
        let wrong = |wanted: &str| {
            let wrong = errors.iter().any(|(field, _)| field == wanted);
            wrong.then_some("true")
        };
        let operands = ValueType::ALL
            .iter()
            .map(|each| operand(*each, *each == kind, &input.operand, wrong("operand")))
            .collect_view();
        let attribute_wrong = wrong("attribute");
        let focus = if is_refused {
            attribute_wrong.is_some()
        } else {
            input.attribute.is_empty() || index == 0
        };
        let (operator_wrong, type_wrong) = (wrong("operator"), wrong("valueType"));
        let faults = errors.iter().map(fault).collect_view();
        html! {
            <div class="condition" role="group" aria-label=format!("Condition {number}")>
                <input
                    class="input mono"
                    type="text"
                    name="attribute"
                    list="attributes"
                    value=input.attribute
                    aria-label="Attribute"
                    placeholder="attribute"
                    maxlength="128"
                    required=is_required
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    autofocus=focus
                    aria-invalid=attribute_wrong
                />
                <select
                    class="input"
                    name="operator"
                    aria-label="Comparison"
                    autofocus=operator_wrong.is_some()
                    aria-invalid=operator_wrong
                >
                    {operators(kind, &input.operator)}
                </select>
                <select
                    class="input"
                    name="valueType"
                    aria-label="Type of the value"
                    autofocus=type_wrong.is_some()
                    aria-invalid=type_wrong
                >
                    {value_types(kind)}
                </select>
                {operands}
                <button
                    class="icon-button"
                    name="remove"
                    value=index.to_string()
                    formnovalidate=true
                    title="Remove this condition"
                    aria-label=format!("Remove condition {number}")
                    hidden=is_alone
                >
                    <Drawing icon=Icon::CLOSE/>
                </button>
                {faults}
            </div>
        }
    }
}

/// Renders the operators for a type of value, as options.
fn operators(kind: ValueType, selected: &str) -> Html {
    let operators = Operator::ALL.iter().map(|operator| {
        html! {
            <option
                value=operator.as_str()
                selected=operator.as_str() == selected
                data-number=comparison(*operator, ValueType::Number)
                data-other=comparison(*operator, ValueType::String)
            >
                {comparison(*operator, kind)}
            </option>
        }
    });
    operators.collect_view().into_html()
}

/// Renders an error of a condition, which consists of the field and the detail.
fn fault((field, detail): &(String, String)) -> Html {
    let field = match field.as_str() {
        "attribute" => "attribute",
        "operator" => "comparison",
        "valueType" => "type",
        _ => "value",
    };
    field_error(format!("The {field} {detail}."))
}

/// Renders the field for a value of a type.
fn operand(kind: ValueType, chosen: bool, value: &str, wrong: Option<&'static str>) -> Html {
    let focus = chosen && wrong.is_some();
    let value = if chosen {
        value.to_owned()
    } else {
        String::new()
    };
    if kind == ValueType::Boolean {
        return html! {
            <select
                class="input"
                name="operand"
                data-type=kind.as_str()
                hidden=!chosen
                disabled=!chosen
                aria-label="Value"
                autofocus=focus
                aria-invalid=wrong
            >
                <option value="true">"true"</option>
                <option value="false" selected=value == "false">
                    "false"
                </option>
            </select>
        };
    }
    let (example, max_length) = match kind {
        ValueType::Number => ("whole number", "17"),
        _ => ("value", "1024"),
    };
    // The numeric keyboard of an iPhone has no minus sign.
    html! {
        <input
            class="input"
            type="text"
            name="operand"
            data-type=kind.as_str()
            hidden=!chosen
            disabled=!chosen
            value=value
            aria-label="Value"
            autofocus=focus
            aria-invalid=wrong
            placeholder=example
            maxlength=max_length
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
        />
    }
}

fn comparison(operator: Operator, kind: ValueType) -> &'static str {
    let number = kind == ValueType::Number;
    match operator {
        Operator::Equal => "is",
        Operator::NotEqual => "is not",
        Operator::Greater if number => "is more than",
        Operator::Less if number => "is less than",
        Operator::GreaterOrEqual if number => "is at least",
        Operator::LessOrEqual if number => "is at most",
        Operator::Greater => "comes after",
        Operator::Less => "comes before",
        Operator::GreaterOrEqual => "is or comes after",
        Operator::LessOrEqual => "is or comes before",
    }
}
