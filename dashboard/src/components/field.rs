//! Fields of forms.

use leptos::prelude::*;

use super::{
    escape::in_textarea,
    icon::{Drawing, Icon},
    refusal::Refusal,
    select::options,
};
use crate::html::{Html, html, with_code};

/// The kind of input of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A line of text.
    Line,
    /// A line for machines, such as a key.
    Code,
    /// A whole number.
    Number,
    /// An e-mail address.
    Email,
    /// The address of an account to create.
    OtherEmail,
    /// An existing password.
    Password,
    /// A new password.
    NewPassword,
    /// A date.
    Date,
    /// Several lines.
    Text,
    /// One of a few choices, each with a value and a label.
    Choice(&'static [(&'static str, &'static str)]),
}

impl Input {
    /// Returns the type, the class and the autocompletion of an `input` element.
    fn attributes(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Email => ("email", "input", "username"),
            Self::OtherEmail => ("email", "input", "off"),
            Self::Password => ("password", "input", "current-password"),
            Self::NewPassword => ("password", "input", "new-password"),
            Self::Date => ("date", "input", "off"),
            Self::Code => ("text", "input mono", "off"),
            Self::Number => ("text", "input short", "off"),
            Self::Line | Self::Text | Self::Choice(_) => ("text", "input", "off"),
        }
    }
}

/// A labeled field with a hint beneath the label and an error beneath the input.
///
/// A field with an error takes the focus when the page is shown.
#[component]
pub fn Field(
    /// The field's name, also its id.
    name: &'static str,
    /// Its label.
    label: &'static str,
    /// The kind of input.
    input: Input,
    /// The initial value. A password field never shows one: the page's source would contain it.
    #[prop(into, optional)]
    value: String,
    /// The hint.
    #[prop(optional)]
    hint: &'static str,
    /// An example of what to type.
    #[prop(optional)]
    example: &'static str,
    /// Suggested values of a line.
    #[prop(optional)]
    suggestions: Vec<String>,
    /// True if the field may stay empty.
    #[prop(optional)]
    optional: bool,
    /// The maximum number of characters.
    #[prop(optional)]
    max_length: Option<u16>,
    /// True if the field takes the focus although it has no error.
    #[prop(optional)]
    focus: bool,
    /// The input and the errors of the form, of which the field shows its own.
    #[prop(optional)]
    refusal: Refusal,
) -> impl IntoView {
    let errors = field_errors(name, name, &refusal);
    let value = refusal.form.map_or(value, |form| form.text(name));
    let list_id = (!suggestions.is_empty()).then(|| format!("{name}-list"));
    let has_hint = !hint.is_empty();
    let described_by = described_by(name, has_hint, errors.is_some());
    let invalid = errors.is_some().then_some("true");
    let focus = focus || errors.is_some();
    let example = (!example.is_empty()).then(|| format!("e.g. {example}"));

    let input = match input {
        Input::Text => html! {
            <textarea
                class="input"
                id=name
                name=name
                rows="3"
                maxlength=max_length
                required=!optional
                autofocus=focus
                placeholder=example
                aria-invalid=invalid
                aria-describedby=described_by
            >
                {in_textarea(&value)}
            </textarea>
        },
        Input::Choice(choices) => html! {
            <select
                class="input"
                id=name
                name=name
                autofocus=focus
                aria-invalid=invalid
                aria-describedby=described_by
            >
                {options(choices.iter().copied(), &value)}
            </select>
        },
        _ => {
            let (kind, class, autocomplete) = input.attributes();
            let value = if kind == "password" {
                String::new()
            } else {
                value
            };
            html! {
                <input
                    class=class
                    type=kind
                    inputmode=(input == Input::Number).then_some("numeric")
                    id=name
                    name=name
                    value=value
                    list=list_id.clone()
                    maxlength=max_length
                    required=!optional
                    autofocus=focus
                    autocomplete=autocomplete
                    autocapitalize="off"
                    spellcheck=(input == Input::Line).to_string()
                    placeholder=example
                    aria-invalid=invalid
                    aria-describedby=described_by
                />
            }
        }
    };

    html! {
        <div class="field">
            <label for=name>
                {label} {optional.then(|| view! { <span class="optional">" (optional)"</span> })}
            </label>
            {has_hint.then(|| view! { <p class="hint" id=format!("{name}-hint")>{hint}</p> })}
            {input}
            {list_id.map(|id| datalist(id, suggestions))}
            {errors}
        </div>
    }
}

fn datalist(id: String, suggestions: Vec<String>) -> impl IntoView {
    let options = suggestions.into_iter();
    let options = options.map(|each| view! { <option value=each></option> });
    view! { <datalist id=id>{options.collect_view()}</datalist> }
}

/// Renders the errors of the field with this name, in an element with the id `{id}-error`; none without errors.
pub(super) fn field_errors(id: &str, name: &str, refusal: &Refusal) -> Option<Html> {
    let errors = refusal.fields.iter().filter(|error| error.field == name);
    let errors: Vec<_> = errors
        .map(|error| field_error(with_code(&error.detail)))
        .collect();
    (!errors.is_empty()).then(|| html! { <div id=format!("{id}-error")>{errors}</div> })
}

/// Returns the ids of the hint and of the error of a field, as its `aria-describedby`; none if it has neither.
pub(super) fn described_by(id: &str, has_hint: bool, has_error: bool) -> Option<String> {
    let hint = has_hint.then(|| format!("{id}-hint"));
    let error = has_error.then(|| format!("{id}-error"));
    let ids: Vec<_> = hint.into_iter().chain(error).collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}

/// Renders the error of a field.
pub(super) fn field_error(detail: impl IntoView) -> Html {
    html! {
        <p class="field-error">
            <Drawing icon=Icon::ALERT/>
            <span>{detail}</span>
        </p>
    }
}
