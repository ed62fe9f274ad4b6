//! Protection against peers that are slow, many or malformed, and graceful shutdown.

mod bodies;
mod connections;
mod overload;
mod shutdown;

/// The path of an evaluation.
const EVALUATE: &str = "/sdk/v1/evaluate";
/// The body of an evaluation request.
const QUESTION: &str = r#"{"flagKey":"checkout"}"#;

/// Returns the two parts of an evaluation request's body.
fn split_question() -> (&'static str, &'static str) {
    QUESTION.split_at(5)
}
