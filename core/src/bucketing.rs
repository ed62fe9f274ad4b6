//! Percentage rollouts: the bucket of a bucketing key.

/// The number of buckets; a rollout includes the buckets below its percentage.
pub const BUCKETS: u32 = 100;

const OFFSET_BASIS: u32 = 2_166_136_261;
const PRIME: u32 = 16_777_619;

/// Returns the bucket of a bucketing key in UTF-8, 0 to 99. A key has the same bucket on every platform and in every
/// version.
pub fn bucket(key: &[u8]) -> u32 {
    fnv1a(key) % BUCKETS
}

/// 32-bit FNV-1a, by Fowler, Noll and Vo: <http://www.isthe.com/chongo/tech/comp/fnv/>. It is not
/// inlined, to keep the wasm engine small.
#[inline(never)]
pub(crate) fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(OFFSET_BASIS, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(PRIME)
    })
}
