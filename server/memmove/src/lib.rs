//! `memcpy` and `memmove` for static binaries, in place of those of musl.
//!
//! musl's for x86-64 are `rep movsq`, which takes longer to start than most copies take altogether: a third of the time of a
//! batch of evaluations. Linking this crate is enough, because a symbol of a crate comes before that of the C library. On
//! other platforms it is empty: their C libraries have good ones.
#![no_std]
