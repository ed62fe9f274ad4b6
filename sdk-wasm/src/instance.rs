//! The objects of an instance of the module.

use spin::{Mutex, MutexGuard};

/// Returns an object of this instance until the end of a call.
///
/// Each client has an instance of its own, so an instance has only one object of each type. Traps if an earlier call
/// trapped while it changed the object, which then has an unknown state.
pub(crate) fn borrow<T>(object: &'static Mutex<T>) -> MutexGuard<'static, T> {
    #[expect(clippy::expect_used, reason = "a trap is what the host expects")]
    object.try_lock().expect("no earlier call trapped")
}
