/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Start and end of the long-range force: the sizes of the mesh and its parts, their memory, their
 * StarPU handles and their owners. */
#include "photons/mesh/long_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/comm.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/base/grid.h"
#include "photons/base/kept.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/owner_computes.h"
#include "photons/runtime/pinned.h"
#include "photons/runtime/scheduler.h"

enum { SLABS_MOST = 32, PLANES_LEAST = 8, GPU_SLABS_MOST = 16 };
/* Most slabs and columns of each rank when there are several ranks. Every rank owns some slabs; few
 * columns keep the number of messages low. */
enum { RANK_SLABS_MOST = 8, RANK_COLUMNS_MOST = 4 };
enum { APART_MOST = 8 }; /* ranks that exchange blocks of each set alone */

static uint32_t choose_cells(const struct parameters *p, size_t particles) {
  if (p->gravity.pm_grid) return (uint32_t)p->gravity.pm_grid;
  const double finer = p->time.step == STEP_PM ? 2.0 : 1.0;
  const uint32_t cells = mesh_good_size((uint32_t)lround(finer * cbrt((double)particles)));
  /* r_cut < L/2, so that at most one image is in reach */
  const uint32_t least = mesh_good_size((uint32_t)ceil(2.0 * p->gravity.r_cut) + 2);
  return cells < least ? least : cells;
}

/* From so many ranks on pencils are chosen if a mesh has fewer cells than so many times the square of the
 * ranks: then the messages that they save take longer than the bytes of row blocks, which they add
 * (docs/results/scaling.md). */
enum { PENCIL_RANKS = 128, PENCIL_CELLS = 14000 };

static bool wants_pencils(const struct parameters *p, uint32_t cells) {
  const double ranks = comm_size(), mesh = pow(cells, 3.0);
  if (p->gravity.mesh_layout != MESH_AUTO) return p->gravity.mesh_layout == MESH_PENCILS;
  return ranks > cells || (ranks >= PENCIL_RANKS && mesh < PENCIL_CELLS * ranks * ranks);
}

static struct mesh_layout layout_of(const struct parameters *p, uint32_t cells) {
  struct mesh_layout l = {.cells = cells, .parts = 1};
  if (wants_pencils(p, cells))
    l.parts = (uint32_t)grid_columns((size_t)comm_size(), cells, cells / 2 + 1);
  const uint32_t slabs_most = scheduler_any_gpu() ? GPU_SLABS_MOST : SLABS_MOST;
  l.slabs = l.cells / PLANES_LEAST;
  l.slabs = l.slabs < 1 ? 1 : l.slabs > slabs_most ? slabs_most : l.slabs;
  l.columns = l.slabs;
  const uint32_t ranks = (uint32_t)comm_size() / l.parts; /* each with slabs of its own */
  if (comm_size() > 1) {
    const uint32_t each = (l.slabs + ranks - 1) / ranks;
    const uint32_t slabs = each < RANK_SLABS_MOST ? each : RANK_SLABS_MOST;
    const uint32_t columns = each < RANK_COLUMNS_MOST ? each : RANK_COLUMNS_MOST;
    l.slabs = slabs * ranks < l.cells ? slabs * ranks : l.cells;
    l.columns = columns * ranks < l.cells ? columns * ranks : l.cells;
  }
  return l;
}

struct mesh_layout mesh_layout_choose(const struct parameters *p, size_t particles) {
  const uint32_t cells = choose_cells(p, particles);
  if (cells > MESH_MOST)
    fail(EXIT_BAD_USAGE,
         "%zu particles want a mesh of %u^3 cells, more than %d^3: set gravity.pm_grid", particles,
         cells, MESH_MOST);
  return layout_of(p, cells);
}

static uint32_t largest_share(uint32_t n, uint32_t parts) { return (n + parts - 1) / parts; }

/** Whether sets share transpose blocks and row blocks. Few ranks gain more where one set is sent while the
 * other is deposited: up to a node of eight GPUs. A message has less than a GiB. All ranks must find the
 * same, so that the largest blocks of any rank count. */
