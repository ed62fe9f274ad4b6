//! The dashboard over HTTP.

mod browser;
mod changes;
mod forms;
mod pages;
mod session;

pub(crate) use self::browser::{Browser, html};
