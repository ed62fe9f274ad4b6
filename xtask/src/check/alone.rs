//! Tests the promise that the binary is the whole product.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::instance::Instance;
use crate::build::site;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// The path of an npm package that the binary must serve.
pub(crate) const PACKAGE: &str = "/npm/@pennon%2fcore";

/// The pages that refer to the assets of the site: the sign-in page of the dashboard, and the API reference.
const PAGES: [&str; 2] = ["/dashboard", "/docs"];

/// Copies a binary into an empty folder, starts it there, and requests its health, an npm package, and every asset of
/// the site under the name that a page uses.
pub(crate) fn check(workspace: &Workspace, binary: &Path) -> Result<Outcome> {
    let folder = workspace.empty_folder("alone")?;
    let copy = folder.join("pennon");
    fs::copy(binary, &copy)?;

    let server = Instance::start(&copy, &folder, &[("PENNON_NPM", "open")])?;
    server.get("/health")?;
    server.get(PACKAGE)?;
    let mut pages = String::new();
    for path in PAGES {
        pages += &server.get(path)?;
    }
    for asset in site::assets(workspace)? {
        let path = path_to(&asset, &pages);
        server.get(path.with_context(|| format!("no page refers to {asset}"))?)?;
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
