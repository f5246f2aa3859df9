/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of files that all ranks write: all of them get their names, or none does. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_steps.h"
#include "photons/base/comm.h"
#include "photons/base/output_file.h"
#include "photons/base/parts.h"

static _Atomic uint64_t bytes_written; /* of sets of files, on any thread */

uint64_t output_bytes(void) { return bytes_written; }

static uint64_t file_size(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
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
    if (sync && comm_rank() == turn->last) output_sync(turn->temporary);
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
  const bool in_batch = output_in_batch() && comm_size() == 1 && !previous;
  if (previous) output_settle(); /* a checkpoint counts outputs as written */
  char *temporary = begin_turn(&turn, paths, files, output_begin);
  take_turn(&turn, write, context,
            !in_batch); /* all files are written and synced: only now rename them */
  uint64_t bytes = 0;
  if (comm_rank() == turn.last) {
    bytes = file_size(temporary);
    if (previous && turn.file == 0) output_keep(turn.path, previous);
    if (in_batch)
      output_add_to_batch(temporary, turn.path);
    else
      output_name(temporary, turn.path);
  } else {
    output_leave(temporary);
  }
  count_bytes(bytes);
}

/** A file that has its own name while it is written, and is removed if the program fails. */
static char *begin_part(const char *path) { return output_enlist(copy_text(path, "")); }

struct output_parts output_parts_write(char *const *paths, size_t files, output_write *write,
                                       void *context) {
  struct output_turn turn;
  output_settle();
  struct output_parts parts = {.mine = begin_turn(&turn, paths, files, begin_part)};
  take_turn(&turn, write, context, true);
  if (comm_rank() == turn.last) {
    output_sync_folder_of(turn.path); /* at once: a file that names the parts follows */
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
    output_sync(turn.temporary);
    turn_now = NULL;
  }
  agree(false);
  output_leave(parts.mine); /* a file that names them may be there from now on */
  if (comm_rank() == 0) {
    parts.bytes += file_size(turn.temporary);
    if (previous) output_keep(path, previous);
    output_name((char *)turn.temporary, path);
  } else {
    output_leave((char *)turn.temporary);
  }
  count_bytes(parts.bytes);
}
