/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of groups, src/potential/kernels/direct.h and poisson.c. One block of threads a group. */
#include "cuda/potential/potential_blocks.cuh"

/* The direct solution. Waves are in shared memory, [z][y][x] with a row of 17, so that threads that
 * work on neighbouring rows or columns read different banks. */

/* Blocks of threads on a multiprocessor: registers of a thread decide. */
enum { SOLVE_THREADS = CUBE_PLANE, SOLVE_BLOCKS = 3, STEP_Y = INNER + 1, STEP_Z = INNER * STEP_Y };

/** Sine waves, poisson_waves. They are an argument of the kernel: all threads read the same number at
 * the same time. */
struct waves {
  double symmetric[HALF][HALF], antisymmetric[HALF][HALF]; /* [cell][wave] */
};

/** From the cells of a line to its waves: first the symmetric ones, which are products of the sums of
 * cells i and 15 - i, then the antisymmetric ones, of the differences. */
INLINE void to_waves(const waves &w, double *line, int step) {
  double sum[HALF], difference[HALF];
#pragma unroll
  for (int i = 0; i < HALF; i++) {
    const double low = line[i * step], high = line[(INNER - 1 - i) * step];
    sum[i] = low + high;
    difference[i] = low - high;
  }
#pragma unroll
  for (int k = 0; k < HALF; k++) {
    double even = 0.0, odd = 0.0;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
      even += w.symmetric[i][k] * sum[i];
      odd += w.antisymmetric[i][k] * difference[i];
    }
    line[k * step] = even;
    line[(HALF + k) * step] = odd;
  }
}

INLINE void to_cells(const waves &w, double *line, int step) {
  double even[HALF], odd[HALF];
#pragma unroll
  for (int k = 0; k < HALF; k++) {
    even[k] = line[k * step];
    odd[k] = line[(HALF + k) * step];
  }
#pragma unroll
  for (int i = 0; i < HALF; i++) {
    double sum = 0.0, difference = 0.0;
#pragma unroll
    for (int k = 0; k < HALF; k++) {
      sum += w.symmetric[i][k] * even[k];
      difference += w.antisymmetric[i][k] * odd[k];
    }
    line[i * step] = sum + difference;
    line[(INNER - 1 - i) * step] = sum - difference;
  }
}

/** Elimination along z of a wave along x and y, and substitution. @param pivot  of this wave */
INLINE void solve_line(const double *pivot, double *line) {
  double inverse[INNER], value[INNER];
#pragma unroll
  for (int z = 0; z < INNER; z++) {
    inverse[z] = pivot[z * CUBE_PLANE];
    value[z] = inverse[z] * (line[z * STEP_Z] - (z > 0 ? value[z - 1] : 0.0));
  }
#pragma unroll
  for (int z = INNER - 1; z >= 0; z--) {
    if (z < INNER - 1) value[z] -= inverse[z] * value[z + 1];
    line[z * STEP_Z] = value[z];
  }
}

/** A batch whose groups are solved. */
template <typename real> struct solved_batch {
  density_of_groups<real> density;
  const double *source; /* [group][16][16][16], of these densities; NULL: each solution finds it */
  potentials from;
  double *to; /* [group][16][16][16] */
  uint32_t groups;
};

/** Place i, j of a ghost cell beyond a face, in a cube of `side` cells that begins at `first`. */
INLINE struct cell_place beyond_face(int face, int i, int j, int lower, int upper, int first) {
  const int along = face % 2 ? upper : lower;
  return face / 2 == 0   ? cell_place{along, i + first, j + first}
         : face / 2 == 1 ? cell_place{i + first, along, j + first}
                         : cell_place{i + first, j + first, along};
}

/** The ghost cells beyond the faces of a group, [face][16][16]. @param coarse  of around_group() */
static __device__ void fill_faces(const potentials &s, const struct gas_links &l, double *coarse,
                                  double *beyond) {
  const unsigned near = faces_near(s, l);
  const int i = (int)threadIdx.x % INNER, j = (int)threadIdx.x / INNER;
  if (near != ALL_FACES) around_group(s, l, false, coarse);
#pragma unroll
  for (int face = 0; face < GAS_FACES; face++) {
    const struct cell_place there = beyond_face(face, i, j, INNER - 1, 0, 0),
                            here = beyond_face(face, i, j, 0, SIDE - 1, 1);
    beyond[face * CUBE_PLANE + (int)threadIdx.x] =
        near >> face & 1
            ? group_of(s.near, l.near[across(face)])[(there.z * INNER + there.y) * INNER + there.x]
            : interpolated(coarse, here.x, here.y, here.z);
  }
  if (s.change == 0.0 || near == 0) return;
  around_group(s, l, true, coarse);
#pragma unroll
  for (int face = 0; face < GAS_FACES; face++) {
    const struct cell_place here = beyond_face(face, i, j, 0, SIDE - 1, 1);
    if (near >> face & 1)
      beyond[face * CUBE_PLANE + (int)threadIdx.x] += interpolated(coarse, here.x, here.y, here.z);
  }
}

