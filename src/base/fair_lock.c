/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* RTLD_NEXT; NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include "photons/base/fair_lock.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static _Thread_local bool wanted;

void fair_locks(bool fair) { wanted = fair; }

typedef int initialise(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);

/** A mutex with priority inheritance: the kernel knows its owner and hands it over. */
static int initialise_fair(initialise *next, pthread_mutex_t *mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  int status = pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  if (status == 0) status = next(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return status;
}

/** Replaces the C library's pthread_mutex_init(). A kernel without such mutexes gives usual ones. */
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
  initialise *next;
  *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_init");
  if (!next) return ENOSYS;
  if (wanted && !attributes && initialise_fair(next, mutex) == 0) return 0;
  return next(mutex, attributes);
}
