//! Compiles the C files.

use std::env::{self, VarError};

fn main() -> Result<(), VarError> {
    println!("cargo::rerun-if-changed=src");
    cc::Build::new()
        .file("src/allocator.c")
        .include(env::var("DEP_MIMALLOC_INCLUDE_DIR")?)
        // Nothing calls its function, so the linker would leave it out.
        .link_lib_modifier("+whole-archive")
        .compile("pennon_allocator");

    let is_static = env::var("CARGO_CFG_TARGET_ENV")? == "musl";
    if is_static && env::var("CARGO_CFG_TARGET_ARCH")? == "x86_64" {
        cc::Build::new()
            .file("src/memmove.c")
            .opt_level(2)
            // The compiler recognizes loops that copy, and would have this function call itself.
            .flags(["-ffreestanding", "-fno-builtin"])
            .compile("pennon_memmove");
    }
    Ok(())
}
