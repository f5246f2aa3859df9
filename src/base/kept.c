/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/base/kept.h"

static size_t most[KEPT_COUNT]; /* of the process, as its memory is */

void kept_set(enum kept kind, size_t bytes) {
  if (bytes > most[kind]) most[kind] = bytes;
}

size_t kept_most(enum kept kind) { return most[kind]; }

const char *kept_name(enum kept kind) {
  static const char *const names[] = {
      [KEPT_GROUPS] = "groups", [KEPT_RUNGS] = "rungs",   [KEPT_BOXES] = "boxes",
      [KEPT_COSTS] = "costs",   [KEPT_GHOSTS] = "ghosts", [KEPT_CELLS] = "cells",
      [KEPT_PIECES] = "pieces", [KEPT_BLOCKS] = "blocks", [KEPT_CUTS] = "cuts",
      [KEPT_COUNTS] = "counts", [KEPT_TIES] = "ties",     [KEPT_OCTREE] = "octree",
      [KEPT_LEVELS] = "levels"};
  return names[kind];
}
