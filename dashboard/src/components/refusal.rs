//! The errors of a form that was refused.

use leptos::prelude::*;

use super::notice::{Notice, Severity};
use crate::describe;
use crate::error::{AdminError, FieldError};
use crate::form::Form;
use crate::html::{IntoHtml as _, html};
use crate::routes;

/// A refusal, split into errors of single fields and an error of the whole form.
#[derive(Clone, Default)]
pub struct Refusal {
    /// The input, for fields to show; none in a form that was not submitted.
    pub form: Option<Form>,
    /// The errors of single fields.
    pub fields: Vec<FieldError>,
    /// Any other error.
    pub other: Option<AdminError>,
}

impl Refusal {
    /// Splits the error of a form with these fields. A conflict concerns the first of them.
    pub fn new(error: AdminError, fields: &[&str]) -> Self {
        match error {
            AdminError::Conflict(detail) => Self {
                fields: vec![FieldError {
                    field: fields.first().copied().unwrap_or_default().to_owned(),
                    detail,
                }],
                ..Self::default()
            },
            AdminError::Invalid(errors) => {
                let (fields, other) = split(errors, fields);
                let sentence = |error: FieldError| FieldError {
                    detail: describe::sentence(&error.detail),
                    ..error
                };
                let fields = fields.into_iter().map(sentence).collect();
                Self {
                    form: None,
                    fields,
                    other,
                }
            }
            other => Self::of_page(Some(other)),
        }
    }

    /// Returns a refusal with an error that concerns the whole page.
    pub fn of_page(error: Option<AdminError>) -> Self {
        Self {
            other: error,
            ..Self::default()
        }
    }
}

/// Splits the errors of a form into those of these fields or of their parts, and an error with all others, which the
/// form cannot show beside a field.
pub fn split(errors: Vec<FieldError>, fields: &[&str]) -> (Vec<FieldError>, Option<AdminError>) {
    let (own, rest): (Vec<_>, Vec<_>) = errors.into_iter().partition(|error| {
        let field = error.field.split('/').next();
        field.is_some_and(|field| fields.contains(&field))
    });
    let other = (!rest.is_empty()).then_some(AdminError::Invalid(rest));
    (own, other)
}

/// The error that concerns the whole form, above it. The form keeps its input.
#[component]
pub fn RefusalNotice(
    /// The error; nothing is shown without one.
    error: Option<AdminError>,
) -> impl IntoView {
    error.map(|error| {
        let more = match &error {
            AdminError::SignedOut => html! {
                <a href=routes::SIGN_IN target="_blank">
                    "Sign in in another tab"
                </a>
                ", then submit this form again. What you typed is still here."
            },
            AdminError::Invalid(errors) => errors
                .iter()
                .map(|FieldError { field, detail }| view! { <p>{format!("{field}: {detail}")}</p> })
                .collect_view()
                .into_html(),
            _ => ().into_html(),
        };
        view! {
            <Notice severity=Severity::Danger>
                {error.to_string()}
                " "
                {more}
            </Notice>
        }
    })
}
