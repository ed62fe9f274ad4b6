// The settings of mimalloc, before the program starts. The environment variable MIMALLOC_PURGE_DELAY still applies.

#include <mimalloc.h>

// The time after which freed memory is returned to the system, in milliseconds. After mimalloc's default of a second,
// the memory of a password's hash (19 MiB for each thread) stays resident.
#define PURGE_DELAY 10

__attribute__((constructor)) static void configure(void) {
  mi_option_set_default(mi_option_purge_delay, PURGE_DELAY);
}
