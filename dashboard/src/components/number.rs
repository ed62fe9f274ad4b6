//! Formatting of numbers.

/// Formats a count with a separator between thousands: `1,240`.
pub(crate) fn format_count(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        let left = digits.len().saturating_sub(index);
        if index > 0 && left.is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count of things: `1 flag`, `1,240 flags`.
pub(crate) fn counted(number: impl TryInto<i64>, one: &str, many: &str) -> String {
    match number.try_into().unwrap_or(i64::MAX) {
        1 => format!("1 {one}"),
        number => format!("{} {many}", format_count(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, format_count};

    #[test]
    fn one_thing_is_singular() {
        let flags = [0, 1, 1240].map(|number| counted(number, "flag", "flags"));
        assert_eq!(flags, ["0 flags", "1 flag", "1,240 flags"]);
    }

    #[test]
    fn thousands_are_separated() {
        let formatted = [0, 12, 123, 1234, 1_234_567].map(format_count);
        assert_eq!(formatted, ["0", "12", "123", "1,234", "1,234,567"]);
    }
}
