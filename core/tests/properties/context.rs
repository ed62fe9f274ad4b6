//! Values of contexts that the service validates.

use pennon_core::context::is_email;

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
