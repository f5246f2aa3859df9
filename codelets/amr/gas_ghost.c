/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_cut packs what another home (gas.h) needs of groups, to be sent. There, gas_paste copies it to its
 * place. All other cells of ghosts stay undefined. gravity_cut and gravity_paste do the same for
 * self-gravity.
 * gas_cut       reads cells or fluxes through sides; writes the packed ones
 * gas_paste     reads the packed ones; writes the same of batches of other homes, or updates cells of
 *               own ones
 * gravity_cut   reads a potential, shares or densities of particles; writes the packed ones
 * gravity_paste reads the packed ones; writes the same of batches of other homes, or updates
 *               densities of own ones */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/amr/batches.h"
#include "photons/amr/codelets.h"
#include "photons/amr/matter.h"
#include "photons/base/error.h"
#include "photons/runtime/message.h"

struct gas_cut_argument {
  const struct gas *gas;
  int level;
  enum ghost_kind kind;
  const struct ghost_message *message;
  int potential; /* number of it, of GHOST_POTENTIALS */
};
/* The same argument. */
#define gas_paste_argument gas_cut_argument
#define gravity_cut_argument gas_cut_argument
#define gravity_paste_argument gas_cut_argument
enum {
  PACKED,
  BATCHES
}; /* after the batches the places of the message's groups, where this rank uses a GPU */

static double gas_cut_work(const struct gas_cut_argument *a) { return a->message->parts; }
#define gas_paste_work gas_cut_work
#define gravity_cut_work gas_cut_work
#define gravity_paste_work gas_cut_work

static void copy(void *inside, void *packed, size_t bytes, bool cut) {
  memcpy(cut ? packed : inside, cut ? inside : packed, bytes);
}

/** One cube of 4^3 cells of a variable. */
static void copy_cube(char *variable, char *packed, int part, size_t real, bool cut) {
  const int x = part & 3, y = part >> 2 & 3, z = part >> 4;
  const int patch = x / 2 + 2 * (y / 2) + 4 * (z / 2);
  const int first = patch * GAS_PATCH_CELLS +
                    4 * (((z & 1) * GAS_PATCH_SIDE + (y & 1)) * GAS_PATCH_SIDE + (x & 1));
  for (int k = 0; k < 4; k++)
    for (int j = 0; j < 4; j++, packed += 4 * real)
      copy(variable + (size_t)(first + (k * GAS_PATCH_SIDE + j) * GAS_PATCH_SIDE) * real, packed,
           4 * real, cut);
}

/** Cubes of the cells of a group. */
static void copy_cubes(const struct gas *g, const struct ghost_item *item, char *group,
                       char *packed, bool cut) {
  const size_t real = g->scheme.kernels->real_size;
  for (uint64_t left = item->parts; left; left &= left - 1)
    for (unsigned v = 0; v < g->scheme.variables; v++, packed += GAS_FACE_CELLS * real)
      copy_cube(group + v * GAS_GROUP_CELLS * real, packed, __builtin_ctzll(left), real, cut);
}

/** Cubes of 4^3 cells of the potential of a group or of densities, [16][16][16]. */
static void copy_potential(const struct ghost_item *item, char *potential, char *packed, bool cut) {
  enum { ROW = 4 * sizeof(double) };
  for (uint64_t left = item->parts; left; left &= left - 1) {
    const int part = __builtin_ctzll(left), x = part & 3, y = part >> 2 & 3, z = part >> 4;
    for (int row = 0; row < 16; row++, packed += ROW)
      copy(potential + ROW * (size_t)(((4 * z + row / 4) * 16 + 4 * y + row % 4) * 4 + x), packed,
           ROW, cut);
  }
}

/** Sides or shares of a group. */
static void copy_parts(const struct ghost_item *item, size_t bytes, char *sides, char *packed,
                       bool cut) {
  for (uint64_t left = item->parts; left; left &= left - 1, packed += bytes)
    copy(sides + (size_t)__builtin_ctzll(left) * bytes, packed, bytes, cut);
}

/** Means of group i of the message. @param group  the finer one; where its means go: its father */
static void copy_means(const struct gas_cut_argument *a, uint32_t i, char *group, char *packed,
                       bool cut) {
  const struct gas *g = a->gas;
  const size_t bytes = GAS_PATCH_CELLS * g->scheme.kernels->real_size;
  const int patch = topology_patch(&g->topology, a->level, a->message->item[i].group);
  packed += i / GAS_PATCHES * gas_group_bytes(g);
  if (cut) {
    g->scheme.kernels->restrict_group(g->scheme.variables, group, packed, (int)(i % GAS_PATCHES));
    return;
  }
  for (unsigned v = 0; v < g->scheme.variables; v++)
    memcpy(group + (v * GAS_PATCHES + (size_t)patch) * bytes,
           packed + (v * GAS_PATCHES + i % GAS_PATCHES) * bytes, bytes);
}

