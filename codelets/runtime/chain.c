/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codelets/runtime/chain.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "photons/base/error.h"

/** A task of a chain. */
struct link {
  starpu_cuda_func_t function;
  void *argument;
  size_t first, count; /* of its slots among those of all tasks */
};

/** A slot of a task. */
struct use {
  starpu_data_handle_t handle;
  enum starpu_data_access_mode mode;
  size_t order; /* of slots of all tasks */
};

struct task_chain {
  struct link *link; /* [links] */
  size_t links, room_for_links;
  struct use *use; /* [uses], until chain_data() */
  size_t uses, room_for_uses, most;
  size_t *slot; /* [uses] of the chain */
};

struct task_chain *chain_begin(void) {
  struct task_chain *c = allocate(1, sizeof *c, "task data");
  return c;
}

void chain_add(struct task_chain *c, const struct starpu_codelet *codelet,
               const struct starpu_data_descr *data, size_t count, void *argument) {
  if (!codelet->cuda_funcs[0])
    fail(EXIT_RUN_FAILED, "a task of stage %s cannot be one of a chain: it has no version for GPUs",
         codelet->name);
  if (c->links == c->room_for_links)
    c->link = reallocate(c->link, c->room_for_links = 2 * c->links + 8, sizeof *c->link,
                         "task data");
  while (c->uses + count > c->room_for_uses)
    c->use = reallocate(c->use, c->room_for_uses = 2 * c->room_for_uses + 64, sizeof *c->use,
                        "task data");
  c->link[c->links++] = (struct link){codelet->cuda_funcs[0], argument, c->uses, count};
  for (size_t i = 0; i < count; i++, c->uses++)
    c->use[c->uses] = (struct use){data[i].handle, data[i].mode, c->uses};
  if (count > c->most) c->most = count;
}

size_t chain_length(const struct task_chain *c) { return c->links; }

/** By handles, then in the order of tasks. */
static int compare_uses(const void *a, const void *b) {
  const struct use *x = a, *y = b;
  const uintptr_t one = (uintptr_t)x->handle, other = (uintptr_t)y->handle;
  if (one != other) return (one > other) - (one < other);
  return (x->order > y->order) - (x->order < y->order);
}

/** What a chain does to data of which a task does `next` after `mode`. */
static enum starpu_data_access_mode both(enum starpu_data_access_mode mode,
                                         enum starpu_data_access_mode next) {
  if (mode == STARPU_R && (next & STARPU_W)) return STARPU_RW;
  return mode; /* what is written first needs no old data */
}

struct starpu_data_descr *chain_data(struct task_chain *c, size_t *count) {
  struct starpu_data_descr *data = allocate(c->uses, sizeof *data, "task data");
  size_t *first = allocate(c->uses, sizeof *first, "task data"); /* [use] of its handle */
  c->slot = allocate(c->uses, sizeof *c->slot, "task data");
  if (c->uses > 1) qsort(c->use, c->uses, sizeof *c->use, compare_uses);
  for (size_t i = 0; i < c->uses; i++) {
    const struct use *use = &c->use[i];
    const bool new = i == 0 || use->handle != use[-1].handle;
    first[use->order] = new ? use->order : first[use[-1].order];
    struct starpu_data_descr *slot = &data[first[use->order]];
    *slot = (struct starpu_data_descr){use->handle, new ? use->mode : both(slot->mode, use->mode)};
  }
  *count = 0;
  for (size_t i = 0; i < c->uses;
       i++) { /* the slots of handles follow each other by their first uses */
    c->slot[i] = first[i] == i ? *count : c->slot[first[i]];
    if (first[i] == i) data[(*count)++] = data[i];
  }
  free(first);
  free(c->use);
  c->use = NULL;
  return data;
}

void chain_run(const struct task_chain *c, void *buffers[]) {
  void **of_task = allocate(c->most, sizeof *of_task, "task data");
  for (size_t i = 0; i < c->links; i++) {
    const struct link *link = &c->link[i];
    for (size_t k = 0; k < link->count; k++) of_task[k] = buffers[c->slot[link->first + k]];
    link->function(of_task, link->argument);
  }
  free(of_task);
}

void chain_free(void *chain) {
  struct task_chain *c = chain;
  if (!c) return;
  for (size_t i = 0; i < c->links; i++) free(c->link[i].argument);
  free(c->link);
  free(c->use);
  free(c->slot);
  free(c);
}
