/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strong shocks that are looked for only where the range of thermal energies allows them, beside those that are
 * looked for everywhere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/hydro/gpu_hydro.h"
#include "photons/amr/topology.h"
#include "photons/config/choices.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/gas/gas.h"

/** What a group is filled with. */
enum kind {
  UNIFORM,
  NOISE,     /* of a tenth */
  THRESHOLD, /* neighbours differ by a factor of 2, to rounding and a part of 1e-3 */
  STEEP,     /* a wave whose neighbours differ by less than 2 */
  SHOCK_X,   /* planes of 40 times the pressure, at a border of the group and inside it */
  SHOCK_Y,
  SHOCK_Z,
  SPARK,  /* one hot cell in a corner */
  COLD,   /* thermal energies of 1e-4 of the energy, which differ by factors of 10 */
  TEPID,  /* thermal energies around 0.01 of the energy */
  CHAOS,  /* pressures and densities that differ by factors of 100 */
  BROKEN, /* a cell with a negative thermal energy, and one that is not a number */
  KINDS
};

static double random_number(uint32_t *random) {
  *random = *random * 1664525u + 1013904223u;
  return (double)*random * 0x1p-32;
}

/** Density, velocity and thermal energy of cell x, y, z. */
struct gas_cell {
  double density, v[3], thermal;
};

static struct gas_cell cell_of(enum kind kind, const int at[3], uint32_t *random) {
  const double a = random_number(random), b = random_number(random);
  struct gas_cell c = {1.0, {0}, 1.0};
  for (int axis = 0; axis < 3; axis++) c.v[axis] = 0.3 * (random_number(random) - 0.5);
  switch (kind) {
  case NOISE: c.thermal += 0.1 * a; break;
  case THRESHOLD:
    c.thermal = ((at[0] + at[1] + at[2]) % 2 ? 2.0 : 1.0) *
                (a < 0.5 ? 1.0 : 1.0 + 1e-3 * (b - 0.5));
    break;
  case STEEP: c.thermal = exp(0.6 * fabs(at[0] - 7.5)); break;
  case SHOCK_X:
  case SHOCK_Y:
  case SHOCK_Z: {
    const int axis = (int)kind - SHOCK_X;
    c.thermal = at[axis] < 5 + axis ? 40.0 : 1.0;
    c.v[axis] += at[axis] < 5 + axis ? 3.0 : 0.0;
    break;
  }
  case SPARK: c.thermal = at[0] + at[1] + at[2] == 0 ? 3.0 : 1.0; break;
  case COLD:
    c.thermal = 1e-3 * pow(10.0, a);
    c.v[0] += 10.0;
    break;
  case TEPID:
    c.thermal = 0.5 * pow(10.0, a);
    c.v[1] = 8.0 + b;
    break;
  case CHAOS:
    c.thermal = pow(100.0, a);
    c.density = pow(100.0, b);
    break;
  case BROKEN:
    if (at[2] == 3 && at[1] == 3) c.thermal = at[0] == 5 ? -1.0 : at[0] == 9 ? NAN : 1.0;
    break;
  default:;
  }
  return c;
}

/** Groups of all kinds, each of which is its own neighbour on all sides. */
static void *fill(size_t real) {
  const size_t values = (size_t)KINDS * (GAS_ENTROPY + 1) * GAS_GROUP_CELLS;
  char *cells = allocate(values, real, "cells");
  uint32_t random = 1;
  for (size_t i = 0; i < (size_t)KINDS * GAS_GROUP_CELLS; i++) {
    const size_t kind = i / GAS_GROUP_CELLS, k = i % GAS_GROUP_CELLS, patch = k / GAS_PATCH_CELLS;
    const int at[3] = {(int)(8 * (patch & 1) + k % 8), (int)(8 * (patch >> 1 & 1) + k / 8 % 8),
                       (int)(8 * (patch >> 2) + k / 64 % 8)};
    const struct gas_cell c = cell_of((enum kind)kind, at, &random);
    double u[GAS_ENTROPY + 1] = {c.density, 0, 0, 0, c.thermal, c.thermal};
    for (int axis = 0; axis < 3; axis++) {
      u[1 + axis] = c.density * c.v[axis];
      u[GAS_ENERGY] += 0.5 * c.density * c.v[axis] * c.v[axis];
    }
    for (size_t v = 0; v <= GAS_ENTROPY; v++) {
      const size_t to = (kind * (GAS_ENTROPY + 1) + v) * GAS_GROUP_CELLS + k;
      if (real == sizeof(double))
        ((double *)(void *)cells)[to] = u[v];
      else
        ((float *)(void *)cells)[to] = (float)u[v];
    }
  }
  return cells;
}

