//! E-mail addresses.

/// The addresses that [`is_email`] accepts, as a regular expression for schemas.
pub const EMAIL_PATTERN: &str = "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+\
     @[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$";

/// Returns true if `address` has the format of an e-mail address in HTML's `input type=email`,
/// <https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address>.
pub fn is_email(address: &str) -> bool {
    let Some((local, domain)) = address.split_once('@') else {
        return false;
    };
    !local.is_empty()
        && local
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte))
        && domain.split('.').all(is_domain_label)
}

fn is_domain_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_part_of_an_email_address_has_at_least_one_character() {
        for local in ["a", ".", "{}"] {
            assert!(is_email(&format!("{local}@example.com")), "{local}");
        }
        for local in ["", " ", "a b", "@", "a@", "\"a\"", "ä"] {
            assert!(!is_email(&format!("{local}@example.com")), "{local}");
        }
        assert!(!is_email("example.com"));
    }

    #[test]
    fn a_label_of_an_email_domain_has_1_to_63_characters_and_hyphens_only_inside() {
        let longest = "d".repeat(63);
        for label in ["a", "a-b", &longest] {
            assert!(is_email(&format!("ada@{label}.org")), "{label}");
            assert!(is_email(&format!("ada@mail.{label}")), "{label}");
        }
        let longer = "d".repeat(64);
        for label in ["", "-a", "a-", "a_b", "ä", &longer] {
            assert!(!is_email(&format!("ada@{label}.org")), "{label}");
            assert!(!is_email(&format!("ada@mail.{label}")), "{label}");
        }
    }
}
