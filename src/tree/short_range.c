/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The short-range force of a domain: set-up, and the memory and handles of expansions and lists. */
#include "photons/tree/short_range.h"

#include <math.h>
#include <stdlib.h>

#include "cuda/tree/gpu_tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/pinned.h"

static void create_gpu_tables(void *context) {
  struct short_range *s = context;
  s->gpu[worker_number()] = GPU_CALL(gpu_split_create(&s->split));
}

static void free_gpu_tables(void *context) {
  const struct short_range *s = context;
  (void)s;
  GPU_CALL(gpu_split_free(s->gpu[worker_number()]));
}

/** Expansions of order p have powers of lengths from -p-1 to p-1, which leave the range of floats where
 * lengths are far from 1. In isolated systems they are between r_cut and the softening or the least
 * difference of positions: the unit is near the geometric mean. As it is a power of 2, it changes no
 * other bits. */
static float expansion_unit(const struct short_range *s, double softening) {
  if (s->split.kind != SPLIT_NEWTON) return 1.0f;
  const double least = fmax(softening / s->split.r_cut, SOFTENING_LEAST);
  return least < 1.0 ? exp2f((float)floor(-0.5 * log2(least))) : 1.0f;
}

/** The split of the force, and what depends on r_cut. */
static void set_split(struct short_range *s, const struct parameters *p) {
  const double r_cut = s->domain->geometry.r_cut;
  if (p->box.boundary == BOUNDARY_ISOLATED)
    split_init_newton(&s->split, r_cut);
  else
    split_init(&s->split, p->gravity.split, p->gravity.r_split / p->gravity.r_cut * r_cut, r_cut,
               (int)p->gravity.p2p_degree);
  short_range_set_softening(s, p, HUGE_VAL);
  s->factor = (float)(GRAVITY * s->domain->particles.mass / (s->split.r_cut * s->split.r_cut));
}

/** The largest relative mass. Collective. */
static float heaviest_of(struct domain *d) {
  if (!particles_have(&d->particles, COLUMN_relative_mass)) return 1.0f;
  double most = 0.0;
  FOR_GROUPS(d, g) {
    const struct particle_block b = particles_block(&d->particles, group_place(d, g));
    handle_acquire(g->column[COLUMN_relative_mass], STARPU_R);
    for (size_t i = 0; i < b.count; i++) most = fmax(most, (double)b.relative_mass[i]);
    starpu_data_release(g->column[COLUMN_relative_mass]);
  }
  comm_max_double(&most, 1);
  return (float)most;
}

void short_range_start(struct short_range *s, struct domain *d, const struct parameters *p) {
  *s = (struct short_range){.domain = d, .kernels = tree_kernels_select()};
  if (p->time.step == STEP_BLOCK && p->time.criterion == CRITERION_PAIRS)
    s->eta_pair = (float)p->time.eta_pair;
  set_split(s, p);
  s->order = s->acceptance.order;
  d->sources_later = upper_used(s);
  s->heaviest = heaviest_of(d);
  s->scratch = allocate(engine_workers(), sizeof *s->scratch, "worker scratch");
  s->gpu = allocate(engine_workers(), sizeof(struct gpu_split *), "tables of the split");
  if (engine_gpu()) engine_on_gpu_workers(create_gpu_tables, s);
  engine_set_variant((uint32_t)s->acceptance.order + 8 * (uint32_t)s->law.kind +
                     32 * (uint32_t)s->split.p2p_degree + 512 * (uint32_t)isa_select());
  short_range_register(s);
}

void short_range_rescale(struct short_range *s, const struct parameters *p) {
  if (engine_gpu()) engine_on_gpu_workers(free_gpu_tables, s);
  set_split(s, p);
  if (engine_gpu()) engine_on_gpu_workers(create_gpu_tables, s);
}