static bool are_together(const struct long_range *l) {
  const struct mesh *m = l->mesh;
  const uint32_t columns = largest_share(m->cells, m->columns),
                 rows = m->parts > 1 ? largest_share(m->cells, m->parts) : 0;
  const size_t bytes = (size_t)largest_share(m->cells, m->slabs) *
                       (columns > rows ? columns : rows) * largest_share(m->kz, m->parts) *
                       l->sets * sizeof(float complex);
  return l->sets > 1 && !l->in_turn && comm_size() > APART_MOST && bytes < (size_t)1 << 30;
}

static size_t slab_rows(const struct long_range *l) {
  return (size_t)set_places(l) * l->mesh->fields * l->mesh->slabs;
}
static uint32_t block_places(const struct long_range *l) {
  return l->in_turn ? l->mesh->spectra + 1 : l->sets / block_sets(l) * l->mesh->spectra;
}
static size_t block_handles(const struct long_range *l) { return block_places(l) * blocks_each(l); }

static size_t row_handles(const struct long_range *l) {
  const size_t each = 2 * l->mesh->parts * (l->own_slabs.end - l->own_slabs.first);
  return l->mesh->parts > 1 ? set_places(l) / block_sets(l) * each : 0;
}

/** Register memory that matters only within a step. Without memory.start it is only counted: `at`
 * moves on behind it. With a GPU, StarPU gives the data host memory only where a task on the host
 * writes it. */
static void register_scratch(const struct long_range *l, size_t *at, size_t count, size_t size,
                             starpu_data_handle_t *handle) {
  if (engine_gpu())
    *handle = handle_make(count, size);
  else if (l->memory.start)
    *handle = handle_register(l->memory.start + *at, count, size);
  *at += mesh_memory_room(count * size);
}

/** Let data belong to the GPU that has a part of this rank's slabs, or columns. */
static void own_part(starpu_data_handle_t handle, const struct mesh_range *own, uint32_t part) {
  owner_set(handle, part - own->first, own->end - own->first);
}

/** Register the blocks of one set and spectrum. They belong to the GPU of their column, which writes them all but once. */
static void register_blocks(const struct long_range *l, uint32_t place, size_t *at) {
  const struct mesh *m = l->mesh;
  const struct mesh_range all = {0, m->columns};
  for (uint32_t slab = 0; slab < m->slabs; slab++) {
    const struct mesh_range *c = in_range(&l->own_slabs, slab) ? &all : &l->own_columns;
    for (uint32_t column = c->first; column < c->end; column++) {
      const size_t row = ((size_t)place * m->slabs + slab) * m->columns + column;
      starpu_data_handle_t *handle = &l->block_handle[block_place(l, row)];
      register_scratch(l, at, block_size(m, slab, column), block_sets(l) * sizeof(float complex),
                       handle);
      if (in_range(&l->own_columns, column)) own_part(*handle, &l->own_columns, column);
    }
  }
}

/** Register the row blocks of a set: those that this rank's part has of all kz, and those of the other parts'
 * rows. */
static void register_rows(const struct long_range *l, uint32_t set, size_t *at) {
  const struct mesh *m = l->mesh;
  for (uint32_t slab = l->own_slabs.first; slab < l->own_slabs.end; slab++)
    for (uint32_t j = 0; j < m->parts; j++) {
      const size_t size = block_sets(l) * sizeof(float complex);
      register_scratch(l, at, row_block_size(m, slab, m->part, j), size,
                       row_block_of(l, set, slab, m->part, j));
      if (j != m->part)
        register_scratch(l, at, row_block_size(m, slab, j, m->part), size,
                         row_block_of(l, set, slab, j, m->part));
    }
}

/** Register the slabs, and the blocks, of some of their places: those that are written before all
 * densities are transformed, or the others. */
static void register_slabs(struct long_range *l, bool late, size_t *at) {
  const struct mesh *m = l->mesh;
  for (size_t i = 0; i < slab_rows(l); i++) {
    const uint32_t slab = (uint32_t)(i % m->slabs), field = (uint32_t)(i / m->slabs) % m->fields;
    const size_t floats = (slab_first(m, slab + 1) - slab_first(m, slab)) * plane_floats(m);
    if (slab_owner(m, slab) == comm_rank() && late == (field > 0)) {
      register_scratch(l, at, floats, sizeof(float), &l->slab_handle[i]);
      own_part(l->slab_handle[i], &l->own_slabs, slab);
    }
  }
  for (uint32_t place = 0; place < block_places(l); place++)
    if (late == (place % m->spectra > 0)) register_blocks(l, place, at); /* see density_row() */
}

