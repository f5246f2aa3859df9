/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gas_root_solve: the potential of the whole root level, on a GPU. On cores loops over the mesh's
 * planes take the place of this stage (src/potential/root_poisson.c).
 *
 * Where homes have slabs (root_gpu.parts > 0) the stages gas_root_rows, gas_root_lines, gas_root_back, gas_root_lend and
 * gas_root_get do the same on several GPUs, of one rank or of many, from sources (gas_root_source).
 *
 * In a chain of tasks it finds self_gravity.mean_density, too, which those that follow read.
 *
 * reads  cells and densities of particles, or densities of both, pseudo-mass and links of all batches of the root level;
 *        the Green function's transform
 * writes potentials of all these batches, the mesh of the transforms, root_gpu.sum */
#include <stdlib.h>

#include "codelets/potential/potentials.h"
#include "codelets/potential/root_slabs.h"
#include "photons/base/comm.h"
#include "photons/runtime/message.h"

struct gas_root_solve_argument {
  struct gas *gas;
  const struct root_gpu *root;
  double factor;      /* gravity_factor() */
  bool massive, mean; /* mean: find the mean density */
};
/* Of each batch potential, links, density_slots(), and if there is any pseudo-mass; then GREEN. */
enum { MESH, BATCHES };
enum { POTENTIAL, LINKS, DENSITY };

static size_t slots_of_batch(const struct gas_root_solve_argument *a) {
  return DENSITY + density_slots_count(a->gas) + a->massive;
}

static double gas_root_solve_work(const struct gas_root_solve_argument *a) {
  return a->gas->level[0].groups;
}

/** Put the densities of a batch into the mesh. @param buffers  of this batch */
static void put_densities(const struct gpu_gas *g, void *buffers[],
                          const struct gas_root_solve_argument *a, uint32_t batch, double *mesh) {
  const struct batch_argument of = {a->gas, 0, batch};
  const size_t mass = DENSITY + density_slots_count(a->gas);
  struct gpu_density density = gpu_density_in(&of, buffers + DENSITY,
                                              a->massive ? buffers[mass] : NULL, a->factor);
  density.mean = 0.0; /* what does not attract is the wave of number 0 */
  gpu_root_put(a->root->worker[worker_number()], g, &density,
               VECTOR(const struct gas_links, buffers[LINKS]), mesh, a->root->sum + own_of(&of));
}

/** Copy a batch to or from the mesh. @param buffers  of this batch */
static void copy_batch(struct gpu *gpu, void *buffers[], const struct gas_root_solve_argument *a,
                       uint32_t batch, double *mesh, bool put) {
  const struct gpu_root *root = a->root->worker[worker_number()];
  const struct gpu_root_planes planes = {0, a->root->size.size[2]};
  const struct gpu_gas g = gpu_gas_of(gpu, &(struct batch_argument){a->gas, 0, batch});
  const struct gas_links *links = VECTOR(const struct gas_links, buffers[LINKS]);
  if (put)
    put_densities(&g, buffers, a, batch, mesh);
  else
    gpu_root_get(root, &g, planes, links, mesh, VECTOR(double, buffers[POTENTIAL]));
}

static void gas_root_solve_gpu(struct gpu *gpu, void *buffers[],
                               const struct gas_root_solve_argument *a) {
  const uint32_t batches = a->gas->level[0].batch_count;
  const size_t step = slots_of_batch(a);
  double *mesh = VECTOR(double, buffers[MESH]);
  gpu_clear(gpu, mesh, a->root->mesh_bytes);
  for (uint32_t i = 0; i < batches; i++)
    copy_batch(gpu, buffers + BATCHES + i * step, a, i, mesh, true);
  if (a->mean) {
    gpu_root_wait(a->root->worker[worker_number()]);
    a->gas->gravity->mean_density = root_mean_of_own(a->gas, a->root->sum);
  }
  gpu_root_solve(a->root->worker[worker_number()],
                 a->root->green ? VECTOR(const double, buffers[BATCHES + batches * step]) : NULL,
                 mesh);
  for (uint32_t i = 0; i < batches; i++)
    copy_batch(gpu, buffers + BATCHES + i * step, a, i, mesh, false);
}

STAGE_ON_GPU(gas_root_solve, 0x113388, "gas");

