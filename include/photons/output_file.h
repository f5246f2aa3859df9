/* Files appear under their final name only when complete: written as NAME.tmp, synced, renamed. */
#ifndef PHOTONS_OUTPUT_FILE_H
#define PHOTONS_OUTPUT_FILE_H

#include <stdio.h>

/** Make a folder and its parents; EXIT_RUN_FAILED with the reason if it cannot be made or written to. */
void output_folder(const char *path);
/** Temporary name for @p path (malloc'ed); fail() removes it if the program ends before output_commit(). */
char *output_begin(const char *path);
/** Sync the temporary file and rename it to its final name; frees @p temporary. */
void output_commit(char *temporary, const char *path);
/** fopen the temporary of a text file; checks. */
FILE *output_open(const char *temporary);
/** fclose with a check for write errors (full disk). */
void output_close(FILE *file, const char *path);
/** Remove all files begun and not committed: for fail() and for the end after a signal. */
void output_discard_all(void);

#endif
