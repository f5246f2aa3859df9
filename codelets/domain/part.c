/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles move to their new groups, after cut.c has found these and part_order (sort.c) has put those
 * of one new group beside each other.
 *
 * part_move: reads columns of groups that give particles to a group or rank, or what came from other
 *            ranks; writes the column of these particles
 * part_keep: reads that; writes the group's column */
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/domain/gpu_domain.h"
#include "photons/base/error.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"

struct part_move_argument {
  uint32_t count, segments;
  const struct segment *segment; /* host memory; `from` is not set */
  const struct particle_column *column;
};
enum { TO, SOURCES };

static double part_move_work(const struct part_move_argument *a) { return a->count; }

/** The segments with the addresses of the columns (malloc'ed). */
static struct segment *segments_from(void *buffers[], const struct part_move_argument *a) {
  struct segment *segment = allocate(a->segments, sizeof *segment, "particles to move");
  for (uint32_t k = 0; k < a->segments; k++) {
    segment[k] = a->segment[k];
    segment[k].from = VECTOR(const void, buffers[SOURCES + segment[k].source]);
  }
  return segment;
}

static void part_move_cpu(void *buffers[], const struct part_move_argument *a) {
  struct segment *segment = segments_from(buffers, a);
  char *to = VECTOR(char, buffers[TO]);
  const size_t size = a->column->size;
  for (uint32_t k = 0; k < a->segments; k++)
    for (size_t c = 0; c < a->column->components; c++) {
      const struct segment *s = &segment[k];
      memcpy(to + (c * a->count + s->to_first) * size,
             (const char *)s->from + (c * s->from_count + s->first) * size, s->count * size);
    }
  free(segment);
}

static void part_move_gpu(struct gpu *gpu, void *buffers[], const struct part_move_argument *a) {
  struct segment *segment = segments_from(buffers, a);
  gpu_move(gpu, segment, a->segments, a->count, a->column, VECTOR(void, buffers[TO]));
  free(segment);
}

STAGE(part_move, 0x989898, NULL);

void part_move_submit(const struct part_move *m, int column, const uint32_t *owner,
                      starpu_data_handle_t to) {
  struct starpu_data_descr *data = allocate(SOURCES + (size_t)m->sources, sizeof *data,
                                            "handles of a task");
  data[TO] = (struct starpu_data_descr){to, STARPU_W};
  for (uint32_t k = 0; k < m->sources; k++)
    data[SOURCES + k] = (struct starpu_data_descr){m->source[k], STARPU_R};
  part_move_insert(
      (struct part_move_argument){m->count, m->segments, m->segment, &particle_columns[column]},
      (struct task){.data = data,
                    .count = SOURCES + m->sources,
                    .priority = PRIORITY_HIGHEST,
                    .owner = owner});
  free(data);
}

struct part_keep_argument {
  size_t bytes;
};
enum { COLUMN, KEPT, KEEP_SLOTS };

static double part_keep_work(const struct part_keep_argument *a) { return (double)a->bytes; }

static void part_keep_cpu(void *buffers[], const struct part_keep_argument *a) {
  memcpy(VECTOR(void, buffers[COLUMN]), VECTOR(const void, buffers[KEPT]), a->bytes);
}

static void part_keep_gpu(struct gpu *gpu, void *buffers[], const struct part_keep_argument *a) {
  gpu_copy(gpu, VECTOR(void, buffers[COLUMN]), VECTOR(const void, buffers[KEPT]), a->bytes);
}

STAGE(part_keep, 0xa0a0a0, NULL);

void part_keep_submit(const struct group *g, int column, starpu_data_handle_t moved) {
  const struct starpu_data_descr data[KEEP_SLOTS] = {
      [COLUMN] = {g->column[column], STARPU_W}, [KEPT] = {moved, STARPU_R}};
  part_keep_insert(
      (struct part_keep_argument){g->count * particle_column_bytes(&particle_columns[column])},
      (struct task){
          .data = data, .count = KEEP_SLOTS, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}
