//! Tests the promise that the binary is the whole product.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::instance::Instance;
use crate::site;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The path of an npm package that the binary must serve.
pub(crate) const PACKAGE: &str = "/npm/@pennon%2fcore";

/// Copies a binary into an empty folder, starts it there, and requests its health, the sign-in page, every asset of the
/// site under the name that the page uses, and an npm package.
pub(crate) fn check(workspace: &Workspace, binary: &Path) -> Result<Outcome> {
    let folder = workspace.empty_folder("alone")?;
    let copy = folder.join("pennon");
    fs::copy(binary, &copy)?;

    let server = Instance::start(&copy, &folder, &[("PENNON_NPM", "open")])?;
    server.get("/health")?;
    server.get(PACKAGE)?;
    let page = server.get("/dashboard")?;
    for asset in site::assets(workspace)? {
        let path = path_to(&asset, &page);
        server.get(
            path.with_context(|| format!("the dashboard's first page does not refer to {asset}"))?,
        )?;
    }
    Ok(Outcome::Done)
}

/// Returns the path by which a page refers to a file: the quoted text that ends with the file's name.
fn path_to<'a>(file: &str, page: &'a str) -> Option<&'a str> {
    page.split('"').find(|quoted| quoted.ends_with(file))
}

#[cfg(test)]
mod tests {
    use super::path_to;

    #[test]
    fn an_asset_is_found_by_its_quoted_address_in_a_page() {
        let page = r#"<link href="/assets/pennon.1.css"><link href="/assets/pennon.2.js">"#;
        assert_eq!(path_to("pennon.2.js", page), Some("/assets/pennon.2.js"));
        assert_eq!(path_to("pennon.3.js", page), None);
    }
}
