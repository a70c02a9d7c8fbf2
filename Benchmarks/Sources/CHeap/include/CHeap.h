#ifndef CONCORD_BENCHMARKS_CHEAP_H
#define CONCORD_BENCHMARKS_CHEAP_H

#include <stddef.h>

/// The bytes the program holds from malloc at this moment, over all arenas, what the allocator added included.
size_t concord_heap_in_use(void);

/// Lets the allocator keep what is freed, so that no measurement pays for the pages that the one before gave back.
void concord_heap_keep_pages(void);

/// Gives pages of what was freed back to the system, so that resident memory does not have them.
void concord_heap_give_back_pages(void);

#endif
