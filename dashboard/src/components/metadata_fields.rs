//! The fields for the metadata of a flag: tags, owner, kind and expiry.

use leptos::prelude::*;
use pennon_model::{
    metadata::{FlagKind, FlagMetadata, FlagTag},
    time::Timestamp,
};

use super::{
    field::{Field, Input},
    refusal::Refusal,
};
use crate::{
    describe,
    form::Form,
    html::{hidden, html},
    port::flags::MetadataForm,
};

/// The fields that can have an error.
pub(crate) const FIELDS: &[&str] = &["tags", "owner", "kind", "expiresAt"];

/// The field with the exact expiry, of which the form shows only the date.
const EXACT_EXPIRY: &str = "expires-exactly";

/// The number of characters of an invalid tag in its error.
const SHOWN_OF_TAG: usize = 30;

/// The kinds to choose from.
const KINDS: &[(&str, &str)] = &[
    ("", "None"),
    kind_option(FlagKind::Release),
    kind_option(FlagKind::Experiment),
    kind_option(FlagKind::Operational),
    kind_option(FlagKind::Permission),
    kind_option(FlagKind::KillSwitch),
];

const fn kind_option(kind: FlagKind) -> (&'static str, &'static str) {
    (kind.as_str(), describe::kind(kind))
}

impl From<&Form> for MetadataForm {
    fn from(form: &Form) -> Self {
        let (date, exact) = (form.text("expiresAt"), form.text(EXACT_EXPIRY));
        let is_unchanged = !date.is_empty() && exact.starts_with(&date);
        Self {
            tags: form.text("tags"),
            owner: form.text("owner"),
            kind: form.text("kind"),
            expires_at: if is_unchanged { exact } else { date },
        }
    }
}

/// Describes the error of the first invalid tag in a list, and names the tag; none if each tag is valid.
pub fn tag_error(list: &str) -> Option<String> {
    let mut tags = list.split(',').map(str::trim).filter(|tag| !tag.is_empty());
    tags.find_map(|tag| {
        let error = FlagTag::try_from(tag.to_owned()).err()?;
        let start: String = tag.chars().take(SHOWN_OF_TAG).collect();
        let rest = if start.len() < tag.len() { "…" } else { "" };
        Some(format!("the tag `{start}{rest}` {error}"))
    })
}

/// Names the invalid tag in the error of the field for tags, which the error of the server does not.
fn with_tag(mut refusal: Refusal) -> Refusal {
    let typed = refusal.form.as_ref().map(|form| form.text("tags"));
    let detail = typed.as_deref().and_then(tag_error);
    let mut errors = refusal.fields.iter_mut();
    if let (Some(detail), Some(error)) = (detail, errors.find(|error| error.field == "tags")) {
        error.detail = describe::sentence(&detail);
    }
    refusal
}

/// Fields for tags, owner, kind and expiry, all of them optional.
#[component]
pub fn MetadataFields(
    /// The metadata of the flag.
    #[prop(optional)]
    current: FlagMetadata,
    /// The input and the errors of the form.
    refusal: Refusal,
) -> impl IntoView {
    let expires_at = current.expires_at.map(Timestamp::from);
    let exact = expires_at.map(|at| at.to_string()).unwrap_or_default();
    let date = exact.get(..10).unwrap_or_default().to_owned();
    html! {
        <Field
            name="tags"
            label="Tags"
            input=Input::Line
            hint="Words to find the flag by, separated by commas."
            optional=true
            example="checkout, web"
            value=current.tags.to_string()
            refusal=with_tag(refusal.clone())
        />
        <Field
            name="owner"
            label="Owner"
            input=Input::Line
            hint="The person or the team to ask about the flag."
            optional=true
            example="ana@example.com"
            max_length=320
            value=current.owner.map(|owner| owner.to_string()).unwrap_or_default()
            refusal=refusal.clone()
        />
        <Field
            name="kind"
            label="Kind"
            input=Input::Choice(KINDS)
            optional=true
            value=current.kind.map(FlagKind::as_str).unwrap_or_default()
            refusal=refusal.clone()
        />
        <Field
            name="expiresAt"
            label="Expires"
            input=Input::Date
            hint="From this day on (UTC), the flag is listed as stale. Nothing is switched."
            optional=true
            value=date
            refusal
        />
        {hidden(EXACT_EXPIRY, exact)}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_tag() {
        assert_eq!(tag_error("web, checkout,"), None);
        let list = format!("web, {}", "x".repeat(51));
        let expected = format!(
            "the tag `{}…` must have at most 50 characters",
            "x".repeat(30)
        );
        assert_eq!(tag_error(&list), Some(expected));
    }

    #[test]
    fn the_time_of_an_expiry_stays_unless_its_date_changes() {
        let expiry = |body: &str| MetadataForm::from(&Form::parse(body.as_bytes())).expires_at;
        let exact = "expires-exactly=2026-03-01T09:30:00.000Z";
        assert_eq!(
            expiry(&format!("expiresAt=2026-03-01&{exact}")),
            "2026-03-01T09:30:00.000Z"
        );
        assert_eq!(
            expiry(&format!("expiresAt=2026-03-02&{exact}")),
            "2026-03-02"
        );
        assert_eq!(expiry(&format!("expiresAt=&{exact}")), "");
        assert_eq!(
            expiry("expiresAt=2026-03-02&expires-exactly="),
            "2026-03-02"
        );
    }
}
