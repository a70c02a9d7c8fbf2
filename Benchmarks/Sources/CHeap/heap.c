#include "CHeap.h"

#if defined(__APPLE__)
#include <malloc/malloc.h>

size_t concord_heap_in_use(void) {
  malloc_statistics_t statistics;
  malloc_zone_statistics(NULL, &statistics);
  return statistics.size_in_use;
}

void concord_heap_keep_pages(void) {}

void concord_heap_give_back_pages(void) { malloc_zone_pressure_relief(NULL, 0); }
#else
#include <malloc.h>

size_t concord_heap_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  // Large blocks are mapped on their own and counted apart.
  return info.uordblks + info.hblkhd;
}

void concord_heap_keep_pages(void) {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
}

void concord_heap_give_back_pages(void) { malloc_trim(0); }
#endif
