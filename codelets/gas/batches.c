/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codelets/gas/batches.h"

#include "photons/base/error.h"

void slots_add(struct slots *s, starpu_data_handle_t handle, enum starpu_data_access_mode mode) {
  if (s->count == s->room)
    s->data = reallocate(s->data, s->room = 2 * s->room + 16, sizeof *s->data, "task data");
  s->data[s->count++] = (struct starpu_data_descr){handle, mode};
}

void slots_add_list(struct slots *s, const struct gas *g, int level, const struct batch_list *list,
                    bool now) {
  if (list->count == 0) return; /* the root level has no coarser one */
  const struct gas_level *l = &g->level[level];
  for (uint32_t i = 0; i < list->count; i++)
    slots_add(s, l->batch[list->batch[i]].handle[now ? l->now : 1 - l->now], STARPU_R);
}

struct task slots_task(const struct slots *s, enum priority priority) {
  return (struct task){.data = s->data, .count = s->count, .priority = priority};
}

const char **slots_addresses(void *buffers[], size_t first, size_t count) {
  const char **address = allocate(count, sizeof *address, "task data");
  for (size_t i = 0; i < count; i++) address[i] = VECTOR(const char, buffers[first + i]);
  return address;
}
