/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output files appear under their final name only when they are complete: a file is written as
 * NAME.tmp, synced and renamed. Functions without a word on ranks are local. Errors end the program
 * (EXIT_RUN_FAILED). */
#ifndef PHOTONS_OUTPUT_FILE_H
#define PHOTONS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Make a folder and its parents. Fails if the folder cannot be made or written to. */
void output_folder(const char *path);
/** Remove a file that another run or another program has left under a temporary name. */
void output_clear(const char *temporary);
/** The same check without making the folder: the nearest folder above it that exists must be
 * writable. */
void output_folder_check(const char *path);
/** The temporary name for @p path; output_commit() frees it. fail() removes the file if the program
 * ends before output_commit(). */
char *output_begin(const char *path);
/** Sync the temporary file and rename it to its final name, in a batch at the end of the batch; frees @p temporary. */
void output_commit(char *temporary, const char *path);
/** Between these two, files that this thread commits, and on one rank those of output_together() without a previous name, are
 * written under temporary names. output_batch_end() begins a thread that syncs them, gives them their final names in their
 * order and syncs their folder, and returns: the program goes on while the disk writes. If the program fails meanwhile for
 * another reason, it waits for this thread first, and files of an open batch that are complete get their names. */
void output_batch_begin(void);
void output_batch_end(void);
/** Wait until the files of the last batch have their names. Fails if one of them could not be written. A new batch, a file of
 * output_together() with a previous name and output_parts_write() begin with that: a checkpoint is not there before the
 * outputs that it counts as written. */
void output_settle(void);
/** Fail if files of the last batch could not be written, as far as that is known: it does not wait for the disk. */
void output_check(void);
/** One rank's part in writing a file together with other ranks. */
struct output_turn {
  const char *temporary, *path;
  size_t file;     /**< its number in the set */
  int first, last; /**< ranks that write this file; `first` creates it */
};
typedef void output_write(void *context, const struct output_turn *turn);
/**
 * Write a set of files by all ranks; collective, as the next two functions are. Each file is written
 * by consecutive ranks, one after the other. Either all files get their final names or none: if a rank
 * fails, all ranks remove their temporary files before the run ends.
 * @param files     number of files, 1 .. comm_size()
 * @param previous  new name of an existing file at the first path; NULL: that file is replaced
 * @param write     called on each rank when it is its turn
 */
void output_together(char *const *paths, size_t files, const char *previous, output_write *write,
                     void *context);
/** Files that are written, and mean nothing before the file that names them is there. */
struct output_parts {
  char *mine;
  uint64_t bytes;
};
/**
 * Write a set of files as output_together() does, but under their own names, which no other file may
 * name yet. output_index_write() must follow. fail() removes them until the file is written there that
 * names them.
 */
struct output_parts output_parts_write(char *const *paths, size_t files, output_write *write,
                                       void *context);
/**
 * Write, on rank 0 alone, the file that names the parts, and give it its name: the set is complete. If
 * writing fails, all ranks remove their parts, and a file at @p path stays as it is.
 * @param previous  as of output_together()
 */
void output_index_write(struct output_parts parts, const char *path, const char *previous,
                        output_write *write, void *context);
/** Bytes of all files that these functions have written; the same on all ranks. */
uint64_t output_bytes(void);
/**
 * For fail(): if the calling thread is in a `write` function of a set, make all ranks remove their
 * temporary files. If several ranks fail, this function returns only on the lowest.
 * @return whether the thread was writing
 */
bool output_failed(void);
/** Between these two a thread creates a file of a name of output_begin(), and must not fail. The end of
 * the program waits for the second. After output_discard_all() the first one does not return. */
void output_creating(void);
void output_created(void);
/** Create a text file under a temporary name; never returns NULL. An existing file or symbolic link
 * of that name is removed, so no link is followed. After output_discard_all() it does not return. */
FILE *output_open(const char *temporary);
/** fclose(); fails if any write to the file failed (full disk). */
void output_close(FILE *file, const char *path);
/** Remove all temporary files that are not committed: for fail(), and before the program ends after
 * a signal. */
void output_discard_all(void);

#endif
