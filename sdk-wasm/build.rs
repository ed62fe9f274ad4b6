//! Gives the module a small stack.

/// The parser's depth is capped and nothing else recurses, so 64 KiB are plenty; the linker's default is 1 MiB, which
/// every page would pay for.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=65536");
    }
}
