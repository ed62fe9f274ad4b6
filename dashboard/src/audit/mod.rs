//! Audit entries in plain English.

pub(crate) mod difference;
pub mod event;
pub mod sentence;
pub mod summary;
#[cfg(test)]
mod test_entry;
pub(crate) mod values;
