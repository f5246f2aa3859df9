/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_checksum.h"
#include "hdf5_set.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

char *checkpoint_choose(const char *path, const char *kind) {
  char reason[1024], other_reason[1024];
  if (hdf5_intact(path, kind, reason, sizeof reason)) {
    char *name = strdup(path);
    if (!name) fail(EXIT_RUN_FAILED, "not enough memory for a file name");
    return name;
  }
  char *previous = hdf5_set_name(path, "previous");
  if (!hdf5_intact(previous, kind, other_reason, sizeof other_reason))
    fail(EXIT_BAD_INPUT, "no checkpoint to go on from: %s; %s", reason, other_reason);
  if (comm_rank() == 0) warn("%s; going on from the one before, %s", reason, previous);
  return previous;
}

void checkpoint_set_aside(const char *path) {
  char *damaged = hdf5_set_name(path, "damaged");
  if (comm_rank() == 0 && rename(path, damaged) != 0 && errno != ENOENT)
    fail(EXIT_RUN_FAILED, "cannot rename %s to %s: %s", path, damaged, strerror(errno));
  free(damaged);
}
