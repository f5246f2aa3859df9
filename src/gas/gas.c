/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of the adaptive mesh: batches of groups, and their lists. */
#include "photons/gas/gas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/installed_memory.h"
#include "photons/config/parameters.h"
#include "photons/gas/comoving.h"
#include "photons/gas/gravity.h"
#include "photons/gas/particles.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/pinned.h"
#include "photons/runtime/scheduler.h"

/* Part of the energy below which the thermal energy of cosmic gas is mostly the scheme's error. */
#define COLD_FLOW 0.01
#define COLD_CHANGE 0.1 /* the same of gas_physics.dual_energy_change */

enum {
  BATCH_GROUPS = 4,          /* on cores: some milliseconds of work */
  GPU_BATCH_GROUPS = 256,    /* on GPUs: some 100 000 columns of cells at once */
  BLOCKS_FOR_EACH_WORKER = 2 /* one that is solved, one that is prepared */
};

size_t gas_group_bytes(const struct gas *g) {
  return g->variables * GAS_GROUP_CELLS * g->kernels->real_size;
}
size_t gas_block_bytes(const struct gas *g) {
  return g->variables * GAS_BLOCK_CELLS * g->kernels->real_size;
}
size_t gas_sides_bytes(const struct gas *g) {
  return g->variables * GAS_FACES * GAS_FACE_CELLS * g->kernels->real_size;
}
size_t gas_fluxes_bytes(const struct gas *g) { return GAS_PATCHES * gas_sides_bytes(g); }

double gas_bytes_per_group(const struct parameters *p) {
  const struct gas_physics physics = {.solver = p->gas.solver};
  const double real = p->gas.precision == GAS_DOUBLE ? sizeof(double) : sizeof(float);
  const double faces = GAS_FACES * GAS_FACE_CELLS;
  return gas_variables(&physics) * real * (2.0 * GAS_GROUP_CELLS + (GAS_PATCHES + 1.0) * faces) +
         sizeof(struct gas_group) + sizeof(uint64_t) + sizeof(double[1 + GAS_VARIABLES_MAX]) +
         sizeof(uint32_t[GAS_PATCHES]) + sizeof(struct gas_fault) + sizeof(struct gas_field) +
         sizeof(struct gas_batch) + gravity_bytes_per_group(p) + gas_particles_bytes_per_group(p);
}

double gas_memory(const struct gas *g) {
  double groups = 0.0;
  for (int level = 0; level <= g->topology.finest; level++)
    groups += g->topology.level[level].count;
  return groups * g->group_memory +
         (double)comm_size() * (double)g->blocks * (double)g->batch * (double)gas_block_bytes(g) +
         (g->gravity ? root_poisson_bytes(g->gravity->root) : 0.0) +
         (g->particles ? gas_particles_bytes(g->particles->count) : 0.0);
}

double gas_root_memory(const struct parameters *p) {
  const double cells = p->gas.root[0] * p->gas.root[1] * p->gas.root[2];
  return cells / GAS_GROUP_CELLS * gas_bytes_per_group(p);
}

void gas_require_root(const struct parameters *p) {
  const double needed = gas_root_memory(p), installed = installed_memory();
  if (needed > installed)
    fail(EXIT_RUN_FAILED,
         "the root level of %g x %g x %g cells needs %.1f GB of memory of %.1f GB: use fewer cells "
         "in gas.root, or more machines",
         p->gas.root[0], p->gas.root[1], p->gas.root[2], 1e-9 * needed, 1e-9 * installed);
}

struct moment_text gas_moment(const struct gas *g) {
  struct moment_text m;
  if (g->comoving) return cosmology_moment(false, g->time);
  snprintf(m.text, sizeof m.text, "t = %.4g", g->time);
  return m;
}

void gas_require_memory(const struct gas *g, int level, uint32_t groups) {
  const double installed = installed_memory();
  const double needed = gas_memory(g) + groups * g->group_memory;
  if (needed > installed)
    fail(EXIT_RUN_FAILED,
         "at %s level %d is to have %.4g patches, and gas would need %.1f GB of memory of %.1f "
         "GB: use fewer gas.levels, larger thresholds of gas.flag_*, or more machines",
         gas_moment(g).text, level, (double)GAS_PATCHES * groups, 1e-9 * needed, 1e-9 * installed);
}