void short_range_set_softening(struct short_range *s, const struct parameters *p, double most) {
  const bool differ = particles_have(&s->domain->particles, COLUMN_type) && softening_differs(p);
  double of_type[PARTICLE_TYPES], largest = 0.0;
  for (unsigned k = 0; k < PARTICLE_TYPES; k++) { /* kpc/h to Mpc/h */
    of_type[k] = 1e-3 * fmin(softening_of_type(p, k), most);
    largest = fmax(largest, of_type[k]);
  }
  const double softening = differ ? largest : of_type[PARTICLE_HALO];
  p2p_law_init(&s->law, p->gravity.p2p_kernel, p->gravity.softening_kernel, softening,
               (int)p->gravity.table_order, &s->split);
  if (differ) p2p_law_soften(&s->law, of_type);
  const bool plummer = p->gravity.softening_kernel == SOFTENING_PLUMMER,
             isolated = s->split.kind == SPLIT_NEWTON;
  const bool softened = isolated && !differ; /* expansions are softened */
  s->split.unit = expansion_unit(s, softening);
  s->split.plummer2 = softened ? s->law.plummer2 * s->split.unit * s->split.unit : 0.0f;
  /* The spline is Newton's law from 2.8 softening lengths on. Plummer's law agrees within 1e-3 from
   * sqrt(1.5e3) softening lengths on; expansions of isolated systems are of Plummer's law itself,
   * if there is one softening length. */
  const double newtonian = !plummer ? 2.8 * softening : softened ? 0.0 : 39.0 * softening;
  const double tolerance = p->gravity.mac == MAC_GOTHIC ? p->gravity.delta_acc
                                                        : p->gravity.mac_tolerance;
  acceptance_init(&s->acceptance, p->gravity.mac, p->gravity.theta, tolerance,
                  (int)p->gravity.order, newtonian, s->domain->geometry.box, s->domain->depth,
                  &s->split);
  acceptance_bound_sums(&s->acceptance);
  s->theta = s->acceptance.theta;
  s->theta_first = s->acceptance.theta_first;
  s->expansions = true;
}

void short_range_expansions(struct short_range *s, bool use) {
  s->expansions = use;
  s->acceptance.theta = use ? s->theta : 0.0f;
  s->acceptance.theta_first = use ? s->theta_first : 0.0f;
}

void short_range_set_order(struct short_range *s, int order) {
  if (order == s->order) return;
  short_range_unregister(s);
  s->order = order;
  short_range_register(s);
}

/** Give up the groups of this rank but those from `first` to `end`. */
static void leave_groups(struct short_range *s, uint32_t first, uint32_t end) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->first + i < first || s->first + i >= end) lists_free(&s->groups[i].lists);
  unpin_memory(s->groups, s->count * sizeof *s->groups);
  free(s->groups);
  s->groups = NULL;
  s->count = 0;
}

/** Take the groups that this rank owns now; what is known of those that it has owned before stays. */
static void take_groups(struct short_range *s) {
  const uint32_t first = group_first(s->domain, comm_rank()),
                 end = group_first(s->domain, comm_rank() + 1);
  struct group_expansions *groups = allocate(end - first, sizeof *groups, "groups");
  for (uint32_t i = first; i < end; i++) {
    for (int k = 0; k < LISTS; k++) groups[i - first].lists.host[k].pool = engine_pool();
    if (i >= s->first && i < s->first + s->count) groups[i - first] = s->groups[i - s->first];
  }
  leave_groups(s, first, end);
  pin_memory(groups, (end - first) * sizeof *groups); /* GPU tasks write results into it */
  s->groups = groups;
  s->first = first;
  s->count = end - first;
}

void short_range_free(struct short_range *s) {
  if (engine_gpu()) engine_on_gpu_workers(free_gpu_tables, s);
  short_range_unregister(s);
  leave_groups(s, 0, 0);
  for (uint32_t w = 0; w < engine_workers(); w++) {
    p2p_scratch_free(&s->scratch[w].p2p);
    walk_scratch_free(&s->scratch[w].walk);
  }
  free(s->scratch);
  free(s->gpu);
}

static size_t multipole_floats(const struct short_range *s) {
  return (size_t)tree_nodes(s->domain->depth) * fmm_multipole_size(s->order);
}
static size_t local_floats(const struct short_range *s) {
  return (size_t)tree_nodes(s->domain->depth) * fmm_local_size(s->order);
}

