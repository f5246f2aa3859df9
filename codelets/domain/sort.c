/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particles of a group in another order.
 *
 * sort:       reads the tree (the group's centre); updates every column of the particles: the order of the
 *             tree
 * part_order: reads sides (group_cut.h); updates every column: particles of one side follow each other, and
 *             keep their order */
#include "codelets/runtime/task.h"
#include "cuda/domain/gpu_domain.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"
#include "photons/domain/group_sort.h"

struct sort_argument {
  uint32_t count;
  unsigned depth;
  column_set columns; /* of the particles */
};
enum { BY, COLUMNS }; /* the tree or the sides */

static double sort_work(const struct sort_argument *a) { return a->count; }

/** @param[out] column  NULL: the particles do not have the column */
static void unwrap(void *buffers[], column_set columns, void *column[PARTICLE_COLUMN_COUNT]) {
  for (int k = 0, slot = COLUMNS; k < PARTICLE_COLUMN_COUNT; k++)
    column[k] = column_in(columns, k) ? VECTOR(void, buffers[slot++]) : NULL;
}

static void sort_cpu(void *buffers[], const struct sort_argument *a) {
  void *column[PARTICLE_COLUMN_COUNT];
  unwrap(buffers, a->columns, column);
  group_sort(a->count, a->depth, VECTOR(const struct node, buffers[BY])[1].centre, column);
}

static void sort_gpu(struct gpu *gpu, void *buffers[], const struct sort_argument *a) {
  void *column[PARTICLE_COLUMN_COUNT];
  unwrap(buffers, a->columns, column);
  gpu_sort(gpu, a->count, a->depth, VECTOR(const struct node, buffers[BY]), column);
}

STAGE(sort, 0x999999, NULL);

/** Fill in the slots: what the order is by, and all columns. Returns the number of slots. */
static size_t fill_slots(const struct domain *d, const struct group *g, starpu_data_handle_t by,
                         struct starpu_data_descr data[COLUMNS + PARTICLE_COLUMN_COUNT]) {
  size_t count = COLUMNS;
  data[BY] = (struct starpu_data_descr){by, STARPU_R};
  FOR_PARTICLE_COLUMNS(&d->particles, k)
  data[count++] = (struct starpu_data_descr){g->column[k], STARPU_RW};
  return count;
}

void sort_submit(const struct domain *d, struct group *g) {
  struct starpu_data_descr data[COLUMNS + PARTICLE_COLUMN_COUNT];
  const size_t count = fill_slots(d, g, g->tree, data);
  sort_insert((struct sort_argument){g->count, d->depth, d->particles.columns},
              (struct task){
                  .data = data, .count = count, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}

struct part_order_argument {
  uint32_t count, sides;
  column_set columns; /* of the particles */
};

static double part_order_work(const struct part_order_argument *a) { return a->count; }

static void part_order_cpu(void *buffers[], const struct part_order_argument *a) {
  void *column[PARTICLE_COLUMN_COUNT];
  unwrap(buffers, a->columns, column);
  group_order(a->count, VECTOR(const uint16_t, buffers[BY]), a->sides, column);
}

static void part_order_gpu(struct gpu *gpu, void *buffers[], const struct part_order_argument *a) {
  void *column[PARTICLE_COLUMN_COUNT];
  unwrap(buffers, a->columns, column);
  gpu_order(gpu, a->count, VECTOR(const uint16_t, buffers[BY]), a->sides, column);
}

STAGE(part_order, 0x909090, NULL);

void part_order_submit(const struct domain *d, const struct group *g, const struct group_cut *c) {
  struct starpu_data_descr data[COLUMNS + PARTICLE_COLUMN_COUNT];
  const size_t count = fill_slots(d, g, c->side, data);
  part_order_insert(
      (struct part_order_argument){g->count, c->sides, d->particles.columns},
      (struct task){
          .data = data, .count = count, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}
