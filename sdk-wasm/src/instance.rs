//! Access to the objects of an instance of the module.

use spin::{Mutex, MutexGuard};

/// Returns an object for the duration of a call. The lock is always free, because an instance has one thread and calls
/// no JavaScript, unless an earlier call trapped. Then this call traps too, because the state of the object is unknown.
pub(crate) fn borrow<T>(object: &'static Mutex<T>) -> MutexGuard<'static, T> {
    #[expect(
        clippy::expect_used,
        reason = "waiting for the lock would never end, and the host handles a trap"
    )]
    object.try_lock().expect("no earlier call trapped")
}

#[cfg(test)]
mod tests {
    use spin::Mutex;

    use super::borrow;

    #[test]
    fn an_object_is_available_to_one_call_after_the_other() {
        static COUNT: Mutex<u32> = Mutex::new(0);
        *borrow(&COUNT) += 1;
        *borrow(&COUNT) += 1;
        assert_eq!(*borrow(&COUNT), 2);
    }

    #[test]
    #[should_panic(expected = "no earlier call trapped")]
    fn the_object_of_a_call_that_trapped_traps_instead_of_waiting() {
        static OBJECT: Mutex<()> = Mutex::new(());
        core::mem::forget(borrow(&OBJECT));
        let _ = borrow(&OBJECT);
    }
}
