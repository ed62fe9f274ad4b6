//! Sets a small stack for the module.

/// Sets the stack size to 64 KiB. The parser's depth is limited, and apart from it only `json::digits` recurses, at
/// most 20 deep, so this is enough. Every page would have to allocate the linker's default of 1 MiB.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=65536");
    }
}
