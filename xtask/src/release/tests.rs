//! Tests releases of a small repository in a temporary folder.

use tempfile::TempDir;

use super::*;

const MANIFEST: &str = "[workspace]\n\n[workspace.package]\nversion = \"0.1.0\"\n";
const LOCK: &str = "[[package]]\nname = \"pennon-core\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"serde\"\nversion = \"0.1.0\"\n";
const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n- Flags, by `@pennon/core/0.1.0`.\n";
const REACT: &str = "{\n  \"name\": \"@pennon/react\",\n  \"version\": \"0.1.0\",\n  \"peerDependencies\": {\n    \"@pennon/core\": \"0.1.0\"\n  }\n}\n";

/// Creates a repository whose addresses have this host.
fn repository(host: &str) -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().expect("a folder");
    let workspace = Workspace {
        root: folder.path().to_owned(),
        target: folder.path().join("target"),
    };
    let project = format!(
        "repository = \"https://git.{host}/pennon\"\ndocumentation = \"https://docs.{host}\"\n\
         image = \"registry.{host}/pennon\"\nsecurity = \"security@{host}\"\nconduct = \"conduct@{host}\"\n"
    );
    save(&workspace, "Cargo.toml", MANIFEST);
    save(&workspace, "Cargo.lock", LOCK);
    save(&workspace, "CHANGELOG.md", CHANGELOG);
    save(&workspace, "npm/react/package.json", REACT);
    save(&workspace, "project.toml", &project);
    save(
        &workspace,
        "deploy/compose.yaml",
        &format!("image: registry.{host}/pennon:0.1.0\n"),
    );
    git(&workspace, &["init", "--quiet", "--initial-branch=main"]);
    for (name, value) in [
        ("user.name", "A maintainer"),
        ("user.email", "maintainer@example.com"),
        ("commit.gpgSign", "false"),
        ("tag.gpgSign", "false"),
    ] {
        git(&workspace, &["config", name, value]);
    }
    commit(&workspace);
    (folder, workspace)
}

fn save(workspace: &Workspace, file: &str, text: &str) {
    let file = workspace.root.join(file);
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder is made");
    fs::write(file, text).expect("a file is written");
}

fn load(workspace: &Workspace, file: &str) -> String {
    fs::read_to_string(workspace.root.join(file)).expect("a file is read")
}

fn git(workspace: &Workspace, arguments: &[&str]) -> String {
    workspace.git(arguments).expect("git succeeds")
}

fn commit(workspace: &Workspace) {
    git(workspace, &["add", "--all"]);
    git(
        workspace,
        &["commit", "--quiet", "--message", "core: Change something"],
    );
}

fn release_without_gate(workspace: &Workspace, version: &str) {
    let plan = Plan::new(workspace, version).expect("nothing prevents it");
    plan.write().expect("files are written");
    plan.commit_and_tag().expect("it is tagged");
}

fn refusal(workspace: &Workspace, version: &str) -> String {
    let refused = Plan::new(workspace, version).err().expect("it is refused");
    refused.to_string()
}

#[test]
fn a_release_sets_the_version_dates_the_changelog_and_tags_the_commit() {
    let (_folder, workspace) = repository("pennon.dev");
    release_without_gate(&workspace, "0.2.0");
    assert_eq!(
        load(&workspace, "Cargo.toml"),
        MANIFEST.replace("0.1.0", "0.2.0")
    );
    assert_eq!(
        load(&workspace, "Cargo.lock"),
        LOCK.replacen("0.1.0", "0.2.0", 1)
    );
    assert_eq!(
        load(&workspace, "npm/react/package.json"),
        REACT.replace("0.1.0", "0.2.0")
    );
    assert_eq!(
        load(&workspace, "deploy/compose.yaml"),
        "image: registry.pennon.dev/pennon:0.2.0\n"
    );
    let changelog = load(&workspace, "CHANGELOG.md");
    assert!(
        changelog.starts_with("# Changelog\n\n## Unreleased\n\n## 0.2.0 (20"),
        "{changelog}"
    );
    assert!(
        changelog.ends_with(")\n\n- Flags, by `@pennon/core/0.1.0`.\n"),
        "{changelog}"
    );
    assert_eq!(
        notes(&workspace, "0.2.0").expect("notes"),
        "- Flags, by `@pennon/core/0.1.0`."
    );
    assert_eq!(git(&workspace, &["status", "--porcelain"]), "");
    assert_eq!(git(&workspace, &["cat-file", "-t", "v0.2.0"]), "tag");
    assert_eq!(
        git(&workspace, &["rev-parse", "v0.2.0^{commit}"]),
        git(&workspace, &["rev-parse", "HEAD"])
    );
}

#[test]
fn the_current_version_can_be_released_once() {
    let (_folder, workspace) = repository("pennon.dev");
    release_without_gate(&workspace, "0.1.0");
    assert_eq!(load(&workspace, "Cargo.toml"), MANIFEST);
    let refusal = refusal(&workspace, "0.1.0");
    assert!(refusal.contains("the tag v0.1.0 exists"), "{refusal}");
    assert!(refusal.contains("has a section for 0.1.0"), "{refusal}");
}

#[test]
fn a_plan_changes_nothing() {
    let (_folder, workspace) = repository("pennon.dev");
    let plan = Plan::new(&workspace, "v1.0.0").expect("nothing prevents it");
    assert_eq!(plan.tag(), "v1.0.0");
    assert_eq!(plan.changes.len(), 5);
    assert_eq!(git(&workspace, &["status", "--porcelain"]), "");
    assert_eq!(git(&workspace, &["tag"]), "");
}

#[test]
fn a_release_is_refused_with_all_reasons_at_once() {
    // Assembled from parts, because files of this repository may contain only addresses of the project.
    let host = ["pennon", "example"].join(".");
    let (_folder, workspace) = repository(&host);
    save(
        &workspace,
        "CHANGELOG.md",
        "# Changelog\n\n## Unreleased\n\n### Server\n",
    );
    commit(&workspace);
    git(&workspace, &["switch", "--quiet", "--create", "feature"]);
    save(&workspace, "new.txt", "new");
    let refusal = refusal(&workspace, "0.0.9-rc.1");
    for reason in [
        "the version is 0.1.0 already",
        "three numbers",
        "`git switch main`",
        "not committed",
        "replace `repository`, https://git.",
        "replace `conduct`",
        "no changes in the section `Unreleased`",
    ] {
        assert!(refusal.contains(reason), "{reason} in {refusal}");
    }
}

#[test]
fn addresses_that_are_only_in_their_file_are_not_enough() {
    let (_folder, workspace) = repository("pennon.dev");
    let image = ["registry.pennon", "example/pennon/pennon:0.1.0"].join(".");
    save(&workspace, "deploy/compose.yaml", &image);
    commit(&workspace);
    let refusal = refusal(&workspace, "0.1.0");
    assert!(
        refusal.contains("left in deploy/compose.yaml: run `cargo xtask addresses`"),
        "{refusal}"
    );
}

#[test]
fn a_malformed_version_is_refused() {
    let (_folder, workspace) = repository("pennon.dev");
    assert!(refusal(&workspace, "1.0").contains("`1.0` is not a version"));
}
