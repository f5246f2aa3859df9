/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells that no solver can go on with. */
#include <stdio.h>
#include <stdlib.h>

#include "photons/amr/gas.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"

struct moment_text gas_moment(const struct gas *g) {
  struct moment_text m;
  if (g->universe.comoving) return cosmology_moment(false, g->time);
  snprintf(m.text, sizeof m.text, "t = %.4g", g->time);
  return m;
}

/** A fault, and the group where it is. */
struct place_of_fault {
  int level;
  uint32_t group;
  struct gas_fault fault;
};

/** The first fault of this rank's groups; patch -1: there is none. */
static struct place_of_fault own_fault(const struct gas *g) {
  for (int level = 0; level < topology_levels(&g->topology); level++) {
    const struct gas_level *l = &g->level[level];
    for (uint32_t i = 0; i < l->mine.end - l->mine.first; i++)
      if (l->fault[i].patch >= 0)
        return (struct place_of_fault){level, l->mine.first + i, l->fault[i]};
  }
  return (struct place_of_fault){.level = GAS_LEVELS_MAX, .fault = {.patch = -1}};
}

_Noreturn static void fail_at(const struct gas *g, const struct place_of_fault *at) {
  const struct gas_fault *f = &at->fault;
  uint32_t place[3];
  unsigned cell[3];
  topology_place(&g->topology, at->level, at->group, place);
  for (int c = 0; c < 3; c++)
    cell[c] = GAS_GROUP_SIDE * place[c] + GAS_PATCH_SIDE * ((unsigned)f->patch >> c & 1) +
              ((unsigned)f->cell >> 3 * c & 7);
  fail(EXIT_RUN_FAILED,
       "gas at %s: density %g and pressure %g in cell (%u, %u, %u) of level %d, where both "
       "must be positive: a smaller gas.cfl may help",
       gas_moment(g).text, f->density, f->pressure, cell[0], cell[1], cell[2], at->level);
}

void gas_require_sound(const struct gas *g) {
  const struct place_of_fault own = own_fault(g);
  struct place_of_fault *all = allocate((size_t)comm_size(), sizeof *all, "faults of gas"),
                        *first = all;
  comm_gather_all(&own, sizeof own, all);
  for (int r = 1; r < comm_size(); r++)
    if (all[r].level < first->level) first = &all[r]; /* groups rise with the ranks */
  if (first->fault.patch >= 0) fail_at(g, first);
  free(all);
}
