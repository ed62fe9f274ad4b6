//! Properties of every flag, context and document, checked on random ones.
//!
//! The vectors in `tests/vectors` define the correct results; these tests search for inputs that the vectors miss.

mod bucketing;
mod comparison;
mod compiled;
mod context;
mod documents;
mod generate;
mod lint;
mod oracle;
mod precedence;
mod refusals;
