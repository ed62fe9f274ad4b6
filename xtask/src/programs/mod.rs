//! Programs that steps need: how they are found, installed, and run.

pub(crate) mod browser;
pub(crate) mod cargo_tool;
pub(crate) mod cross;
pub(crate) mod debian;
pub(crate) mod node;
pub(crate) mod pooler;
pub(crate) mod postgres;
pub(crate) mod python;
pub(crate) mod shell;
