//! Finds Chromium for the browser tests, or installs it where possible.

use std::env;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use super::{debian, node};
use crate::process::{self, Run as _};
use crate::workspace::Workspace;

/// The variables that can name the browser's executable, Pennon's own first.
const VARIABLES: [&str; 2] = ["PENNON_CHROMIUM", "CHROME"];

/// The names of the browser's executable on the search path, the fastest browser first.
const NAMES: [&str; 6] = [
    HEADLESS,
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// Headless Chromium, which takes half as long for the same pages.
const HEADLESS: &str = "chromium-headless-shell";

const MACOS: &str = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/// Returns the browser's executable. Installs a browser if none is found.
pub(crate) fn find_or_install(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(browser) = find(workspace)? {
        return Ok(browser);
    }
    if let Err(error) = install(workspace) {
        bail!(
            "The browser tests need Chromium or Chrome, and none was found or could be installed ({error:#}). \
             Install one, or set {} to its executable.",
            VARIABLES[0],
        );
    }
    find(workspace)?.context("Chromium was installed but cannot be found")
}

fn find(workspace: &Workspace) -> Result<Option<PathBuf>> {
    for variable in VARIABLES {
        if let Some(browser) = env::var_os(variable).filter(|value| !value.is_empty()) {
            let browser = PathBuf::from(browser);
            if !browser.is_file() {
                bail!(
                    "{variable} names {}, which is not a file",
                    browser.display()
                );
            }
            return Ok(Some(browser));
        }
    }
    let on_path = NAMES.into_iter().find_map(process::on_path);
    let known = || Some(PathBuf::from(MACOS)).filter(|path| path.is_file());
    Ok(on_path
        .or_else(known)
        .or_else(|| playwrights_own(workspace)))
}

/// Returns the browser that Playwright itself downloads, if it has been downloaded.
fn playwrights_own(workspace: &Workspace) -> Option<PathBuf> {
    let script =
        "import { chromium } from '@playwright/test'; console.log(chromium.executablePath())";
    let mut node = workspace.command("node");
    let path = node
        .args(["--input-type=module", "--eval", script])
        .run_quietly()
        .ok()?;
    Some(PathBuf::from(path.trim())).filter(|path| path.is_file())
}

/// Installs Debian's package if the user may install packages, or else the browser that Playwright downloads.
fn install(workspace: &Workspace) -> Result<()> {
    if debian::can_install(workspace) {
        eprintln!("    no Chromium found: installing Debian's package");
        debian::install(workspace, &[HEADLESS, "fonts-liberation"])?;
    } else {
        eprintln!("    no Chromium found: downloading Playwright's");
        node::tool(workspace, "playwright")
            .args(["install", "chromium"])
            .run_quietly()?;
    }
    Ok(())
}
