/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups: their number and size, their memory and their StarPU handles. */
#include "photons/domain/domain.h"

#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/domain/codelets.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/pinned.h"
#include "photons/runtime/scheduler.h"
#include "rebuild.h"
#include "regroup.h"

enum {
  LEAF_DEFAULT = 64,
  LEAF_ISOLATED = 16,
  /* Pairs cost less on a GPU, walks more. But the fewer particles there are, the more pairs the bounds on sums of errors add where
   * leaves are large, and the larger is the tail of errors. */
  GPU_LEAF_ISOLATED = 32,
  GPU_MANY_ISOLATED = 1 << 18, /* particles from which on leaves have that size */
  GROUP_SMALLEST = 2048,
  GROUPS_WANTED = 32,
  GROUP_LARGE = 16384, /* fewer groups than GROUPS_MANY have no more particles */
  GROUP_LARGE_ISOLATED = 32768,
  GROUPS_MANY = 128,
  GROUP_LARGEST = 65536 /* with smaller ones 60 workers wait for the thread that submits tasks */
};
/* With GPUs there are fewer, larger tasks. In isolated systems all groups meet all groups in every
 * step, however few particles are active: there are as many groups as a GPU has streams. */
enum {
  GPU_GROUP_LARGEST = 4194304,
  GPU_GROUPS_WANTED = 16,
  GPU_GROUP_LARGEST_ISOLATED = 1 << 24,
  GPU_GROUPS_ISOLATED = 4
};

/* Ranks send the branches within r_cut. With a mesh cell for each particle r_cut is 3.5 cells, and a branch of so many
 * particles 6 cells wide. In isolated systems nothing is out of reach, and ranks look in each sub-step for nodes that walks
 * may open: there groups have fewer branches. */
enum { BRANCH_PARTICLES = 256, BRANCH_LEVEL_LEAST = 6, BRANCH_LEVEL_ISOLATED = 9 };

enum { SORTED_GROUPS_MOST = 4096 }; /* groups that tasks sort after a rebuild */
enum { LEVELS_MOST = 30 }; /* of bisection: numbers of groups and of tree nodes have 32 bits */

/** How often n must be halved until a part has at most `most`. */
static unsigned halvings(size_t n, size_t most) {
  unsigned level = 0;
  while (((n - 1) >> level) + 1 > most) level++;
  return level;
}

/** The most particles of a leaf. */
static uint32_t leaf_size_of(const struct parameters *p, size_t particles, bool gpu) {
  if (p->runtime.leaf_size) return (uint32_t)p->runtime.leaf_size;
  if (p->box.boundary != BOUNDARY_ISOLATED) return LEAF_DEFAULT;
  return gpu && particles >= GPU_MANY_ISOLATED ? GPU_LEAF_ISOLATED : LEAF_ISOLATED;
}

static size_t within(size_t n, size_t least, size_t most) {
  return n < least ? least : n > most ? most : n;
}

static size_t cpu_group_size(size_t particles, bool isolated) {
  const size_t few = within(particles / GROUPS_WANTED, GROUP_SMALLEST,
                            isolated ? GROUP_LARGE_ISOLATED : GROUP_LARGE),
               many = within(particles / GROUPS_MANY, GROUP_SMALLEST, GROUP_LARGEST);
  return few > many ? few : many;
}

static size_t gpu_group_size(size_t particles, bool isolated) {
  return isolated
             ? within(particles / GPU_GROUPS_ISOLATED, GROUP_SMALLEST, GPU_GROUP_LARGEST_ISOLATED)
             : within(particles / GPU_GROUPS_WANTED, GROUP_SMALLEST, GPU_GROUP_LARGEST);
}

struct domain_layout domain_layout_choose(const struct parameters *p, size_t particles) {
  const bool gpu = scheduler_any_gpu(), isolated = p->box.boundary == BOUNDARY_ISOLATED;
  struct domain_layout l = {.leaf_size = leaf_size_of(p, particles, gpu)};
  size_t group_size = (size_t)p->runtime.group_size;
  if (group_size == 0)
    group_size = gpu ? gpu_group_size(particles, isolated) : cpu_group_size(particles, isolated);
  if (group_size < l.leaf_size) group_size = l.leaf_size;
  const unsigned levels = halvings(particles, group_size);
  if (levels > LEVELS_MOST)
    fail(EXIT_BAD_USAGE, "%zu particles in groups of %zu make more than 2^%d groups", particles,
         group_size, LEVELS_MOST);
  l.group_count = 1u << levels;
  l.depth = halvings(((particles - 1) >> levels) + 1, l.leaf_size);
  return l;
}

