//! Forms that pages post to themselves.

use leptos::prelude::IntoView;

use crate::{
    components::refusal::Refusal,
    error::AdminError,
    form::Form,
    html::{Html, IntoHtml as _},
    port::{signed_in_user, visit},
};

/// A form to render: empty for a GET request, otherwise with its input and the error.
#[derive(Clone, Default)]
pub(crate) struct Typed {
    /// The input.
    pub(crate) form: Option<Form>,
    /// The error.
    pub(crate) error: Option<AdminError>,
}

impl Typed {
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

/// Handles a page whose forms post to it. The output of `carry_out` replaces the page. If `carry_out` fails, `draw`
/// renders the page again, and the error determines the status of the response.
pub(crate) async fn posted<Done, Drawn, V>(
    carry_out: impl FnOnce(Form) -> Done,
    draw: impl FnOnce(Typed) -> Drawn,
) -> Result<Html, AdminError>
where
    Done: Future<Output = Result<Html, AdminError>>,
    Drawn: Future<Output = Result<V, AdminError>>,
    V: IntoView,
{
    let typed = match visit()?.form() {
        None => {
            signed_in_user()?;
            Typed::default()
        }
        Some(form) => match carry_out(form.clone()).await {
            Ok(page) => return Ok(page),
            Err(error) => {
                visit()?.set_status(error.status());
                Typed {
                    form: Some(form),
                    error: Some(error),
                }
            }
        },
    };
    Ok(draw(typed).await?.into_html())
}

/// Redirects to another page. The returned HTML is empty.
pub(crate) fn redirect(path: &str) -> Result<Html, AdminError> {
    visit()?.redirect(path);
    Ok(().into_html())
}
