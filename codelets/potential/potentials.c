/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codelets/potential/potentials.h"

#include "photons/amr/matter.h"

/** What the home of a task's batch has of a potential or of shares: one home finds all of them, or each home has those
 * that messages bring. */
static const struct gas_batch *solved_seen(const struct slots *s, int level, uint32_t batch) {
  return s->gas->tasks.together ? gas_batch(s->gas, level, batch) : slots_seen(s, level, batch);
}

starpu_data_handle_t potential_handle(const struct gas *g, int level, uint32_t batch,
                                      enum gas_potential which) {
  const struct gas_level *l = &g->level[level];
  return gas_batch(g, level, batch)->potential[l->potential[which]];
}

void potential_slot(struct slots *s, int level, uint32_t batch, enum gas_potential which,
                    enum starpu_data_access_mode mode) {
  slots_add(s, solved_seen(s, level, batch)->potential[s->gas->level[level].potential[which]],
            mode);
}

void shares_slot(struct slots *s, int level, uint32_t batch) {
  slots_add(s, solved_seen(s, level, batch)->shares, STARPU_R);
}

void matter_slot(struct slots *s, const struct gas *g, int level, uint32_t batch) {
  if (g->particles) slots_add(s, gas_batch(g, level, batch)->matter, STARPU_R);
}

double add_matter(const struct gas *g, void *buffers[], uint32_t i, double factor, double *source) {
  return g->particles ? matter_add(VECTOR(const struct gas_matter, buffers[0]) + i, factor, source)
                      : 0.0;
}

static void add_list(struct slots *s, const struct gas *g, int level, const struct batch_list *list,
                     enum gas_potential which) {
  slots_require(s, !g->level[level].stale_potential[g->level[level].potential[which]],
                "ghosts of potentials", level);
  for (uint32_t i = 0; i < list->count; i++)
    potential_slot(s, level, list->batch[i], which, STARPU_R);
}

/** Numbers of batches of the lists. */
struct numbers {
  size_t near, begin, end;
};

static struct numbers numbers_of(const struct surroundings *a) {
  const struct gas_batch *b = gas_batch(a->gas, a->level, a->batch);
  return (struct numbers){
      .near = a->near ? b->near.count : 0,
      .begin = a->coarse && (a->weight < 1.0 || a->change != 0.0) ? b->coarse.count : 0,
      .end = a->coarse && a->weight > 0.0 ? b->coarse.count : 0};
}

void surroundings_slots(struct slots *s, const struct surroundings *a) {
  const struct gas_batch *b = gas_batch(a->gas, a->level, a->batch);
  const struct numbers n = numbers_of(a);
  if (n.near > 0) add_list(s, a->gas, a->level, &b->near, a->which);
  if (n.begin > 0) add_list(s, a->gas, a->level - 1, &b->coarse, a->before);
  if (n.end > 0) add_list(s, a->gas, a->level - 1, &b->coarse, POTENTIAL_END);
}

size_t surroundings_count(const struct surroundings *a) {
  const struct numbers n = numbers_of(a);
  return n.near + n.begin + n.end;
}

struct gpu_potentials gpu_potentials_of(const struct surroundings *a, void *buffers[], size_t first,
                                        size_t links, const char ***addresses) {
  const struct numbers n = numbers_of(a);
  *addresses = slots_addresses(buffers, first, surroundings_count(a));
  return (struct gpu_potentials){.cells = *addresses,
                                 .near = (uint32_t)n.near,
                                 .begin = (uint32_t)n.begin,
                                 .end = (uint32_t)n.end,
                                 .weight = a->weight,
                                 .change = a->change,
                                 .links = VECTOR(const struct gas_links, buffers[links])};
}

struct gpu_density gpu_density_of(const struct gas *g, void *cells, void *mass, void *matter,
                                  double factor) {
  return (struct gpu_density){.cells = VECTOR(void, cells),
                              .mass = mass ? VECTOR(double, mass) : NULL,
                              .factor = factor,
                              .mean = gravity_background(g),
                              .matter = g->particles ? VECTOR(const struct gas_matter, matter)
                                                     : NULL};
}

void density_slots(struct slots *s, const struct gas *g, int level, uint32_t batch) {
  const struct gas_level *l = &g->level[level];
  if (reads_densities(g)) {
    slots_add(s, l->density[gas_home_of_batch(g, level, batch)], STARPU_R);
    return;
  }
  slots_add(s, gas_batch(g, level, batch)->handle[l->now], STARPU_R);
  matter_slot(s, g, level, batch);
}

struct gpu_density gpu_density_in(const struct batch_argument *a, void *buffers[], void *mass,
                                  double factor) {
  const struct gas *g = a->gas;
  if (!reads_densities(g))
    return gpu_density_of(g, buffers[0], mass, g->particles ? buffers[1] : NULL, factor);
  const uint32_t home = gas_home_of_batch(g, a->level, a->batch);
  return (struct gpu_density){
      .mass = mass ? VECTOR(double, mass) : NULL,
      .factor = factor,
      .mean = gravity_background(g),
      .density = nth_potential(buffers[0], batch_of(a)->first - gas_home_group(g, a->level, home))};
}

struct potential_sources surroundings_of(const struct surroundings *a, void *buffers[],
                                         size_t first, const char ***addresses) {
  const struct gas_batch *b = gas_batch(a->gas, a->level, a->batch);
  const struct numbers n = numbers_of(a);
  const bool coarse = n.begin + n.end > 0;
  const char **at = *addresses = slots_addresses(buffers, first, surroundings_count(a));
  return (struct potential_sources){
      .gas = a->gas,
      .level = a->level,
      .near = {n.near > 0 ? &b->near : NULL, at},
      .begin = {coarse ? &b->coarse : NULL, at + n.near},
      .end = {coarse ? &b->coarse : NULL, at + n.near + n.begin},
      .weight = a->weight,
      .change = a->change,
  };
}

struct surroundings surroundings_of_solution(const struct batch_argument *a,
                                             struct potential_task how) {
  return (struct surroundings){.gas = a->gas,
                               .level = a->level,
                               .batch = a->batch,
                               .near = how.mode != POTENTIAL_INTERPOLATE,
                               .coarse = true,
                               .weight = how.weight,
                               .which = how.mode == POTENTIAL_REPEAT   ? POTENTIAL_OLD
                                        : how.mode == POTENTIAL_FOLLOW ? POTENTIAL_BEGIN
                                                                       : POTENTIAL_END,
                               .change = how.change,
                               .before = how.mode == POTENTIAL_CORRECT ? POTENTIAL_OLD
                                                                       : POTENTIAL_BEGIN};
}

bool is_solved(const struct batch_argument *a, struct potential_task how, uint32_t group) {
  return topology_is_odd(topology_key(&a->gas->topology, a->level, group)) == how.odd;
}

void solve_directly(const struct potential_sources *sources, uint32_t group, const double *source,
                    double *cube) {
  const struct self_gravity *s = sources->gas->gravity;
  double block[POISSON_CELLS];
  (sources->change != 0.0 ? potential_ghosts_corrected : potential_ghosts)(sources, group, block);
  s->poisson->solve_directly(&s->waves, source, block, cube);
}

void exceed(const double *old, double excess, double *cube) {
  for (int i = 0; i < GAS_GROUP_CELLS; i++) cube[i] += excess * (cube[i] - old[i]);
}
