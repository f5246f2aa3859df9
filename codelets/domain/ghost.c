/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ghost_cut packs data of groups that another rank needs, to be sent in one message. There, ghost_paste
 * copies them to their places in the groups. Of positions ghost_cut packs those in the branches that are
 * needed, and of trees, multipoles and masses of nodes the nodes that are in the part (struct tree_part); the
 * group's other positions and nodes stay undefined there. Where no branch is needed, the group has no data of
 * particles there; else masses and types are sent whole.
 * ghost_cut   reads the groups' data, writes the bundle
 * ghost_paste reads the bundle, writes the groups' data */
#include <stdlib.h>
#include <string.h>

#include "codelets/runtime/task.h"
#include "cuda/domain/gpu_domain.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/codelets.h"
#include "photons/domain/domain.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"

struct ghost_cut_argument {
  const struct domain *domain;
  const struct ghost *ghost; /* the first of the bundle */
  uint32_t ghosts;
  bool positions;
  uint32_t nodes, columns; /* data of a ghost, as in struct carried */
};
#define ghost_paste_argument ghost_cut_argument /* same argument */
/* Slots: the bundle; of each ghost its positions, data of nodes, and data of particles. In the bundle each
 * begins at a multiple of ALIGNMENT bytes. */
enum { BUNDLE, FIRST, ALIGNMENT = 16 };

static double ghost_cut_work(const struct ghost_cut_argument *a) {
  return (double)a->ghosts * (a->positions + a->nodes + a->columns);
}
#define ghost_paste_work ghost_cut_work

/**
 * Copy elements of an array to packed ones, or back.
 * @param gpu   NULL: the arrays are in host memory
 * @param size  bytes of an element
 * @param cut   to packed ones
 */
/* cppcheck-suppress constParameter ; a build with CUDA changes it */
static void copy_runs(struct gpu *gpu, const struct array_run *run, uint32_t runs, size_t size,
                      char *packed, char *array, bool cut) {
  if (gpu) {
    GPU_CALL(gpu_copy_runs(gpu, run, runs, size, packed, array, cut));
    return;
  }
  for (uint32_t k = 0; k < runs; k++) {
    char *at = array + run[k].first * size;
    const size_t bytes = run[k].count * size;
    memcpy(cut ? packed : at, cut ? at : packed, bytes);
    packed += bytes;
  }
}

/** Copy the positions of a ghost in its branches, x, y and z one after the other.
 * @param all  particles of the group */
static void copy_positions(struct gpu *gpu, const struct ghost *g, uint32_t all, char *bundle,
                           char *positions, bool cut) {
  uint32_t runs;
  struct array_run *run = part_particle_runs(&g->part, all, &runs);
  run = reallocate(run, 3 * (size_t)runs, sizeof *run, "runs of particles");
  for (uint32_t k = runs; k < 3 * runs; k++)
    run[k] = (struct array_run){run[k - runs].first + all, run[k - runs].count};
  copy_runs(gpu, run, 3 * runs, sizeof(uint32_t), bundle, positions, cut);
  free(run);
}

/* cppcheck-suppress constParameter ; a build with CUDA changes it */
static void copy_bytes(struct gpu *gpu, char *to, const char *from, size_t bytes) {
  if (gpu)
    GPU_CALL(gpu_copy(gpu, to, from, bytes));
  else
    memcpy(to, from, bytes);
}