double gas_length(const struct parameters *p) {
  return p->gas.comoving ? p->box.size : p->gas.length;
}

double gas_least_heat(const struct gas *g, double scale) {
  return comoving_heat(scale, g->temperature_floor, g->molecular_weight);
}

double gas_cell(const struct gas *g, int level) { return g->cell / (double)(1 << level); }

void *gas_cells(const struct gas *g, int level, uint32_t group) {
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *b = &l->batch[group / g->batch];
  if (gas_owner(g, level, group) != comm_rank()) return NULL;
  return (char *)starpu_data_handle_to_pointer(b->handle[l->now], STARPU_MAIN_RAM) +
         (group - b->first) * gas_group_bytes(g);
}

uint32_t gas_first_batch(const struct gas *g, int level, int rank) {
  return (uint32_t)comm_first(g->level[level].batch_count, rank);
}

uint32_t gas_first_group(const struct gas *g, int level, int rank) {
  const uint32_t batch = gas_first_batch(g, level, rank), count = g->topology.level[level].count;
  return batch < g->level[level].batch_count ? batch * g->batch : count;
}

bool gas_is_own(const struct gas *g, int level, uint32_t batch) {
  return batch >= gas_first_batch(g, level, comm_rank()) &&
         batch < gas_first_batch(g, level, comm_rank() + 1);
}

int gas_owner(const struct gas *g, int level, uint32_t group) {
  return (int)block_containing(g->level[level].batch_count, (size_t)comm_size(), group / g->batch);
}

uint64_t gas_leaf_cells(const struct gas *g, int level) {
  const struct topology *t = &g->topology;
  const uint64_t finer = level < t->finest ? t->level[level + 1].count : 0;
  return t->level[level].count * (uint64_t)GAS_GROUP_CELLS - finer * GAS_PATCH_CELLS;
}

/** Cells of a batch; not cleared. */
static void *take_cells(size_t bytes) {
  void *cells = aligned_alloc(GAS_ALIGNMENT,
                              (bytes + GAS_ALIGNMENT - 1) / GAS_ALIGNMENT * GAS_ALIGNMENT);
  if (!cells)
    fail(EXIT_RUN_FAILED,
         "not enough memory for %zu bytes of gas: use fewer gas.levels, larger thresholds of "
         "gas.flag_*, or more machines",
         bytes);
  return cells;
}

static void drop_cells(struct gas_batch *b) {
  for (int i = 0; i < 2; i++) {
    handle_drop(&b->handle[i]);
    free(b->cells[i]);
    b->cells[i] = NULL;
  }
}

static void make_cells(const struct gas *g, struct gas_batch *b) {
  b->cell_bytes = handle_room(b->count) * gas_group_bytes(g);
  for (int i = 0; i < 2; i++) {
    if (engine_gpu()) {
      b->handle[i] = handle_make(b->cell_bytes, 1);
    } else {
      b->cells[i] = take_cells(b->cell_bytes);
      b->handle[i] = handle_register(b->cells[i], b->cell_bytes, 1);
    }
  }
}

static void make_batch(const struct gas *g, struct gas_batch *b) {
  make_cells(g, b);
  b->fluxes = handle_make(handle_room(b->count) * gas_fluxes_bytes(g), 1);
  b->sides = handle_make(handle_room(b->count) * gas_sides_bytes(g), 1);
  if (g->gravity) gravity_make_batch(b);
  if (g->particles) gas_particles_make_batch(b);
}

void *gas_shared_room(size_t bytes, const char *what) {
  if (!engine_gpu()) return reallocate(NULL, bytes + 1, 1, what);
  return pinned_take(engine_pool(), bytes + 1);
}

void *gas_shared_array(size_t count, size_t size, const char *what) {
  if (!engine_gpu()) return allocate(count, size, what);
  return memset(gas_shared_room(count * size, what), 0, count * size);
}

void gas_free_shared(void *array, size_t bytes) {
  if (!engine_gpu())
    free(array);
  else
    pinned_give_back(engine_pool(), array, bytes + 1);
}

