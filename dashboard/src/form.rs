//! The fields of a form that was posted to a page.

/// Names and values in the order in which the browser sent them.
#[derive(Clone, Default)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Reads an `application/x-www-form-urlencoded` body, or a query, which has the same form.
    pub fn parse(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    /// The value of a field as it was typed; empty when the field is missing.
    ///
    /// Browsers send line breaks as CRLF; what is handed on has plain ones.
    pub fn text(&self, field: &str) -> String {
        self.0
            .iter()
            .find(|(name, _)| name == field)
            .map(|(_, value)| value.replace("\r\n", "\n"))
            .unwrap_or_default()
    }
}
