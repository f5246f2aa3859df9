/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a run: sizes, memory of groups and mesh, and their StarPU handles. */
#include "photons/domain/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/pinned.h"
#include "photons/runtime/scheduler.h"
#ifdef PHOTONS_CUDA
#include "cuda/runtime/gpu.h"
#endif

enum {
  LEAF_DEFAULT = 64,
  GROUP_LARGEST = 16384,
  GROUP_SMALLEST = 2048,
  GROUPS_WANTED = 32,
  SLABS_MOST = 32,
  PLANES_LEAST = 8
};
/* With many processes: more slabs, so that each has some, but few columns, which make messages. */
enum { RANK_SLABS_MOST = 8, RANK_COLUMNS_MOST = 4 };
enum { GPU_GROUP_LARGEST = 524288, GPU_GROUPS_WANTED = 32, GPU_SLABS_MOST = 16 }; /* with a GPU: fewer, larger tasks */

static bool gpu_in_use(void) { return starpu_is_initialized() && starpu_cuda_worker_get_count() > 0; }

/** The smallest power of two of parts that brings n down to `most` a part. */
static unsigned halvings(size_t n, size_t most) {
  unsigned level = 0;
  while (((n - 1) >> level) + 1 > most) level++;
  return level;
}

struct layout layout_choose(const struct parameters *p, size_t particles) {
  struct layout l = {.leaf_size = p->runtime.leaf_size ? (uint32_t)p->runtime.leaf_size : LEAF_DEFAULT};
  /* Nothing here may depend on the number of workers: results do not. (They do, in the last digits, on whether GPUs work.) */
  const bool gpu = scheduler_any_gpu();
  const uint32_t largest = gpu ? GPU_GROUP_LARGEST : GROUP_LARGEST, slabs_most = gpu ? GPU_SLABS_MOST : SLABS_MOST;
  size_t group_size = (size_t)p->runtime.group_size;
  if (group_size == 0) {
    group_size = particles / (gpu ? GPU_GROUPS_WANTED : GROUPS_WANTED);
    group_size = group_size < GROUP_SMALLEST ? GROUP_SMALLEST : group_size > largest ? largest : group_size;
  }
  if (group_size < l.leaf_size) group_size = l.leaf_size;
  unsigned levels = halvings(particles, group_size);
  l.group_count = 1u << levels;
  l.depth = halvings(((particles - 1) >> levels) + 1, l.leaf_size);

  double side = cbrt((double)particles);
  l.pm_grid = p->gravity.pm_grid ? (uint32_t)p->gravity.pm_grid : mesh_good_size((uint32_t)lround(side));
  uint32_t least = mesh_good_size((uint32_t)ceil(2.0 * p->gravity.r_cut) +
                                  2); /* r_cut < L/2: one image at most is in reach */
  if (p->gravity.pm_grid == 0 && l.pm_grid < least) l.pm_grid = least;
  l.slabs = l.pm_grid / PLANES_LEAST;
  l.slabs = l.slabs < 1 ? 1 : l.slabs > slabs_most ? slabs_most : l.slabs;
  l.columns = l.slabs;
  const uint32_t processes = (uint32_t)comm_size();
  if (processes > 1) { /* does not change results: cells and modes are added up and transformed in the same order */
    const uint32_t each = (l.slabs + processes - 1) / processes,
                   slabs = each < RANK_SLABS_MOST ? each : RANK_SLABS_MOST,
                   columns = each < RANK_COLUMNS_MOST ? each : RANK_COLUMNS_MOST;
    l.slabs = slabs * processes < l.pm_grid ? slabs * processes : l.pm_grid;
    l.columns = columns * processes < l.pm_grid ? columns * processes : l.pm_grid;
  }

  double nodes = (double)l.group_count * (double)tree_nodes(l.depth), n = (double)particles,
         sets = p->gravity.interlace ? 2.0 : 1.0;
  int order = (int)p->gravity.order;
  l.bytes_particles = n * (double)(9 * sizeof(float) + sizeof(uint64_t));
  l.bytes_tree = nodes *
                 (double)(sizeof(struct node) + sizeof(float) * (fmm_multipole_size(order) + fmm_local_size(order)));
  l.bytes_mesh = sizeof(float) * pow(l.pm_grid, 3) * sets * (p->gravity.gradient == GRADIENT_SPECTRAL ? 5.0 : 2.0);
  return l;
}