unsigned domain_top_depth(const struct domain_layout *l, size_t particles, bool reach_all) {
  if (comm_size() == 1) return 0; /* no ghosts */
  const unsigned level = halvings((particles - 1) / l->group_count + 1, BRANCH_PARTICLES),
                 most = reach_all ? BRANCH_LEVEL_ISOLATED : l->depth,
                 wanted = level < BRANCH_LEVEL_LEAST ? BRANCH_LEVEL_LEAST
                          : level < most             ? level
                                                     : most;
  return l->depth < wanted ? l->depth : wanted;
}

struct domain domain_make(struct particles particles, const struct domain_layout *layout,
                          struct geometry geometry) {
  struct domain d = {.particles = particles,
                     .geometry = geometry,
                     .depth = layout->depth,
                     .group_count = layout->group_count};
  d.top_depth = domain_top_depth(layout, particles.all, geometry.r_cut >= geometry.box);
  return d;
}

void domain_sort_particles(struct particles *p, const struct domain_layout *layout) {
  struct domain d = domain_make(*p, layout, (struct geometry){0});
  orb_rebuild(&d, true);
  *p = d.particles;
}

/** Whether tasks make new groups of those that there are, and sort their particles: GPUs do so in a
 * hundredth of the time that a core takes. Cutting particles into very many groups level by level would
 * take more. */
static bool sorted_by_tasks(const struct domain *d) {
  return scheduler_any_gpu() && d->group_count <= SORTED_GROUPS_MOST;
}

struct centres {
  const struct domain *d;
  uint32_t (*centre)[3];
};

/** Find the centre of a group. Coordinates of the particles of a new group do not wrap. */
static void find_centre(void *context, uint32_t i) {
  const struct centres *s = context;
  const struct particle_block b = particles_block(&s->d->particles, i);
  for (size_t c = 0; c < 3; c++) {
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t k = 0; k < b.count; k++) {
      low = b.x[c][k] < low ? b.x[c][k] : low;
      high = b.x[c][k] > high ? b.x[c][k] : high;
    }
    s->centre[i][c] = low + (high - low) / 2;
  }
}

/** Submit the sorts of all groups. Frees `centre`, of the trees' roots, by which they are sorted. */
static void sort_groups(struct domain *d, uint32_t (*centre)[3]) {
  if (!centre) return;
  FOR_GROUPS(d, g) {
    handle_acquire(g->tree, STARPU_W);
    memcpy(g->nodes[1].centre, centre[group_place(d, g)], sizeof *centre);
    starpu_data_release(g->tree);
    sort_submit(d, g);
  }
  free(centre);
}

/** Memory for centres; NULL: cores sort the groups. */
static void *make_centres(const struct domain *d) {
  const size_t own = group_first(d, comm_rank() + 1) - group_first(d, comm_rank());
  return sorted_by_tasks(d) ? allocate(own, 3 * sizeof(uint32_t), "centres of groups") : NULL;
}

void domain_rebuild(struct domain *d) {
  uint32_t(*centre)[3] = make_centres(d);
  if (centre) {
    orb_regroup(d, centre);
  } else {
    domain_acquire(d);
    orb_rebuild(d, true);
    domain_release(d);
  }
  sort_groups(d, centre);
}

void domain_start(struct domain *d) {
  const bool rebuild = !d->particles.sorted || d->particles.all_blocks != d->group_count;
  struct centres s = {d, rebuild ? make_centres(d) : NULL};
  if (rebuild) orb_rebuild(d, !s.centre);
  if (s.centre) loop_run(&rebuild_stage, (uint32_t)d->particles.blocks, find_centre, &s);
  groups_take(d);
  domain_register(d);
  sort_groups(d, s.centre);
}

void domain_free(struct domain *d) {
  domain_unregister(d);
  groups_leave(d);
  free(d->owner_first);
  free(d->unit_cost);
  particles_free(&d->particles);
}

