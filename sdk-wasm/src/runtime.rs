//! The runtime of a module without `std`.

use core::panic::PanicInfo;

#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// Traps, which the host catches as an exception. A message would cost more than the rest of the engine.
#[panic_handler]
fn trap(_: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
