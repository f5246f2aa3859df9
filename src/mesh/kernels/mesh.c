/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles to the mesh and back: CIC, TSC and PCS (Hockney & Eastwood 1981; PCS: Sefusatti et al.
 * 2016, MNRAS 460, 3624). The cells and weights of a batch of particles are computed in vector
 * registers. Each particle then deposits or gathers rows of four cells along z; narrower schemes
 * have weights of zero there. */
#include <string.h>

#include "photons/base/error.h"
#include "photons/domain/tree.h"
#include "photons/mesh/kernels.h"

enum { BATCH = 32 };

typedef float row4 __attribute__((vector_size(16)));

static inline row4 load4(const float *p) {
  row4 v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void store4(float *p, row4 v) { memcpy(p, &v, sizeof v); }

/* cell modulo N, for cell < 2N */
static inline uint32_t wrap(uint32_t cell, uint32_t cells) {
  return cell < cells ? cell : cell - cells;
}

/** Cells and weights of a batch along the three axes. */
struct stencil {
  uint32_t first[3][BATCH];
  float weight[3][4][BATCH];
};

/** Weights of particle j along z. */
static inline row4 weights_z(const struct stencil *s, int j) {
  return (row4){s->weight[2][0][j], s->weight[2][1][j], s->weight[2][2][j], s->weight[2][3][j]};
}

struct weights {
  float w[4];
};

/* Weights of a particle that is f cells past its first cell; `low` holds f 2^32. */
static inline __attribute__((always_inline)) struct weights weights(enum assignment scheme,
                                                                    uint32_t low) {
  const float f = (float)(int32_t)(low >> 8) * 0x1p-24f, g = 1.0f - f;
  if (scheme == ASSIGN_CIC) return (struct weights){{g, f, 0.0f, 0.0f}};
  if (scheme == ASSIGN_TSC) /* the distance to the nearest cell is f - 1/2 */
    return (struct weights){{0.5f * g * g, 0.75f - (f - 0.5f) * (f - 0.5f), 0.5f * f * f, 0.0f}};
  return (struct weights){
      {g * g * g * (1.0f / 6.0f), (4.0f - 6.0f * f * f + 3.0f * f * f * f) * (1.0f / 6.0f),
       (4.0f - 6.0f * g * g + 3.0f * g * g * g) * (1.0f / 6.0f), f * f * f * (1.0f / 6.0f)}};
}

/* Stencils of particles i .. i + BATCH - 1, with cells counted from `origin`. Places beyond the
 * last particle repeat the last particle. */
static inline __attribute__((always_inline)) void
stencils(struct stencil *s, enum assignment scheme, const struct mesh *m, uint32_t count,
         uint32_t i, const uint32_t *x, bool shifted, const uint32_t origin[3]) {
  for (int c = 0; c < 3; c++) {
    const uint64_t offset = assignment_offset(m, origin[c], shifted);
    const uint32_t cells = m->cells;
    uint32_t position[BATCH];
    if (count - i >= BATCH)
      memcpy(position, x + (size_t)c * count + i, sizeof position);
    else
      for (uint32_t j = 0; j < BATCH; j++)
        position[j] = x[(size_t)c * count + (i + j < count ? i + j : count - 1)];
#pragma omp simd
    for (int j = 0; j < BATCH; j++) {
      const uint64_t scaled = (uint64_t)position[j] * cells + offset;
      const uint32_t cell = (uint32_t)(scaled >> 32);
      s->first[c][j] = wrap(cell, cells);
      const struct weights weight = weights(scheme, (uint32_t)scaled);
      s->weight[c][0][j] = weight.w[0];
      s->weight[c][1][j] = weight.w[1];
      s->weight[c][2][j] = weight.w[2];
      s->weight[c][3][j] = weight.w[3];
    }
  }
}

/* Deposit one particle whose stencil leaves the patch: either the patch wraps around the box, or
 * the particle lies outside its patch, which is an error. */
static __attribute__((noinline)) void deposit_wrapped(const struct stencil *s, uint32_t width,
                                                      const struct mesh *m, int j,
                                                      const struct patch *patch, float *data) {
  uint32_t cell[3][4];
  for (int c = 0; c < 3; c++)
    for (uint32_t a = 0; a < width; a++) {
      cell[c][a] = wrap(s->first[c][j] + a, m->cells);
      if (cell[c][a] >= patch->size[c])
        fail(EXIT_RUN_FAILED, "a particle deposits outside its group's mesh patch");
    }
  for (uint32_t a = 0; a < width; a++)
    for (uint32_t b = 0; b < width; b++) {
      float *row = data + ((size_t)cell[0][a] * patch->size[1] + cell[1][b]) * patch->size[2];
      const float w = s->weight[0][a][j] * s->weight[1][b][j];
      for (uint32_t c = 0; c < width; c++) row[cell[2][c]] += w * s->weight[2][c][j];
    }
}

static inline __attribute__((always_inline)) void
deposit(enum assignment scheme, const struct mesh *m, uint32_t count, const uint32_t *x,
        const float *mass, bool shifted, const struct patch *patch, float *data) {
  const uint32_t width = assignment_width(scheme);
  const size_t line = patch->size[2], plane = patch->size[1] * line;
  for (uint32_t i = 0; i < count; i += BATCH) {
    struct stencil s;
    stencils(&s, scheme, m, count, i, x, shifted, patch->origin);
    const int n = count - i < BATCH ? (int)(count - i) : BATCH;
    for (int j = 0; j < n; j++) {
      if (mass)
        for (int c = 0; c < 4; c++) s.weight[2][c][j] *= mass[i + (uint32_t)j];
      const uint32_t first[3] = {s.first[0][j], s.first[1][j], s.first[2][j]};
      if (first[0] + width > patch->size[0] || first[1] + width > patch->size[1] ||
          first[2] + 4 > patch->size[2]) {
        deposit_wrapped(&s, width, m, j, patch, data);
        continue;
      }
      float *corner = data + first[0] * plane + first[1] * line + first[2];
      const row4 weight_z = weights_z(&s, j);
      for (uint32_t a = 0; a < width; a++)
        for (uint32_t b = 0; b < width; b++) {
          float *row = corner + a * plane + b * line;
          store4(row, load4(row) + s.weight[0][a][j] * s.weight[1][b][j] * weight_z);
        }
    }
  }
}

void KERNEL(mesh_deposit)(const struct mesh *m, uint32_t count, const uint32_t *x,
                          const float *mass, bool shifted, const struct patch *patch, float *data) {
  memset(data, 0, (size_t)patch->size[0] * patch->size[1] * patch->size[2] * sizeof *data);
  switch (m->assignment) {
  case ASSIGN_CIC: deposit(ASSIGN_CIC, m, count, x, mass, shifted, patch, data); break;
  case ASSIGN_TSC: deposit(ASSIGN_TSC, m, count, x, mass, shifted, patch, data); break;
  case ASSIGN_PCS: deposit(ASSIGN_PCS, m, count, x, mass, shifted, patch, data); break;
  }
}

static inline void add_row(uint32_t n, const float *restrict from, float *restrict to) {
  for (uint32_t i = 0; i < n; i++) to[i] += from[i];
}

void KERNEL(mesh_patch_add)(const struct mesh *m, uint32_t s, const struct patch *patch,
                            const float *data, float *slab) {
  const uint32_t first = slab_first(m, s), planes = slab_first(m, s + 1) - first;
  const uint32_t to_edge = m->cells - patch->origin[2];
  const uint32_t before_edge = patch->size[2] < to_edge ? patch->size[2] : to_edge;
  for (uint32_t a = 0; a < patch->size[0]; a++) {
    /* wraps to a large number below the slab */
    const uint32_t x = (patch->origin[0] + a) % m->cells - first;
    if (x >= planes) continue;
    for (uint32_t b = 0; b < patch->size[1]; b++) {
      const uint32_t y = (patch->origin[1] + b) % m->cells - m->first_y;
      if (y >= m->ys) continue; /* rows before this part wrap to large numbers */
      const float *from = data + ((size_t)a * patch->size[1] + b) * patch->size[2];
      float *row = slab + x * plane_floats(m) + (size_t)y * m->row;
      add_row(before_edge, from, row + patch->origin[2]);
      add_row(patch->size[2] - before_edge, from + before_edge, row);
    }
  }
}

static inline float sum4(row4 v) { return (v[0] + v[1]) + (v[2] + v[3]); }

/* The widest vector registers that the compiler may use. */
#if defined __AVX512F__
#include <immintrin.h>
#define WIDE 64
#elif defined __AVX__
#include <immintrin.h>
#define WIDE 32
#else
#define WIDE 16
#endif
typedef float wide __attribute__((vector_size(WIDE)));
enum { FOUR_CELLS = 16, WIDES = FOUR_CELLS * (int)sizeof(float) / WIDE };

/* Each of the four weights, or of those that part k of the vectors has, four times. */
static inline wide spread(row4 w, int k) {
#if WIDE == 64
  (void)k;
  const __m512i lane = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  return (wide)_mm512_permutexvar_ps(lane, _mm512_castps128_ps512((__m128)w));
#elif WIDE == 32
  const row4 a = {w[2 * k], w[2 * k], w[2 * k], w[2 * k]},
             b = {w[2 * k + 1], w[2 * k + 1], w[2 * k + 1], w[2 * k + 1]};
  return (wide)_mm256_set_m128((__m128)b, (__m128)a);
#else
  return (row4){w[k], w[k], w[k], w[k]};
#endif
}

/* The three fields and a zero in cells around some particles, side by side: what a particle reads
 * of four cells along z is one vector, and all that its neighbours read is in the first caches. */
enum { BOX_CELLS = 4096, CHUNK_MOST = 1024 };
struct cell_box {
  uint32_t origin[3], size[3]; /* size[2] is a multiple of four */
  float cell[BOX_CELLS][4];
};

/* Find the cells that particles first .. end - 1 touch. @return whether there is room for them */
static inline bool find_box(struct cell_box *box, uint32_t width, const struct mesh *m,
                            uint32_t count, const uint32_t *x, uint32_t first, uint32_t end,
                            bool shifted, const struct field_view *view) {
  const uint32_t cells = m->cells;
  for (int c = 0; c < 3; c++) {
    const uint32_t *u = x + (size_t)c * count;
    const uint64_t offset = assignment_offset(m, view->first[c], shifted);
    uint32_t low = UINT32_MAX, high = 0;
#pragma omp simd reduction(min : low) reduction(max : high)
    for (uint32_t i = first; i < end; i++) {
      const uint32_t cell = wrap((uint32_t)(((uint64_t)u[i] * cells + offset) >> 32), cells);
      low = cell < low ? cell : low;
      high = cell > high ? cell : high;
    }
    box->origin[c] = (view->first[c] + low) % cells;
    box->size[c] = high - low + (c < 2 ? width : 4);
  }
  box->size[2] = (box->size[2] + 3) / 4 * 4;
  const uint64_t all = (uint64_t)box->size[0] * box->size[1] * box->size[2];
  return all <= BOX_CELLS && all <= 8 * (uint64_t)(end - first);
}

#define UNPACK_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define UNPACK_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)

static inline void fill_box(struct cell_box *box, const struct mesh *m,
                            const struct field_view *view) {
  const uint32_t cells = m->cells;
  float *to = box->cell[0];
  for (uint32_t a = 0; a < box->size[0]; a++) {
    const uint32_t plane = (box->origin[0] + a) % cells;
    const float *const field[3] = {view->plane[plane], view->plane[cells + plane],
                                   view->plane[2 * cells + plane]};
    for (uint32_t b = 0; b < box->size[1]; b++) {
      const uint32_t y = (box->origin[1] + b + cells - view->origin[0]) % cells;
      uint32_t z = wrap(box->origin[2] + cells - view->origin[1], cells);
      for (uint32_t c = 0; c < box->size[2]; c += 4, to += FOUR_CELLS) {
        const size_t at = (size_t)y * view->row + z;
        const row4 f = load4(field[0] + at), g = load4(field[1] + at), h = load4(field[2] + at);
        const row4 zero = {0}, low = UNPACK_LOW(f, g), high = UNPACK_HIGH(f, g),
                   h_low = UNPACK_LOW(h, zero), h_high = UNPACK_HIGH(h, zero);
        store4(to, __builtin_shufflevector(low, h_low, 0, 1, 4, 5));
        store4(to + 4, __builtin_shufflevector(low, h_low, 2, 3, 6, 7));
        store4(to + 8, __builtin_shufflevector(high, h_high, 0, 1, 4, 5));
        store4(to + 12, __builtin_shufflevector(high, h_high, 2, 3, 6, 7));
        z = (z + 4) % cells;
      }
    }
  }
}

/* Interpolate the fields in a box to particles first .. end - 1. */
static inline __attribute__((always_inline)) void
read_box(enum assignment scheme, const struct cell_box *box, const struct mesh *m, uint32_t count,
         const uint32_t *x, uint32_t first, uint32_t end, bool shifted, float factor,
         float *acceleration) {
  const uint32_t width = assignment_width(scheme);
  const size_t line = 4 * (size_t)box->size[2], plane = box->size[1] * line;
  for (uint32_t i = first; i < end; i += BATCH) {
    struct stencil s;
    stencils(&s, scheme, m, count, i, x, shifted, box->origin);
    const int n = end - i < BATCH ? (int)(end - i) : BATCH;
    for (int j = 0; j < n; j++) {
      const float *corner = (const float *)box->cell + s.first[0][j] * plane +
                            s.first[1][j] * line + 4 * (size_t)s.first[2][j];
      wide sum[WIDES] = {{0}};
      for (uint32_t a = 0; a < width; a++)
        for (uint32_t b = 0; b < width; b++) {
          const float w = s.weight[0][a][j] * s.weight[1][b][j];
          for (int k = 0; k < WIDES; k++) {
            wide v;
            memcpy(&v, corner + a * plane + b * line + (size_t)k * (WIDE / sizeof(float)), WIDE);
            sum[k] += w * v;
          }
        }
      float part[FOUR_CELLS];
      for (int k = 0; k < WIDES; k++) sum[k] *= spread(weights_z(&s, j), k);
      memcpy(part, sum, sizeof part);
      const row4 total = (load4(part) + load4(part + 4)) + (load4(part + 8) + load4(part + 12));
      for (size_t f = 0; f < 3; f++) acceleration[f * count + i + (uint32_t)j] += factor * total[f];
    }
  }
}

/* Interpolate the fields to particles first .. end - 1, which are far apart. */
static inline __attribute__((always_inline)) void
read_planes(enum assignment scheme, const struct mesh *m, uint32_t count, const uint32_t *x,
            uint32_t begin, uint32_t end, bool shifted, float factor, const struct field_view *view,
            float *acceleration) {
  const uint32_t width = assignment_width(scheme), cells = m->cells,
                 origin[3] = {0, view->origin[0], view->origin[1]};
  for (uint32_t i = begin; i < end; i += BATCH) {
    struct stencil s;
    stencils(&s, scheme, m, count, i, x, shifted, origin);
    const int n = end - i < BATCH ? (int)(end - i) : BATCH;
    for (int j = 0; j < n; j++) {
      const row4 weight_z = weights_z(&s, j);
      size_t row[4];
      for (uint32_t b = 0; b < width; b++)
        row[b] = (size_t)wrap(s.first[1][j] + b, cells) * view->row + s.first[2][j];
      row4 sum[3] = {{0}, {0}, {0}};
      for (uint32_t a = 0; a < width; a++) {
        const uint32_t plane = wrap(s.first[0][j] + a, cells);
        for (uint32_t b = 0; b < width; b++) {
          const float w = s.weight[0][a][j] * s.weight[1][b][j];
          for (uint32_t f = 0; f < 3; f++)
            sum[f] += w * load4(view->plane[f * cells + plane] + row[b]);
        }
      }
      for (size_t f = 0; f < 3; f++)
        acceleration[f * count + i + (uint32_t)j] += factor * sum4(sum[f] * weight_z);
    }
  }
}

/* Interpolate the three fields, node by node of the group's tree. */
static inline __attribute__((always_inline)) void
read_fields(enum assignment scheme, const struct mesh *m, uint32_t count, const uint32_t *x,
            bool shifted, float factor, const struct field_view *view, float *acceleration) {
  const uint32_t width = assignment_width(scheme);
  struct cell_box box;
  unsigned level = 0;
  while (count >> level > CHUNK_MOST) level++;
  for (uint32_t node = 0; node < 1u << level; node++) {
    const uint32_t first = level_first(count, level, node),
                   end = level_first(count, level, node + 1);
    if (find_box(&box, width, m, count, x, first, end, shifted, view)) {
      fill_box(&box, m, view);
      read_box(scheme, &box, m, count, x, first, end, shifted, factor, acceleration);
    } else {
      read_planes(scheme, m, count, x, first, end, shifted, factor, view, acceleration);
    }
  }
}

/* Four-point differences of the potential at each cell of the stencil, interpolated to the
 * particle. Both operations are sums over neighbours along one axis, so that together they are one
 * stencil of eight weights. w: the scheme's four weights; d: minus the derivative per cell,
 * beginning two cells before the scheme's first cell. */
static inline __attribute__((always_inline)) void difference_weights(const float w[4], float d[8]) {
  const float padded[12] = {0, 0, 0, 0, w[0], w[1], w[2], w[3], 0, 0, 0, 0};
  for (int a = 0; a < 8; a++) /* -(8 (phi(+1) - phi(-1)) - (phi(+2) - phi(-2)))/12 at the cell a - 2
                                 */
    d[a] = (8.0f * (padded[a + 3] - padded[a + 1]) - (padded[a + 4] - padded[a])) * (1.0f / 12.0f);
}

/* Differentiate the potential. Of the 8^3 cells only those are read that lie within the scheme's
 * own range along at least two axes. */
static inline __attribute__((always_inline)) void
read_potential(enum assignment scheme, const struct mesh *m, uint32_t count, const uint32_t *x,
               bool shifted, float factor, const struct field_view *view, float *acceleration) {
  const uint32_t width = assignment_width(scheme), cells = m->cells,
                 origin[3] = {2, 2 + view->origin[0], 2 + view->origin[1]};
  const float per_cell = factor * (float)(cells / m->box);
  for (uint32_t i = 0; i < count; i += BATCH) {
    struct stencil s;
    stencils(&s, scheme, m, count, i, x, shifted, origin);
    const int n = count - i < BATCH ? (int)(count - i) : BATCH;
    for (int j = 0; j < n; j++) {
      float inner[2][8] = {{0}}, d[3][8];
      for (int c = 0; c < 2; c++) {
        for (int a = 0; a < 4; a++) inner[c][a + 2] = s.weight[c][a][j];
        difference_weights(inner[c] + 2, d[c]);
      }
      float along_z[4];
      store4(along_z, weights_z(&s, j));
      difference_weights(along_z, d[2]);
      /* Three rows of four cells along z. Each lies inside the padded row, whose last four cells
       * repeat the first ones. */
      size_t z[3], y[8];
      for (uint32_t c = 0; c < 3; c++) z[c] = wrap(s.first[2][j] + 2 * c, cells);
      for (uint32_t b = 0; b < width + 4; b++)
        y[b] = (size_t)wrap(s.first[1][j] + b, cells) * view->row;
      row4 sum_x = {0}, sum_y = {0}, sum_low = {0}, sum_high = {0};
      for (uint32_t a = 0; a < width + 4; a++) {
        const float *plane = view->plane[wrap(s.first[0][j] + a, cells)];
        const bool inside_x = a >= 2 && a < width + 2;
        for (uint32_t b = inside_x ? 0 : 2; b < (inside_x ? width + 4 : width + 2); b++) {
          const float *row = plane + y[b];
          const row4 middle = load4(row + z[1]);
          sum_x += d[0][a] * inner[1][b] * middle;
          sum_y += inner[0][a] * d[1][b] * middle;
          const float w = inner[0][a] * inner[1][b];
          if (!inside_x || b < 2 || b >= width + 2) continue;
          sum_low += w * load4(row + z[0]);
          sum_high += w * load4(row + z[2]);
        }
      }
      const row4 weight_z = weights_z(&s, j);
      const float sum[3] = {sum4(sum_x * weight_z), sum4(sum_y * weight_z),
                            sum4(sum_low * load4(d[2]) + sum_high * load4(d[2] + 4))};
      for (size_t c = 0; c < 3; c++) acceleration[c * count + i + (uint32_t)j] += per_cell * sum[c];
    }
  }
}

void KERNEL(mesh_read)(const struct mesh *m, uint32_t count, const uint32_t *x, bool shifted,
                       float factor, const struct field_view *view, float *acceleration) {
  const bool fields = m->gradient == GRADIENT_SPECTRAL;
  switch (m->assignment) {
  case ASSIGN_CIC:
    if (fields)
      read_fields(ASSIGN_CIC, m, count, x, shifted, factor, view, acceleration);
    else
      read_potential(ASSIGN_CIC, m, count, x, shifted, factor, view, acceleration);
    break;
  case ASSIGN_TSC:
    if (fields)
      read_fields(ASSIGN_TSC, m, count, x, shifted, factor, view, acceleration);
    else
      read_potential(ASSIGN_TSC, m, count, x, shifted, factor, view, acceleration);
    break;
  case ASSIGN_PCS:
    if (fields)
      read_fields(ASSIGN_PCS, m, count, x, shifted, factor, view, acceleration);
    else
      read_potential(ASSIGN_PCS, m, count, x, shifted, factor, view, acceleration);
    break;
  }
}

extern const struct mesh_kernels KERNEL(mesh_kernels);
const struct mesh_kernels KERNEL(mesh_kernels) = {KERNEL(mesh_deposit), KERNEL(mesh_patch_add),
                                                  KERNEL(mesh_read)};
