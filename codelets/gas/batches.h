/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the stages of gas have in common: the argument of their tasks, and slots for lists of batches. */
#ifndef PHOTONS_CODELETS_GAS_BATCHES_H
#define PHOTONS_CODELETS_GAS_BATCHES_H

#include "codelets/runtime/task.h"
#include "photons/gas/codelets.h"

/** A batch of a level, and what a stage needs besides. */
struct batch_argument {
  struct gas *gas;
  int level;
  uint32_t batch;
  double weight; /**< or the step's length, or its share in a longer one */
  bool flag;
};

static inline struct gas_batch *batch_of(const struct batch_argument *a) {
  return &a->gas->level[a->level].batch[a->batch];
}
/** Number of its groups; work is counted in groups. */
static inline double batch_work(const struct batch_argument *a) { return batch_of(a)->count; }

/** Group i of a batch in memory where a group takes up so many bytes. */
static inline void *nth(void *buffer, size_t bytes, uint32_t i) {
  return VECTOR(char, buffer) + bytes * i;
}

/** Slots of a task. */
struct slots {
  struct starpu_data_descr *data;
  size_t count, room;
};

void slots_add(struct slots *s, starpu_data_handle_t handle, enum starpu_data_access_mode mode);
/** Slots for the cells of a list's batches of a level, which are read.
 * @param now  present cells, not those of the beginning of the last step */
void slots_add_list(struct slots *s, const struct gas *g, int level, const struct batch_list *list,
                    bool now);
/** The task with these slots; free() slots.data after it is submitted. */
struct task slots_task(const struct slots *s, enum priority priority);
/** The buffers from `first` on as plain addresses; free() it. */
const char **slots_addresses(void *buffers[], size_t first, size_t count);

#endif
