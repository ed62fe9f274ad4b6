//! Parts of static binaries in C. Linking this crate is enough. On platforms with a C library of their own, it is empty.
//!
//! - `memcpy` and `memmove` in place of those of musl, whose `rep movsq` on x86-64 takes longer to start than most copies
//!   take altogether: a third of the time of a batch of evaluations. A symbol of a crate comes before that of the C
//!   library.
//! - The settings of mimalloc, which takes the place of musl's allocator.
#![no_std]