/** Means of the densities of particles. @param matter  of the finer group; where they go: of its
 * father */
static void copy_matter_means(const struct gas_cut_argument *a, uint32_t i,
                              struct gas_matter *matter, double *packed, bool cut) {
  if (cut)
    matter_means(matter, packed);
  else
    matter_put_means(packed, topology_patch(&a->gas->topology, a->level, a->message->item[i].group),
                     matter);
}

/** The group whose cells a message's group i is made from, or goes to. */
static uint32_t group_of(const struct gas_cut_argument *a, uint32_t i, bool cut) {
  const uint32_t group = a->message->item[i].group;
  if (cut || !ghost_for_fathers(a->kind)) return group;
  return topology_ancestor(&a->gas->topology, a->level, group, a->level - 1);
}

/** Bytes that a group takes up in the data that a message is made from, or goes to. */
static size_t bytes_inside(const struct gas *g, enum ghost_kind kind) {
  return kind == GHOST_SIDES        ? gas_sides_bytes(g)
         : kind == GHOST_POTENTIALS ? GAS_GROUP_CELLS * sizeof(double)
         : kind == GHOST_SHARES     ? sizeof(struct poisson_share)
         : kind >= GHOST_MATTER     ? sizeof(struct gas_matter)
                                    : gas_group_bytes(g);
}

static void copy_all(void *buffers[], const struct gas_cut_argument *a, bool cut) {
  const struct gas *g = a->gas;
  const struct ghost_message *m = a->message;
  const size_t bytes = bytes_inside(g, a->kind), part = ghost_part_bytes(g, a->kind);
  for (uint32_t i = 0, k = 0; i < m->count; i++) {
    const struct ghost_item *item = &m->item[i];
    const uint32_t group = group_of(a, i, cut);
    while (m->batches.batch[k] != group / m->batches.groups) k++;
    char *inside = nth(buffers[BATCHES + k], bytes, group % m->batches.groups);
    char *packed = VECTOR(char, buffers[PACKED]), *own = packed + item->first * part;
    if (a->kind == GHOST_CELLS)
      copy_cubes(g, item, inside, own, cut);
    else if (a->kind == GHOST_POTENTIALS)
      copy_potential(item, inside, own, cut);
    else if (a->kind == GHOST_MATTER)
      copy_potential(item, inside + offsetof(struct gas_matter, coarse), own, cut);
    else if (a->kind == GHOST_MATTER_MEANS)
      copy_matter_means(a, i, (void *)inside, (void *)own, cut);
    else if (a->kind == GHOST_MEANS)
      copy_means(a, i, inside, packed, cut);
    else
      copy_parts(item, part, inside, own, cut);
  }
}

static void gas_cut_cpu(void *buffers[], const struct gas_cut_argument *a) {
  copy_all(buffers, a, true);
}
static void gas_paste_cpu(void *buffers[], const struct gas_paste_argument *a) {
  copy_all(buffers, a, false);
}

#define gravity_cut_cpu gas_cut_cpu
#define gravity_paste_cpu gas_paste_cpu

static void copy_on_gpu(struct gpu *gpu, void *buffers[], const struct gas_cut_argument *a,
                        bool cut) {
  const struct ghost_message *m = a->message;
  const size_t places = BATCHES + m->batches.count;
  const char **batch = slots_addresses(buffers, BATCHES, m->batches.count);
  const struct gpu_gas g = {gpu, a->gas->scheme.physics,
                            a->gas->scheme.kernels->real_size == sizeof(double), m->count};
  _Static_assert((int)GPU_GHOST_KINDS == (int)GHOST_KINDS, "the kinds are the same");
  const struct gpu_message message = {.kind = (enum gpu_ghost_kind)a->kind,
                                      .ghost = VECTOR(const struct gpu_ghost, buffers[places]) +
                                               m->first_place,
                                      .batch = batch,
                                      .batches = m->batches.count};
  if (cut)
    gpu_gas_cut(&g, &message, VECTOR(void, buffers[PACKED]));
  else
    gpu_gas_paste(&g, &message, VECTOR(const void, buffers[PACKED]));
  free(batch);
}

static void gas_cut_gpu(struct gpu *gpu, void *buffers[], const struct gas_cut_argument *a) {
  copy_on_gpu(gpu, buffers, a, true);
}
static void gas_paste_gpu(struct gpu *gpu, void *buffers[], const struct gas_paste_argument *a) {
  copy_on_gpu(gpu, buffers, a, false);
}

