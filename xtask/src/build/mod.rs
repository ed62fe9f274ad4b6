//! Everything that is built, from the wasm modules to the container image.

pub(crate) mod dist;
pub(crate) mod fallback;
pub(crate) mod image;
pub(crate) mod pack;
pub(crate) mod product;
pub(crate) mod revision;
pub(crate) mod serve;
pub(crate) mod site;
pub(crate) mod wasm;
