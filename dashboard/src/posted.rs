//! Forms that pages post to themselves.

use leptos::prelude::IntoView;

use crate::{
    components::refusal::Refusal,
    error::AdminError,
    form::Form,
    html::{Html, IntoHtml as _},
    port::{signed_in_user, visit},
};

/// A form that is to be drawn: empty when its page was merely asked for, otherwise with what was typed and why that was
/// refused.
#[derive(Clone, Default)]
pub(crate) struct Typed {
    /// What was typed.
    pub(crate) form: Option<Form>,
    /// Why it was refused.
    pub(crate) error: Option<AdminError>,
}

impl Typed {
    /// Sorts what is wrong with a form of these fields.
    pub(crate) fn refusal(&self, fields: &[&str]) -> Refusal {
        let error = self.error.clone();
        let refusal = error.map(|error| Refusal::new(error, fields));
        Refusal {
            form: self.form.clone(),
            ..refusal.unwrap_or_default()
        }
    }
}

/// Answers a page with forms that post to it. What `carry_out` yields is shown in its place; otherwise `draw` draws it, and
/// an error of the form decides the response's status.
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

/// Leads to another page, so that there is nothing to draw here.
pub(crate) fn redirect(path: &str) -> Result<Html, AdminError> {
    visit()?.redirect(path);
    Ok(().into_html())
}
