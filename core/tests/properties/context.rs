//! Contexts with borrowed and with own data.

use proptest::prelude::*;

use crate::generate::context;

proptest! {
    #[test]
    fn a_context_with_its_own_data_is_equal_to_the_borrowed_one(context in context()) {
        let owned = context.clone().into_owned();
        prop_assert_eq!(format!("{owned:?}"), format!("{context:?}"));
    }
}