void gas_divide_level(struct gas *g, int level) {
  struct gas_level *l = &g->level[level];
  const uint32_t groups = g->topology.level[level].count;
  *l = (struct gas_level){
      .groups = groups,
      .batch_count = (groups + g->batch - 1) / g->batch,
      .steps = l->steps,
      .speed = gas_shared_array(groups, sizeof *l->speed, "speeds of groups"),
      .sum = gas_shared_array(groups, sizeof *l->sum, "sums of groups"),
      .flags = gas_shared_array(groups, sizeof *l->flags, "flags of groups"),
      .fault = gas_shared_array(groups, sizeof *l->fault, "faults of groups"),
      .field = gas_shared_array(groups, sizeof *l->field, "fields of groups"),
      .potential = {POTENTIAL_BEGIN, POTENTIAL_END, POTENTIAL_NEXT, POTENTIAL_OLD},
  };
  l->batch = allocate(l->batch_count, sizeof *l->batch, "batches of groups");
  for (uint32_t i = 0; i < l->batch_count; i++) {
    const uint32_t first = i * g->batch, left = groups - first;
    l->batch[i] = (struct gas_batch){.first = first, .count = left < g->batch ? left : g->batch};
  }
  for (uint32_t i = 0; i < groups; i++) l->fault[i].patch = -1;
}

void gas_make_batches(struct gas *g, int level) {
  const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
  for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++)
    if (!g->level[level].batch[i].handle[0]) make_batch(g, &g->level[level].batch[i]);
}

void gas_make_level(struct gas *g, int level) {
  gas_divide_level(g, level);
  gas_make_batches(g, level);
}

struct gas_level gas_take_level(struct gas *g, int level) {
  ghosts_free(&g->level[level].ghosts);
  const struct gas_level taken = g->level[level];
  g->level[level] = (struct gas_level){.steps = taken.steps};
  return taken;
}

static void free_batch(struct gas_batch *b) {
  drop_cells(b);
  handle_drop(&b->fluxes);
  handle_drop(&b->sides);
  gravity_drop_batch(b);
  gas_particles_drop_batch(b);
  gas_links_free(b);
}

void gas_free_level(struct gas_level *l) {
  for (uint32_t i = 0; i < l->batch_count; i++) free_batch(&l->batch[i]);
  free(l->batch);
  gas_free_shared(l->speed, l->groups * sizeof *l->speed);
  gas_free_shared(l->sum, l->groups * sizeof *l->sum);
  gas_free_shared(l->flags, l->groups * sizeof *l->flags);
  gas_free_shared(l->fault, l->groups * sizeof *l->fault);
  gas_free_shared(l->field, l->groups * sizeof *l->field);
  *l = (struct gas_level){0};
}

void gas_restore_level(struct gas *g, int level, uint64_t *keys, uint32_t groups, int64_t steps) {
  struct gas_level old = gas_take_level(g, level);
  gas_free_level(&old);
  topology_replace(&g->topology, level, keys, groups);
  gas_make_level(g, level);
  g->level[level].steps = steps;
}

/** Drop what this rank has of batches of other ranks. */
static void drop_ghosts(const struct gas *g, int level) {
  for (uint32_t i = 0; i < g->level[level].batch_count; i++) {
    struct gas_batch *b = &g->level[level].batch[i];
    if (gas_is_own(g, level, i)) continue;
    handle_drop(&b->sides);
    gravity_drop_batch(b);
    gas_particles_drop_batch(b);
    drop_cells(b);
  }
}

/** Make room for what messages bring from batches of other ranks. */
static void make_ghosts(const struct gas *g, int level) {
  const struct gas_level *l = &g->level[level];
  const struct ghost_messages *cells = &l->ghosts.received[GHOST_CELLS],
                              *sides = &l->ghosts.received[GHOST_SIDES];
  for (uint32_t i = 0; i < cells->count; i++)
    for (uint32_t k = 0; k < cells->message[i].batches.count; k++)
      make_cells(g, &l->batch[cells->message[i].batches.batch[k]]);
  for (uint32_t i = 0; i < sides->count; i++)
    for (uint32_t k = 0; k < sides->message[i].batches.count; k++) {
      struct gas_batch *b = &l->batch[sides->message[i].batches.batch[k]];
      b->sides = handle_make(handle_room(b->count) * gas_sides_bytes(g), 1);
    }
  if (g->gravity) gravity_make_ghosts(g, level);
  if (g->particles) gas_particles_make_ghosts(g, level);
}

