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

#[cfg(test)]
mod tests {
    use super::format_count;

    #[test]
    fn thousands_are_separated() {
        let formatted = [0, 12, 123, 1234, 1_234_567].map(format_count);
        assert_eq!(formatted, ["0", "12", "123", "1,234", "1,234,567"]);
    }
}