/** The marks of all groups, on the host. */
struct marks {
  uint32_t shocks[KINDS][3][GAS_BLOCK_SIDE * GAS_BLOCK_SIDE];
  uint32_t any[KINDS];
};
#define NOT_WRITTEN 0xffffffffu

#define STEP 0.03 /* dt/dh of one step */

static struct marks *find_marks(const struct gpu_gas *g, const void *blocks,
                                const struct heat_range *heat) {
  static const int axes[3] = {6, 5, 3}; /* the others */
  struct marks *m = allocate(1, sizeof *m, "marks");
  uint32_t *shocks = device_memory(sizeof m->shocks);
  uint32_t *any = device_memory(sizeof m->any);
  CUDA(cudaMemset(shocks, 0xff, sizeof m->shocks));
  gpu_gas_mark_shocks(g, blocks, heat, axes, shocks, any);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaMemcpy(m->shocks, shocks, sizeof m->shocks, cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(m->any, any, sizeof m->any, cudaMemcpyDeviceToHost));
  CUDA(cudaFree(shocks));
  CUDA(cudaFree(any));
  return m;
}

static bool same_marks(const struct marks *a, const struct marks *b) {
  bool same = memcmp(a->any, b->any, sizeof a->any) == 0;
  for (int k = 0; k < KINDS; k++)
    same &= !a->any[k] || memcmp(a->shocks[k], b->shocks[k], sizeof a->shocks[k]) == 0;
  return same;
}

static struct gas_links *links_to_themselves(void) {
  struct gas_links links[KINDS];
  memset(links, 0xff, sizeof links);
  for (uint32_t i = 0; i < KINDS; i++) {
    links[i].edges = links[i].refined = 0;
    for (int n = 0; n < NEIGHBOURS; n++) links[i].near[n] = i;
  }
  return to_device(links, sizeof links);
}

/** Ranges after which no cell is looked at. */
static struct heat_range *heat_of_nothing(void) {
  struct heat_range *heat = allocate((size_t)KINDS * HEAT_RANGES, sizeof *heat, "ranges");
  for (size_t i = 0; i < (size_t)KINDS * HEAT_RANGES; i++) heat[i].least = 1.0f;
  struct heat_range *out = to_device(heat, (size_t)KINDS * HEAT_RANGES * sizeof *heat);
  free(heat);
  return out;
}

/** Steps of shocked groups on the GPU beside those on cores, with fluxes of HLL beside the shocks.
 * blocks: of all kinds, on the device */
