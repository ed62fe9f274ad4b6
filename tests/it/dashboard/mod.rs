//! The dashboard over HTTP.

mod changes;
mod forms;
mod pages;
mod session;
