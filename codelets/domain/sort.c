/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort: restores the order of a group's particles in its tree.
 *
 * reads   the tree (the group's centre)
 * updates every column of the particles */
#include "codelets/runtime/task.h"
#include "cuda/domain/gpu_domain.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"
#include "photons/domain/group_sort.h"

struct sort_argument {
  uint32_t count;
  unsigned depth;
  unsigned columns; /* bits: the particles have the column */
};
enum { TREE, COLUMNS };

static double sort_work(const struct sort_argument *a) { return a->count; }

/** @param[out] column  NULL: the particles do not have the column */
static void unwrap(void *buffers[], unsigned columns, void *column[PARTICLE_COLUMN_COUNT]) {
  for (int k = 0, slot = COLUMNS; k < PARTICLE_COLUMN_COUNT; k++)
    column[k] = columns >> k & 1 ? VECTOR(void, buffers[slot++]) : NULL;
}

static void sort_cpu(void *buffers[], const struct sort_argument *a) {
  void *column[PARTICLE_COLUMN_COUNT];
  unwrap(buffers, a->columns, column);
  group_sort(a->count, a->depth, VECTOR(const struct node, buffers[TREE])[1].centre, column);
}

static void sort_gpu(struct gpu *gpu, void *buffers[], const struct sort_argument *a) {
  void *column[PARTICLE_COLUMN_COUNT];
  unwrap(buffers, a->columns, column);
  gpu_sort(gpu, a->count, a->depth, VECTOR(const struct node, buffers[TREE]), column);
}

STAGE(sort, 0x999999, NULL);

void sort_submit(const struct domain *d, struct group *g) {
  struct starpu_data_descr data[COLUMNS + PARTICLE_COLUMN_COUNT] = {[TREE] = {g->tree, STARPU_R}};
  unsigned columns = 0;
  size_t count = COLUMNS;
  FOR_PARTICLE_COLUMNS(&d->particles, k) {
    data[count++] = (struct starpu_data_descr){g->column[k], STARPU_RW};
    columns |= 1u << k;
  }
  sort_insert((struct sort_argument){g->count, d->depth, columns},
              (struct task){
                  .data = data, .count = count, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}
