//! Translates the engine to plain JavaScript, for environments that forbid wasm. The input is the same wasm module that
//! is shipped.

use std::path::Path;

use anyhow::Result;

use super::wasm;
use crate::process::Run as _;
use crate::programs::node;
use crate::workspace::Workspace;

/// Passes that lower newer features beforehand, because wasm2js supports only the first version of wasm.
const LOWER: [&str; 3] = [
    "--llvm-memory-copy-fill-lowering",
    "--llvm-nontrapping-fptoint-lowering",
    "--signext-lowering",
];

/// Translates `wasm` to `script`, which declares `function instantiate(imports)`. Each call creates a new instance.
pub(crate) fn translate(workspace: &Workspace, wasm: &Path, script: &Path) -> Result<()> {
    let lowered = wasm.with_extension("lowered.wasm");
    node::tool(workspace, "wasm-opt")
        .arg(wasm)
        .args(wasm::FEATURES)
        .args(LOWER)
        .args(["-Oz", "--output"])
        .arg(&lowered)
        .run_quietly()?;
    node::tool(workspace, "wasm2js")
        .arg(&lowered)
        .args(wasm::FEATURES)
        // The Emscripten format is a function. The other format would be a module with its own instance.
        .args(["-Oz", "--emscripten", "--output"])
        .arg(script)
        .run_quietly()?;
    std::fs::remove_file(lowered)?;
    Ok(())
}
