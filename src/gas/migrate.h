/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A level whose groups are being replaced: its old cells, which go to the ranks that have the
 * groups from now on. */
#ifndef PHOTONS_GAS_MIGRATE_H
#define PHOTONS_GAS_MIGRATE_H

#include "photons/gas/gas.h"

struct old_level {
  struct gas_level level;
  uint32_t count; /* groups */
  uint64_t *key;  /* [count], rising */
  char *received; /* cells of groups that other ranks had */
};

/** Take a level out of the mesh. topology_replace() and gas_divide_level() follow. */
struct old_level old_level_take(struct gas *g, int level);
/** Let the new level have those of this rank's old batches whose groups are a batch of it, too:
 * with their data, which stay where they are, on GPUs for example. Then take the others off
 * StarPU. */
void old_level_keep(struct old_level *old, struct gas *g, int level);
/** Send cells to the new owners of their groups; collective.
 * @return [own group] the old cells of the group; NULL: it is new, or in a batch that was kept.
 * free() it */
const char **old_level_migrate(struct old_level *old, const struct gas *g, int level);
void old_level_free(struct old_level *old);

#endif