static starpu_data_handle_t register_vector(void *data, size_t count, size_t size) {
  starpu_data_handle_t handle;
  if (count > UINT32_MAX) fail(EXIT_RUN_FAILED, "%zu elements in one group or slab are more than StarPU's 2^32", count);
  starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)data, (uint32_t)count, size);
  return handle;
}

/** Memory that matters only within a step: with a GPU it has no place on the host unless a task there writes it. */
static starpu_data_handle_t register_scratch(void **data, size_t count, size_t size, const char *what) {
  if (gpu_in_use()) return handle_make(count, size);
  *data = allocate(count, size, what);
  return register_vector(*data, count, size);
}

static void for_particle_arrays(const struct particles *p, void (*function)(void *, size_t)) {
  function(p->position, 3 * p->count * sizeof *p->position);
  function(p->momentum, 3 * p->count * sizeof *p->momentum);
  function(p->acceleration, 3 * p->count * sizeof *p->acceleration);
  function(p->id, p->count * sizeof *p->id);
}

#ifdef PHOTONS_CUDA
static void create_gpu_worker(void *argument) {
  const struct simulation *s = argument;
  s->workers[starpu_worker_get_id_check()].gpu = gpu_create(starpu_cuda_get_local_stream(), s->mesh, &s->split);
}

static void free_gpu_worker(void *argument) {
  const struct simulation *s = argument;
  gpu_free(s->workers[starpu_worker_get_id_check()].gpu);
}
#endif

uint32_t group_first(const struct simulation *s, int process) {
  return s->owner_first ? s->owner_first[process] : (uint32_t)comm_first(s->group_count, process);
}

