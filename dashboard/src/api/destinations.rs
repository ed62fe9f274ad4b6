//! What the palette asks.

use leptos::prelude::*;

use crate::{error::AdminError, model::Destination};

/// Where one can go that has this text in its name.
#[server(prefix = "/dashboard/api", endpoint = "destinations")]
pub async fn destinations(text: String) -> Result<Vec<Destination>, AdminError> {
    crate::destinations::find(&text).await
}