static int compare_ghosts(const void *a, const void *b) {
  const struct ghost_multipole *x = a, *y = b;
  return (x->group > y->group) - (x->group < y->group);
}

static struct ghost_multipole *find_ghost(const struct ghost_multipoles *g, uint32_t group) {
  const struct ghost_multipole key = {.group = group};
  return g->count > 0 ? bsearch(&key, g->ghost, g->count, sizeof key, compare_ghosts) : NULL;
}

starpu_data_handle_t multipole_of(struct short_range *s, const struct group *g) {
  if (upper_node_of(g)) return upper_node_of(g)->multipole;
  if (g->owner == comm_rank()) return expansions_of(s, g)->multipole;
  const struct ghost_multipole *ghost = find_ghost(&s->ghosts, g->index);
  return ghost ? ghost->multipole : NULL;
}

static void drop_ghosts(struct short_range *s) {
  for (uint32_t i = 0; i < s->ghosts.count; i++) handle_drop(&s->ghosts.ghost[i].multipole);
  free(s->ghosts.ghost);
  s->ghosts = (struct ghost_multipoles){0};
}

void short_range_register(struct short_range *s) {
  take_groups(s);
  const size_t own = s->domain->particles.blocks, m = multipole_floats(s), l = local_floats(s);
  s->multipole = allocate(own * m, sizeof(float), "multipoles");
  s->local = allocate(own * l, sizeof(float), "local expansions");
  pin_memory(s->multipole, own * m * sizeof(float));
  pin_memory(s->local, own * l * sizeof(float));
  size_t i = 0;
  FOR_GROUPS(s->domain, g) {
    struct group_expansions *e = expansions_of(s, g);
    e->multipole = handle_register(s->multipole + i * m, m, sizeof(float));
    if (s->split.kind == SPLIT_NEWTON) owner_share(e->multipole, (uint32_t)i, s->count);
    e->local = handle_register(s->local + i * l, l, sizeof(float));
    owner_set(e->local, (uint32_t)i, s->count);
    lists_register(&e->lists, s->domain->depth);
    i++;
  }
}

void short_range_unregister(struct short_range *s) {
  drop_ghosts(s);
  upper_free(s);
  for (uint32_t i = 0; i < s->count; i++) {
    handle_drop(&s->groups[i].multipole);
    handle_drop(&s->groups[i].local);
    lists_unregister(&s->groups[i].lists);
  }
  const size_t own = s->count;
  unpin_memory(s->multipole, own * multipole_floats(s) * sizeof(float));
  unpin_memory(s->local, own * local_floats(s) * sizeof(float));
  free(s->multipole);
  free(s->local);
}

void short_range_follow_ghosts(struct short_range *s) {
  const struct ghosts *received = &s->domain->received;
  struct ghost_multipoles now = {.count = received->count};
  now.ghost = allocate(now.count, sizeof *now.ghost, "multipoles of ghosts");
  for (uint32_t i = 0; i < now.count; i++) {
    struct ghost_multipole *before = find_ghost(&s->ghosts, received->ghost[i].group);
    now.ghost[i].group = received->ghost[i].group;
    const size_t floats = (size_t)part_room(&received->ghost[i].part, s->domain->depth) *
                          fmm_multipole_size(s->order);
    if (before && starpu_vector_get_nx(before->multipole) == floats) {
      now.ghost[i].multipole = before->multipole;
      before->multipole = NULL;
    } else {
      now.ghost[i].multipole = handle_make(floats, sizeof(float));
    }
  }
  drop_ghosts(s);
  qsort(now.ghost, now.count, sizeof *now.ghost, compare_ghosts); /* they were by rank */
  s->ghosts = now;
}

struct work_counts short_range_work(const struct short_range *s) {
  uint64_t sums[3] = {0};
  FOR_GROUPS(s->domain, g) {
    const struct group_expansions *e = &s->groups[g->index - s->first];
    if (g->targets == 0) continue;
    sums[0] += e->pairs;
    sums[1] += e->lists.walked.interactions;
    sums[2] += e->lists.walked.visits;
  }
  comm_sum_u64(sums, 3);
  return (struct work_counts){.pairs = sums[0], .interactions = sums[1], .visits = sums[2]};
}