static void link_level(struct gas *g, int level) {
  struct gas_level *l = &g->level[level];
  ghosts_free(&l->ghosts);
  drop_ghosts(g, level);
  l->ghosts = ghosts_find(g, level);
  l->stale = true;
  for (int k = 0; k < POTENTIALS; k++) l->stale_potential[k] = true;
  make_ghosts(g, level);
  gas_links_make(g, level);
}

void gas_link(struct gas *g, int first, int last) {
  for (int level = first; level <= last && level < topology_levels(&g->topology); level++)
    link_level(g, level);
}

void gas_gather(const struct gas *g, int level, void *values, size_t bytes) {
  if (comm_size() == 1) return;
  size_t *bytes_of = allocate((size_t)comm_size(), sizeof *bytes_of, "message sizes");
  for (int r = 0; r < comm_size(); r++)
    bytes_of[r] = bytes * (gas_first_group(g, level, r + 1) - gas_first_group(g, level, r));
  void *own = allocate(bytes_of[comm_rank()], 1, "values of groups");
  memcpy(own, (char *)values + bytes * gas_first_group(g, level, comm_rank()),
         bytes_of[comm_rank()]);
  comm_gather_all_sizes(own, bytes_of, values);
  free(own);
  free(bytes_of);
}

/** The value of a list for a level: lists have one value for all levels, or one for each. */
static double by_level(const double *list, size_t count, int level) {
  return count == 0 ? 0.0 : list[count == 1 ? 0 : level];
}

/** Thresholds of particles are for a mass of 1: that of a particle is not known yet. */
static void set_flags(struct gas *g, const struct parameters *p) {
  const double unit = g->comoving ? comoving_mean_density(&g->universe) : 1.0;
  for (int level = 0; level < g->topology.finest; level++)
    g->flags[level] = (struct gas_flags){
        .density = unit * by_level(p->gas.flag_density, p->gas.flag_density_count, level),
        .particles = by_level(p->gas.flag_particles, p->gas.flag_particles_count, level) /
                     pow(gas_cell(g, level), 3.0),
        .gradient_density = by_level(p->gas.flag_gradient_density,
                                     p->gas.flag_gradient_density_count, level),
        .gradient_pressure = by_level(p->gas.flag_gradient_pressure,
                                      p->gas.flag_gradient_pressure_count, level),
        .loehner = by_level(p->gas.flag_loehner, p->gas.flag_loehner_count, level),
        .loehner_filter = 0.01};
}

static uint32_t default_batch(void) {
  return scheduler_any_gpu() ? GPU_BATCH_GROUPS : BATCH_GROUPS;
}

struct gas *gas_create(const struct parameters *p) {
  struct gas *g = allocate(1, sizeof *g, "the gas");
  uint32_t root[3];
  for (int c = 0; c < 3; c++) root[c] = (uint32_t)p->gas.root[c] / GAS_GROUP_SIDE;
  topology_init(&g->topology, root, p->gas.boundary, (int)p->gas.levels);
  g->kernels = gas_kernels_select(p->gas.precision == GAS_DOUBLE);
  g->physics = (struct gas_physics){.solver = p->gas.solver == GAS_NONE ? GAS_RTVD : p->gas.solver,
                                    .limiter = GAS_LIMITER_VAN_LEER,
                                    .gamma = p->gas.gamma};
  g->empty = p->gas.solver == GAS_NONE;
  if (p->gas.comoving) {
    g->physics.dual_energy_switch = COLD_FLOW;
    g->physics.dual_energy_change = COLD_CHANGE;
  }
  g->comoving = p->gas.comoving;
  g->molecular_weight = p->gas.molecular_weight;
  g->temperature_floor = p->gas.temperature_floor;
  g->universe = cosmology_from(p);
  g->share = g->comoving ? comoving_gas_share(p) : 1.0;
  g->time = g->comoving ? 1.0 / (1.0 + p->ic.z_init) : 0.0;
  g->scale = g->comoving ? g->time : 1.0;
  g->variables = gas_variables(&g->physics);
  g->group_memory = gas_bytes_per_group(p);
  g->gravity = gravity_make(g, p);
  g->particles = gas_particles_make(p);
  g->buffer = (int)p->gas.buffer;
  g->regrid = p->gas.regrid;
  g->individual = p->gas.steps == GAS_STEPS_INDIVIDUAL;
  g->fused = p->gas.fused;
  g->fix_fluxes = p->gas.fix_fluxes;
  g->cell = gas_length(p) / p->gas.root[0];
  set_flags(g, p);
  g->batch = p->gas.batch > 0 ? (uint32_t)p->gas.batch : default_batch();
  g->blocks = g->fused ? 0 : BLOCKS_FOR_EACH_WORKER * engine_workers();
  g->block = allocate(g->blocks, sizeof *g->block, "blocks of gas");
  for (uint32_t i = 0; i < g->blocks; i++)
    g->block[i] = handle_make(g->batch * gas_block_bytes(g), 1);
  g->scratch = handle_make(GAS_ALIGNMENT + g->kernels->scratch_bytes + gas_block_bytes(g), 1);
  engine_set_variant(2 * (uint32_t)g->physics.solver + (p->gas.precision == GAS_DOUBLE));
  gas_make_level(g, 0);
  gas_link(g, 0, 0);
  return g;
}

