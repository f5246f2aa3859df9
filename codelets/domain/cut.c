/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Passes over a group's particles that cut the domain anew (group_cut.h).
 *
 * cut_count: reads positions, sides; writes how many particles have each value of a digit of the median,
 *            [row][DIGIT_VALUES]
 * cut_send:  reads positions; updates (if there is no cut yet, writes) sides; writes what is on each side,
 *            [side] */
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/domain/gpu_domain.h"
#include "photons/base/error.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"

struct cut_count_argument {
  uint32_t count;
  const struct node_cut *cut; /* [side], host memory */
  uint32_t sides, rows;
  int digit;
};
enum { POSITION, SIDE, RESULT, SLOTS };

static double cut_count_work(const struct cut_count_argument *a) { return a->count; }

static void cut_count_cpu(void *buffers[], const struct cut_count_argument *a) {
  const uint32_t *x = VECTOR(const uint32_t, buffers[POSITION]);
  const uint16_t *side = VECTOR(const uint16_t, buffers[SIDE]);
  uint32_t *histogram = VECTOR(uint32_t, buffers[RESULT]);
  const unsigned shift = digit_shift(a->digit), known = digit_shift(a->digit - 1);
  memset(histogram, 0, (size_t)a->rows * DIGIT_VALUES * sizeof *histogram);
  for (uint32_t i = 0; i < a->count; i++) {
    const struct node_cut *c = &a->cut[side[i]];
    const uint32_t value = x[(size_t)c->axis * a->count + i];
    if ((uint64_t)(value ^ c->value) >> known == 0)
      histogram[(size_t)c->row * DIGIT_VALUES + ((value - c->value) >> shift)]++;
  }
}

static void cut_count_gpu(struct gpu *gpu, void *buffers[], const struct cut_count_argument *a) {
  gpu_cut_count(gpu, a->count, VECTOR(const uint32_t, buffers[POSITION]),
                VECTOR(const uint16_t, buffers[SIDE]), a->cut, a->sides, a->rows, a->digit,
                VECTOR(uint32_t, buffers[RESULT]));
}

STAGE(cut_count, 0x808080, NULL);

void cut_count_submit(const struct group *g, const struct group_cut *c, int digit) {
  const struct starpu_data_descr data[SLOTS] = {[POSITION] = {g->column[COLUMN_position], STARPU_R},
                                                [SIDE] = {c->side, STARPU_R},
                                                [RESULT] = {c->result, STARPU_W}};
  cut_count_insert(
      (struct cut_count_argument){g->count, c->cut, c->sides, c->rows, digit},
      (struct task){
          .data = data, .count = SLOTS, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}

struct cut_send_argument {
  uint32_t count;
  const struct node_cut *cut; /* [side], host memory; NULL: there are no sides yet */
  uint32_t sides, rows;
};

static double cut_send_work(const struct cut_send_argument *a) { return a->count; }

static void cut_send_cpu(void *buffers[], const struct cut_send_argument *a) {
  const uint32_t *x = VECTOR(const uint32_t, buffers[POSITION]);
  uint16_t *side = VECTOR(uint16_t, buffers[SIDE]);
  struct node_part *part = VECTOR(struct node_part, buffers[RESULT]);
  uint32_t *ties = allocate(a->rows, sizeof *ties, "ties of the domain decomposition");
  for (uint32_t s = 0; s < 2 * a->rows; s++)
    part[s] = (struct node_part){.low = {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
  for (uint32_t i = 0; i < a->count; i++) {
    uint32_t s = 0;
    if (a->cut) {
      const struct node_cut *c = &a->cut[side[i]];
      const uint32_t value = x[(size_t)c->axis * a->count + i];
      s = 2 * c->row + !(value < c->value || (value == c->value && ties[c->row]++ < c->ties));
    }
    side[i] = (uint16_t)s;
    part[s].count++;
    for (size_t c = 0; c < 3; c++) {
      const uint32_t value = x[c * a->count + i];
      if (value < part[s].low[c]) part[s].low[c] = value;
      if (value > part[s].high[c]) part[s].high[c] = value;
    }
  }
  free(ties);
}

static void cut_send_gpu(struct gpu *gpu, void *buffers[], const struct cut_send_argument *a) {
  gpu_cut_send(gpu, a->count, VECTOR(const uint32_t, buffers[POSITION]),
               VECTOR(uint16_t, buffers[SIDE]), a->cut, a->sides, a->rows,
               VECTOR(struct node_part, buffers[RESULT]));
}

STAGE(cut_send, 0x888888, NULL);

void cut_send_submit(const struct group *g, const struct group_cut *c) {
  const struct starpu_data_descr data[SLOTS] = {[POSITION] = {g->column[COLUMN_position], STARPU_R},
                                                [SIDE] = {c->side, c->cut ? STARPU_RW : STARPU_W},
                                                [RESULT] = {c->result, STARPU_W}};
  cut_send_insert(
      (struct cut_send_argument){g->count, c->cut, c->sides, c->rows},
      (struct task){
          .data = data, .count = SLOTS, .priority = PRIORITY_HIGHEST, .owner = &g->index});
}
