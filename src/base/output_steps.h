/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files about output files share (photons/base/output_file.h). */
#ifndef PHOTONS_OUTPUT_STEPS_H
#define PHOTONS_OUTPUT_STEPS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "photons/base/error.h"

/** Two texts together; free(). */
static inline char *copy_text(const char *text, const char *suffix) {
  const size_t size = strlen(text) + strlen(suffix) + 1;
  char *copy = allocate(size, 1, "a file name");
  snprintf(copy, size, "%s%s", text, suffix);
  return copy;
}

/** From now on fail() removes this file. @return @p temporary */
char *output_enlist(char *temporary);
/** From now on fail() does not remove it. */
void output_forget(const char *temporary);
/** output_forget(), and free() of the name. */
void output_leave(char *temporary);

/** Wait until a file is on the disk. */
void output_sync(const char *temporary);
/** Sync the folder of a file. */
void output_sync_folder_of(const char *path);
/** Give a file that is synced its final name, and sync its folder, in a batch at the end of the batch. Frees @p temporary. */
void output_name(char *temporary, const char *path);
/** Give the file at @p path, if there is one, the name @p previous as well. */
void output_keep(const char *path, const char *previous);
/** Whether this thread has a batch. */
bool output_in_batch(void);
/** Let a file get its name at the end of this thread's batch. @param temporary  NULL: it has its name, and only its folder is to be
 * synced */
void output_add_to_batch(char *temporary, const char *path);
/** Before files without names are removed: those that are complete get their names, unless the disk does not answer. They are those of
 * the last batch, and those of this thread's open one. */
void output_name_complete(void);

#endif
