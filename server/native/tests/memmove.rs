//! Runs the functions in a program of C, because tests in Rust would use them only in a static binary.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::process::Command;

#[test]
fn all_lengths_and_distances_are_copied_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("check");
    let platform = "x86_64-unknown-linux-gnu";
    let mut compiler = cc::Build::new()
        .cargo_metadata(false)
        .target(platform)
        .host(platform)
        .opt_level(2)
        .out_dir(folder.path())
        .flags(["-ffreestanding", "-fno-builtin"])
        .get_compiler()
        .to_command();
    let sources = ["src/memmove.c", "tests/check.c"];
    let status = compiler.args(sources).arg("-o").arg(&program).status();
    assert!(status.expect("a C compiler").success());

    let output = Command::new(program).output().expect("a program");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert_eq!(said, "186310 checks\n");
}
