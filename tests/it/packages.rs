//! The npm registry of the server, tested over HTTP and with npm. `matrix` tests other package managers.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;

use pennon_tests::{Answer, Caller, TestApp, TestDatabase, eventually};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

const CORE: &str = "/npm/@pennon%2fcore";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Starts a server whose registry is public.
async fn start_with_public_registry(arguments: &[&str]) -> TestApp {
    TestApp::with_settings(&[["--npm", "open"].as_slice(), arguments].concat()).await
}

async fn document(caller: &Caller<'_>) -> Value {
    caller.get(CORE).await.expect(StatusCode::OK).json()
}

fn tarball(document: &Value, version: &str) -> String {
    let tarball = &document["versions"][version]["dist"]["tarball"];
    tarball.as_str().expect("an address").to_owned()
}

/// Returns the error text that package managers show.
fn error_text(answer: &Answer) -> String {
    answer.text("/error")
}

#[tokio::test]
async fn every_package_is_served_in_the_version_of_the_server() {
    let app = start_with_public_registry(&[]).await;
    for (name, peer) in [
        ("core", None),
        ("nest", Some("@pennon/core")),
        ("next", Some("@pennon/react")),
        ("openfeature", Some("@pennon/core")),
        ("react", Some("@pennon/core")),
    ] {
        let path = format!("/npm/@pennon%2f{name}");
        let package = app.anonymous().get(&path).await.expect(StatusCode::OK);
        let package = package.json();
        assert_eq!(package["name"], format!("@pennon/{name}"));
        assert_eq!(package["dist-tags"], json!({ "latest": VERSION }));
        let version = &package["versions"][VERSION];
        assert_eq!(version["version"], VERSION);
        if let Some(peer) = peer {
            assert_eq!(version["peerDependencies"][peer], VERSION, "{name}");
        }
        for tag in [VERSION, "latest"] {
            let path = format!("/npm/@pennon/{name}/{tag}");
            let alone = app.anonymous().get(&path).await.expect(StatusCode::OK);
            assert_eq!(alone.json(), *version);
        }
    }
}

#[tokio::test]
async fn the_registry_requires_a_personal_access_token_of_any_role() {
    let app = TestApp::start().await;
    let admin = app.admin().await;
    let sdk_key = admin.flag_environment().await.sdk_key;
    let path = format!("/npm/@pennon/core/-/core-{VERSION}.tgz");
    for path in [CORE, &path, "/npm/-/whoami"] {
        for nobody in [app.anonymous(), app.with_authorization("Bearer pnt_wrong")] {
            let refused = nobody.get(path).await;
            assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
            let challenge = refused.header("www-authenticate");
            assert!(challenge.starts_with("Bearer realm=") && challenge.contains(".npmrc"));
        }
        let refused = app.sdk(&sdk_key).get(path).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        assert!(error_text(&refused).contains("personal access token"));
    }
    let (_, token) = admin.personal_token("npm", "viewer").await;
    let reader = app.with_token(&token);
    reader.get(CORE).await.expect(StatusCode::OK);
    let tarball = reader.get(&path).await.expect(StatusCode::OK);
    assert!(tarball.header("cache-control").starts_with("private, "));
    let owner = reader.get("/npm/-/whoami").await.expect(StatusCode::OK);
    assert_eq!(owner.json(), json!({ "username": pennon_tests::EMAIL }));
}

#[tokio::test]
async fn the_registry_can_be_made_public_or_turned_off() {
    let app = start_with_public_registry(&[]).await;
    let package = document(&app.anonymous()).await;
    let path = tarball(&package, VERSION);
    let path = path.replace(&format!("http://{}", app.address()), "");
    let tarball = app.anonymous().get(&path).await.expect(StatusCode::OK);
    assert!(tarball.header("cache-control").starts_with("public, "));
    let wrong = app.with_authorization("Bearer pnt_wrong").get(CORE).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);

    let app = TestApp::on_empty_database(&["--npm", "off"]).await;
    let refused = app.admin().await.get(CORE).await;
    let refused = refused.expect(StatusCode::NOT_FOUND);
    assert!(error_text(&refused).contains("PENNON_NPM is off"));
    let stored = "select count(*) from package_versions";
    assert_eq!(app.database().count(stored).await, 0);
}

