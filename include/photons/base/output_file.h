/* Files appear under their final name only when complete: written as NAME.tmp, synced, renamed. */
#ifndef PHOTONS_OUTPUT_FILE_H
#define PHOTONS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All but output_together() is local. */

/** Make a folder and its parents; EXIT_RUN_FAILED with the reason if it cannot be made or written to. */
void output_folder(const char *path);
/** Remove what a killed run, or somebody else, has left under a temporary name. */
void output_clear(const char *temporary);
/** Temporary name for @p path (malloc'ed); fail() removes it if the program ends before output_commit(). */
char *output_begin(const char *path);
/** Sync the temporary file and rename it to its final name; frees @p temporary. */
void output_commit(char *temporary, const char *path);
/** A process's part in writing a file with others. */
struct output_turn {
  const char *temporary, *path;
  int first, last; /**< ranks that write to this file: the first creates it */
};
/**
 * Write a set of files by all processes: each file by consecutive ranks, one after the other. All or none get their final names;
 * where a process fails, all remove their temporary files before the run ends.
 * @param files     1 .. comm_size()
 * @param previous  the name that the file of the first path keeps when the new one takes its place;
 *                  NULL: it goes
 * @param write     what a process does when it is its turn
 */
void output_together(char *const *paths, size_t files, const char *previous,
                     void (*write)(void *context, const struct output_turn *turn), void *context);
/** For fail(): if the calling thread is writing in output_together(), have all processes clean up; of several that fail, only the first
 * returns. @return whether it was */
bool output_failed(void);
/** A new file under a temporary name, for text; checks. What stands there is removed, and no
 * symbolic link is followed. */
FILE *output_open(const char *temporary);
/** fclose with a check for write errors (full disk). */
void output_close(FILE *file, const char *path);
/** Remove all files begun and not committed: for fail() and for the end after a signal. */
void output_discard_all(void);

#endif
