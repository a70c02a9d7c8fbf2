#ifndef CONCORD_BENCHMARKS_CCORES_H
#define CONCORD_BENCHMARKS_CCORES_H

/// The core on which the calling thread runs, or -1 where the system does not say.
int concord_core(void);

/// The number of cores, or 1 where the system does not say.
int concord_core_count(void);

/// Lets a thread or a process of one thread run on one core, or on all of them if the core is -1.
///
/// Returns 0, or -1 where the system or the rights do not allow it.
int concord_keep_on_core(int process, int core);

#endif
