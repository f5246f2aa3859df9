/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fft_x: gather a column as [x][ky][kz], transform it along x with cuFFT, multiply by Green's
 * function, transform back, scatter. Kernels have a CUDA block for each (x, ky) and a thread for
 * each kz. */
#include "cuda/mesh/blocks.cuh"

enum { WARPS = 4, BLOCK = WARPS * WARP };

static __device__ inline int signed_index(const struct mesh &m, uint32_t n) {
  return n <= m.cells / 2 ? (int)n : (int)n - (int)m.cells;
}

/** Place of the row (x, ky) in a column's array and in the transpose blocks of its slabs. */
struct row {
  uint32_t x, ky;   /* ky of the whole mesh */
  size_t in_column; /* offset of its first number */
  uint32_t slab;
  size_t in_block;
};

static __device__ inline struct row row_of(const struct device_mesh &d, uint32_t first_ky,
                                           uint32_t width, uint32_t x) {
  const struct mesh &m = d.m;
  struct row r;
  r.x = x;
  r.ky = first_ky + blockIdx.x;
  r.in_column = ((size_t)r.x * width + blockIdx.x) * m.kzs;
  r.slab = d.slab_of_plane[r.x];
  r.in_block = ((size_t)(r.x - slab_first(&m, r.slab)) * width + blockIdx.x) * m.kzs;
  return r;
}

static __device__ inline struct row this_row(const struct device_mesh &d, uint32_t first_ky,
                                             uint32_t width) {
  return row_of(d, first_ky, width, blockIdx.y);
}

static __global__ void gather(const struct device_mesh d, uint32_t first_ky,
                              const float2 *const *__restrict__ blocks,
                              float2 *__restrict__ column) {
  const struct row r = this_row(d, first_ky, gridDim.x);
  const float2 *from = blocks[r.slab] + r.in_block;
  for (uint32_t z = threadIdx.x; z < d.m.kzs; z += BLOCK) column[r.in_column + z] = from[z];
}

/** z: kz within this part. e^{+-i k . shift}: from the shifted mesh to the mesh (+) or back (-). */
static __device__ inline float2 shift(const struct mesh &m, const struct row &r, uint32_t z,
                                      float direction) {
  const int n = signed_index(m, r.x) + signed_index(m, r.ky) + (int)(m.first_kz + z) + (int)m.cells;
  const float2 phase = ((const float2 *)m.phase)[n];
  return {phase.x, direction * phase.y};
}

