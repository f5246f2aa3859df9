/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/memory.h"

#include <malloc.h>
#include <math.h>
#include <stdbool.h>

#include "output_beside.h"
#include "photons/analysis/analysis.h"
#include "photons/analysis/halo.h"
#include "photons/analysis/statistics.h"
#include "photons/analysis/tree.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/installed_memory.h"
#include "photons/config/parameters.h"
#include "photons/domain/domain.h"
#include "photons/ic/ic.h"
#include "photons/runtime/background.h"
#include "photons/runtime/scheduler.h"
#include "photons/step/light_cone_size.h"

/* Measured on x86-64 with Debian 12: a run of 16^3 particles without outputs less what it
 * allocates, and by how much a run grows with each further group. What MPI adds to each of several
 * ranks is an estimate. */
#define PROGRAM_BYTES 24e6
#define MPI_BYTES 20e6
#define GROUP_BYTES 65e3
#define RANKS_AROUND 27.0
/* Of each particle of a group what a worker on a core has of interaction lists, and of pairs while it makes them, in
 * isolated systems, for each doubling of the number of groups: a walk meets all of them, far ones by large nodes. Measured of
 * 2^15 to 2^18 particles of a Plummer sphere in 8 to 64 groups. */
#define LISTS_BYTES 650.0
/* Of a particle while groups are cut (src/domain/rebuild.c): its key, and a number in an order. */
#define KEY_BYTES 16.0
#define NUMBER_BYTES 4.0

static double larger(double a, double b) { return a > b ? a : b; }

/** Whether the mesh gives its memory back between forces. */
static bool rests(const struct parameters *p) {
  return p->runtime.memory != MEMORY_FAST && !scheduler_any_gpu();
}

/** The patches of all groups: bisection halves x, y and z in turn. */
static double patches(const struct parameters *p, const struct layout *l) {
  const double cells = l->mesh.cells, margin = p->gravity.interlace ? 5.0 : 4.0;
  double side[3] = {cells, cells, cells}, patch = sizeof(float);
  unsigned axis = 0;
  for (uint32_t parts = l->domain.group_count; parts > 1; parts /= 2) side[axis++ % 3] /= 2.0;
  for (int c = 0; c < 3; c++) patch *= fmin(side[c] + margin, cells);
  return patch * l->domain.group_count;
}

/** Slabs of real numbers and blocks of complex ones, of pencils also row blocks there and back, and in the memory of
 * some of them, or beyond it, the patches (src/mesh/long_range.c). */
static double mesh(const struct parameters *p, const struct layout *l) {
  const bool spectral = p->gravity.gradient == GRADIENT_SPECTRAL;
  const double sets = p->gravity.interlace ? 2.0 : 1.0, places = rests(p) ? 1.0 : sets;
  const double n = l->mesh.cells, fields = spectral ? 3.0 : 1.0, spectra = spectral ? 2.0 : 1.0;
  const double slabs = n * n * mesh_row(l->mesh.cells) * sizeof(float),
               blocks = n * n * (n / 2.0 + 1.0) * 2.0 * sizeof(float);
  const double row_blocks = l->mesh.parts > 1 ? 2.0 * blocks : 0.0;
  const double all = places * (fields * slabs + spectra * blocks + row_blocks) +
                     (sets > places ? blocks : 0.0);
  const double late = places * ((fields - 1.0) * slabs + (spectra - 1.0) * blocks);
  const double patch = places * patches(p, l);
  return all + (scheduler_any_gpu() ? patch : larger(patch - late, 0.0));
}

/** Keys, or later a copy of the widest column, and each particle's node. With GPUs there are no keys.
 * Several ranks have two copies of the keys or of a column on their way. */
static double rebuild(const struct layout *l, double particles) {
  const double moved = larger(scheduler_any_gpu() ? 0.0 : KEY_BYTES,
                              (double)columns_widest(l->columns));
  return particles * ((comm_size() > 1 ? 2.0 : 1.0) * moved + NUMBER_BYTES);
}

/** Copies of the light particles of several masses, which halos are made of, and of the others, which snapshots in the order
 * of halos have, too: all columns (src/app/light_particles.c). */
static double copies_of_light(const struct parameters *p, size_t particles, column_set columns) {
  const bool light = p->box.boundary != BOUNDARY_ISOLATED && p->analysis.fof &&
                     (columns & (column_set)1 << COLUMN_relative_mass);
  return light ? (double)particles * (double)columns_bytes(columns) : 0.0;
}

static double potentials(const struct parameters *p, size_t particles) {
  return p->output.potential && p->output.snapshots ? (double)particles * sizeof(float) : 0.0;
}