static size_t register_all(struct long_range *l) {
  size_t at = 0;
  register_slabs(l, false, &at);
  for (uint32_t set = 0; set < set_places(l) && l->mesh->parts > 1; set += block_sets(l))
    register_rows(l, set, &at);
  l->patches_begin = at;
  register_slabs(l, true, &at);
  return at;
}

static void create_slabs(struct long_range *l) {
  l->slab_handle = allocate(slab_rows(l), sizeof *l->slab_handle, "slab handles");
  l->own_slabs = own_range(l->mesh, l->mesh->slabs);
  l->own_columns = own_range(l->mesh, l->mesh->columns);
  l->block_handle = allocate(block_handles(l), sizeof *l->block_handle, "block handles");
  l->row_handle = allocate(row_handles(l), sizeof *l->row_handle, "row block handles");
  kept_set(KEPT_BLOCKS,
           (slab_rows(l) + block_handles(l) + row_handles(l)) * sizeof *l->block_handle);
  const size_t bytes = register_all(l);
  if (engine_gpu() || bytes == 0) return;
  l->memory = pages_create(bytes, "the mesh");
  register_all(l);
}

static void create_gpu_tables(void *context) {
  struct long_range *l = context;
  l->gpu[worker_number()] = GPU_CALL(gpu_mesh_create(worker_gpu(), l->mesh));
}

static void free_gpu_tables(void *context) {
  const struct long_range *l = context;
  (void)l;
  GPU_CALL(gpu_mesh_free(l->gpu[worker_number()]));
}

/** The first sum of potentials of a column, the first one of this rank or a later one. */
static size_t potential_place(const struct long_range *l, uint32_t column) {
  const uint32_t first = column_first(l->mesh, l->own_columns.first);
  return (size_t)(column_first(l->mesh, column) - first) * l->mesh->kzs;
}

static void create_potential(struct long_range *l) {
  l->potential = allocate(potential_place(l, l->own_columns.end), sizeof *l->potential,
                          "sums of potentials");
  l->potential_handle = allocate(l->mesh->columns, sizeof *l->potential_handle, "column handles");
  for (uint32_t c = l->own_columns.first; c < l->own_columns.end; c++) {
    const size_t first = potential_place(l, c), end = potential_place(l, c + 1);
    l->potential_handle[c] = handle_register(l->potential + first, end - first,
                                             sizeof *l->potential);
  }
}

void long_range_start(struct long_range *l, struct domain *d, const struct parameters *p,
                      uint32_t cells, const struct split *split) {
  const struct mesh_layout layout = layout_of(p, cells);
  *l = (struct long_range){.domain = d, .kernels = mesh_kernels_select()};
  l->sets = p->gravity.interlace ? 2 : 1;
  l->rests = p->runtime.memory != MEMORY_FAST && !scheduler_any_gpu();
  l->in_turn = l->rests && l->sets > 1;
  l->factor = (float)(GRAVITY * d->particles.mass);
  l->mesh = mesh_create(layout.cells, layout.slabs, layout.columns, d->particles.box,
                        p->gravity.assignment, p->gravity.gradient, p->gravity.interlace, split);
  if (!split) long_range_cut(l, p->gravity.pm_cut);
  mesh_divide(l->mesh, layout.parts, (uint32_t)comm_rank() % layout.parts);
  l->together = are_together(l);
  create_slabs(l);
  mesh_take_columns(l->mesh, l->own_columns.first, l->own_columns.end);
  create_potential(l);
  l->slab_sum = allocate((size_t)l->sets * l->mesh->slabs, sizeof *l->slab_sum, "sums of slabs");
  l->fft = allocate(engine_workers(), sizeof *l->fft, "FFT scratch");
  l->gpu = allocate(engine_workers(), sizeof(struct gpu_mesh *), "mesh tables");
  for (uint32_t w = 0; w < engine_workers(); w++)
    l->fft[w] = allocate(mesh_scratch_bytes(l->mesh), 1, "FFT scratch");
  if (engine_gpu()) engine_on_gpu_workers(create_gpu_tables, l);
}