static void check_steps(const struct gpu_gas *from, enum gas_solver solver, const void *blocks) {
  static const enum kind shocked[] = {SHOCK_X, SHOCK_Y, SHOCK_Z, SPARK, CHAOS};
  struct gpu_gas g = *from;
  g.physics.solver = solver;
  g.physics.limiter = GAS_LIMITER_VAN_LEER;
  g.groups = 1;
  const struct gas_kernels *kernels = gas_kernels_select(g.double_precision);
  const size_t group = gas_variables(&g.physics) * kernels->real_size * GAS_GROUP_CELLS,
               block = group / GAS_GROUP_CELLS * GAS_BLOCK_CELLS,
               fluxes = group / GAS_GROUP_CELLS * GAS_PATCHES * GAS_FACES * GAS_FACE_CELLS;
  char *host = allocate(block + group + fluxes, 1, "a group"), *cells = host + block;
  void *cells_out = device_memory(group), *fluxes_out = device_memory(fluxes),
       *scratch = aligned_alloc(64, (kernels->scratch_bytes + 63) / 64 * 64);
  struct gas_fault *fault, found;
  CUDA(cudaMallocHost((void **)&fault, sizeof *fault));
  struct difference d = {.stage = "shocked"};
  for (size_t k = 0; k < sizeof shocked / sizeof *shocked; k++)
    for (int reversed = 0; reversed <= 1; reversed++) {
      const char *own = (const char *)blocks + shocked[k] * block;
      CUDA(cudaMemcpy(host, own, block, cudaMemcpyDeviceToHost));
      kernels->solve(&g.physics, STEP, reversed, host, cells, cells + group, NULL, scratch, &found);
      fault->patch = -1;
      gpu_gas_solve(&g, STEP, reversed, own, NULL, cells_out, fluxes_out, GPU_FACES_ALL, NULL,
                    fault);
      CUDA(cudaDeviceSynchronize());
      char *back = allocate(group, 1, "cells of the GPU");
      CUDA(cudaMemcpy(back, cells_out, group, cudaMemcpyDeviceToHost));
      compare_numbers(&d, kernels->real_size, cells, back, group);
      free(back);
    }
  report_difference(gas_solver_names[solver], d, g.double_precision ? 4e-15 : 2e-6);
  CUDA(cudaFree(cells_out));
  CUDA(cudaFree(fluxes_out));
  CUDA(cudaFreeHost(fault));
  free(scratch);
  free(host);
}

void check_gas_shocks(int precision) {
  static const bool shocked[KINDS] = {
      [THRESHOLD] = true, [SHOCK_X] = true, [SHOCK_Y] = true, [SHOCK_Z] = true,
      [SPARK] = true,     [TEPID] = true,   [CHAOS] = true,   [BROKEN] = true};
  const size_t real = precision == GAS_DOUBLE ? sizeof(double) : sizeof(float),
               cells = (size_t)KINDS * (GAS_ENTROPY + 1) * real;
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  const struct gpu_gas g = {
      gpu_create(stream, NULL), {.solver = GAS_MUSCL, .gamma = 1.4}, real == sizeof(double), KINDS};
  char *made = fill(real), *now = to_device(made, cells * GAS_GROUP_CELLS),
       *blocks = device_memory(cells * GAS_BLOCK_CELLS);
  const char *batches[1] = {now};
  struct gas_links *links = links_to_themselves();
  struct heat_range *nothing = heat_of_nothing(), *heat = gpu_gas_heat(&g);
  const struct gpu_sources sources = {.cells = batches, .near = 1, .weight = 1.0, .links = links};
  gpu_gas_prepare(&g, &sources, blocks, heat);
  struct marks *all = find_marks(&g, blocks, NULL), *few = find_marks(&g, blocks, heat),
               *none = find_marks(&g, blocks, nothing);
  bool right = true;
  for (int k = 0; k < KINDS; k++) right &= (all->any[k] != 0) == shocked[k];
  printf("  strong shocks, %s precision\n", gas_precision_names[precision]);
  report_whether("where shocks are", right);
  report_whether("the same", same_marks(all, few));
  report_whether("quiet ones left", few->shocks[UNIFORM][0][0] == NOT_WRITTEN &&
                                        few->shocks[NOISE][0][0] == NOT_WRITTEN &&
                                        few->shocks[COLD][0][0] == NOT_WRITTEN);
  check_steps(&g, GAS_MUSCL, blocks);
  check_steps(&g, GAS_PPM, blocks);
  report_whether("ranges decide", !same_marks(all, none) && none->any[SHOCK_X] == 0);
  void *const device[] = {now, blocks, links, nothing};
  for (size_t i = 0; i < sizeof device / sizeof *device; i++) CUDA(cudaFree(device[i]));
  free(all);
  free(few);
  free(none);
  free(made);
  gpu_free(g.gpu);
  CUDA(cudaStreamDestroy(stream));
}
