//! Forms that pages post to themselves.

use leptos::prelude::{GetUntracked as _, IntoView};
use leptos_router::hooks::use_location;

use crate::{
    components::{
        confirm_change::{confirm_change, is_canceled},
        refusal::Refusal,
    },
    error::AdminError,
    form::{Form, with_query},
    html::{Html, IntoHtml as _},
    port::{query, signed_in_user, visit},
    scope::scoped,
};

/// The parameter by which the script marks the address of a page that answers a form.
const MARK: &str = "answered";

/// Returns the address of the current page without the mark; none if it has no mark. A browser that requests a marked
/// address reloads the page, maybe with a form that was already answered.
pub(crate) fn address_without_mark() -> Option<String> {
    let query = query();
    let others = query.fields().filter(|(name, _)| *name != MARK);
    let others: Vec<_> = others
        .map(|(name, value)| (name, Some(value.to_owned())))
        .collect();
    (others.len() < query.fields().count())
        .then(|| with_query(&use_location().pathname.get_untracked(), others))
}

/// A form to render: empty for a GET request, otherwise with its input and the error.
#[derive(Clone, Default)]
pub(crate) struct FormState {
    /// The input.
    pub(crate) form: Option<Form>,
    /// The error.
    pub(crate) error: Option<AdminError>,
}

impl FormState {
    /// Splits the error of a form with these fields.
    pub(crate) fn refusal(&self, fields: &[&str]) -> Refusal {
        let error = self.error.clone();
        let refusal = error.map(|error| Refusal::new(error, fields));
        Refusal {
            form: self.form.clone(),
            ..refusal.unwrap_or_default()
        }
    }
}

/// Handles a page whose forms post to it. The output of `submit` replaces the page. If `submit` fails, `render`
/// renders the page again, and the error determines the status of the response. If the change must be confirmed, a question
/// replaces the page; if the user cancels it, `render` renders the page with the input.
pub(crate) async fn handle_form<Submitted, Rendered, V>(
    submit: impl FnOnce(Form) -> Submitted,
    render: impl FnOnce(FormState) -> Rendered,
) -> Result<Html, AdminError>
where
    Submitted: Future<Output = Result<Html, AdminError>>,
    Rendered: Future<Output = Result<V, AdminError>>,
    V: IntoView,
{
    let state = match visit()?.form() {
        None => {
            signed_in_user()?;
            FormState::default()
        }
        Some(form) if is_canceled(&form) => FormState {
            form: Some(form),
            error: None,
        },
        Some(form) => match submit(form.clone()).await {
            Ok(page) => return Ok(page),
            Err(AdminError::Unconfirmed(change)) => {
                return confirm_change(form, change).await;
            }
            Err(error) => {
                visit()?.set_status(error.status());
                FormState {
                    form: Some(form),
                    error: Some(error),
                }
            }
        },
    };
    Ok(render(state).await?.into_html())
}

/// Redirects to another page after a change, for the same product. The page offers to undo the change. The returned HTML
/// is empty.
pub(crate) fn redirect(path: &str) -> Result<Html, AdminError> {
    let visit = visit()?;
    visit.offer_undo();
    visit.redirect(&scoped(path));
    Ok(().into_html())
}