void gas_free(struct gas *g) {
  for (int level = 0; level <= g->topology.finest; level++) {
    struct gas_level l = gas_take_level(g, level);
    gas_free_level(&l);
  }
  for (uint32_t i = 0; i < g->blocks; i++) handle_drop(&g->block[i]);
  handle_drop(&g->scratch);
  free(g->block);
  gravity_free(g->gravity);
  gas_particles_free(g->particles);
  topology_free(&g->topology);
  free(g);
}

/** The present cells of an own batch. */
static starpu_data_handle_t cells_of(const struct gas *g, int level, uint32_t batch) {
  const struct gas_level *l = &g->level[level];
  return l->batch[batch].handle[l->now];
}

void gas_acquire(struct gas *g, enum starpu_data_access_mode mode) {
  if (g->particles) gas_particles_acquire(g, 0);
  for (int level = 0; level < topology_levels(&g->topology); level++) {
    const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
    for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++)
      handle_acquire(cells_of(g, level, i), mode);
  }
}

void gas_release(struct gas *g) {
  if (g->particles) gas_particles_release(g, 0);
  for (int level = 0; level < topology_levels(&g->topology); level++) {
    const uint32_t end = gas_first_batch(g, level, comm_rank() + 1);
    for (uint32_t i = gas_first_batch(g, level, comm_rank()); i < end; i++)
      starpu_data_release(cells_of(g, level, i));
  }
}

/** A fault, and the group where it is. */
struct place_of_fault {
  int level;
  uint32_t group;
  struct gas_fault fault;
};

/** The first fault of this rank's groups; patch -1: there is none. */
static struct place_of_fault own_fault(const struct gas *g) {
  for (int level = 0; level < topology_levels(&g->topology); level++) {
    const uint32_t end = gas_first_group(g, level, comm_rank() + 1);
    for (uint32_t i = gas_first_group(g, level, comm_rank()); i < end; i++)
      if (g->level[level].fault[i].patch >= 0)
        return (struct place_of_fault){level, i, g->level[level].fault[i]};
  }
  return (struct place_of_fault){.level = GAS_LEVELS_MAX, .fault = {.patch = -1}};
}

_Noreturn static void fail_at(const struct gas *g, const struct place_of_fault *at) {
  const struct gas_fault *f = &at->fault;
  const uint32_t *place = g->topology.level[at->level].group[at->group].place;
  unsigned cell[3];
  for (int c = 0; c < 3; c++)
    cell[c] = GAS_GROUP_SIDE * place[c] + GAS_PATCH_SIDE * ((unsigned)f->patch >> c & 1) +
              ((unsigned)f->cell >> 3 * c & 7);
  fail(EXIT_RUN_FAILED,
       "gas at %s: density %g and pressure %g in cell (%u, %u, %u) of level %d, where both "
       "must be positive: a smaller gas.cfl may help",
       gas_moment(g).text, f->density, f->pressure, cell[0], cell[1], cell[2], at->level);
}

void gas_require_sound(const struct gas *g) {
  const struct place_of_fault own = own_fault(g);
  struct place_of_fault *all = allocate((size_t)comm_size(), sizeof *all, "faults of gas"),
                        *first = all;
  comm_gather_all(&own, sizeof own, all);
  for (int r = 1; r < comm_size(); r++)
    if (all[r].level < first->level) first = &all[r]; /* groups rise with the ranks */
  if (first->fault.patch >= 0) fail_at(g, first);
  free(all);
}
