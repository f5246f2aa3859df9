/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are removed if the program ends before they are complete. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output_steps.h"
#include "photons/base/output_file.h"

/* Temporary files that are not committed, and parts that no file names yet. A file-scope variable because fail() may be called on any
 * thread. */
static struct unfinished {
  struct unfinished *next;
  const char *path; /* the pointer that output_enlist() returned */
} * unfinished_files;
static bool discarded; /* the program ends: other threads shall make no new files */
static pthread_mutex_t unfinished_lock = PTHREAD_MUTEX_INITIALIZER;

char *output_enlist(char *temporary) {
  struct unfinished *entry = allocate(1, sizeof *entry, "a file name");
  entry->path = temporary;
  pthread_mutex_lock(&unfinished_lock);
  entry->next = unfinished_files;
  unfinished_files = entry;
  pthread_mutex_unlock(&unfinished_lock);
  return temporary;
}

void output_forget(const char *temporary) {
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

void output_leave(char *temporary) {
  output_forget(temporary);
  free(temporary);
}

char *output_begin(const char *path) { return output_enlist(copy_text(path, ".tmp")); }

void output_clear(const char *temporary) {
  if (unlink(temporary) != 0 && errno != ENOENT)
    fail(EXIT_RUN_FAILED, "cannot remove %s: %s", temporary, strerror(errno));
}

void output_creating(void) {
  pthread_mutex_lock(&unfinished_lock);
  if (!discarded) return;
  pthread_mutex_unlock(&unfinished_lock);
  for (;;) pause();
}

void output_created(void) { pthread_mutex_unlock(&unfinished_lock); }

void output_discard_all(void) {
  output_name_complete();
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
