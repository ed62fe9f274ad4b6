use std::process::Command;

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
fn the_licenses_of_crates_and_of_what_is_no_crate_are_printed() {
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
fn the_version_says_what_was_built() {
    let version = printed("--version");
    assert_eq!(
        version.trim_end(),
        format!("pennon {} (development build)", env!("CARGO_PKG_VERSION"))
    );
}
