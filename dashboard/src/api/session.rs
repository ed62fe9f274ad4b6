//! The visitor's session and theme.

use leptos::prelude::*;

use crate::{error::AdminError, model::Theme};
#[cfg(feature = "ssr")]
use crate::{port::visit, routes};

/// Ends the session.
#[server(prefix = "/dashboard/api", endpoint = "sign-out")]
pub async fn sign_out() -> Result<(), AdminError> {
    let visit = visit()?;
    visit.sign_out().await?;
    visit.redirect(routes::SIGN_IN);
    Ok(())
}

/// Stores the visitor's theme.
#[server(prefix = "/dashboard/api", endpoint = "set-theme")]
pub async fn set_theme(theme: Theme) -> Result<(), AdminError> {
    visit()?.set_theme(theme);
    Ok(())
}
