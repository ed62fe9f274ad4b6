//! Runs the browser tests in Firefox and WebKit. Finds or installs the browsers and their drivers.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::build::serve::Profile;
use crate::process::{self, Run as _};
use crate::programs::{debian, node};
use crate::step::Outcome;
use crate::tally::{LEFT_OUT, Tally};
use crate::workspace::Workspace;

/// The variable that names the browsers for the tests. Without it, the tests run in all of them.
const BROWSERS: &str = "PENNON_BROWSERS";

/// The variable that names Firefox's executable.
const FIREFOX: &str = "PENNON_FIREFOX";

const FIREFOX_ON_MACOS: &str = "/Applications/Firefox.app/Contents/MacOS/firefox";

/// The version of geckodriver that is installed if it is missing.
const GECKODRIVER: &str = "0.37.1";

/// The folder of the tests, which is a separate npm project.
const FOLDER: &str = "playwright/webdriver";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Browser {
    Firefox,
    WebKit,
}

impl Browser {
    const ALL: [Self; 2] = [Self::Firefox, Self::WebKit];

    /// Returns the browser's name in [`BROWSERS`].
    fn name(self) -> &'static str {
        match self {
            Self::Firefox => "firefox",
            Self::WebKit => "webkit",
        }
    }

    /// Returns the programs that tests in this browser need, each with its Debian package. Debian has no geckodriver.
    fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Firefox => &[("firefox", "firefox-esr")],
            Self::WebKit => &[("WebKitWebDriver", "webkit2gtk-driver"), ("Xvfb", "xvfb")],
        }
    }
}

/// Tests the server that [`suites::rust`](super::suites::rust) has built, in both browsers or in those that
/// `PENNON_BROWSERS` names.
pub(crate) fn test(workspace: &Workspace, tally: &mut Tally) -> Result<Outcome> {
    let browsers = chosen(&env::var(BROWSERS).unwrap_or_default())?;
    for browser in Browser::ALL {
        if !browsers.contains(&browser) {
            tally.omit(format!(
                "{LEFT_OUT}tests in {browser:?}, which is not in {BROWSERS}"
            ));
        }
    }
    find_or_install(workspace, &browsers)?;

    let folder = workspace.root.join(FOLDER);
    let npm = |arguments: &[&str]| {
        let mut npm = node::npm(workspace);
        npm.args(arguments).current_dir(&folder);
        npm
    };
    npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).run_quietly()?;
    npm(&["run", "--silent", "check"]).run()?;
    let mut tests = npm(&["run", "--silent", "test"]);
    let names: Vec<_> = browsers.iter().map(|browser| browser.name()).collect();
    tests
        .env(BROWSERS, names.join(","))
        .env("PENNON_BINARY", Profile::Dev.binary(workspace));
    if browsers.contains(&Browser::Firefox) {
        let firefox = firefox()?.context("Firefox was found but is missing now")?;
        tests
            .env(FIREFOX, firefox)
            .env("PENNON_GECKODRIVER", geckodriver(workspace)?);
    }
    tally.run("Firefox and WebKit", &mut tests)?;
    Ok(Outcome::Done)
}

/// Parses a comma-separated list of browsers. An empty list means all browsers.
fn chosen(list: &str) -> Result<Vec<Browser>> {
    if list.trim().is_empty() {
        return Ok(Browser::ALL.to_vec());
    }
    let browser = |name: &str| {
        let found = Browser::ALL.into_iter().find(|each| each.name() == name);
        found.with_context(|| {
            format!("{BROWSERS} names `{name}`; the browsers are `firefox` and `webkit`")
        })
    };
    list.split(',').map(|name| browser(name.trim())).collect()
}

/// Ensures that all programs for these browsers are installed. Installs Debian packages where possible.
fn find_or_install(workspace: &Workspace, browsers: &[Browser]) -> Result<()> {
    let mut missing = missing(browsers)?;
    if !missing.is_empty() && debian::can_install(workspace) {
        let packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
        eprintln!("    installing Debian's {}", packages.join(", "));
        debian::install(workspace, &packages)?;
        missing = self::missing(browsers)?;
    }
    if !missing.is_empty() {
        let (programs, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
        bail!(
            "not found: {}. Install the Debian packages {} or their like, or leave a browser out with \
             {BROWSERS}=firefox or {BROWSERS}=webkit; macOS has no WebKitGTK.",
            programs.join(", "),
            packages.join(", "),
        );
    }
    Ok(())
}

/// Returns the programs that cannot be found, each with its Debian package.
fn missing(browsers: &[Browser]) -> Result<Vec<(&'static str, &'static str)>> {
    let mut missing = Vec::new();
    for &(program, package) in browsers.iter().flat_map(|browser| browser.programs()) {
        let found = match program {
            "firefox" => firefox()?,
            _ => process::on_path(program),
        };
        if found.is_none() {
            missing.push((program, package));
        }
    }
    Ok(missing)
}

/// Returns Firefox's executable, if it is installed.
fn firefox() -> Result<Option<PathBuf>> {
    if let Some(firefox) = env::var_os(FIREFOX).filter(|value| !value.is_empty()) {
        let firefox = PathBuf::from(firefox);
        if !firefox.is_file() {
            bail!("{FIREFOX} names {}, which is not a file", firefox.display());
        }
        return Ok(Some(firefox));
    }
    let on_path = ["firefox-esr", "firefox"]
        .into_iter()
        .find_map(process::on_path);
    let known = || Some(PathBuf::from(FIREFOX_ON_MACOS)).filter(|path| path.is_file());
    Ok(on_path.or_else(known))
}

/// Returns the geckodriver on the search path, or one that is compiled into the target folder.
fn geckodriver(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(driver) = process::on_path("geckodriver") {
        return Ok(driver);
    }
    let tools = workspace.target.join("tools");
    let root = tools.join(format!("geckodriver-{GECKODRIVER}"));
    let driver = root.join("bin/geckodriver");
    if !driver.is_file() {
        eprintln!("    compiling geckodriver {GECKODRIVER}");
        let build = tools.join("build");
        install_crate(workspace, "geckodriver", GECKODRIVER, &root, &build)?;
        fs::remove_dir_all(build)?;
    }
    Ok(driver)
}

/// Installs a program from crates.io. It is not optimized, because that would take longer than it saves.
fn install_crate(
    workspace: &Workspace,
    name: &str,
    version: &str,
    root: &Path,
    build: &Path,
) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo
        .args(["install", name, "--version", version, "--locked", "--debug"])
        .arg("--root")
        .arg(root)
        .arg("--target-dir")
        .arg(build)
        .run_quietly()
        .with_context(|| format!("{name} {version} cannot be installed"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Browser, chosen};

    #[test]
    fn without_a_list_all_browsers_are_tested() -> anyhow::Result<()> {
        assert_eq!(chosen("")?, Browser::ALL);
        assert_eq!(chosen("webkit, firefox")?.len(), 2);
        assert_eq!(chosen("firefox")?, [Browser::Firefox]);
        Ok(())
    }

    #[test]
    fn an_unknown_browser_is_refused() {
        assert!(chosen("firefox,safari").is_err());
    }
}
