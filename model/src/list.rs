//! Lists in sentences.

/// Joins items: `a`, `a and b`, or `a, b and c`, with the given conjunction.
pub fn join(items: &[String], conjunction: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}
