/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_potentials: the potentials of a level finer than the root: those of even and odd groups in turn, in one task. All
 * batches of the level have one home, or one home finds the potentials of all of them (gas_tasks.together).
 *
 * reads   cells and densities of particles, or densities of both (gas_density); pseudo-mass; potentials of the next coarser
 *         level; those of the level that the first solution begins with; links and pivots on GPUs
 * changes potentials */
#include <stdlib.h>
#include <string.h>

#include "codelets/potential/potentials.h"
#include "photons/base/error.h"

struct gas_potentials_argument {
  struct batch_argument batch; /* the first of the level */
  struct potential_task first;
  int solutions;
  double factor; /* gravity_factor() */
};

static uint32_t batches_of(const struct gas_potentials_argument *a) {
  return a->batch.gas->level[a->batch.level].batch_count;
}

static double gas_potentials_work(const struct gas_potentials_argument *a) {
  return a->solutions * (double)a->batch.gas->level[a->batch.level].groups;
}

static int compare_numbers(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/** The batches of the coarser level around those of the level, rising. free() batch_list.batch. */
static struct batch_list coarse_of(const struct gas_potentials_argument *a) {
  const struct gas *g = a->batch.gas;
  const int level = a->batch.level;
  const uint32_t n = batches_of(a);
  size_t count = 0, different = 0;
  for (uint32_t i = 0; i < n; i++) count += gas_batch(g, level, i)->coarse.count;
  struct batch_list list = {.groups = gas_batch(g, level, 0)->coarse.groups};
  list.batch = allocate(count, sizeof *list.batch, "task data");
  count = 0;
  for (uint32_t i = 0; i < n; i++) {
    const struct batch_list *coarse = &gas_batch(g, level, i)->coarse;
    for (uint32_t k = 0; k < coarse->count; k++) list.batch[count++] = coarse->batch[k];
  }
  qsort(list.batch, count, sizeof *list.batch, compare_numbers);
  for (size_t i = 0; i < count; i++)
    if (i == 0 || list.batch[i] != list.batch[different - 1])
      list.batch[different++] = list.batch[i];
  list.count = (uint32_t)different;
  return list;
}

/** Where slots begin: one for each of the level's batches, or of the coarser ones; density_slots_count() for each of
 * `density`. */
struct places {
  size_t density, sheets, links, pivots, near, begin, end;
  bool begins; /**< the first solution reads other potentials of the level than those that are changed */
};

static struct places places_of(const struct gas_potentials_argument *a, uint32_t coarse) {
  const struct surroundings around = surroundings_of_solution(&a->batch, a->first);
  const size_t n = batches_of(a);
  const bool gpu = a->batch.gas->gravity->pivots != NULL;
  struct places p = {.density = n, .begins = around.near && around.which != POTENTIAL_END};
  p.sheets = p.density + n * density_slots_count(a->batch.gas);
  p.links = p.sheets + (a->first.massive ? n : 0);
  p.pivots = p.links + (gpu ? n : 0);
  p.near = p.pivots + gpu;
  p.begin = p.near + (p.begins ? n : 0);
  p.end = p.begin + (around.weight < 1.0 || around.change != 0.0 ? coarse : 0);
  return p;
}

/** A task of a level: what its functions compute with. */
struct level_task {
  const struct gas_potentials_argument *a;
  void **buffers;
  struct batch_list coarse, all; /**< of the coarser level; the level's own */
  struct places at;
};

static struct level_task level_task_of(const struct gas_potentials_argument *a, void *buffers[]) {
  const struct gas_level *l = &a->batch.gas->level[a->batch.level];
  struct level_task t = {.a = a, .buffers = buffers, .coarse = coarse_of(a)};
  t.at = places_of(a, t.coarse.count);
  t.all = (struct batch_list){.count = l->batch_count, .groups = l->batch_groups};
  t.all.batch = allocate(t.all.count, sizeof *t.all.batch, "task data");
  for (uint32_t i = 0; i < t.all.count; i++) t.all.batch[i] = i;
  return t;
}

static void free_task(struct level_task *t) {
  free(t->coarse.batch);
  free(t->all.batch);
}

/** Slots of the potentials of the level that a solution reads. */
static void **near_buffers(const struct level_task *t, int solution) {
  return t->buffers + (solution == 0 && t->at.begins ? t->at.near : 0);
}

/** The buffers of density_slots() of a batch. */
static void **density_buffers(const struct level_task *t, uint32_t batch) {
  return t->buffers + t->at.density + batch * density_slots_count(t->a->batch.gas);
}

/** Find the source of a group. */
static void find_source(const struct level_task *t, uint32_t batch, uint32_t i, double *source) {
  const struct gas *g = t->a->batch.gas;
  void **density = density_buffers(t, batch);
  g->gravity->kernels->source(
      nth(density[0], gas_group_bytes(g), i), t->a->factor, gravity_background(g),
      t->a->first.massive ? nth_potential(t->buffers[t->at.sheets + batch], i) : NULL, source);
  add_matter(g, density + 1, i, t->a->factor, source);
}

static void solve_group(const struct level_task *t, const struct potential_sources *sources,
                        uint32_t batch, uint32_t i, double excess) {
  const struct gas *g = t->a->batch.gas;
  double source[GAS_GROUP_CELLS], old[GAS_GROUP_CELLS], *cube = nth_potential(t->buffers[batch], i);
  find_source(t, batch, i, source);
  memcpy(old, cube, sizeof old);
  solve_directly(sources, gas_batch(g, t->a->batch.level, batch)->first + i, source, cube);
  if (excess != 0.0) exceed(old, excess, cube);
}

static void solve(const struct level_task *t, int solution) {
  const struct gas_potentials_argument *a = t->a;
  const struct potential_task how = potential_solution(a->first, solution, a->solutions);
  const char **near = slots_addresses(near_buffers(t, solution), 0, t->all.count),
             **coarse = slots_addresses(t->buffers, t->at.begin,
                                        t->at.end - t->at.begin + t->coarse.count);
  const struct potential_sources sources = {
      .gas = a->batch.gas,
      .level = a->batch.level,
      .near = {how.mode == POTENTIAL_INTERPOLATE ? NULL : &t->all, near},
      .begin = {&t->coarse, coarse},
      .end = {&t->coarse, coarse + (t->at.end - t->at.begin)},
      .weight = how.weight,
      .change = how.change};
  for (uint32_t k = 0; k < t->all.count; k++) {
    const struct gas_batch *b = gas_batch(a->batch.gas, a->batch.level, k);
    for (uint32_t i = 0; i < b->count; i++)
      if (is_solved(&a->batch, how, b->first + i)) solve_group(t, &sources, k, i, how.excess);
  }
  free(near);
  free(coarse);
}

static void gas_potentials_cpu(void *buffers[], const struct gas_potentials_argument *a) {
  struct level_task t = level_task_of(a, buffers);
  for (int k = 0; k < a->solutions; k++) solve(&t, k);
  free_task(&t);
}

/** The buffer of a batch of the coarser level, of those that begin at `first`. */
static const char *coarse_buffer(const struct level_task *t, size_t first, uint32_t batch) {
  const uint32_t *at = bsearch(&batch, t->coarse.batch, t->coarse.count, sizeof batch,
                               compare_numbers);
  return VECTOR(const char, t->buffers[first + (size_t)(at - t->coarse.batch)]);
}

/** What a solution reads of a batch's surroundings. @param cells  room for addresses; what follows is returned */
static const char **fill_surroundings(const struct level_task *t, uint32_t batch, int solution,
                                      const char **cells, struct gpu_potentials *p) {
  const struct gas_potentials_argument *a = t->a;
  const struct potential_task how = potential_solution(a->first, solution, a->solutions);
  const struct gas_batch *b = gas_batch(a->batch.gas, a->batch.level, batch);
  const bool begin = how.weight < 1.0 || how.change != 0.0, end = how.weight > 0.0;
  *p = (struct gpu_potentials){
      .cells = cells,
      .near = how.mode == POTENTIAL_INTERPOLATE ? 0 : b->near.count,
      .begin = begin ? b->coarse.count : 0,
      .end = end ? b->coarse.count : 0,
      .weight = how.weight,
      .change = how.change,
      .links = VECTOR(const struct gas_links, t->buffers[t->at.links + batch])};
  for (uint32_t i = 0; i < p->near; i++)
    *cells++ = VECTOR(const char, near_buffers(t, solution)[b->near.batch[i]]);
  for (uint32_t i = 0; i < p->begin; i++)
    *cells++ = coarse_buffer(t, t->at.begin, b->coarse.batch[i]);
  for (uint32_t i = 0; i < p->end; i++) *cells++ = coarse_buffer(t, t->at.end, b->coarse.batch[i]);
  return cells;
}

/** What a batch's sources are made from. */
static struct gpu_density density_of(const struct level_task *t, uint32_t batch) {
  return gpu_density_in(&(struct batch_argument){t->a->batch.gas, t->a->batch.level, batch},
                        density_buffers(t, batch),
                        t->a->first.massive ? t->buffers[t->at.sheets + batch] : NULL,
                        t->a->factor);
}

/** Solve halves, from solution `first` on, all of which read the same potentials of the surroundings. */
static void solve_on_gpu(struct gpu *gpu, const struct level_task *t, int first, int end) {
  const struct gas_potentials_argument *a = t->a;
  const struct gas *g = a->batch.gas;
  const uint32_t n = batches_of(a);
  const struct gpu_gas own = gpu_gas_of(gpu, &a->batch);
  if (first == end) return;
  struct gpu_solved *batch = allocate(n, sizeof *batch, "task data");
  struct gpu_half *half = allocate((size_t)(end - first), sizeof *half, "task data");
  size_t room = 0;
  for (uint32_t i = 0; i < n; i++) {
    const struct gas_batch *b = gas_batch(g, a->batch.level, i);
    room += b->near.count + 2 * (size_t)b->coarse.count;
  }
  const char **cells = allocate(room, sizeof *cells, "task data"), **next = cells;
  for (uint32_t i = 0; i < n; i++) {
    batch[i] = (struct gpu_solved){.density = density_of(t, i),
                                   .to = VECTOR(double, t->buffers[i]),
                                   .groups = gas_batch(g, a->batch.level, i)->count};
    next = fill_surroundings(t, i, first, next, &batch[i].from);
  }
  for (int k = first; k < end; k++) {
    const struct potential_task how = potential_solution(a->first, k, a->solutions);
    half[k - first] = (struct gpu_half){how.odd, GPU_OTHERS_STAY, how.excess};
  }
  gpu_gas_solve_directly(&own, &g->gravity->waves, VECTOR(const double, t->buffers[t->at.pivots]),
                         batch, n, half, (uint32_t)(end - first));
  free(cells);
  free(half);
  free(batch);
}

static void gas_potentials_gpu(struct gpu *gpu, void *buffers[],
                               const struct gas_potentials_argument *a) {
  struct level_task t = level_task_of(a, buffers);
  solve_on_gpu(gpu, &t, 0, 1);
  solve_on_gpu(gpu, &t, 1, a->solutions);
  free_task(&t);
}

STAGE(gas_potentials, 0x332299, "gas");

static void add_coarse(struct slots *s, const struct gas_potentials_argument *a,
                       const struct batch_list *list, enum gas_potential which) {
  const int level = a->batch.level - 1;
  const struct gas_level *l = &a->batch.gas->level[level];
  slots_require(s, !l->stale_potential[l->potential[which]], "ghosts of potentials", level);
  for (uint32_t i = 0; i < list->count; i++)
    potential_slot(s, level, list->batch[i], which, STARPU_R);
}

void gas_potentials_submit(struct gas *g, int level, struct potential_task first, int solutions) {
  const struct gas_potentials_argument a = {
      {g, level, 0}, first, solutions, gravity_factor(g, level)};
  const struct gas_level *l = &g->level[level];
  const struct surroundings around = surroundings_of_solution(&a.batch, first);
  const struct batch_list coarse = coarse_of(&a);
  const struct places at = places_of(&a, coarse.count);
  const bool changes = around.near && !at.begins;
  struct slots slots = slots_of("gas_potentials", g, level, 0);
  for (uint32_t i = 0; i < l->batch_count; i++)
    potential_slot(&slots, level, i, POTENTIAL_END, changes ? STARPU_RW : STARPU_W);
  for (uint32_t i = 0; i < l->batch_count; i++) density_slots(&slots, g, level, i);
  for (uint32_t i = 0; i < l->batch_count && first.massive; i++)
    slots_add(&slots, gas_batch(g, level, i)->sheets, STARPU_R);
  for (uint32_t i = 0; i < l->batch_count; i++) slots_add_links(&slots, gas_batch(g, level, i));
  slots_add(&slots, g->gravity->pivots, STARPU_R);
  for (uint32_t i = 0; i < l->batch_count && at.begins; i++)
    potential_slot(&slots, level, i, around.which, STARPU_R);
  if (at.end > at.begin) add_coarse(&slots, &a, &coarse, around.before);
  if (around.weight > 0.0) add_coarse(&slots, &a, &coarse, POTENTIAL_END);
  gas_potentials_insert(a, slots_task(&slots, PRIORITY_MIDDLE));
  free(slots.data);
  free(coarse.batch);
}
