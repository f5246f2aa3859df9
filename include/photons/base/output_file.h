/* Files appear under their final name only when complete: written as NAME.tmp, synced, renamed. */
#ifndef PHOTONS_OUTPUT_FILE_H
#define PHOTONS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All but output_together() is local. */

/** Make a folder and its parents; EXIT_RUN_FAILED with the reason if it cannot be made or written to. */
void output_folder(const char *path);
/** The same check without making the folder: the nearest folder above it that exists must be writable. */
void output_folder_check(const char *path);
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
 * @param files  1 .. comm_size()
 * @param write  what a process does when it is its turn
 */
void output_together(char *const *paths, size_t files, void (*write)(void *context, const struct output_turn *turn),
                     void *context);
/** For fail(): if the calling thread is writing in output_together(), have all processes clean up; of several that fail, only the first
 * returns. @return whether it was */
bool output_failed(void);
/** fopen the temporary of a text file; checks. */
FILE *output_open(const char *temporary);
/** fclose with a check for write errors (full disk). */
void output_close(FILE *file, const char *path);
/** Remove all files begun and not committed: for fail() and for the end after a signal. */
void output_discard_all(void);

#endif