void long_range_free(struct long_range *l) {
  if (engine_gpu()) engine_on_gpu_workers(free_gpu_tables, l);
  long_range_leave(l);
  for (size_t i = 0; i < slab_rows(l); i++) handle_drop(&l->slab_handle[i]);
  for (size_t i = 0; i < block_handles(l); i++) handle_drop(&l->block_handle[i]);
  for (size_t i = 0; i < row_handles(l); i++) handle_drop(&l->row_handle[i]);
  for (uint32_t c = 0; c < l->mesh->columns; c++) handle_drop(&l->potential_handle[c]);
  pages_free(&l->memory);
  for (uint32_t w = 0; w < engine_workers(); w++) free(l->fft[w]);
  void *const tables[] = {l->slab_handle, l->block_handle, l->row_handle, l->potential_handle,
                          l->potential,   l->fft,          l->gpu,        l->slab_sum};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) free(tables[i]);
  mesh_free(l->mesh);
}

static void copy_green(void *context) {
  const struct long_range *l = context;
  (void)l;
  GPU_CALL(gpu_mesh_copy_green(l->gpu[worker_number()]));
}

bool long_range_cut(struct long_range *l, double cut) {
  const bool changes = cut != l->mesh->cut;
  l->mesh->cut = cut;
  return changes;
}

void long_range_respond(struct long_range *l, const struct response *response) {
  mesh_make_green(l->mesh, response);
  if (engine_gpu()) engine_on_gpu_workers(copy_green, l);
}

void long_range_rest(const struct long_range *l) { pages_rest(&l->memory); }

static double sum_of(const double *of_batch) {
  double sum = 0.0;
  for (uint32_t i = 0; i < MESH_LINES; i++) sum += of_batch[i];
  return sum;
}

/** Copy this rank's sums of kz = z .. z + MESH_LINES - 1 to [ky][kz - z]. */
static void copy_potential(const struct long_range *l, uint32_t z, double *sums) {
  const struct mesh *m = l->mesh;
  const uint32_t first = z > m->first_kz ? z : m->first_kz, own_end = m->first_kz + m->kzs,
                 end = own_end < z + MESH_LINES ? own_end : z + MESH_LINES;
  const uint32_t first_ky = column_first(m, l->own_columns.first),
                 end_ky = column_first(m, l->own_columns.end);
  for (size_t ky = first_ky; ky < end_ky && first < end; ky++)
    memcpy(sums + ky * MESH_LINES + first - z,
           l->potential + (ky - first_ky) * m->kzs + first - m->first_kz,
           (end - first) * sizeof *sums);
}

double long_range_potential(const struct long_range *l) {
  const struct mesh *m = l->mesh;
  const size_t batch = (size_t)m->cells * MESH_LINES;
  double *of_ky = allocate(m->cells, sizeof *of_ky, "sums of potentials"), sum = 0.0;
  double *of_batch = allocate(batch, sizeof *of_batch, "sums of potentials");
  for (uint32_t c = l->own_columns.first; c < l->own_columns.end; c++) {
    handle_acquire(l->potential_handle[c], STARPU_R);
    starpu_data_release(l->potential_handle[c]);
  }
  for (uint32_t z = 0; z < m->kz; z += MESH_LINES) {
    memset(of_batch, 0, batch * sizeof *of_batch); /* to which other ranks' are added exactly */
    copy_potential(l, z, of_batch);
    comm_sum_double(of_batch, batch);
    for (size_t ky = 0; ky < m->cells; ky++) of_ky[ky] += sum_of(of_batch + ky * MESH_LINES);
  }
  for (uint32_t ky = 0; ky < m->cells; ky++) sum += of_ky[ky];
  free(of_batch);
  free(of_ky);
  return sum;
}

void long_range_check_mass(const struct long_range *l) {
  if (scheduler_any_gpu()) return; /* slabs are on the GPU */
  for (uint32_t set = 0; set < l->sets; set++) {
    const double all = (double)l->domain->particles.all;
    double sum = 0.0;
    for (uint32_t slab = 0; slab < l->mesh->slabs; slab++)
      if (slab_owner(l->mesh, slab) == comm_rank()) sum += l->slab_sum[set * l->mesh->slabs + slab];
    comm_sum_double(&sum, 1);
    DEBUG_CHECK(fabs(sum - all) <= 1e-5 * all, "mesh %u holds %.9g particles of %.9g", set, sum,
                all);
  }
}