static double outputs(const struct parameters *p, size_t particles, const struct layout *l) {
  const uint32_t mesh = l->mesh.cells;
  const double heads = p->analysis.fof ? (double)particles * sizeof(uint32_t) : 0.0,
               copies = copies_of_light(p, particles, l->columns);
  const size_t cells = power_range_of(p, particles, mesh).mesh;
  const double products = power_memory(p, particles, cells) * (double)comm_size() +
                          statistics_memory(p, particles, statistics_mesh(p, mesh)) *
                              (double)comm_size() +
                          image_memory(p, particles) + subhalos_memory(p, particles) +
                          trees_memory(p, particles);
  /* Snapshots are written when these are done. While copies are made they are there twice, before that. */
  return heads + copies + potentials(p, particles) +
         larger(larger(products, copies), halo_order_memory(p, particles, l->columns));
}

/** Between forces: new groups, and outputs. Outputs beside steps have all of their memory while new groups are made. */
static double at_outputs(const struct parameters *p, const struct layout *l, size_t particles) {
  const double groups = rebuild(l, (double)particles), products = outputs(p, particles, l);
  if (p->output.beside != BESIDE_YES) return larger(groups, products);
  return groups + products + (double)particles * output_beside_bytes(p, l->columns);
}

/** Of packed targets (photons/tree/targets.h) where nearly all particles are active: index,
 * position, acceleration, and the nodes of their trees. */
static double packed_targets(const struct parameters *p, size_t particles, const struct layout *l) {
  if (p->time.step != STEP_BLOCK) return 0.0;
  return (double)particles * 7.0 * sizeof(float) +
         (double)l->domain.group_count * tree_nodes(l->domain.depth) * sizeof(struct node);
}

/** What all ranks keep of groups: of their own ones the upper levels of trees, which the host looks at; and tables of
 * these and of those that they meet. A group of a box meets the ranks around its own one at most, a group of an isolated
 * system all (docs/dev/scaling-model.md). */
static double tables_of_groups(const struct layout *l, size_t particles) {
  const bool isolated = l->mesh.cells == 0;
  const double top = tree_nodes(domain_top_depth(&l->domain, particles, isolated)) *
                     sizeof(struct node),
               group = sizeof(struct group) + 3.0 * sizeof(struct node),
               ranks = isolated ? comm_size() : fmin(comm_size(), RANKS_AROUND);
  return comm_size() > 1 ? (top + ranks * group) * l->domain.group_count : 0.0;
}

/** The interaction lists that workers on cores have at a time, in isolated systems: each those of a group. */
static double lists_of_workers(const struct parameters *p, const struct layout *l,
                               size_t particles) {
  if (l->mesh.cells > 0 || scheduler_any_gpu()) return 0.0;
  const double groups = l->domain.group_count, walks = fmin(scheduler_workers_foreseen(p), groups);
  return walks * LISTS_BYTES * log2(fmax(groups, 2.0)) * (double)particles / groups;
}

/** Accelerations of all particles beside those of the last forces. */
static double all_targets(const struct parameters *p, size_t particles) {
  return p->time.step == STEP_BLOCK ? (double)particles * 3.0 * sizeof(float) : 0.0;
}

/** The layout, with the columns that initial conditions decide on: a restart has the same. */
static struct layout layout_of(const struct parameters *p, const struct particles *s) {
  struct layout l = layout_choose(p, s->all);
  l.columns |= s->columns & columns_present(PRESENT_WHERE_ADDED);
  l.bytes_particles = (double)s->all * (double)columns_bytes(l.columns);
  return l;
}

struct memory_use memory_estimate(const struct parameters *p, const struct particles *s) {
  const size_t particles = s->all;
  const struct layout l = layout_of(p, s);
  const double ranks = comm_size(), packed = packed_targets(p, particles, &l);
  struct memory_use use = {.program = ranks * (PROGRAM_BYTES + (ranks > 1.0 ? MPI_BYTES : 0.0)),
                           .particles = l.bytes_particles,
                           .trees = l.bytes_tree,
                           .mesh = l.mesh.cells > 0 ? mesh(p, &l) : 0.0,
                           .tasks = GROUP_BYTES * l.domain.group_count +
                                    tables_of_groups(&l, particles)};
  use.tasks += lists_of_workers(p, &l, particles);
  use.tasks += trees_kept_memory(p, particles);
  use.tasks += light_cone_size(p, particles, l.columns).memory;
  use.on_gpus = fmin(larger(ranks * scheduler_gpu_memory() - use.particles, 0.0),
                     use.trees + use.mesh + packed);
  /* Initial conditions come before trees, meshes and tasks. */
  const double before = (p->ic.source == IC_GENERATE ? ic_generate_memory(p) : 0.0) + use.on_gpus -
                        use.trees - use.mesh - use.tasks - (rests(p) ? 0.0 : packed);
  double between = at_outputs(p, &l, particles);
  if (rests(p)) { /* sub-steps, rebuilds and outputs have the memory of the mesh */
    use.tasks += all_targets(p, particles);
    between = larger(between, packed) - use.mesh - all_targets(p, particles);
  } else {
    use.tasks += packed;
  }
  use.at_times = larger(larger(before, between), 0.0);
  return use;
}

