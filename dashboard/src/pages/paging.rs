//! The pages of long lists.

use pennon_model::page::{Limit, PageRequest};

use crate::form::Form;

/// Returns the number of audit entries on a page.
pub(super) fn page_length() -> Limit {
    50.try_into().unwrap_or_default()
}

/// Returns the requested page of a list with this many items on each page.
pub(super) fn page_request(form: &Form, limit: Limit) -> PageRequest {
    let page = form.parsed::<i64>("page").unwrap_or(1);
    PageRequest {
        page: page.try_into().unwrap_or_default(),
        limit,
    }
}
