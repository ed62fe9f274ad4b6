//! What holds for every flag, every context and every document, tried on random ones.
//!
//! The vectors in `tests/vectors` say what the right answers are; these tests look for inputs that nobody thought of.

mod bucketing;
mod comparison;
mod documents;
mod generate;
mod lint;
mod oracle;
mod precedence;
mod refusals;
