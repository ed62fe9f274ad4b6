//! Forms that pages post to themselves.

use leptos::prelude::{GetUntracked as _, IntoView};
use leptos_router::hooks::use_location;

use crate::{
    components::{
        confirm_change::{confirm_change, is_canceled},
        refusal::Refusal,
        send_again::SendAgain,
    },
    error::AdminError,
    form::{Form, with_query},
    html::{Html, IntoHtml as _, html},
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

    /// Returns true if somebody else made a change first.
    pub(crate) fn is_stale(&self) -> bool {
        self.error == Some(AdminError::Stale)
    }

    /// Returns the state that a form expects: the one that was posted, unless the page shows the user the current one.
    pub(crate) fn expected<T>(&self, posted: impl FnOnce(&Form) -> Option<T>, current: T) -> T {
        let form = self.form.as_ref().filter(|_| !self.is_stale());
        form.and_then(posted).unwrap_or(current)
    }
}

/// Handles a page whose forms post to it. The output of `submit` replaces the page; if it has none, `render` renders
/// the page with the input. If `submit` fails, `render` renders the page again, and the error determines the status of
/// the response. If that is impossible, a page replaces it that keeps the input. If the change must be confirmed, a
/// question replaces the page; if the user cancels it, `render` renders the page with the input.
pub(crate) async fn handle_form<Submitted, Output, Rendered, V>(
    submit: impl FnOnce(Form) -> Submitted,
    render: impl FnOnce(FormState) -> Rendered,
) -> Result<Html, AdminError>
where
    Submitted: Future<Output = Result<Output, AdminError>>,
    Output: Into<Option<Html>>,
    Rendered: Future<Output = Result<V, AdminError>>,
    V: IntoView,
{
    let Some(form) = visit()?.form() else {
        signed_in_user()?;
        return Ok(render(FormState::default()).await?.into_html());
    };
    let submitted = if is_canceled(&form) {
        Ok(None)
    } else {
        submit(form.clone()).await.map(Into::into)
    };
    let error = match submitted {
        Ok(Some(page)) => return Ok(page),
        Ok(None) => None,
        Err(AdminError::Unconfirmed(change)) => return confirm_change(form, change).await,
        Err(error) => Some(error),
    };
    let state = FormState {
        form: Some(form.clone()),
        error: error.clone(),
    };
    match render(state).await {
        Ok(page) => {
            if let Some(error) = error {
                visit()?.set_error(&error);
            }
            Ok(page.into_html())
        }
        Err(AdminError::NotFound) => Err(AdminError::NotFound),
        Err(later) => {
            // A page that exists explains why the object of its form does not.
            let error = error.filter(|error| *error != AdminError::NotFound);
            let error = error.unwrap_or(later);
            Ok(html! { <SendAgain error form/> })
        }
    }
}

/// Redirects to another page after a change, for the same product. The page offers to undo the change. The returned
/// HTML is empty.
pub(crate) fn redirect(path: &str) -> Result<Html, AdminError> {
    let visit = visit()?;
    visit.offer_undo();
    visit.redirect(&scoped(path));
    Ok(().into_html())
}
