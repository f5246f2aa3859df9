/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that polls with a lock held leaves it to others: StarPU-MPI's thread does so. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "photons/base/fair_lock.h"

enum { TURNS = 101, NAP = 20000 /* nanoseconds */ };

struct polled {
  pthread_mutex_t lock;
  atomic_bool ends;
  atomic_int polls;
};

/** Gives the lock back only for the moment until it takes it again. */
static void *poll(void *context) {
  struct polled *p = context;
  const struct timespec nap = {.tv_nsec = NAP};
  pthread_mutex_lock(&p->lock);
  while (!p->ends) {
    nanosleep(&nap, NULL);
    p->polls++;
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_lock(&p->lock);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void waiting_thread_gets_the_lock_at_the_next_poll(void **state) {
  (void)state;
  struct polled p = {.ends = false};
  pthread_t thread;
  int waited[TURNS];
  const struct timespec pause = {.tv_nsec = 50L * NAP};
  fair_locks(true);
  assert_int_equal(pthread_mutex_init(&p.lock, NULL), 0);
  fair_locks(false);
  assert_int_equal(pthread_create(&thread, NULL, poll, &p), 0);
  while (p.polls == 0) {}
  for (int i = 0; i < TURNS; i++) {
    const int before = p.polls;
    pthread_mutex_lock(&p.lock);
    waited[i] = p.polls - before;
    pthread_mutex_unlock(&p.lock);
    nanosleep(&pause, NULL); /* the other thread has the lock again */
  }
  p.ends = true;
  pthread_join(thread, NULL);
  pthread_mutex_destroy(&p.lock);
  qsort(waited, TURNS, sizeof *waited, compare);
  /* The poll that goes on, and one more where the thread had not begun to wait. A few waits may be longer
   * on a machine whose cores are busy. */
  assert_in_range(waited[TURNS * 19 / 20], 0, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waiting_thread_gets_the_lock_at_the_next_poll),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
