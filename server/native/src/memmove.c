/* memcpy and memmove with the vector registers that every x86-64 processor has. */

#include <stddef.h>
#include <stdint.h>

/* Types that may be read and written at any address, whatever is stored there. */
typedef uint16_t __attribute__((aligned(1), may_alias)) u16;
typedef uint32_t __attribute__((aligned(1), may_alias)) u32;
typedef uint64_t __attribute__((aligned(1), may_alias)) u64;
typedef struct { u64 parts[2]; } __attribute__((may_alias)) u128;
typedef struct { u64 parts[4]; } __attribute__((may_alias)) u256;
typedef struct { u64 parts[8]; } __attribute__((may_alias)) u512;

/*
 * Copies n bytes, of which a T is at least a half, as their first and their last T, which may overlap. Both are read before
 * either is written, so the source and the destination may overlap too.
 */
#define COPY_ENDS(T)                                 \
    do {                                             \
        T first = *(const T *)from;                  \
        T last = *(const T *)(from + n - sizeof(T)); \
        *(T *)to = first;                            \
        *(T *)(to + n - sizeof(T)) = last;           \
        return destination;                          \
    } while (0)

void *memmove(void *destination, const void *source, size_t n)
{
    unsigned char *to = destination;
    const unsigned char *from = source;

    if (n <= 16) {
        if (n >= 8) COPY_ENDS(u64);
        if (n >= 4) COPY_ENDS(u32);
        if (n >= 2) COPY_ENDS(u16);
        if (n == 1) *to = *from;
        return destination;
    }
    if (n <= 32) COPY_ENDS(u128);
    if (n <= 64) COPY_ENDS(u256);
    if (n <= 128) COPY_ENDS(u512);

    if ((uintptr_t)to - (uintptr_t)from >= n) {
        /* The destination does not begin within the source, so ascending writes reach only what has been read. */
        u512 last = *(const u512 *)(from + n - 64);
        size_t i = 0;
        for (; i + 64 < n; i += 64) {
            u512 block = *(const u512 *)(from + i);
            *(u512 *)(to + i) = block;
        }
        *(u512 *)(to + n - 64) = last;
    } else {
        u512 first = *(const u512 *)from;
        for (; n > 64; n -= 64) {
            u512 block = *(const u512 *)(from + n - 64);
            *(u512 *)(to + n - 64) = block;
        }
        *(u512 *)to = first;
    }
    return destination;
}

void *memcpy(void *restrict destination, const void *restrict source, size_t n) __attribute__((alias("memmove")));
