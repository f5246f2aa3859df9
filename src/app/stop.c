/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/stop.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"

#define REPEAT_SECONDS 5.0
/** A launcher that ends the ranks of a failed run by SIGTERM kills them soon after. Until then the
 * signal may not be a wish of the user's: a rank of another host may have failed, and has the word. */
#define LAUNCHER_SECONDS 3.0
#define LOOK_SECONDS 0.05
#define LAST_SECONDS 20

/* Signal handlers have no argument: their state is one for the process. */
static volatile sig_atomic_t first_signal;
static sem_t arrived; /* sem_post() is allowed in a handler */

static struct {
  pthread_mutex_t lock;
  enum stop_phase phase;
  double patience;
  char stands[PARAMETER_PATH_MAX + 128];
} stop = {.lock = PTHREAD_MUTEX_INITIALIZER, .stands = "there is no checkpoint to go on from"};

static void note_signal(int number) {
  if (first_signal != 0 && number == SIGXCPU) return; /* the kernel repeats it every second */
  const int reason = errno;
  if (first_signal == 0) first_signal = number;
  sem_post(&arrived);
  errno = reason;
}

_Noreturn static void end_now(const char *when) {
  const int number = first_signal;
  signal(SIGALRM, SIG_DFL); /* where the end itself cannot be reached */
  alarm(LAST_SECONDS);
  end_program(128 + number, "stopped by signal %d %s: %s", number, when, stop_what_stands());
}

/** Whether this is an hour to end the process, so many seconds after the signal. The process ends with the
 * lock held: the run does not go on to a line of its own. */
static void look(double seconds) {
  const bool hosts = comm_size() > comm_host_size();
  pthread_mutex_lock(&stop.lock);
  if (stop.phase != STOP_SAVING && !(hosts && seconds < LAUNCHER_SECONDS)) {
    if (stop.phase == STOP_AT_ONCE) end_now("before the first step");
    if (seconds >= stop.patience) end_now("in the middle of a step");
  }
  pthread_mutex_unlock(&stop.lock);
}

/** Wait for a signal for a moment. */
static bool another_signal(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += (long)(1e9 * LOOK_SECONDS);
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return sem_timedwait(&arrived, &until) == 0;
}

static void *watch(void *unused) {
  (void)unused;
  while (sem_wait(&arrived) != 0) {
    /* interrupted by another signal */
  }
  const double start = wall_clock();
  for (;;) {
    look(wall_clock() - start);
    if (another_signal() && wall_clock() - start > REPEAT_SECONDS)
      end_now("and again, without waiting for its checkpoint");
  }
  return NULL;
}

static void catch_signal(int number, void (*handler)(int number)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
  sigemptyset(&action.sa_mask);
  if (sigaction(number, NULL, &before) != 0 ||
      /* nohup has a run go on without its terminal */
      ((number != SIGHUP || before.sa_handler != SIG_IGN) && sigaction(number, &action, NULL) != 0))
    fail(EXIT_RUN_FAILED, "cannot catch signal %d: %s", number, strerror(errno));
}

static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGXCPU};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* What a handler says before stop_listen(), and whether this rank says it. */
static const char *early_when;
static bool early_speaker;

/** Only async-signal-safe functions may be called here. */
static void say_early(int number) {
  char line[160], *end = stpcpy(line, "photons-starpu: stopped by signal ");
  if (number >= 10) *end++ = (char)('0' + number / 10);
  *end++ = (char)('0' + number % 10);
  *end++ = ' ';
  end = stpcpy(stpcpy(end, early_when), "\n");
  (void)!write(STDERR_FILENO, line, (size_t)(end - line));
}

static void end_early(int number) {
  if (early_speaker && comm_take_word()) {
    say_early(number);
    _exit(128 + number);
  }
  signal(number, SIG_DFL);
  raise(number); /* comes when this handler has returned */
}

void stop_listen_early(const char *when) {
  early_speaker = comm_launch_rank() == 0;
  early_when = when;
  for (size_t i = 0; i < NUMBERS; i++) catch_signal(numbers[i], end_early);
}

void stop_listen_no_longer(void) {
  struct sigaction now;
  for (size_t i = 0; i < NUMBERS; i++)
    if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == end_early)
      signal(numbers[i], SIG_DFL);
}

void stop_listen(void) {
  pthread_t thread;
  if (sem_init(&arrived, 0, 0) != 0 || pthread_create(&thread, NULL, watch, NULL) != 0)
    fail(EXIT_RUN_FAILED, "cannot start a thread that waits for signals");
  pthread_detach(thread);
  for (size_t i = 0; i < NUMBERS; i++) catch_signal(numbers[i], note_signal);
  signal(SIGPIPE, SIG_IGN); /* a run does not depend on who reads its messages */
}

int stop_signal(void) { return first_signal; }

void stop_enter(enum stop_phase phase, double patience) {
  pthread_mutex_lock(&stop.lock);
  stop.phase = phase;
  stop.patience = patience;
  pthread_mutex_unlock(&stop.lock);
}

void stop_checkpoint_stands(const char *path, const char *moment) {
  pthread_mutex_lock(&stop.lock);
  snprintf(stop.stands, sizeof stop.stands, "the checkpoint %s%s%s stands; go on with --restart",
           path, *moment ? " at " : "", moment);
  pthread_mutex_unlock(&stop.lock);
}

const char *stop_what_stands(void) { return stop.stands; }