static size_t aligned(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static size_t position_bytes(const struct ghost *g) {
  return aligned(3 * sizeof(uint32_t) * g->count);
}

/** Bytes of one node of a ghost.
 * @param bytes  of the data: where they are cut those of all nodes of the group, or of a node above groups, else what
 *               there is room for */
static size_t node_size(const struct domain *d, const struct ghost *g, size_t bytes, bool cut) {
  return bytes /
         (cut && g->group < d->group_count ? tree_nodes(d->depth) : part_room(&g->part, d->depth));
}

/** Bytes of the nodes of a ghost that are sent. */
static size_t node_bytes(const struct domain *d, const struct ghost *g, size_t bytes, bool cut) {
  return part_nodes(&g->part, d->depth) * node_size(d, g, bytes, cut);
}

/** Copy the nodes of a ghost that are sent. @param size  of one */
static void copy_nodes(struct gpu *gpu, const struct domain *d, const struct ghost *g, char *bundle,
                       char *nodes, size_t size, bool cut) {
  uint32_t runs;
  struct array_run *run = part_node_runs(&g->part, d->depth, &runs);
  copy_runs(gpu, run, runs, size, bundle, nodes, cut);
  free(run);
}

/** Data of a ghost, of nodes or of particles. */
static uint32_t data_of(const struct ghost *g, uint32_t nodes, uint32_t columns) {
  return nodes + (g->part.branches != 0 ? columns : 0);
}

static void copy_bundle(struct gpu *gpu, void *buffers[], const struct ghost_cut_argument *a,
                        bool cut) {
  char *at = VECTOR(char, buffers[BUNDLE]);
  void **slot = buffers + FIRST;
  for (const struct ghost *ghost = a->ghost; ghost < a->ghost + a->ghosts; ghost++) {
    if (a->positions && ghost->part.branches != 0) {
      copy_positions(gpu, ghost, group_known(a->domain, ghost->group)->count, at,
                     VECTOR(char, *slot), cut);
      slot++;
      at += position_bytes(ghost);
    }
    for (uint32_t k = 0; k < data_of(ghost, a->nodes, a->columns); k++, slot++) {
      const size_t all = STARPU_VECTOR_GET_NX(*slot) * STARPU_VECTOR_GET_ELEMSIZE(*slot);
      char *data = VECTOR(char, *slot);
      if (k < a->nodes)
        copy_nodes(gpu, a->domain, ghost, at, data, node_size(a->domain, ghost, all, cut), cut);
      else
        copy_bytes(gpu, cut ? at : data, cut ? data : at, all);
      at += aligned(k < a->nodes ? node_bytes(a->domain, ghost, all, cut) : all);
    }
  }
}

static void ghost_cut_cpu(void *buffers[], const struct ghost_cut_argument *a) {
  copy_bundle(NULL, buffers, a, true);
}
static void ghost_cut_gpu(struct gpu *gpu, void *buffers[], const struct ghost_cut_argument *a) {
  copy_bundle(gpu, buffers, a, true);
}
static void ghost_paste_cpu(void *buffers[], const struct ghost_paste_argument *a) {
  copy_bundle(NULL, buffers, a, false);
}
static void ghost_paste_gpu(struct gpu *gpu, void *buffers[],
                            const struct ghost_paste_argument *a) {
  copy_bundle(gpu, buffers, a, false);
}

STAGE(ghost_cut, 0x99bbbb, NULL);
STAGE(ghost_paste, 0xbbdddd, NULL);

/** Data of the groups of a bundle, in the order of slots, and the bytes of the bundle. */
struct slots {
  struct starpu_data_descr *data;
  size_t count, bytes;
};

/** Add the data of a ghost. */
static void add_slots(const struct domain *d, const struct ghost *ghost, const struct carried *c,
                      bool sent, struct slots *s) {
  const enum starpu_data_access_mode mode = sent ? STARPU_R : STARPU_W;
  const struct group *group = group_known(d, ghost->group);
  if (c->positions && ghost->part.branches != 0) {
    s->data[s->count++] = (struct starpu_data_descr){group->column[COLUMN_position], mode};
    s->bytes += position_bytes(ghost);
  }
  for (uint32_t k = 0; k < data_of(ghost, c->nodes, c->columns); k++) {
    const starpu_data_handle_t handle = c->data(c->context, group, k);
    const size_t all = starpu_data_get_size(handle);
    s->data[s->count++] = (struct starpu_data_descr){handle, mode};
    s->bytes += aligned(k < c->nodes ? node_bytes(d, ghost, all, sent) : all);
  }
}

/** @return free() its data */
static struct slots make_slots(const struct domain *d, const struct ghosts *list,
                               const struct bundle *b, const struct carried *c, bool sent) {
  struct slots s = {.count = FIRST};
  s.data = allocate(FIRST + (size_t)(b->end - b->first) * (1 + c->nodes + c->columns),
                    sizeof *s.data, "task data");
  for (uint32_t i = b->first; i < b->end; i++) add_slots(d, &list->ghost[i], c, sent, &s);
  return s;
}

/** Pack a bundle and send it, or receive and unpack it, unless its ghosts have none of such data. */
static void transfer(struct domain *d, const struct ghosts *list, struct bundle *b,
                     const struct carried *c, bool sent) {
  const int me = comm_rank(), other = list->ghost[b->first].rank;
  struct slots s = make_slots(d, list, b, c, sent);
  if (s.count == FIRST) {
    free(s.data);
    return;
  }
  starpu_data_handle_t *bundle = &b->data[c->kind];
  handle_fit(bundle, s.bytes / sizeof(float));
  s.data[BUNDLE] = (struct starpu_data_descr){*bundle, sent ? STARPU_W : STARPU_R};
  const struct ghost_cut_argument argument = {
      d, &list->ghost[b->first], b->end - b->first, c->positions, c->nodes, c->columns};
  const struct task task = {.data = s.data, .count = s.count, .priority = c->priority};
  if (sent) ghost_cut_insert(argument, task);
  message_transfer(*bundle, c->message, list->ghost[b->first].group, sent ? me : other,
                   sent ? other : me, c->priority);
  if (!sent) ghost_paste_insert(argument, task);
  free(s.data);
}

void ghosts_transfer(struct domain *d, const struct carried *c) {
  for (uint32_t i = 0; i < d->sent.bundles; i++) transfer(d, &d->sent, &d->sent.bundle[i], c, true);
  for (uint32_t i = 0; i < d->received.bundles; i++)
    transfer(d, &d->received, &d->received.bundle[i], c, false);
}

/** What is sent besides positions: the tree, and what this kind of run has. */
static starpu_data_handle_t particle_data(void *context, const struct group *g, uint32_t i) {
  const struct domain *d = context;
  const bool masses = particles_have(&d->particles, COLUMN_relative_mass);
  const starpu_data_handle_t data[] = {g->tree, masses ? g->node_mass : g->column[COLUMN_type],
                                       g->column[COLUMN_relative_mass], g->column[COLUMN_type]};
  return data[i];
}

void ghosts_submit(struct domain *d) {
  const uint32_t masses = particles_have(&d->particles, COLUMN_relative_mass),
                 types = particles_have(&d->particles, COLUMN_type);
  ghosts_transfer(d, &(struct carried){.kind = BUNDLE_PARTICLES,
                                       .message = MESSAGE_GHOST,
                                       .priority = PRIORITY_HIGHEST,
                                       .positions = true,
                                       .nodes = 1 + masses,
                                       .columns = masses + types,
                                       .data = particle_data,
                                       .context = d});
}

static starpu_data_handle_t momentum(void *context, const struct group *g, uint32_t i) {
  (void)context, (void)i;
  return g->column[COLUMN_momentum];
}

void ghosts_momenta_submit(struct domain *d) {
  ghosts_transfer(d, &(struct carried){.kind = BUNDLE_MOMENTA,
                                       .message = MESSAGE_MOMENTUM,
                                       .priority = PRIORITY_HIGHEST,
                                       .columns = 1,
                                       .data = momentum});
}
