// A process that links this has the date of another machine: libraries find these functions of the program before those of the system.
#define _GNU_SOURCE
#include "ConcordShiftedClock.h"

#include <stdlib.h>

static long offset;

__attribute__((constructor)) static void read_offset(void) {
  const char *text = getenv("CONCORD_CLOCK_OFFSET");
  if (text) offset = atol(text);
}

long concord_clock_offset(void) { return offset; }

#ifdef __linux__
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += offset;
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec time;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &time);
  if (result == 0 && now) {
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
  }
  return result;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

// What waits until a date of this process waits until the machine's.
static struct timespec of_the_machine(const struct timespec *date) {
  struct timespec other = *date;
  // A time since the machine was started is not shifted.
  if (other.tv_sec > 1000000000) other.tv_sec -= offset;
  return other;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict date) {
  static int (*original)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (!original) original = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  struct timespec until = of_the_machine(date);
  return original(condition, mutex, &until);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict date) {
  static int (*original)(sem_t *, const struct timespec *);
  if (!original) original = dlsym(RTLD_NEXT, "sem_timedwait");
  struct timespec until = of_the_machine(date);
  return original(semaphore, &until);
}
#endif