/** The process among those with first things first(r) that has thing i. */
int group_owner(const struct simulation *s, uint32_t group) {
  int low = 0, high = comm_size(); /* group_first(low) <= group < group_first(high) */
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (group_first(s, middle) <= group)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/** Process that has thing i of n dealt out evenly. */
static int dealt_to(uint32_t n, uint32_t i) {
  return (int)((((uint64_t)i + 1) * (uint64_t)comm_size() + n - 1) / n - 1);
}
int slab_owner(const struct simulation *s, uint32_t slab) { return dealt_to(s->mesh->slabs, slab); }
int column_owner(const struct simulation *s, uint32_t column) { return dealt_to(s->mesh->columns, column); }

static struct group *own_group(struct simulation *s, size_t i) { return &s->groups[group_first(s, comm_rank()) + i]; }

void simulation_register(struct simulation *s) {
  const uint32_t nodes = tree_nodes(s->depth), m = fmm_multipole_size(s->acceptance.order),
                 l = fmm_local_size(s->acceptance.order);
  const size_t rows = s->particles.blocks * nodes;
  s->nodes = allocate(rows, sizeof *s->nodes, "tree nodes");
  s->multipole = allocate(rows * m, sizeof(float), "multipoles");
  s->local = allocate(rows * l, sizeof(float), "local expansions");
  s->top = allocate(s->particles.blocks * tree_nodes(s->top_depth), sizeof *s->top, "tree nodes");
  pin_memory(s->nodes, rows * sizeof *s->nodes);
  pin_memory(s->multipole, rows * m * sizeof(float));
  pin_memory(s->local, rows * l * sizeof(float));
  pin_memory(s->top, s->particles.blocks * tree_nodes(s->top_depth) * sizeof *s->top);
  for_particle_arrays(&s->particles, pin_memory);
  for (size_t i = 0; i < s->particles.blocks; i++) {
    struct group *g = own_group(s, i);
    struct particle_block b = particles_block(&s->particles, i);
    g->nodes = s->nodes + i * nodes;
    g->top = s->top + i * tree_nodes(s->top_depth);
    g->multipole = s->multipole + i * nodes * m;
    g->local = s->local + i * nodes * l;
    g->position_handle = register_vector(b.x[0], 3 * b.count, sizeof(uint32_t));
    g->momentum_handle = register_vector(b.p[0], 3 * b.count, sizeof(float));
    g->acceleration_handle = register_vector(b.acc[0], 3 * b.count, sizeof(float));
    g->id_handle = register_vector(b.id, b.count, sizeof *b.id);
    g->tree_handle = register_vector(g->nodes, nodes, sizeof(struct node));
    g->multipole_handle = register_vector(g->multipole, (size_t)nodes * m, sizeof(float));
    g->local_handle = register_vector(g->local, (size_t)nodes * l, sizeof(float));
    starpu_void_data_register(&g->lists_handle);
    if (gpu_in_use())
      starpu_vector_data_register(&g->offset_handle, -1, 0, nodes + (1u << s->depth) + 2, sizeof(uint32_t));
  }
  s->registered = true;
}

void handle_drop(starpu_data_handle_t *handle) {
  if (*handle) starpu_data_unregister_no_coherency(*handle);
  *handle = NULL;
}

starpu_data_handle_t handle_make(size_t count, size_t size) {
  starpu_data_handle_t handle;
  if (count > UINT32_MAX) fail(EXIT_RUN_FAILED, "%zu elements in one piece are more than StarPU's 2^32", count);
  starpu_vector_data_register(&handle, -1, 0, (uint32_t)count, size);
  return handle;
}

void handle_fit(starpu_data_handle_t *handle, size_t n) {
  size_t step = 1;
  while (n / step >= 16) step *= 2;
  const size_t room = (n + step - 1) / step * step;
  if (*handle && starpu_vector_get_nx(*handle) == room) return;
  handle_drop(handle);
  *handle = handle_make(room, sizeof(float));
}

static void drop_pieces(struct mesh_pieces *pieces) {
  for (uint32_t k = 0; k < pieces->count; k++)
    for (uint32_t set = 0; set < 2; set++) handle_drop(&pieces->piece[k].handle[set]);
  pieces->count = 0;
}

void group_leave_mesh(struct group *g) {
  for (uint32_t set = 0; set < 2; set++) handle_drop(&g->patch_handle[set]);
  drop_pieces(&g->sent);
  drop_pieces(&g->read);
}

void simulation_unregister(struct simulation *s) {
  for (uint32_t i = 0; i < s->group_count; i++) {
    struct group *g = &s->groups[i];
    if (g->owner == comm_rank()) {
      starpu_data_unregister(g->position_handle);
      starpu_data_unregister(g->momentum_handle);
      starpu_data_unregister(g->acceleration_handle);
      starpu_data_unregister(g->id_handle);
      g->position_handle = g->momentum_handle = g->acceleration_handle = g->id_handle = NULL;
    }
    handle_drop(&g->position_handle);
    handle_drop(&g->tree_handle);
    handle_drop(&g->multipole_handle);
    handle_drop(&g->local_handle);
    handle_drop(&g->lists_handle);
    handle_drop(&g->offset_handle);
    group_leave_mesh(g);
  }
  simulation_drop_ghosts(s);
  const size_t rows = s->particles.blocks * tree_nodes(s->depth);
  unpin_memory(s->nodes, rows * sizeof *s->nodes);
  unpin_memory(s->multipole, rows * fmm_multipole_size(s->acceptance.order) * sizeof(float));
  unpin_memory(s->local, rows * fmm_local_size(s->acceptance.order) * sizeof(float));
  unpin_memory(s->top, s->particles.blocks * tree_nodes(s->top_depth) * sizeof *s->top);
  for_particle_arrays(&s->particles, unpin_memory);
  free(s->nodes);
  free(s->top);
  free(s->multipole);
  free(s->local);
  s->registered = false;
}

static void create_groups(struct simulation *s) {
  s->groups = allocate(s->group_count, sizeof *s->groups, "groups");
  pin_memory(s->groups, s->group_count * sizeof *s->groups); /* GPUs write results into it */
  for (uint32_t i = 0; i < s->group_count; i++) {
    struct group *g = &s->groups[i];
    *g = (struct group){.simulation = s, .index = i, .owner = group_owner(s, i)};
    g->count = (uint32_t)(block_first(s->particles.all, s->group_count, i + 1) -
                          block_first(s->particles.all, s->group_count, i));
    g->lists.near.pool = g->lists.far.pool = s->pool;
  }
}

static void create_mesh(struct simulation *s, const struct layout *layout) {
  const struct parameters *p = s->parameters;
  s->mesh = mesh_create(layout->pm_grid, layout->slabs, layout->columns, s->particles.box, p->gravity.assignment,
                        p->gravity.gradient, p->gravity.interlace, &s->split);
  const struct mesh *m = s->mesh;
  const size_t slabs = (size_t)s->sets * m->fields * m->slabs,
               blocks = (size_t)s->sets * m->spectra * m->slabs * m->columns;
  s->slab = allocate(slabs, sizeof *s->slab, "slab table");
  s->slab_handle = allocate(slabs, sizeof *s->slab_handle, "slab handles");
  for (size_t i = 0; i < slabs; i++) {
    const uint32_t slab = (uint32_t)(i % m->slabs);
    const size_t floats = (slab_first(m, slab + 1) - slab_first(m, slab)) * plane_floats(m);
    if (slab_owner(s, slab) == comm_rank())
      s->slab_handle[i] = register_scratch((void **)&s->slab[i], floats, sizeof(float), "mesh slab");
  }
  s->block = allocate(blocks, sizeof *s->block, "block table");
  s->block_handle = allocate(blocks, sizeof *s->block_handle, "block handles");
  for (size_t i = 0; i < blocks; i++) {
    const uint32_t column = (uint32_t)(i % m->columns), slab = (uint32_t)(i / m->columns % m->slabs);
    if (slab_owner(s, slab) == comm_rank() || column_owner(s, column) == comm_rank())
      s->block_handle[i] = register_scratch((void **)&s->block[i], block_size(m, slab, column), sizeof(float complex),
                                            "mesh block");
  }
}

struct simulation *simulation_create(const struct parameters *p, const struct cosmology *c,
                                     struct particles particles) {
  struct simulation *s = allocate(1, sizeof *s, "simulation");
  struct layout layout = layout_choose(p, particles.all);
  const double cell = particles.box / layout.pm_grid;
  const double softening = 1e-3 * p->gravity.softening; /* kpc/h to Mpc/h */
  const int order = (int)p->gravity.order;
  s->parameters = p;
  s->cosmology = *c;
  s->kernels = kernels_select();
  s->particles = particles;
  s->depth = layout.depth;
  s->top_depth = comm_size() == 1 ? 0 : s->depth < TOP_DEPTH_MOST ? s->depth : TOP_DEPTH_MOST;
  s->group_count = layout.group_count;
  s->sets = p->gravity.interlace ? 2 : 1;
  split_init(&s->split, p->gravity.split, p->gravity.r_split * cell, p->gravity.r_cut * cell,
             (int)p->gravity.p2p_degree);
  simulation_set_softening(s, softening);
  s->scale = s->acceptance.scale;
  s->mesh_factor = (float)(GRAVITY * particles.mass);
  s->short_factor = (float)(GRAVITY * particles.mass / (s->split.r_cut * s->split.r_cut));
  s->variant = (uint32_t)order + 8 * (uint32_t)s->law.kind + 32 * (uint32_t)s->split.p2p_degree +
               512 * (uint32_t)strlen(s->kernels->name);
  s->gpu = gpu_in_use();
  if (s->gpu) s->pool = pinned_pool_create();
  s->heteroprio = scheduler_is_heteroprio();
  s->worker_count = starpu_worker_get_count();
  s->workers = allocate(s->worker_count, sizeof *s->workers, "worker scratch");
  if (!s->particles.sorted || s->particles.all_blocks != s->group_count) domain_rebuild(s);
  create_groups(s);
  simulation_register(s);
  create_mesh(s, &layout);
  for (uint32_t w = 0; w < s->worker_count; w++)
    s->workers[w].fft = allocate(mesh_scratch_bytes(s->mesh), 1, "FFT scratch");
#ifdef PHOTONS_CUDA
  starpu_execute_on_each_worker(create_gpu_worker, s, STARPU_CUDA);
#endif
  return s;
}

void simulation_set_softening(struct simulation *s, double softening) {
  const struct parameters *p = s->parameters;
  p2p_law_init(&s->law, p->gravity.p2p_kernel, p->gravity.softening_kernel, softening, (int)p->gravity.table_order,
               &s->split);
  /* Expansions are Newton's: the spline is that from 2.8 softening lengths on, Plummer's law within 1e-3 from sqrt(1.5e3) on. */
  const double newtonian = p->gravity.softening_kernel == SOFTENING_SPLINE ? 2.8 * softening : 39.0 * softening;
  acceptance_init(&s->acceptance, p->gravity.mac, p->gravity.theta, p->gravity.mac_tolerance, (int)p->gravity.order,
                  newtonian, s->particles.box, s->depth, &s->split);
}

static void free_groups(struct simulation *s) {
  simulation_unregister(s);
  for (uint32_t i = 0; i < s->group_count; i++) {
    struct group *g = &s->groups[i];
    interaction_list_free(&g->lists.near);
    interaction_list_free(&g->lists.far);
    free(g->neighbour);
    free(g->read.piece);
    free(g->sent.piece);
  }
  unpin_memory(s->groups, s->group_count * sizeof *s->groups);
  free(s->groups);
  free(s->owner_first);
  free(s->group_cost);
}

static void free_mesh(struct simulation *s) {
  const struct mesh *m = s->mesh;
  for (size_t i = 0; i < (size_t)s->sets * m->fields * m->slabs; i++) {
    handle_drop(&s->slab_handle[i]);
    free(s->slab[i]);
  }
  for (size_t i = 0; i < (size_t)s->sets * m->spectra * m->slabs * m->columns; i++) {
    handle_drop(&s->block_handle[i]);
    free(s->block[i]);
  }
  free(s->slab);
  free(s->slab_handle);
  free(s->block);
  free(s->block_handle);
  mesh_free(s->mesh);
}

void simulation_free(struct simulation *s) {
#ifdef PHOTONS_CUDA
  starpu_execute_on_each_worker(free_gpu_worker, s, STARPU_CUDA);
#endif
  free_groups(s);
  free_mesh(s);
  for (uint32_t w = 0; w < s->worker_count; w++) {
    p2p_scratch_free(&s->workers[w].p2p);
    walk_scratch_free(&s->workers[w].walk);
    free(s->workers[w].fft);
  }
  free(s->workers);
  pinned_pool_free(s->pool);
  particles_free(&s->particles);
  free(s);
}

/** Every handle of this process's particles, which the host reads or rearranges between graphs. */
static void for_host_data(struct simulation *s, void (*function)(starpu_data_handle_t)) {
  for (size_t i = 0; i < s->particles.blocks; i++) {
    struct group *g = own_group(s, i);
    function(g->position_handle);
    function(g->momentum_handle);
    function(g->acceleration_handle);
    function(g->id_handle);
  }
}

/** All of them on their way at once; one by one each would cost a round trip to the GPU. */
static void prefetch(starpu_data_handle_t handle) { (void)starpu_data_prefetch_on_node(handle, STARPU_MAIN_RAM, 1); }

static void acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode) {
  if (starpu_data_acquire(handle, mode) != 0) fail(EXIT_RUN_FAILED, "StarPU could not bring data back to the host");
}

static void acquire_to_change(starpu_data_handle_t handle) { acquire(handle, STARPU_RW); }

void simulation_acquire(struct simulation *s) {
  starpu_task_wait_for_all();
  if (gpu_in_use()) for_host_data(s, prefetch);
  for_host_data(s, acquire_to_change);
}

void simulation_release(struct simulation *s) { for_host_data(s, starpu_data_release); }

static void for_positions(struct simulation *s, void (*function)(starpu_data_handle_t)) {
  for (size_t i = 0; i < s->particles.blocks; i++) {
    function(own_group(s, i)->position_handle);
    function(own_group(s, i)->id_handle);
  }
}

static void acquire_to_read(starpu_data_handle_t handle) { acquire(handle, STARPU_R); }

void simulation_acquire_positions(struct simulation *s) {
  for_positions(s, prefetch);
  for_positions(s, acquire_to_read);
}

void simulation_release_positions(struct simulation *s) { for_positions(s, starpu_data_release); }
