//! The engine once more in plain JavaScript, for where wasm is refused: translated from the very module that is shipped.

use std::path::Path;

use anyhow::Result;

use crate::node;
use crate::process::Run as _;
use crate::wasm;
use crate::workspace::Workspace;

/// wasm2js knows the first wasm only, so what came later is written out before.
const LOWER: [&str; 3] = [
    "--llvm-memory-copy-fill-lowering",
    "--llvm-nontrapping-fptoint-lowering",
    "--signext-lowering",
];

/// Translates `wasm` to `script`, which declares `function instantiate(imports)`: each call is a new instance.
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
        // The form of Emscripten is a function, where the other one would be a module with an instance of its own.
        .args(["-Oz", "--emscripten", "--output"])
        .arg(script)
        .run_quietly()?;
    std::fs::remove_file(lowered)?;
    Ok(())
}
