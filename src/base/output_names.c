/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Final names of output files: at once, or of a batch by a thread that waits for the disk while the program goes on. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output_steps.h"
#include "photons/base/clock.h"
#include "photons/base/output_file.h"

/** @return 0, or why the file is not on the disk */
static int try_sync(const char *temporary) {
  const int descriptor = open(temporary, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  const int reason = descriptor >= 0 && fsync(descriptor) == 0 ? 0 : errno;
  if (descriptor >= 0) close(descriptor);
  return reason;
}

void output_sync(const char *temporary) {
  const int reason = try_sync(temporary);
  if (reason != 0) fail(EXIT_RUN_FAILED, "cannot write %s: %s", temporary, strerror(reason));
}

/** Give the file at @p path, if there is one, the name @p previous as well. Names change only by
 * rename(), so that at any moment each of the two names, once it exists, is that of a complete
 * file. */
void output_keep(const char *path, const char *previous) {
  char *link_name = output_begin(previous);
  output_clear(link_name);
  const bool linked = link(path, link_name) == 0;
  /* On file systems without hard links, for a moment only the previous name exists. */
  const bool kept = linked ? rename(link_name, previous) == 0
                           : errno == ENOENT || rename(path, previous) == 0;
  if (!kept) fail(EXIT_RUN_FAILED, "cannot rename %s to %s: %s", path, previous, strerror(errno));
  output_clear(link_name); /* rename() keeps it if both names are links to one file */
  output_leave(link_name);
}

static char *folder_of(const char *path) {
  char *folder = copy_text(path, "");
  char *slash = strrchr(folder, '/');
  if (slash)
    slash[slash == folder] = '\0';
  else
    snprintf(folder, strlen(path) + 1, ".");
  return folder;
}

/** Sync a folder, since a new name is part of its data. Some folders cannot be opened or synced; the files are complete
 * all the same. */
static void sync_folder(const char *folder) {
  const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

/** Sync the folder of a file. */
void output_sync_folder_of(const char *path) {
  char *folder = folder_of(path);
  sync_folder(folder);
  free(folder);
}

/** A file of a batch. */
struct waiting {
  struct waiting *next;
  char *temporary, /* NULL where the file has its name, and only its folder is to be synced */
      *path, *folder;
};

/** Files that this thread has written in its batch. */
static _Thread_local struct batch {
  bool open;
  struct waiting *first, **end;
} batch;

bool output_in_batch(void) { return batch.open; }

void output_add_to_batch(char *temporary, const char *path) {
  struct waiting *file = allocate(1, sizeof *file, "a file name");
  file->temporary = temporary;
  file->path = copy_text(path, "");
  file->folder = folder_of(path);
  *batch.end = file;
  batch.end = &file->next;
}

/** Give a file that is synced its final name. */
void output_name(char *temporary, const char *path) {
  if (rename(temporary, path) != 0)
    fail(EXIT_RUN_FAILED, "cannot rename %s to %s: %s", temporary, path, strerror(errno));
  output_leave(temporary);
  if (batch.open)
    output_add_to_batch(NULL, path);
  else
    output_sync_folder_of(path);
}

/* Files of a batch that has ended, and the thread that gives them their names. It does not fail, but says why it stopped. */
static struct {
  pthread_mutex_t lock; /* of who begins it or waits for it */
  pthread_t thread;
  bool begun;
  struct waiting *first; /* its files; those without names when it has ended */
  const char *action;    /* that failed for the first of these */
  int reason;
  atomic_bool at_work;
} naming = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** @param[out] action  that failed @return 0, or why */
static int try_to_name(const struct waiting *file, const char **action) {
  if (!file->temporary) return 0;
  *action = "write";
  const int reason = try_sync(file->temporary);
  if (reason != 0) return reason;
  *action = "rename";
  return rename(file->temporary, file->path) == 0 ? 0 : errno;
}

/** Give the first file of a list its name, and take it off the list. @return 0, or why the file has no name */
static int name_first(struct waiting **list, const char **action) {
  struct waiting *file = *list;
  const int reason = try_to_name(file, action);
  if (reason != 0) return reason;
  *list = file->next;
  if (file->temporary) output_forget(file->temporary);
  if (!file->next || strcmp(file->folder, file->next->folder) != 0) sync_folder(file->folder);
  free(file->temporary);
  free(file->path);
  free(file->folder);
  free(file);
  return 0;
}

static void *name_batch(void *unused) {
  naming.reason = 0;
  while (naming.first && naming.reason == 0)
    naming.reason = name_first(&naming.first, &naming.action);
  atomic_store(&naming.at_work, false);
  return unused;
}

/** Wait for the thread; `naming.lock` is held. A failure ends the program without the lock, which other threads may
 * wait for. */
static void wait_for_names(void) {
  const bool joined = !naming.begun || pthread_join(naming.thread, NULL) == 0;
  const struct waiting *lost = naming.first;
  naming.begun = false;
  naming.first = NULL;
  if (joined && !lost) return;
  pthread_mutex_unlock(&naming.lock);
  if (!joined) fail(EXIT_RUN_FAILED, "the thread that waits for the disk cannot be waited for");
  fail(EXIT_RUN_FAILED, "cannot %s %s: %s", naming.action, lost->temporary,
       strerror(naming.reason));
}

void output_settle(void) {
  pthread_mutex_lock(&naming.lock);
  wait_for_names();
  pthread_mutex_unlock(&naming.lock);
}

void output_check(void) {
  if (!atomic_load(&naming.at_work)) output_settle();
}

/** Begin to give names. Signals are for the other threads. */
static void begin_naming(struct waiting *first) {
  sigset_t all, before;
  pthread_mutex_lock(&naming.lock);
  wait_for_names();
  naming.first = first;
  atomic_store(&naming.at_work, true);
  sigfillset(&all);
  sigdelset(&all, SIGABRT);
  sigdelset(&all, SIGSEGV);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  naming.begun = pthread_create(&naming.thread, NULL, name_batch, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!naming.begun) { /* there is no thread: wait here */
    name_batch(NULL);
    wait_for_names();
  }
  pthread_mutex_unlock(&naming.lock);
}

void output_commit(char *temporary, const char *path) {
  if (batch.open) {
    output_add_to_batch(temporary, path);
    return;
  }
  output_sync(temporary);
  output_name(temporary, path);
}

void output_batch_begin(void) {
  output_settle();
  batch = (struct batch){.open = true};
  batch.end = &batch.first;
}

void output_batch_end(void) {
  batch.open = false;
  if (batch.first) begin_naming(batch.first);
  batch.first = NULL;
}

void output_name_complete(void) {
  enum { NAP = 1000000 /* ns */, LAST_WAIT = 6 /* s */ };
  const struct timespec nap = {.tv_nsec = NAP};
  const double start = wall_clock();
  const char *action;
  while (atomic_load(&naming.at_work) && wall_clock() - start < LAST_WAIT) nanosleep(&nap, NULL);
  if (atomic_load(&naming.at_work)) return;
  if (naming.first)
    warn("cannot %s %s: %s", naming.action, naming.first->temporary, strerror(naming.reason));
  while (batch.first && name_first(&batch.first, &action) == 0) {}
}
