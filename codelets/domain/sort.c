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
  int columns;
};
enum { TREE, COLUMNS };

static double sort_work(const struct sort_argument *a) { return a->count; }

/** @param[out] column  NULL: the particles do not have the column */
static void unwrap(void *buffers[], int columns, void *column[PARTICLE_COLUMN_COUNT]) {
  for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++)
    column[k] = k < columns ? VECTOR(void, buffers[COLUMNS + k]) : NULL;
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
  const int columns = particles_columns(&d->particles);
  for (int k = 0; k < columns; k++)
    data[COLUMNS + k] = (struct starpu_data_descr){g->column[k], STARPU_RW};
  sort_insert((struct sort_argument){g->count, d->depth, columns},
              (struct task){.data = data,
                            .count = COLUMNS + (size_t)columns,
                            .priority = PRIORITY_HIGHEST,
                            .owner = &g->index});
}