/** Send sources of batches to the ranks whose slabs have their planes, or potentials back. */
static void transfer_batches(const struct gas *g, const struct root_gpu *r, bool back) {
  const int me = comm_rank();
  const unsigned kind = back ? MESSAGE_ROOT_POTENTIAL : MESSAGE_ROOT_SOURCE;
  for (uint32_t k = 0; k < r->aways; k++) {
    const struct root_away *a = &r->away[k];
    const size_t thing = (size_t)a->batch * (size_t)comm_size() + (size_t)a->rank;
    if (back)
      message_transfer(a->cubes, kind, thing, a->rank, me, PRIORITY_HIGHEST);
    else
      message_transfer(potential_handle(g, 0, a->batch, POTENTIAL_NEXT), kind, thing, me, a->rank,
                       PRIORITY_HIGHEST);
  }
  for (uint32_t k = 0; k < r->guests; k++) {
    const uint32_t batch = r->guest[k].batch;
    const int owner = gas_owner(g, 0, gas_batch_span(&g->level[0], batch).first);
    message_transfer(r->guest[k].cubes, kind, (size_t)batch * (size_t)comm_size() + (size_t)me,
                     back ? me : owner, back ? owner : me, PRIORITY_HIGHEST);
  }
}

/** Send pieces of slabs to the ranks that have their lines, or back. */
static void transfer_pieces(const struct root_gpu *r, bool back) {
  for (uint32_t i = r->first; i < r->first + r->homes; i++)
    for (uint32_t k = 0; k < r->parts; k++) {
      if (root_is_own(r, k)) continue;
      const size_t sent = (size_t)i * r->parts + k, received = (size_t)k * r->parts + i;
      const int me = comm_rank(), other = root_rank(r, k);
      message_transfer(root_piece(r, i, k), MESSAGE_ROOT_PIECE, sent, back ? other : me,
                       back ? me : other, PRIORITY_HIGHEST);
      message_transfer(root_piece(r, k, i), MESSAGE_ROOT_PIECE, received, back ? me : other,
                       back ? other : me, PRIORITY_HIGHEST);
    }
}

/** Solve the level on the GPUs of all homes. */
static void submit_parts(struct gas *g, const struct root_gpu *r, bool massive) {
  const uint32_t begin = gas_own_begin(g, 0), end = gas_own_end(g, 0);
  for (uint32_t i = begin; i < end; i++) gas_root_source_submit(g, r, i, massive);
  transfer_batches(g, r, false);
  for (uint32_t i = 0; i < r->homes; i++) gas_root_rows_submit(g, r, r->first + i);
  transfer_pieces(r, false);
  for (uint32_t i = 0; i < r->homes; i++) gas_root_lines_submit(g, r, r->first + i);
  transfer_pieces(r, true);
  for (uint32_t i = 0; i < r->homes; i++) gas_root_back_submit(g, r, r->first + i);
  for (uint32_t k = 0; k < r->guests; k++) gas_root_lend_submit(g, r, &r->guest[k]);
  transfer_batches(g, r, true);
  for (uint32_t i = 0; i < r->homes; i++)
    if (gas_home_has(g, 0, r->first + i)) gas_root_get_submit(g, r, r->first + i);
}

void gas_root_solve_submit(struct gas *g, const struct root_gpu *r, bool massive) {
  const struct gas_root_solve_argument a = {g, r, gravity_factor(g, 0), massive,
                                            g->tasks.chain && !massive};
  struct slots slots = slots_of("gas_root_solve", g, 0, 0);
  if (r->parts > 0) {
    submit_parts(g, r, massive);
    return;
  }
  slots_add(&slots, r->mesh, STARPU_W);
  for (uint32_t i = 0; i < g->level[0].batch_count; i++) {
    const struct gas_batch *b = gas_batch(g, 0, i);
    slots_add(&slots, potential_handle(g, 0, i, POTENTIAL_END), STARPU_W);
    slots_add_links(&slots, b);
    density_slots(&slots, g, 0, i);
    if (massive) slots_add(&slots, b->sheets, STARPU_R);
  }
  if (r->green) slots_add(&slots, r->green, STARPU_R);
  gas_root_solve_insert(a, slots_task(&slots, PRIORITY_HIGHEST));
  free(slots.data);
}