static __device__ inline float2 times(float2 a, float2 b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

/** Density to the potential phi (fd4) or to -i phi (spectral), written to `field`; the same times
 * k_x to x_field. `shifted`: density of the shifted mesh, NULL without interlacing.
 * @return the term of -phi n^* */
static __device__ inline double solve(const struct device_mesh &d, const struct row &r, uint32_t z,
                                      float scale, float2 *field, const float2 *shifted,
                                      float2 *x_field) {
  const struct mesh &m = d.m;
  float2 n = field[r.in_column + z];
  if (shifted) {
    /* the aliased images of k have opposite signs in the two densities (Hockney & Eastwood 1981,
     * section 7-8-3) */
    const float2 other = times(shifted[r.in_column + z], shift(m, r, z, 1.0f));
    n.x += other.x;
    n.y += other.y;
  }
  const double term = mode_weight(&m, m.first_kz + z) * (double)((n.x * n.x + n.y * n.y) * scale);
  n = {n.x * scale, n.y * scale};
  const float2 result = m.gradient == GRADIENT_SPECTRAL ? float2{-n.y, n.x} : float2{-n.x, -n.y};
  field[r.in_column + z] = result;
  if (x_field) x_field[r.in_column + z] = {result.x * m.wave[r.x], result.y * m.wave[r.x]};
  return term;
}

/** solve() for the rows of k_x and -k_x, which have the same Green's function. The sum of -phi n^* of a row goes to
 * energy[ky][x]. */
static __global__ void green(const struct device_mesh d, uint32_t first_ky, float2 *field,
                             const float2 *shifted, float2 *x_field, double *energy) {
  const struct mesh &m = d.m;
  const struct row r = this_row(d, first_ky, gridDim.x),
                   other = row_of(d, first_ky, gridDim.x, (m.cells - r.x) % m.cells);
  const bool two = other.x != r.x;
  const int kx = signed_index(m, r.x), ky = signed_index(m, r.ky);
  const size_t place = green_place(&m, (size_t)(kx * kx) + (size_t)(ky * ky));
  const float window = m.window[kx] * m.window[r.ky];
  double sum = 0.0, sum_of_other = 0.0;
  for (uint32_t z = threadIdx.x; z < m.kzs; z += BLOCK) {
    const size_t kz = m.first_kz + z;
    const float scale = m.green[place + kz * kz] * window * m.window[kz];
    sum += solve(d, r, z, scale, field, shifted, x_field);
    if (two) sum_of_other += solve(d, other, z, scale, field, shifted, x_field);
  }
  sum = block_sum<WARPS>(sum);
  if (threadIdx.x == 0) energy[(size_t)blockIdx.x * m.cells + r.x] = sum;
  if (!two) return;
  sum_of_other = block_sum<WARPS>(sum_of_other);
  if (threadIdx.x == 0) energy[(size_t)blockIdx.x * m.cells + other.x] = sum_of_other;
}

/** Sum up the rows of a ky, a CUDA block for each, to the first kz of that ky. */
static __global__ void add_rows(uint32_t cells, uint32_t kzs, const double *of_row,
                                double *energy) {
  double sum = 0.0;
  for (uint32_t x = threadIdx.x; x < cells; x += BLOCK)
    sum += of_row[(size_t)blockIdx.x * cells + x];
  sum = block_sum<WARPS>(sum);
  for (uint32_t z = threadIdx.x; z < kzs; z += BLOCK)
    energy[(size_t)blockIdx.x * kzs + z] = z == 0 ? sum : 0.0;
}

/** The same for the second set: the field on the shifted mesh. */
static __global__ void shift_back(const struct device_mesh d, uint32_t first_ky, float2 *field,
                                  float2 *x_field) {
  const struct mesh &m = d.m;
  const struct row r = this_row(d, first_ky, gridDim.x);
  for (uint32_t z = threadIdx.x; z < m.kzs; z += BLOCK) {
    const float2 result = times(field[r.in_column + z], shift(m, r, z, -1.0f));
    field[r.in_column + z] = result;
    if (x_field) x_field[r.in_column + z] = {result.x * m.wave[r.x], result.y * m.wave[r.x]};
  }
}

static __global__ void scatter(const struct device_mesh d, uint32_t first_ky,
                               const float2 *__restrict__ column,
                               float2 *const *__restrict__ blocks) {
  const struct row r = this_row(d, first_ky, gridDim.x);
  float2 *to = blocks[r.slab] + r.in_block;
  for (uint32_t z = threadIdx.x; z < d.m.kzs; z += BLOCK) to[z] = column[r.in_column + z];
}

/** A column in progress. */
struct column_work {
  struct gpu_mesh *g;
  cufftHandle plan;
  dim3 grid;
  uint32_t first_ky;
  float2 *field, *work, *result;
};

static void transform(const struct column_work *c, float2 *from, float2 *to, int direction) {
  CHECK_CUFFT(cufftExecC2C(c->plan, (cufftComplex *)from, (cufftComplex *)to, direction));
}

/** Spectra of one set from the spectrum in `field` and, times k_x, in `work`. */
static void scatter_spectra(const struct column_work *c, float2 *const *out) {
  const struct device_mesh &d = c->g->device;
  if (d.m.gradient == GRADIENT_SPECTRAL) {
    transform(c, c->work, c->work, CUFFT_INVERSE);
    scatter<<<c->grid, BLOCK, 0, c->g->gpu->stream>>>(d, c->first_ky, c->work, out);
    out += d.m.slabs;
  }
  /* The spectra of components y and z differ by a factor constant along x, so that one transform
   * along x serves both. */
  transform(c, c->field, c->result, CUFFT_INVERSE);
  scatter<<<c->grid, BLOCK, 0, c->g->gpu->stream>>>(d, c->first_ky, c->result, out);
}

void gpu_fft_x(struct gpu_mesh *g, uint32_t column, const float *const *in, float *const *out,
               double *energy) {
  const struct mesh *m = g->mesh;
  const uint32_t sets = m->interlace ? 2 : 1, slabs = m->slabs;
  const uint32_t first_ky = column_first(m, column), width = column_first(m, column + 1) - first_ky;
  const size_t size = (size_t)m->cells * width * m->kzs;
  float2 *lines = (float2 *)gpu_scratch(g->gpu, SCRATCH_LINES, 3 * size * sizeof *lines);
  char *table = (char *)gpu_scratch(g->gpu, SCRATCH_TABLE,
                                    sets * (1 + m->spectra) * slabs * sizeof *in);
  const float2 *const *from = (const float2 *const *)table;
  float2 *const *to = (float2 *const *)(table + sets * slabs * sizeof *in);
  gpu_upload(g->gpu, table, in, sets * slabs * sizeof *in);
  gpu_upload(g->gpu, table + sets * slabs * sizeof *in, out,
             sets * m->spectra * slabs * sizeof *out);

  const struct column_work c = {g,
                                plans_for(g->column_plans, width)->forward,
                                dim3(width, m->cells),
                                first_ky,
                                lines,
                                lines + size,
                                lines + 2 * size};
  double *of_row = (double *)gpu_scratch(g->gpu, SCRATCH_PARTS,
                                         (size_t)width * m->cells * sizeof *of_row);
  float2 *x_field = m->gradient == GRADIENT_SPECTRAL ? c.work : NULL;
  gather<<<c.grid, BLOCK, 0, g->gpu->stream>>>(g->device, first_ky, from, c.field);
  transform(&c, c.field, c.field, CUFFT_FORWARD);
  if (m->interlace) {
    gather<<<c.grid, BLOCK, 0, g->gpu->stream>>>(g->device, first_ky, from + slabs, c.result);
    transform(&c, c.result, c.result, CUFFT_FORWARD);
  }
  green<<<dim3(width, m->cells / 2 + 1), BLOCK, 0, g->gpu->stream>>>(
      g->device, first_ky, c.field, m->interlace ? c.result : NULL, x_field, of_row);
  add_rows<<<width, BLOCK, 0, g->gpu->stream>>>(m->cells, m->kzs, of_row, energy);
  scatter_spectra(&c, to);
  if (m->interlace) {
    shift_back<<<c.grid, BLOCK, 0, g->gpu->stream>>>(g->device, first_ky, c.field, x_field);
    scatter_spectra(&c, to + m->spectra * slabs);
  }
  gpu_launched("fft_x");
}