/** The source of a cell, less the ghost cells beside it. */
INLINE double less_beyond(double source, const double *beyond, int x, int y, int z) {
  if (z == 0) source -= beyond[4 * CUBE_PLANE + y * INNER + x];
  if (z == INNER - 1) source -= beyond[5 * CUBE_PLANE + y * INNER + x];
  if (y == 0) source -= beyond[2 * CUBE_PLANE + z * INNER + x];
  if (y == INNER - 1) source -= beyond[3 * CUBE_PLANE + z * INNER + x];
  if (x == 0) source -= beyond[z * INNER + y];
  if (x == INNER - 1) source -= beyond[CUBE_PLANE + z * INNER + y];
  return source;
}

/** A potential whose change is taken more than once. */
INLINE double exceeded(double old, double solution, double excess) {
  return solution + excess * (solution - old);
}

template <typename real>
static __global__ void __launch_bounds__(SOLVE_THREADS, SOLVE_BLOCKS)
    solve_directly(const __grid_constant__ waves w, const solved_batch<real> *batches,
                   const double *pivot, const __grid_constant__ struct gpu_half half) {
  __shared__ double p[INNER * STEP_Z], beyond[GAS_FACES * CUBE_PLANE];
  const solved_batch<real> &b = batches[blockIdx.y];
  if (blockIdx.x >= b.groups) return;
  const struct gas_links &l = b.from.links[blockIdx.x];
  double *cube = b.to + (size_t)blockIdx.x * GAS_GROUP_CELLS + threadIdx.x;
  const double *old = b.from.near ? group_of(b.from.near, l.near[MYSELF]) + threadIdx.x : NULL;
  if (!is_solved(l, half)) {
    for (int z = 0; z < INNER && half.others != GPU_OTHERS_STAY; z++)
      cube[z * CUBE_PLANE] = half.others == GPU_OTHERS_COPY ? old[z * CUBE_PLANE] : 0.0;
    return;
  }
  const int i = (int)threadIdx.x % INNER, j = (int)threadIdx.x / INNER;
  double *along_x = p + j * STEP_Z + i * STEP_Y, *along_y = p + j * STEP_Z + i,
         *along_z = p + j * STEP_Y + i; /* this thread's lines */
  fill_faces(b.from, l, p, beyond);
  __syncthreads();
#pragma unroll
  for (int z = 0; z < INNER; z++) {
    const double source =
        b.source ? b.source[(size_t)blockIdx.x * GAS_GROUP_CELLS + z * CUBE_PLANE + threadIdx.x]
                 : source_at(b.density, i, j, z);
    along_z[z * STEP_Z] = less_beyond(source, beyond, i, j, z);
  }
  __syncthreads();
  to_waves(w, along_x, 1);
  __syncthreads();
  to_waves(w, along_y, STEP_Y);
  __syncthreads();
  solve_line(pivot + threadIdx.x, along_z);
  __syncthreads();
  to_cells(w, along_y, STEP_Y);
  __syncthreads();
  to_cells(w, along_x, 1);
  __syncthreads();
  for (int z = 0; z < INNER; z++) {
    const double solution = along_z[z * STEP_Z];
    cube[z * CUBE_PLANE] = half.excess == 0.0
                               ? solution
                               : exceeded(old[z * CUBE_PLANE], solution, half.excess);
  }
}

/** Sources for several solutions: what they are made from is three times as much. @param source  of all batches */
template <typename real>
static __global__ void __launch_bounds__(SOLVE_THREADS)
    find_sources(const solved_batch<real> *batches, double *source) {
  const solved_batch<real> &b = batches[blockIdx.y];
  if (blockIdx.x >= b.groups) return;
  const int i = (int)threadIdx.x % INNER, j = (int)threadIdx.x / INNER;
  source += b.source - batches[0].source;
#pragma unroll 4
  for (int z = 0; z < INNER; z++)
    source[(size_t)blockIdx.x * GAS_GROUP_CELLS + z * CUBE_PLANE + threadIdx.x] = source_at(
        b.density, i, j, z);
}

