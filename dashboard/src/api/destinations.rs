//! The search of the palette.

use leptos::prelude::*;

use crate::{error::AdminError, model::Destination};

/// Returns the destinations whose names contain this text, for the product in the address of the request, or for all.
#[server(prefix = "/dashboard/api", endpoint = "destinations")]
pub async fn destinations(text: String) -> Result<Vec<Destination>, AdminError> {
    crate::destinations::find(&text).await
}
