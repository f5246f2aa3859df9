/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output files: written under a temporary name and renamed when complete. */
#include "photons/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/parts.h"

/* Temporary files that are not committed, and parts that no file names yet. A file-scope variable because fail() may be called on any
 * thread. */
static struct unfinished {
  struct unfinished *next;
  const char *path; /* the pointer that enlist() returned */
} * unfinished_files;
static bool discarded; /* the program ends: other threads shall make no new files */
static pthread_mutex_t unfinished_lock = PTHREAD_MUTEX_INITIALIZER;

static char *copy_text(const char *text, const char *suffix) {
  const size_t size = strlen(text) + strlen(suffix) + 1;
  char *copy = allocate(size, 1, "a file name");
  snprintf(copy, size, "%s%s", text, suffix);
  return copy;
}

void output_folder(const char *path) {
  char *folder = copy_text(path, "");
  for (char *end = folder; *end; end++) {
    while (*end == '/') end++; /* the root folder, and doubled slashes */
    end += strcspn(end, "/");
    const char after = *end;
    *end = '\0';
    if (mkdir(folder, 0777) != 0) {
      const int reason = errno; /* EROFS and EACCES may hide that the folder exists */
      struct stat status;
      if (stat(folder, &status) != 0)
        fail(EXIT_RUN_FAILED, "cannot make the folder %s: %s", folder, strerror(reason));
      if (!S_ISDIR(status.st_mode))
        fail(EXIT_RUN_FAILED,
             "cannot make the folder %s: a file of that name exists; remove it or choose another "
             "output.dir",
             folder);
    }
    *end = after;
    if (!after) break;
  }
  free(folder);
  if (access(path, W_OK | X_OK) != 0)
    fail(EXIT_RUN_FAILED, "cannot write to the folder %s: %s", path, strerror(errno));
}

void output_folder_check(const char *path) {
  char *folder = copy_text(path, ""), *probe;
  struct stat status;
  const char *nearest = folder;
  while (stat(nearest, &status) != 0 && errno == ENOENT) nearest = dirname((char *)nearest);
  probe = copy_text(nearest,
                    "/photons-XXXXXX"); /* permissions alone do not tell, least of all root's */
  if (!mkdtemp(probe) || rmdir(probe) != 0)
    fail(EXIT_RUN_FAILED, "cannot make the folder %s: %s: %s", path, nearest, strerror(errno));
  free(probe);
  free(folder);
}

/** From now on fail() removes this file. */
static char *enlist(char *temporary) {
  struct unfinished *entry = allocate(1, sizeof *entry, "a file name");
  entry->path = temporary;
  pthread_mutex_lock(&unfinished_lock);
  entry->next = unfinished_files;
  unfinished_files = entry;
  pthread_mutex_unlock(&unfinished_lock);
  return temporary;
}

char *output_begin(const char *path) { return enlist(copy_text(path, ".tmp")); }

void output_clear(const char *temporary) {
  if (unlink(temporary) != 0 && errno != ENOENT)
    fail(EXIT_RUN_FAILED, "cannot remove %s: %s", temporary, strerror(errno));
}

static void forget(const char *temporary) {
  pthread_mutex_lock(&unfinished_lock);
  for (struct unfinished **link = &unfinished_files; *link; link = &(*link)->next)
    if ((*link)->path == temporary) {
      struct unfinished *entry = *link;
      *link = entry->next;
      free(entry);
      break;
    }
  pthread_mutex_unlock(&unfinished_lock);
}

static _Atomic uint64_t bytes_written; /* of sets of files, on any thread */

uint64_t output_bytes(void) { return bytes_written; }

