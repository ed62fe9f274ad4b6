//! Compiles `memmove.c` where it takes the place of musl's.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=src/memmove.c");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("ARCH") == "x86_64" && target("ENV") == "musl" {
        cc::Build::new()
            .file("src/memmove.c")
            .opt_level(2)
            // The compiler recognizes loops that copy, and would have this function call itself.
            .flags(["-ffreestanding", "-fno-builtin"])
            .compile("pennon_memmove");
    }
}
