//! The checks of the gate, and those that are too slow for every change.

pub(crate) mod alone;
pub(crate) mod baseline;
pub(crate) mod contract;
pub(crate) mod deploy;
pub(crate) mod docs;
pub(crate) mod image;
pub(crate) mod instance;
pub(crate) mod modules;
pub(crate) mod notices;
pub(crate) mod openfeature;
pub(crate) mod reproducible;
pub(crate) mod rolling;
pub(crate) mod sources;
pub(crate) mod suites;
pub(crate) mod webdriver;
pub(crate) mod words;
pub(crate) mod workflows;
