//! What a module without `std` brings along itself.

use core::panic::PanicInfo;

#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// Traps. The host catches that as an exception; a message would cost more than the rest of the engine.
#[panic_handler]
fn trap(_: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