/** The batches in device memory, and their lists after them. @param source  room for those of all batches; NULL: there is
 * none */
template <typename real>
static const solved_batch<real> *upload(const struct gpu_gas *g, const struct gpu_solved *batch,
                                        uint32_t batches, double *source) {
  size_t bytes = batches * sizeof(solved_batch<real>);
  for (uint32_t i = 0; i < batches; i++) bytes += batches_of(&batch[i].from) * sizeof(double *);
  char *device = (char *)gpu_scratch(g->gpu, SCRATCH_TABLE, bytes),
       *host = (char *)allocate(bytes, 1, "task data"),
       *list = host + batches * sizeof(solved_batch<real>);
  for (uint32_t i = 0; i < batches; i++) {
    const struct gpu_potentials *from = &batch[i].from;
    ((solved_batch<real> *)host)[i] = {
        density_of<real>(g, &batch[i].density), source,
        potentials_in((const double **)(device + (list - host)), from), batch[i].to,
        batch[i].groups};
    if (source) source += (size_t)batch[i].groups * GAS_GROUP_CELLS;
    memcpy(list, from->cells, batches_of(from) * sizeof(double *));
    list += batches_of(from) * sizeof(double *);
  }
  gpu_upload(g->gpu, device, host, bytes);
  free(host);
  return (const solved_batch<real> *)device;
}

template <typename real>
static void solve_in(const struct gpu_gas *g, const waves &w, const double *pivot,
                     const struct gpu_solved *batch, uint32_t batches, const struct gpu_half *half,
                     uint32_t halves) {
  enum { FEW = 2 }; /* each group once */
  uint32_t most = 0, groups = 0;
  for (uint32_t i = 0; i < batches; i++) {
    most = batch[i].groups > most ? batch[i].groups : most;
    groups += batch[i].groups;
  }
  double *source = halves <= FEW
                       ? NULL
                       : (double *)gpu_scratch(g->gpu, SCRATCH_CELLS,
                                               groups * (size_t)GAS_GROUP_CELLS * sizeof *source);
  const solved_batch<real> *table = upload<real>(g, batch, batches, source);
  if (source)
    find_sources<real><<<dim3(most, batches), SOLVE_THREADS, 0, g->gpu->stream>>>(table, source);
  for (uint32_t k = 0; k < halves; k++) {
    solve_directly<real>
        <<<dim3(most, batches), SOLVE_THREADS, 0, g->gpu->stream>>>(w, table, pivot, half[k]);
    gpu_launched("potential");
  }
}

void gpu_gas_solve_directly(const struct gpu_gas *g, const struct poisson_waves *from,
                            const double *pivot, const struct gpu_solved *batch, uint32_t batches,
                            const struct gpu_half *half, uint32_t halves) {
  waves w;
  for (int i = 0; i < HALF; i++)
    for (int k = 0; k < HALF; k++) {
      w.symmetric[i][k] = from->symmetric[i][k];
      w.antisymmetric[i][k] = from->antisymmetric[i][k];
    }
  if (g->double_precision)
    solve_in<double>(g, w, pivot, batch, batches, half, halves);
  else
    solve_in<float>(g, w, pivot, batch, batches, half, halves);
}

/* Relaxation. */

enum {
  RELAX_THREADS = 512,
  RELAX_WARPS = RELAX_THREADS / WARP,
  CELLS_OF_THREAD = GAS_GROUP_CELLS / 2 / RELAX_THREADS, /* of one colour */
  CHECK = 8 /* sweeps after which a residual that rounding holds up is noticed */
};

/** Cell k of a thread, of one colour: the cells of a block with x + y + z even, or odd. */
INLINE struct cell_place cell_of_colour(int colour, int k) {
  const int number = (int)threadIdx.x + RELAX_THREADS * k;
  const int z = number / (INNER * HALF), y = number / HALF % INNER;
  return {2 * (number % HALF) + ((1 + y + z + colour) & 1), y, z};
}