static void for_columns(const struct particles *p, void (*function)(void *, size_t)) {
  FOR_PARTICLE_COLUMNS(p, k)
  function(particles_column(p, k), p->count * particle_column_bytes(&particle_columns[k]));
}

/** Let a GPU own data of group number i of this rank.
 * @param source  whether its neighbours read them. In isolated systems, where r_cut = L, all are neighbours */
static void own_data(const struct domain *d, starpu_data_handle_t handle, size_t i, bool source) {
  const bool by_all = source && d->geometry.r_cut >= d->geometry.box;
  (by_all ? owner_share : owner_set)(handle, (uint32_t)i, (uint32_t)d->particles.blocks);
}

void domain_register(struct domain *d) {
  const uint32_t nodes = tree_nodes(d->depth), top_nodes = tree_nodes(d->top_depth);
  const size_t own = d->particles.blocks;
  d->nodes = allocate_large(own * nodes, sizeof *d->nodes, "tree nodes");
  d->top = allocate(own * top_nodes, sizeof *d->top, "tree nodes");
  pin_memory(d->nodes, own * nodes * sizeof *d->nodes);
  pin_memory(d->top, own * top_nodes * sizeof *d->top);
  for_columns(&d->particles, pin_memory);
  for (size_t i = 0; i < own; i++) {
    struct group *g = &d->groups[i];
    const size_t first = particles_block(&d->particles, i).first;
    g->nodes = d->nodes + i * nodes;
    g->top = d->top + i * top_nodes;
    g->tree = handle_register(g->nodes, nodes, sizeof(struct node));
    if (particles_have(&d->particles, COLUMN_relative_mass))
      g->node_mass = handle_make(nodes, sizeof(float));
    FOR_PARTICLE_COLUMNS(&d->particles, k) {
      const struct particle_column *c = &particle_columns[k];
      char *array = particles_column(&d->particles, k);
      g->column[k] = handle_register(array + first * particle_column_bytes(c),
                                     (size_t)g->count * c->components, c->size);
      own_data(d, g->column[k], i, k == COLUMN_position);
    }
    own_data(d, g->tree, i, true);
    own_data(d, g->node_mass, i, true);
  }
  d->registered = true;
}

void domain_unregister(struct domain *d) {
  FOR_GROUPS(d, g) {
    for (int k = 0; k < PARTICLE_COLUMN_COUNT; k++) handle_unregister(&g->column[k]);
    handle_drop(&g->tree);
    handle_drop(&g->node_mass);
  }
  domain_drop_ghosts(d);
  const size_t own = d->particles.blocks;
  unpin_memory(d->nodes, own * tree_nodes(d->depth) * sizeof *d->nodes);
  unpin_memory(d->top, own * tree_nodes(d->top_depth) * sizeof *d->top);
  for_columns(&d->particles, unpin_memory);
  free(d->nodes);
  free(d->top);
  d->registered = false;
}

/** Start copying data to the host. Without this, acquiring the handles one by one would cost a
 * round trip to the GPU each. */
static void prefetch(starpu_data_handle_t handle) {
  (void)starpu_data_prefetch_on_node(handle, STARPU_MAIN_RAM, 1);
}

static void acquire_to_change(starpu_data_handle_t handle) { handle_acquire(handle, STARPU_RW); }
static void acquire_to_read(starpu_data_handle_t handle) { handle_acquire(handle, STARPU_R); }

static void for_handles(struct domain *d, void (*function)(starpu_data_handle_t)) {
  FOR_GROUPS(d, g)
  FOR_PARTICLE_COLUMNS(&d->particles, k) function(g->column[k]);
}

void domain_acquire(struct domain *d) {
  starpu_task_wait_for_all();
  if (engine_gpu()) for_handles(d, prefetch);
  for_handles(d, acquire_to_change);
}

void domain_release(struct domain *d) { for_handles(d, starpu_data_release); }

static void for_positions(struct domain *d, void (*function)(starpu_data_handle_t)) {
  FOR_GROUPS(d, g) {
    function(g->column[COLUMN_position]);
    function(g->column[COLUMN_id]);
  }
}

void domain_acquire_positions(struct domain *d) {
  for_positions(d, prefetch);
  for_positions(d, acquire_to_read);
}

void domain_release_positions(struct domain *d) { for_positions(d, starpu_data_release); }
