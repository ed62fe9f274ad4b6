//! The fields of a form that was posted to a page.

use std::str::FromStr;

use crate::{error::AdminError, scope::scoped};

/// The names and values, in the order in which the browser sent them.
#[derive(Clone, Default)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Parses an `application/x-www-form-urlencoded` body, or a query, which has the same format.
    pub fn parse(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    /// Returns the value of a field as it was typed; empty if the field is missing.
    ///
    /// Browsers send line breaks as CRLF; the returned text has LF.
    pub fn text(&self, field: &str) -> String {
        self.values(field).next().unwrap_or_default()
    }

    /// Returns the values of a field that occurs several times, in order.
    pub fn texts(&self, field: &str) -> Vec<String> {
        self.values(field).collect()
    }

    /// Parses the value of a field; none if the field is missing or invalid.
    pub fn parsed<T: FromStr>(&self, field: &str) -> Option<T> {
        self.text(field).parse().ok()
    }

    /// Returns the password in a field. Fails if the field is missing, because the sign-in page forwards forms without
    /// passwords, and a missing password must not count as an empty one.
    pub fn password(&self, field: &str) -> Result<String, AdminError> {
        self.values(field).next().ok_or_else(|| {
            let detail = "was not kept when your session ended; type it again";
            AdminError::invalid(field, detail)
        })
    }

    /// Returns all fields and their values.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the fields that a page may keep until they are submitted again: all but passwords.
    pub fn fields_to_keep(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields().filter(|(name, _)| !is_password(name))
    }

    fn values(&self, field: &str) -> impl Iterator<Item = String> {
        let of_field = self.0.iter().filter(move |(name, _)| name == field);
        of_field.map(|(_, value)| value.replace("\r\n", "\n"))
    }
}

/// Returns the address of a page with the parameters that have a value, and with the product of the current request.
pub(crate) fn with_query<'n>(
    path: &str,
    parameters: impl IntoIterator<Item = (&'n str, Option<String>)>,
) -> String {
    let given = parameters.into_iter();
    let given = given.filter_map(|(name, value)| Some((name, value?)));
    let mut query = form_urlencoded::Serializer::new(String::new());
    match query.extend_pairs(given).finish() {
        none if none.is_empty() => scoped(path),
        query => scoped(format!("{path}?{query}")),
    }
}

/// Returns true for the name of a password field, in every form of the dashboard.
pub fn is_password(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("password")
}

/// Declares the actions of the forms of a page, each with the value of the field `do` that names it.
macro_rules! actions {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident { $($variants:tt)+ }) => {
        $crate::choices::choices! { $(#[$meta])* $visibility enum $name { $($variants)+ } }

        impl $name {
            /// Returns the action that a form names; none if the page has no such action.
            $visibility fn of(form: &$crate::form::Form) -> Option<Self> {
                Self::parse(&form.text("do"))
            }
        }
    };
}

pub(crate) use actions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_forwarded_by_the_sign_in_is_kept_without_its_password() {
        let form = Form::parse(b"do=switch&enabled=true&sign-in-password=hunter2&newPassword=x");
        let kept: Vec<_> = form.fields_to_keep().collect();
        assert_eq!(kept, [("do", "switch"), ("enabled", "true")]);
    }
}
