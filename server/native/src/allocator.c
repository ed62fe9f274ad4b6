// The settings of mimalloc, before the program starts. Its environment variables, such as MIMALLOC_PURGE_DELAY, still
// apply.

#include <mimalloc.h>

// The size from which memory is allocated from the system and returned to it at once, in KiB. By default, the memory of
// a password hash (19 MiB) stays resident until its thread ends, ten seconds later.
#define MAX_KEPT_SIZE 4096

// The time after which other freed memory is returned to the system, in milliseconds. With the default of a second, 50
// environments take 10 MiB more.
#define PURGE_DELAY 10

__attribute__((constructor)) static void configure(void) {
  mi_option_set_default(mi_option_arena_max_object_size, MAX_KEPT_SIZE);
  mi_option_set_default(mi_option_purge_delay, PURGE_DELAY);
}
