/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/totals.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(gas_total, 0x669955, .family = "gas");

enum {
  PART_GROUPS = 1024
}; /* at least, of a part of the loop: some 50 us, which are worth a task */

/** The groups of a rank in parts. */
struct totalling {
  const struct gas *gas;
  int level;
  uint32_t first, count, parts;
  void (*add)(const struct gas *g, int level, uint32_t group, struct group_totals *t);
  struct group_totals *part; /* [parts] */
};

static uint32_t part_begin(const struct totalling *l, uint32_t part) {
  return l->first + (uint32_t)(part * (uint64_t)l->count / l->parts);
}

static void total_part(void *context, uint32_t part) {
  const struct totalling *l = context;
  const uint32_t end = part_begin(l, part + 1);
  for (uint32_t group = part_begin(l, part); group < end; group++)
    l->add(l->gas, l->level, group, &l->part[part]);
}

struct level_totals gas_total(const struct gas *g, int level, unsigned sums,
                              void (*add)(const struct gas *g, int level, uint32_t group,
                                          struct group_totals *t)) {
  const uint32_t first = gas_first_group(g, level, comm_rank()),
                 count = gas_first_group(g, level, comm_rank() + 1) - first;
  struct exact_sums all = exact_sums_create(sums, count / PART_GROUPS);
  struct totalling l = {g,
                        level,
                        first,
                        count,
                        all.parts,
                        add,
                        allocate(all.parts, sizeof *l.part, "totals of groups")};
  struct level_totals t = {0};
  for (uint32_t i = 0; i < l.parts; i++) l.part[i].sum = exact_sums_of(&all, i);
  if (l.parts == 1)
    total_part(&l, 0);
  else
    loop_run(&gas_total_stage, l.parts, total_part, &l);
  for (uint32_t i = 0; i < l.parts; i++) {
    for (int k = 0; k < LEVEL_MOST; k++) t.most[k] = fmax(t.most[k], l.part[i].most[k]);
    for (int k = 0; k < LEVEL_COUNTS; k++) t.count[k] += l.part[i].count[k];
  }
  free(l.part);
  exact_sums_finish(&all, t.sum);
  comm_max_double(t.most, LEVEL_MOST);
  comm_sum_u64(t.count, LEVEL_COUNTS);
  return t;
}
