#define _GNU_SOURCE
#include "CCores.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/sysinfo.h>

int concord_core(void) { return sched_getcpu(); }

int concord_core_count(void) { return get_nprocs(); }

int concord_keep_on_core(int process, int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= 0) {
    CPU_SET(core, &cores);
  } else {
    for (int each = 0; each < CPU_SETSIZE; each++) CPU_SET(each, &cores);
  }
  return sched_setaffinity(process, sizeof cores, &cores);
}
#else
int concord_core(void) { return -1; }

int concord_core_count(void) { return 1; }

int concord_keep_on_core(int process, int core) {
  (void)process;
  (void)core;
  return -1;
}
#endif
