//! Formatting of numbers.

/// Formats a count with a separator between thousands: `1,240`.
pub(crate) fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        let left = digits.len().saturating_sub(place);
        if place > 0 && left.is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_separated() {
        let told = [0, 12, 123, 1234, 1_234_567].map(grouped);
        assert_eq!(told, ["0", "12", "123", "1,234", "1,234,567"]);
    }
}
