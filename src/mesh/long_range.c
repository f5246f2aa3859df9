/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Start and end of the long-range force: the sizes of the mesh and its parts, their memory, their
 * StarPU handles and their owners. */
#include "photons/mesh/long_range.h"

#include <math.h>
#include <stdlib.h>

#include "cuda/mesh/gpu_mesh.h"
#include "photons/base/debug_check.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/runtime/engine.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/pinned.h"
#include "photons/runtime/scheduler.h"

enum { SLABS_MOST = 32, PLANES_LEAST = 8, GPU_SLABS_MOST = 16 };
/* Most slabs and columns of each rank when there are several ranks. Every rank owns some slabs; few
 * columns keep the number of messages low. */
enum { RANK_SLABS_MOST = 8, RANK_COLUMNS_MOST = 4 };

static uint32_t choose_cells(const struct parameters *p, size_t particles) {
  if (p->gravity.pm_grid) return (uint32_t)p->gravity.pm_grid;
  const uint32_t cells = mesh_good_size((uint32_t)lround(cbrt((double)particles)));
  /* r_cut < L/2, so that at most one image is in reach */
  const uint32_t least = mesh_good_size((uint32_t)ceil(2.0 * p->gravity.r_cut) + 2);
  return cells < least ? least : cells;
}

static struct mesh_layout layout_of(uint32_t cells) {
  struct mesh_layout l = {.cells = cells};
  const uint32_t slabs_most = scheduler_any_gpu() ? GPU_SLABS_MOST : SLABS_MOST;
  l.slabs = l.cells / PLANES_LEAST;
  l.slabs = l.slabs < 1 ? 1 : l.slabs > slabs_most ? slabs_most : l.slabs;
  l.columns = l.slabs;
  const uint32_t ranks = (uint32_t)comm_size();
  if (ranks > 1) {
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
  return layout_of(cells);
}

/** The rank that owns item i of n when items are dealt out evenly. */
static int dealt_to(uint32_t n, uint32_t i) {
  return (int)((((uint64_t)i + 1) * (uint64_t)comm_size() + n - 1) / n - 1);
}
int slab_owner(const struct mesh *m, uint32_t slab) { return dealt_to(m->slabs, slab); }
int column_owner(const struct mesh *m, uint32_t column) { return dealt_to(m->columns, column); }

/** Register memory that matters only within a step. With a GPU, StarPU gives the data host memory
 * only where a task on the host writes it. */
static starpu_data_handle_t register_scratch(void **data, size_t count, size_t size,
                                             const char *what) {
  if (engine_gpu()) return handle_make(count, size);
  *data = allocate(count, size, what);
  return handle_register(*data, count, size);
}

static size_t slab_rows(const struct long_range *l) {
  return (size_t)l->sets * l->mesh->fields * l->mesh->slabs;
}
static size_t block_rows(const struct long_range *l) {
  return (size_t)l->sets * l->mesh->spectra * l->mesh->slabs * l->mesh->columns;
}

static void create_slabs(struct long_range *l) {
  const struct mesh *m = l->mesh;
  l->slab = allocate(slab_rows(l), sizeof *l->slab, "slab table");
  l->slab_handle = allocate(slab_rows(l), sizeof *l->slab_handle, "slab handles");
  for (size_t i = 0; i < slab_rows(l); i++) {
    const uint32_t slab = (uint32_t)(i % m->slabs);
    const size_t floats = (slab_first(m, slab + 1) - slab_first(m, slab)) * plane_floats(m);
    if (slab_owner(m, slab) == comm_rank())
      l->slab_handle[i] = register_scratch((void **)&l->slab[i], floats, sizeof(float),
                                           "mesh slab");
  }
  l->block = allocate(block_rows(l), sizeof *l->block, "block table");
  l->block_handle = allocate(block_rows(l), sizeof *l->block_handle, "block handles");
  for (size_t i = 0; i < block_rows(l); i++) {
    const uint32_t column = (uint32_t)(i % m->columns);
    const uint32_t slab = (uint32_t)(i / m->columns % m->slabs);
    if (slab_owner(m, slab) == comm_rank() || column_owner(m, column) == comm_rank())
      l->block_handle[i] = register_scratch((void **)&l->block[i], block_size(m, slab, column),
                                            sizeof(float complex), "mesh block");
  }
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

void long_range_start(struct long_range *l, struct domain *d, const struct parameters *p,
                      uint32_t cells, const struct split *split) {
  const struct mesh_layout layout = layout_of(cells);
  *l = (struct long_range){.domain = d, .kernels = mesh_kernels_select()};
  l->sets = p->gravity.interlace ? 2 : 1;
  l->factor = (float)(GRAVITY * d->particles.mass);
  l->mesh = mesh_create(layout.cells, layout.slabs, layout.columns, d->particles.box,
                        p->gravity.assignment, p->gravity.gradient, p->gravity.interlace, split);
  l->groups = allocate(d->group_count, sizeof *l->groups, "groups");
  create_slabs(l);
  l->slab_sum = allocate(slab_rows(l), sizeof *l->slab_sum, "sums of slabs");
  l->fft = allocate(engine_workers(), sizeof *l->fft, "FFT scratch");
  l->gpu = allocate(engine_workers(), sizeof(struct gpu_mesh *), "mesh tables");
  for (uint32_t w = 0; w < engine_workers(); w++)
    l->fft[w] = allocate(mesh_scratch_bytes(l->mesh), 1, "FFT scratch");
  if (engine_gpu()) engine_on_gpu_workers(create_gpu_tables, l);
}

void long_range_free(struct long_range *l) {
  if (engine_gpu()) engine_on_gpu_workers(free_gpu_tables, l);
  long_range_leave(l);
  for (uint32_t i = 0; i < l->domain->group_count; i++) {
    free(l->groups[i].read.piece);
    free(l->groups[i].sent.piece);
  }
  free(l->groups);
  for (size_t i = 0; i < slab_rows(l); i++) {
    handle_drop(&l->slab_handle[i]);
    free(l->slab[i]);
  }
  for (size_t i = 0; i < block_rows(l); i++) {
    handle_drop(&l->block_handle[i]);
    free(l->block[i]);
  }
  for (uint32_t w = 0; w < engine_workers(); w++) free(l->fft[w]);
  void *const tables[] = {l->slab, l->slab_handle, l->block,   l->block_handle,
                          l->fft,  l->gpu,         l->slab_sum};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) free(tables[i]);
  mesh_free(l->mesh);
}

void long_range_check_mass(const struct long_range *l) {
  if (scheduler_any_gpu()) return; /* slabs are on the GPU */
  for (uint32_t set = 0; set < l->sets; set++) {
    const double all = (double)l->domain->particles.all;
    double sum = 0.0;
    for (uint32_t slab = 0; slab < l->mesh->slabs; slab++)
      if (slab_owner(l->mesh, slab) == comm_rank()) sum += l->slab_sum[slab_row(l, set, 0, slab)];
    comm_sum_double(&sum, 1);
    DEBUG_CHECK(fabs(sum - all) <= 1e-5 * all, "mesh %u holds %.9g particles of %.9g", set, sum,
                all);
  }
}