static uint64_t file_size(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/** @return 0, or why the file is not on the disk */
static int try_sync(const char *temporary) {
  const int descriptor = open(temporary, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  const int reason = descriptor >= 0 && fsync(descriptor) == 0 ? 0 : errno;
  if (descriptor >= 0) close(descriptor);
  return reason;
}

static void sync_file(const char *temporary) {
  const int reason = try_sync(temporary);
  if (reason != 0) fail(EXIT_RUN_FAILED, "cannot write %s: %s", temporary, strerror(reason));
}

static void leave(char *temporary) {
  forget(temporary);
  free(temporary);
}

/** Give the file at @p path, if there is one, the name @p previous as well. Names change only by
 * rename(), so that at any moment each of the two names, once it exists, is that of a complete
 * file. */
static void keep(const char *path, const char *previous) {
  char *link_name = output_begin(previous);
  output_clear(link_name);
  const bool linked = link(path, link_name) == 0;
  /* On file systems without hard links, for a moment only the previous name exists. */
  const bool kept = linked ? rename(link_name, previous) == 0
                           : errno == ENOENT || rename(path, previous) == 0;
  if (!kept) fail(EXIT_RUN_FAILED, "cannot rename %s to %s: %s", path, previous, strerror(errno));
  output_clear(link_name); /* rename() keeps it if both names are links to one file */
  leave(link_name);
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
static void sync_folder_of(const char *path) {
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

static void add_to_batch(char *temporary, const char *path) {
  struct waiting *file = allocate(1, sizeof *file, "a file name");
  file->temporary = temporary;
  file->path = copy_text(path, "");
  file->folder = folder_of(path);
  *batch.end = file;
  batch.end = &file->next;
}

/** Give a file that is synced its final name. */
static void name_file(char *temporary, const char *path) {
  if (rename(temporary, path) != 0)
    fail(EXIT_RUN_FAILED, "cannot rename %s to %s: %s", temporary, path, strerror(errno));
  leave(temporary);
  if (batch.open)
    add_to_batch(NULL, path);
  else
    sync_folder_of(path);
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
  if (file->temporary) forget(file->temporary);
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
    add_to_batch(temporary, path);
    return;
  }
  sync_file(temporary);
  name_file(temporary, path);
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

/* The turn that this thread is in, or NULL. On a failure in it, all ranks agree before any of them
 * ends. */
static _Thread_local const struct output_turn *turn_now;

/** Called by all ranks when all have written or failed. If any rank failed, only the lowest of
 * those returns, and no files are left. */
static void agree(bool failed) {
  const uint32_t rank = (uint32_t)comm_rank();
  uint32_t first_failed = failed ? rank : UINT32_MAX;
  comm_min_u32(&first_failed, 1);
  if (first_failed == UINT32_MAX) return;
  output_discard_all();
  comm_barrier(); /* no rank ends, or is stopped, before all ranks have removed their files */
  if (first_failed == rank) return;
  sleep(10); /* the rank that failed prints why and stops this rank */
  _exit(EXIT_RUN_FAILED);
}

bool output_failed(void) {
  if (!turn_now) return false;
  const int last = turn_now->last;
  turn_now = NULL;
  comm_turn_end(last, true);
  agree(true);
  return true;
}

/** This rank's file of a set. @return its temporary name */
static char *begin_turn(struct output_turn *turn, char *const *paths, size_t files,
                        char *(*begin)(const char *path)) {
  const size_t size = (size_t)comm_size(), rank = (size_t)comm_rank();
  size_t mine = 0;
  while (mine + 1 < files && block_first(size, files, mine + 1) <= rank) mine++;
  char *temporary = begin(paths[mine]);
  *turn = (struct output_turn){.temporary = temporary,
                               .path = paths[mine],
                               .file = mine,
                               .first = (int)block_first(size, files, mine),
                               .last = (int)block_first(size, files, mine + 1) - 1};
  return temporary;
}

/** Write a file in turns, and sync it if that is wanted. All ranks return when all files are written, or none does. */
static void take_turn(const struct output_turn *turn, output_write *write, void *context,
                      bool sync) {
  const bool file_failed = comm_turn_begin(turn->first);
  if (!file_failed) {
    turn_now = turn;
    write(context, turn);
    if (sync && comm_rank() == turn->last) sync_file(turn->temporary);
    turn_now = NULL;
  }
  comm_turn_end(turn->last, file_failed);
  agree(false);
}

/** Count the bytes of this rank's new files. No rank goes on before all files have their names. */
static void count_bytes(uint64_t bytes) {
  comm_sum_u64(&bytes, 1);
  bytes_written += bytes;
}

void output_together(char *const *paths, size_t files, const char *previous, output_write *write,
                     void *context) {
  struct output_turn turn;
  if (files == 0) return;
  /* Ranks would have to agree on what the disk says before they give names. */
  const bool in_batch = batch.open && comm_size() == 1 && !previous;
  if (previous) output_settle(); /* a checkpoint counts outputs as written */
  char *temporary = begin_turn(&turn, paths, files, output_begin);
  take_turn(&turn, write, context,
            !in_batch); /* all files are written and synced: only now rename them */
  uint64_t bytes = 0;
  if (comm_rank() == turn.last) {
    bytes = file_size(temporary);
    if (previous && turn.file == 0) keep(turn.path, previous);
    if (in_batch)
      add_to_batch(temporary, turn.path);
    else
      name_file(temporary, turn.path);
  } else {
    leave(temporary);
  }
  count_bytes(bytes);
}

/** A file that has its own name while it is written, and is removed if the program fails. */
static char *begin_part(const char *path) { return enlist(copy_text(path, "")); }

struct output_parts output_parts_write(char *const *paths, size_t files, output_write *write,
                                       void *context) {
  struct output_turn turn;
  output_settle();
  struct output_parts parts = {.mine = begin_turn(&turn, paths, files, begin_part)};
  take_turn(&turn, write, context, true);
  if (comm_rank() == turn.last) {
    sync_folder_of(turn.path); /* at once: a file that names the parts follows */
    parts.bytes = file_size(turn.path);
  }
  return parts;
}

void output_index_write(struct output_parts parts, const char *path, const char *previous,
                        output_write *write, void *context) {
  const struct output_turn turn = {.temporary = output_begin(path), .path = path};
  if (comm_rank() == 0) {
    turn_now = &turn;
    write(context, &turn);
    sync_file(turn.temporary);
    turn_now = NULL;
  }
  agree(false);
  leave(parts.mine); /* a file that names them may be there from now on */
  if (comm_rank() == 0) {
    parts.bytes += file_size(turn.temporary);
    if (previous) keep(path, previous);
    name_file((char *)turn.temporary, path);
  } else {
    leave((char *)turn.temporary);
  }
  count_bytes(parts.bytes);
}

void output_creating(void) {
  pthread_mutex_lock(&unfinished_lock);
  if (!discarded) return;
  pthread_mutex_unlock(&unfinished_lock);
  for (;;) pause();
}

void output_created(void) { pthread_mutex_unlock(&unfinished_lock); }

FILE *output_open(const char *temporary) {
  output_clear(temporary);
  output_creating();
  const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              0666),
            reason = errno;
  output_created();
  errno = reason;
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  if (!file) fail(EXIT_RUN_FAILED, "cannot write %s: %s", temporary, strerror(errno));
  return file;
}

void output_close(FILE *file, const char *path) {
  errno = 0;
  /* If a write failed before, its errno is lost. */
  const bool failed_before = ferror(file) != 0;
  const bool failed = fflush(file) != 0 || failed_before;
  const int reason = errno;
  if (fclose(file) != 0 || failed)
    fail(EXIT_RUN_FAILED, "cannot write %s: %s", path,
         strerror(reason  ? reason
                  : errno ? errno
                          : EIO));
}

/** Files that are complete and have no names yet get them, unless the disk does not answer: those of the last batch, and
 * those of this thread's open one. */
static void name_before_discarding(void) {
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

void output_discard_all(void) {
  name_before_discarding();
  pthread_mutex_lock(&unfinished_lock);
  discarded = true;
  while (unfinished_files) {
    struct unfinished *entry = unfinished_files;
    unlink(entry->path);
    unfinished_files = entry->next;
    free(entry);
  }
  pthread_mutex_unlock(&unfinished_lock);
}
