//! Values of contexts that the service validates.

use pennon_core::context::is_email;
use proptest::prelude::*;

use crate::generate::context;

proptest! {
    #[test]
    fn a_context_with_its_own_data_is_equal_to_the_borrowed_one(context in context()) {
        let owned = context.clone().into_owned();
        prop_assert_eq!(format!("{owned:?}"), format!("{context:?}"));
    }
}

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