double memory_peak(const struct memory_use *use) {
  return use->program + use->particles + use->trees + use->mesh + use->tasks + use->at_times -
         use->on_gpus;
}

/* Of the memory that a run may plan to use to be fast. On GPUs kernels have working memory, and of two meshes there are
 * pieces of both for a while. A host has other work to do. */
#define PLANNED_OF_GPUS 0.75
#define PLANNED_OF_HOSTS 0.25

/** The parameters of a run that has had the finest mesh from the start. */
static struct parameters with_finest_mesh(const struct parameters *p, const struct particles *s) {
  struct parameters finest = *p;
  if (p->gravity.pm_grid_most > layout_choose(p, s->all).mesh.cells)
    finest.gravity.pm_grid = p->gravity.pm_grid_most;
  return finest;
}

/** Whether a run with these parameters stays below that on all ranks. Collective. */
static bool affordable(const struct parameters *p, const struct particles *s) {
  const struct memory_use use = memory_estimate(p, s);
  const double installed = installed_memory();
  uint32_t fits = memory_peak(&use) < PLANNED_OF_HOSTS * installed;
  if (scheduler_any_gpu())
    fits = memory_peak(&use) < installed &&
           use.particles + use.trees + use.mesh + use.tasks <
               PLANNED_OF_GPUS * comm_size() * scheduler_gpu_memory();
  comm_min_u32(&fits, 1);
  return fits;
}

/** The finest mesh that is affordable, of at most so many cells a side.
 * @return 0: none is finer than the first one */
static uint32_t finest_mesh(const struct parameters *p, const struct particles *s, double most) {
  const uint32_t first = layout_choose(p, s->all).mesh.cells;
  for (double factor = 2.0; first > 0 && factor > 1.0; factor -= 0.25) {
    struct parameters finer = *p;
    finer.gravity.pm_grid = mesh_good_size((uint32_t)ceil(factor * first));
    if ((double)finer.gravity.pm_grid <= fmin(MESH_MOST, most) && affordable(&finer, s))
      return (uint32_t)finer.gravity.pm_grid;
  }
  return 0;
}

/** Outputs are written beside steps where that is affordable with the mesh that is the finest without them, and where
 * the mesh has memory of its own between forces. */
static void settle_outputs(struct parameters *p, const struct particles *s) {
  p->output.beside = BESIDE_YES;
  const struct parameters finest = with_finest_mesh(p, s);
  if (rests(p) || !affordable(&finest, s)) p->output.beside = BESIDE_NO;
}

/** Keep freed blocks for the next ones: outputs allocate the same sizes again, and each new page of memory waits for the
 * system. main() lets them go. */
static void keep_freed_memory(void) {
  enum { LARGE = 32 << 20, KEPT = 128 << 20 };
  (void)mallopt(M_MMAP_THRESHOLD, LARGE);
  (void)mallopt(M_TRIM_THRESHOLD, KEPT);
}

void memory_settle(struct parameters *p, const struct particles *s, double most) {
  const bool wanted = p->output.beside == BESIDE_YES ||
                      (p->output.beside == BESIDE_AUTO && scheduler_any_gpu());
  p->output.beside = BESIDE_NO;
  if (p->runtime.memory == MEMORY_AUTO) {
    struct parameters fast = with_finest_mesh(p, s);
    fast.runtime.memory = MEMORY_FAST;
    p->runtime.memory = affordable(&fast, s) ? MEMORY_FAST : MEMORY_SMALL;
  }
  if (p->gravity.pm_grid == 0 && p->gravity.pm_grid_most == 0 &&
      (scheduler_any_gpu() || p->runtime.memory == MEMORY_FAST))
    p->gravity.pm_grid_most = finest_mesh(p, s, most);
  if (p->runtime.memory == MEMORY_FAST) keep_freed_memory();
  if (wanted && background_possible()) settle_outputs(p, s);
}

void memory_require(const struct parameters *p, const struct particles *s) {
  const struct parameters finest = with_finest_mesh(p, s);
  const struct memory_use use = memory_estimate(&finest, s);
  const double installed = installed_memory();
  if (memory_peak(&use) > installed)
    fail(EXIT_RUN_FAILED,
         "%zu particles need about %.1f GB of memory (particles %.1f, trees %.1f, mesh %.1f, tasks "
         "%.1f, at times %.1f, less %.1f on GPUs); machines like this one, as many as are in use, "
         "have %.1f GB: use fewer particles, a coarser gravity.pm_grid or gravity.pm_grid_most, or "
         "more machines",
         s->all, 1e-9 * memory_peak(&use), 1e-9 * use.particles, 1e-9 * use.trees, 1e-9 * use.mesh,
         1e-9 * use.tasks, 1e-9 * use.at_times, 1e-9 * use.on_gpus, 1e-9 * installed);
}
