/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ghost_cut packs the positions of a group that another rank needs, to be sent. There, ghost_paste
 * copies them to their places in the group; the group's other positions stay undefined.
 * ghost_cut   reads the group's positions, writes the packed positions
 * ghost_paste reads the packed positions, writes the group's positions */
#include <string.h>

#include "codelets/runtime/task.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"
#include "photons/runtime/message.h"

struct ghost_cut_argument {
  const struct domain *domain;
  const struct ghost *ghost;
};
#define ghost_paste_argument ghost_cut_argument /* same argument */
enum { TO, FROM };

static double ghost_cut_work(const struct ghost_cut_argument *a) { return a->ghost->count; }
#define ghost_paste_work ghost_cut_work

/** A copy of three rows of coordinates from one array to another. */
struct rows {
  uint32_t *to;
  const uint32_t *from;
  size_t to_stride, from_stride, width;
};

/* cppcheck-suppress constParameter ; a build with CUDA changes it */
static void copy_rows(struct gpu *gpu, const struct rows *r) {
  const size_t size = sizeof *r->to;
  if (gpu) {
    GPU_CALL(gpu_copy_rows(gpu, r->to, r->to_stride * size, r->from, r->from_stride * size,
                           r->width * size, 3));
    return;
  }
  for (size_t c = 0; c < 3; c++)
    memcpy(r->to + c * r->to_stride, r->from + c * r->from_stride, r->width * size);
}

/**
 * Copy the branches of a ghost; branches that follow each other are copied together.
 * @param gpu  NULL: the buffers are in host memory
 * @param cut  ghost_cut, otherwise ghost_paste
 */
static void copy_branches(struct gpu *gpu, void *buffers[], const struct ghost_cut_argument *a,
                          bool cut) {
  const struct ghost *g = a->ghost;
  const unsigned depth = a->domain->top_depth;
  const uint32_t all = group_known(a->domain, g->group)->count;
  uint32_t done = 0;
  for (uint32_t b = 0, end; b < 1u << depth; b = end) {
    const bool wanted = g->branches >> b & 1;
    for (end = b + 1; end < 1u << depth && (g->branches >> end & 1) == wanted;) end++;
    if (!wanted) continue;
    const uint32_t first = level_first(all, depth, b), n = level_first(all, depth, end) - first;
    const uint32_t to = cut ? done : first, from = cut ? first : done;
    const struct rows rows = {.to = VECTOR(uint32_t, buffers[TO]) + to,
                              .from = VECTOR(const uint32_t, buffers[FROM]) + from,
                              .to_stride = cut ? g->count : all,
                              .from_stride = cut ? all : g->count,
                              .width = n};
    copy_rows(gpu, &rows);
    done += n;
  }
}

static void ghost_cut_cpu(void *buffers[], const struct ghost_cut_argument *a) {
  copy_branches(NULL, buffers, a, true);
}
static void ghost_cut_gpu(struct gpu *gpu, void *buffers[], const struct ghost_cut_argument *a) {
  copy_branches(gpu, buffers, a, true);
}
static void ghost_paste_cpu(void *buffers[], const struct ghost_paste_argument *a) {
  copy_branches(NULL, buffers, a, false);
}
static void ghost_paste_gpu(struct gpu *gpu, void *buffers[],
                            const struct ghost_paste_argument *a) {
  copy_branches(gpu, buffers, a, false);
}

STAGE(ghost_cut, 0x99bbbb, NULL);
STAGE(ghost_paste, 0xbbdddd, NULL);

/** What a message of a kind carries. */
static starpu_data_handle_t carried(const struct ghost *ghost, const struct group *g,
                                    unsigned kind) {
  switch (kind) {
  case MESSAGE_POSITION: return ghost->packed;
  case MESSAGE_TREE: return g->tree;
  case MESSAGE_MASS: return g->column[COLUMN_relative_mass];
  case MESSAGE_NODE_MASS: return g->node_mass;
  case MESSAGE_MOMENTUM: return g->column[COLUMN_momentum];
  default: return g->column[COLUMN_type];
  }
}

/** Send or receive one kind of data of all ghosts. */
static void transfer(const struct domain *d, const struct ghosts *ghosts, unsigned kind) {
  const int me = comm_rank();
  for (uint32_t i = 0; i < ghosts->count; i++) {
    const struct ghost *ghost = &ghosts->ghost[i];
    const struct group *g = group_known(d, ghost->group);
    const bool sent = g->owner == me;
    message_transfer(carried(ghost, g, kind), kind, g->index, sent ? me : ghost->rank,
                     sent ? ghost->rank : me, PRIORITY_HIGHEST);
  }
}

/** Masses and types are sent whole, in place of the branches that are needed. */
static void transfer_all(const struct domain *d, const struct ghosts *ghosts) {
  transfer(d, ghosts, MESSAGE_POSITION);
  transfer(d, ghosts, MESSAGE_TREE);
  if (particles_have(&d->particles, COLUMN_relative_mass)) {
    transfer(d, ghosts, MESSAGE_MASS);
    transfer(d, ghosts, MESSAGE_NODE_MASS);
  }
  if (particles_have(&d->particles, COLUMN_type)) transfer(d, ghosts, MESSAGE_TYPE);
}

void ghosts_submit(struct domain *d) {
  for (uint32_t i = 0; i < d->sent.count; i++) {
    const struct ghost *g = &d->sent.ghost[i];
    const struct group *group = group_known(d, g->group);
    const struct starpu_data_descr data[] = {
        [TO] = {g->packed, STARPU_W}, [FROM] = {group->column[COLUMN_position], STARPU_R}};
    ghost_cut_insert((struct ghost_cut_argument){d, g},
                     (struct task){.data = data, .count = 2, .priority = PRIORITY_HIGHEST});
  }
  transfer_all(d, &d->sent);
  transfer_all(d, &d->received);
  for (uint32_t i = 0; i < d->received.count; i++) {
    const struct ghost *g = &d->received.ghost[i];
    const struct group *group = group_known(d, g->group);
    const struct starpu_data_descr data[] = {
        [TO] = {group->column[COLUMN_position], STARPU_W}, [FROM] = {g->packed, STARPU_R}};
    ghost_paste_insert((struct ghost_paste_argument){d, g},
                       (struct task){.data = data, .count = 2, .priority = PRIORITY_HIGHEST});
  }
}

void ghosts_momenta_submit(struct domain *d) {
  transfer(d, &d->sent, MESSAGE_MOMENTUM);
  transfer(d, &d->received, MESSAGE_MOMENTUM);
}