/** Chebyshev acceleration: Press et al., Numerical Recipes, section 20.5. */
INLINE double next_omega(double omega, double square_radius, int half_sweep) {
  if (half_sweep == 0) return 1.0;
  return 1.0 / (1.0 - square_radius * omega * (half_sweep == 1 ? 0.5 : 0.25));
}

/** The source of a thread's cells; the sum over the group of factor |density|. */
template <typename real>
INLINE double find_source(const density_of_groups<real> &d, double source[2][CELLS_OF_THREAD]) {
  double sum = 0.0;
#pragma unroll
  for (int colour = 0; colour < 2; colour++)
#pragma unroll
    for (int k = 0; k < CELLS_OF_THREAD; k++) {
      const struct cell_place c = cell_of_colour(colour, k);
      source[colour][k] = source_at(d, c.x, c.y, c.z);
      sum += fabs(density_at(d, c.x, c.y, c.z));
    }
  return d.factor * block_sum<RELAX_WARPS>(sum);
}

/** Relax a thread's cells of one colour. @return the sum of their residuals before */
INLINE double relax_colour(const double source[CELLS_OF_THREAD], double part, int colour,
                           double *block) {
  double sum = 0.0;
#pragma unroll
  for (int k = 0; k < CELLS_OF_THREAD; k++) {
    const struct cell_place c = cell_of_colour(colour, k);
    double *p = block + place_in_block(c.x, c.y, c.z);
    const double residual = laplacian(p) - source[k];
    *p += part * residual;
    sum += fabs(residual);
  }
  __syncthreads();
  return sum;
}

template <typename real>
static __global__ void __launch_bounds__(RELAX_THREADS)
    relax(const __grid_constant__ density_of_groups<real> d, double square_radius, double tolerance,
          double least, const struct gas_links *links, const __grid_constant__ struct gpu_half half,
          const double *blocks, double *potentials) {
  __shared__ double block[POISSON_CELLS];
  const int sweeps = is_solved(links[blockIdx.x], half) ? POISSON_SWEEPS_MAX : 0;
  double source[2][CELLS_OF_THREAD], omega = 1.0, checked = HUGE_VAL;
  for (int i = (int)threadIdx.x; i < POISSON_CELLS; i += RELAX_THREADS)
    block[i] = blocks[(size_t)blockIdx.x * POISSON_CELLS + i];
  const double target = tolerance * fmax(find_source(d, source), least);
  __syncthreads();
  for (int sweep = 0; sweep < sweeps; sweep++) {
    double residual = 0.0;
#pragma unroll
    for (int colour = 0; colour < 2; colour++) {
      omega = next_omega(omega, square_radius, 2 * sweep + colour);
      residual += relax_colour(source[colour], omega / 6.0, colour, block);
    }
    residual = block_sum<RELAX_WARPS>(residual); /* all threads have the same, and end together */
    if (residual <= target) break;
    if ((sweep + 1) % CHECK != 0) continue;
    if (residual > 0.5 * checked) break;
    checked = residual;
  }
  for (int i = (int)threadIdx.x; i < GAS_GROUP_CELLS; i += RELAX_THREADS) {
    const int at = place_in_block(i % INNER, i / INNER % INNER, i / CUBE_PLANE);
    potentials[(size_t)blockIdx.x * GAS_GROUP_CELLS + i] = exceeded(
        blocks[(size_t)blockIdx.x * POISSON_CELLS + at], block[at], sweeps > 0 ? half.excess : 0.0);
  }
}

template <typename real>
static void relax_in(const struct gpu_gas *g, const struct gpu_density *density, double tolerance,
                     double least, const struct gas_links *links, struct gpu_half half,
                     const double *blocks, double *potentials) {
  const double radius = cos(3.14159265358979323846 / (INNER + 1.0)); /* of Jacobi's iteration */
  relax<real><<<g->groups, RELAX_THREADS, 0, g->gpu->stream>>>(density_of<real>(g, density),
                                                               radius * radius, tolerance, least,
                                                               links, half, blocks, potentials);
  gpu_launched("relaxation");
}

void gpu_gas_relax(const struct gpu_gas *g, const struct gpu_density *density, double tolerance,
                   double least, const struct gas_links *links, struct gpu_half half,
                   const double *blocks, double *potentials) {
  if (g->double_precision)
    relax_in<double>(g, density, tolerance, least, links, half, blocks, potentials);
  else
    relax_in<float>(g, density, tolerance, least, links, half, blocks, potentials);
}
