use std::process::{Command, Stdio};

use pennon_tests::binary;

fn printed(argument: &str) -> String {
    let printed = Command::new(binary())
        .arg(argument)
        .output()
        .expect("the binary runs");
    assert!(printed.status.success());
    String::from_utf8(printed.stdout).expect("it prints text")
}

#[test]
fn the_licenses_of_all_components_are_printed() {
    let licenses = printed("licenses");
    for named in [
        "\n  axum 0.8",
        "\n  wasm-bindgen 0.2",
        "SQLite: in the public domain",
    ] {
        assert!(licenses.contains(named), "{named}");
    }
    assert!(licenses.contains("Apache License"));
}

#[test]
fn closing_the_output_early_is_not_an_error() {
    let mut command = Command::new(binary())
        .arg("licenses")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(command.stdout.take());
    let output = command.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_version_says_that_this_is_a_development_build() {
    let version = printed("--version");
    assert_eq!(
        version.trim_end(),
        format!("pennon {} (development build)", env!("CARGO_PKG_VERSION"))
    );
}
