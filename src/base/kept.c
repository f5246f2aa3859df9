/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/base/kept.h"

#include <stdatomic.h>

static _Atomic size_t most[KEPT_COUNT]; /* of the process, as its memory is */

void kept_set(enum kept kind, size_t bytes) {
  size_t before = atomic_load(&most[kind]);
  while (bytes > before && !atomic_compare_exchange_weak(&most[kind], &before, bytes))
    ;
}

size_t kept_most(enum kept kind) { return atomic_load(&most[kind]); }

const char *kept_name(enum kept kind) {
  static const char *const names[] = {
      [KEPT_GROUPS] = "groups", [KEPT_RUNGS] = "rungs",   [KEPT_BOXES] = "boxes",
      [KEPT_COSTS] = "costs",   [KEPT_GHOSTS] = "ghosts", [KEPT_CELLS] = "cells",
      [KEPT_PIECES] = "pieces", [KEPT_BLOCKS] = "blocks", [KEPT_CUTS] = "cuts",
      [KEPT_COUNTS] = "counts", [KEPT_TIES] = "ties",     [KEPT_OCTREE] = "octree",
      [KEPT_LEVELS] = "levels", [KEPT_FOF] = "fof",       [KEPT_SOURCES] = "sources",
      [KEPT_GREEN] = "green",   [KEPT_WALKS] = "walks"};
  return names[kind];
}