#define gravity_cut_gpu gas_cut_gpu
#define gravity_paste_gpu gas_paste_gpu

STAGE(gas_cut, 0x99bbcc, "gas");
STAGE(gas_paste, 0xbbddee, "gas");
STAGE(gravity_cut, 0x99bbaa, "gas");
STAGE(gravity_paste, 0xbbddcc, "gas");

/** The data of a batch that a message is made from, or goes to. */
static starpu_data_handle_t data_of(const struct gas_cut_argument *a, const struct gas_level *l,
                                    const struct gas_batch *b) {
  return a->kind == GHOST_SIDES        ? b->sides
         : a->kind == GHOST_POTENTIALS ? b->potential[a->potential]
         : a->kind == GHOST_SHARES     ? b->shares
         : a->kind >= GHOST_MATTER     ? b->matter
                                       : b->handle[l->now];
}

/** The slots of a message's batches. */
static void add_batches(struct slots *slots, const struct gas_cut_argument *a, bool cut) {
  const bool fathers = !cut && ghost_for_fathers(a->kind);
  const int level = fathers ? a->level - 1 : a->level;
  const uint32_t home = cut ? a->message->from : a->message->to;
  const enum starpu_data_access_mode mode = cut ? STARPU_R : fathers ? STARPU_RW : STARPU_W;
  for (uint32_t k = 0; k < a->message->batches.count; k++) {
    const uint32_t batch = a->message->batches.batch[k];
    const struct gas_batch *b = gas_seen(a->gas, level, home, batch);
    if (!b)
      fail(EXIT_RUN_FAILED,
           "a message of kind %d is of batch %u of level %d, of which home %u has nothing",
           (int)a->kind, batch, level, home);
    slots_add(slots, data_of(a, &a->gas->level[level], b), mode);
  }
}

static void submit(struct gas_cut_argument a, bool cut) {
  struct slots slots = {0};
  slots_add(&slots, a.message->packed, cut ? STARPU_W : STARPU_R);
  add_batches(&slots, &a, cut);
  if (a.message->places) slots_add(&slots, a.message->places, STARPU_R);
  const struct task task = slots_task(&slots, PRIORITY_HIGHEST);
  if (a.kind >= GHOST_POTENTIALS)
    cut ? gravity_cut_insert(a, task) : gravity_paste_insert(a, task);
  else
    cut ? gas_cut_insert(a, task) : gas_paste_insert(a, task);
  free(slots.data);
}

/** Let a message get to its rank. Within a rank StarPU brings it to the GPU of the home that reads it. */
static void transfer(struct gas *g, const struct ghost_message *m, int level,
                     enum ghost_kind kind) {
  const uint32_t homes = g->tasks.homes;
  const size_t pair = (size_t)(m->from % homes) * homes + m->to % homes,
               number = (size_t)m->number * homes * homes + pair;
  message_transfer(m->packed, MESSAGE_GAS + kind, number * GAS_LEVELS_MAX + (size_t)level,
                   (int)(m->from / homes), (int)(m->to / homes), PRIORITY_HIGHEST);
}

static void submit_all(struct gas *g, int level, enum ghost_kind kind, int potential) {
  const struct ghost_messages *sent = &g->level[level].ghosts.sent[kind],
                              *received = &g->level[level].ghosts.received[kind];
  for (uint32_t i = 0; i < sent->count; i++) {
    submit((struct gas_cut_argument){g, level, kind, &sent->message[i], potential}, true);
    transfer(g, &sent->message[i], level, kind);
    if (sent->message[i].within)
      g->counts.home_bytes += starpu_data_get_size(sent->message[i].packed);
  }
  for (uint32_t i = 0; i < received->count; i++) {
    transfer(g, &received->message[i], level, kind);
    submit((struct gas_cut_argument){g, level, kind, &received->message[i], potential}, false);
  }
}

void gas_ghosts_submit(struct gas *g, int level, enum ghost_kind kind) {
  submit_all(g, level, kind, 0);
}

void gas_potential_ghosts_submit(struct gas *g, int level, enum gas_potential which) {
  submit_all(g, level, GHOST_POTENTIALS, g->level[level].potential[which]);
}

void gas_send_cells(struct gas *g, int level) {
  if (g->level[level].stale) gas_ghosts_submit(g, level, GHOST_CELLS);
  g->level[level].stale = false;
}

void gas_send_cells_around(struct gas *g, int level) {
  gas_send_cells(g, level);
  if (level > 0) gas_send_cells(g, level - 1);
}