#[tokio::test]
async fn the_error_says_what_is_missing() {
    let app = start_with_public_registry(&[]).await;
    for (path, text) in [
        ("/npm", "scope @pennon"),
        ("/npm/react", "scope @pennon"),
        ("/npm/@other%2fcore", "scope @pennon"),
        ("/npm/@pennon%2fnothing", "no package @pennon/nothing"),
        ("/npm/@pennon%2fcore/9.9.9", VERSION),
        ("/npm/@pennon/core/-/core-9.9.9.tgz", VERSION),
        ("/npm/@pennon/nothing/-/nothing-1.0.0.tgz", "no package"),
    ] {
        let refused = app.anonymous().get(path).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{path}");
        assert!(
            error_text(&refused).contains(text),
            "{}",
            error_text(&refused)
        );
    }
    let publish = app.anonymous().put(CORE, json!({})).await;
    assert_eq!(publish.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn tarball_addresses_use_the_requested_host_and_are_not_cached() {
    let app = start_with_public_registry(&["--trusted-proxies", "127.0.0.1/32"]).await;
    let path = format!("/npm/@pennon/core/-/core-{VERSION}.tgz");
    for (host, scheme, expected) in [
        ("flags.test:8080", "", "http://flags.test:8080"),
        ("flags.test", "https", "https://flags.test"),
    ] {
        let request = app.anonymous().request(Method::GET, CORE);
        let request = request
            .header("host", host)
            .header("x-forwarded-proto", scheme);
        let answer = app.anonymous().send(request).await.expect(StatusCode::OK);
        assert_eq!(
            tarball(&answer.json(), VERSION),
            format!("{expected}{path}")
        );
        assert_eq!(answer.header("cache-control"), "no-store");
    }

    let app = start_with_public_registry(&["--public-url", "https://flags.example.com"]).await;
    let answer = app.anonymous().get(CORE).await.expect(StatusCode::OK);
    let expected = format!("https://flags.example.com{path}");
    assert_eq!(tarball(&answer.json(), VERSION), expected);
    assert_eq!(answer.header("cache-control"), "no-cache");
}

#[tokio::test]
async fn unchanged_responses_are_not_sent_again() {
    let app = start_with_public_registry(&[]).await;
    let path = format!("/npm/@pennon/core/-/core-{VERSION}.tgz");
    for path in [CORE, &path] {
        let first = app.anonymous().get(path).await.expect(StatusCode::OK);
        let request = app.anonymous().request(Method::GET, path);
        let request = request.header("if-none-match", first.header("etag"));
        let second = app.anonymous().send(request).await;
        let second = second.expect(StatusCode::NOT_MODIFIED);
        assert!(second.bytes.is_empty());
        assert_eq!(second.header("etag"), first.header("etag"));
        let request = app.anonymous().request(Method::GET, path);
        let request = request.header("if-none-match", "\"other\"");
        let third = app.anonymous().send(request).await.expect(StatusCode::OK);
        assert_eq!(third.bytes, first.bytes);
    }
    let tarball = app.anonymous().get(&path).await.expect(StatusCode::OK);
    let caching = tarball.header("cache-control");
    assert!(caching.ends_with("max-age=31536000, immutable"));
}

#[tokio::test]
async fn a_second_instance_does_not_store_the_packages_again() {
    let app = TestApp::start().await;
    let _other = app.beside().await;
    for sql in [
        "select count(*) from package_versions",
        "select count(*) from package_tarballs",
    ] {
        assert_eq!(app.database().count(sql).await, 5, "{sql}");
    }
}

#[tokio::test]
async fn packages_that_the_start_cannot_store_are_stored_later() {
    let app = start_with_public_registry(&[]).await;
    app.tamper("delete from package_versions").await;
    let write_lock = app.database().take_write_lock().await;
    let _other = app.beside().await;
    app.anonymous()
        .get(CORE)
        .await
        .expect(StatusCode::NOT_FOUND);
    drop(write_lock);
    eventually("the packages are stored", async || {
        app.anonymous().get(CORE).await.status == StatusCode::OK
    })
    .await;
}

/// An npm application in its own folder.
struct Application(TempDir);

impl Application {
    fn new(address: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let npmrc = format!("@pennon:registry=http://{address}/npm/\naudit=false\nfund=false\n");
        std::fs::write(folder.path().join(".npmrc"), npmrc).expect("a file");
        let manifest = r#"{ "name": "application", "private": true }"#;
        std::fs::write(folder.path().join("package.json"), manifest).expect("a file");
        Self(folder)
    }

    /// Runs npm with an empty cache, so that it fetches everything.
    async fn npm(&self, arguments: &[&str]) -> Output {
        let cache = tempfile::tempdir().expect("a folder");
        npm_in(self.0.path(), cache.path(), arguments).await
    }

    /// Returns the installed version of a package.
    fn installed(&self, name: &str) -> String {
        let manifest = self.0.path().join("node_modules").join(name);
        let manifest = std::fs::read_to_string(manifest.join("package.json"));
        let manifest: Value =
            serde_json::from_str(&manifest.expect("it is installed")).expect("JSON");
        manifest["version"].as_str().expect("a version").to_owned()
    }
}

async fn npm_in(folder: &Path, cache: &Path, arguments: &[&str]) -> Output {
    let output = Command::new("npm")
        .args(arguments)
        .current_dir(folder)
        .env("npm_config_cache", cache)
        .env("npm_config_update_notifier", "false")
        .output()
        .await
        .expect("npm starts");
    assert!(
        output.status.success(),
        "npm {arguments:?}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// A release of one package.
struct Release {
    version: String,
    integrity: String,
    shasum: String,
    tarball: Vec<u8>,
}

impl Release {
    /// Packs a release that can be installed.
    async fn packed(version: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let manifest = folder.path().join("package.json");
        std::fs::write(manifest, manifest_of(version)).expect("a file");
        let cache = folder.path().join("cache");
        let packed = npm_in(folder.path(), &cache, &["pack", "--json"]).await;
        let packed: Value = serde_json::from_slice(&packed.stdout).expect("JSON");
        let text = |member: &str| packed[0][member].as_str().expect("a text").to_owned();
        let tarball = std::fs::read(folder.path().join(text("filename")));
        Self {
            version: version.to_owned(),
            integrity: text("integrity"),
            shasum: text("shasum"),
            tarball: tarball.expect("a tarball"),
        }
    }

    /// Creates a release that is listed but cannot be installed.
    fn listed(version: &str) -> Self {
        Self {
            version: version.to_owned(),
            integrity: format!("sha512-{version}"),
            shasum: String::new(),
            tarball: Vec::new(),
        }
    }

    /// Stores the release as a server of that version does.
    async fn store(&self, database: &TestDatabase, started_at: u32) {
        let Self {
            version,
            integrity,
            shasum,
            tarball,
        } = self;
        let digits = tarball.iter().fold(String::new(), |mut digits, byte| {
            _ = write!(digits, "{byte:02x}");
            digits
        });
        let tarball = if database.is_postgres() {
            format!("'\\x{digits}'")
        } else {
            format!("x'{digits}'")
        };
        let manifest = manifest_of(version);
        for sql in [
            format!("insert into package_tarballs (integrity, content) values ('{integrity}', {tarball})"),
            format!(
                "insert into package_versions values
                 ('@pennon/core', '{version}', '{manifest}', '{integrity}', '{shasum}', {started_at}, {started_at})"
            ),
        ] {
            database.execute(sql).await;
        }
    }
}

fn manifest_of(version: &str) -> String {
    json!({ "name": "@pennon/core", "version": version }).to_string()
}

#[tokio::test]
async fn npm_installs_from_a_lock_file_of_the_last_release_after_an_upgrade() {
    let app = start_with_public_registry(&[]).await;
    let last = "0.0.9";
    let release = Release::packed(last).await;
    release.store(app.database(), 1).await;
    let application = Application::new(app.address());
    let package = format!("@pennon/core@{last}");
    application.npm(&["install", &package]).await;
    assert_eq!(application.installed("@pennon/core"), last);

    // Makes the database look as if only the last release's server had used it.
    let sql = format!("delete from package_versions where version = '{VERSION}'");
    app.database().execute(sql).await;
    let upgraded = app.beside().await;
    let (_, token) = app.admin().await.personal_token("npm", "viewer").await;
    let reader = upgraded.with_token(&token);
    assert_eq!(
        document(&reader).await["dist-tags"],
        json!({ "latest": VERSION })
    );
    application.npm(&["ci"]).await;
    assert_eq!(application.installed("@pennon/core"), last);
    application.npm(&["install", "@pennon/core@latest"]).await;
    assert_eq!(application.installed("@pennon/core"), VERSION);
}

#[tokio::test]
async fn a_stored_version_never_changes_its_content() {
    let app = start_with_public_registry(&[]).await;
    let stored = "select count(*) from package_versions where integrity = 'sha512-other'";
    for sql in [
        "insert into package_tarballs (integrity, content) select 'sha512-other', content from package_tarballs limit 1",
        "update package_versions set integrity = 'sha512-other' where name = '@pennon/core'",
    ] {
        app.tamper(sql).await;
    }
    let _restarted = app.beside().await;
    assert_eq!(app.database().count(stored).await, 1);
    let package = document(&app.anonymous()).await;
    let integrity = &package["versions"][VERSION]["dist"]["integrity"];
    assert_eq!(integrity, "sha512-other");
}

#[tokio::test]
async fn the_twenty_most_recently_started_releases_are_kept() {
    let app = start_with_public_registry(&[]).await;
    for release in 1..=22 {
        // The oldest release was started again last.
        let started_at = if release == 1 { 100 } else { release };
        let release = Release::listed(&format!("0.0.{release}"));
        release.store(app.database(), started_at).await;
    }
    let _restarted = app.beside().await;
    let package = document(&app.anonymous()).await;
    let versions = package["versions"].as_object().expect("versions");
    assert_eq!(versions.len(), 20);
    for (version, is_kept) in [("0.0.1", true), ("0.0.2", false), ("0.0.4", false)] {
        assert_eq!(versions.contains_key(version), is_kept, "{version}");
    }
    assert!(versions.contains_key("0.0.5") && versions.contains_key(VERSION));
    let tarballs = "select count(*) from package_tarballs";
    assert_eq!(app.database().count(tarballs).await, 19 + 5);
}
