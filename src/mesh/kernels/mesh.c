/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles to the mesh and back: CIC, TSC and PCS (Hockney & Eastwood 1981; PCS: Sefusatti et al.
 * 2016, MNRAS 460, 3624). The cells and weights of a batch of particles are computed in vector
 * registers. Each particle then deposits or gathers rows of four cells along z; narrower schemes
 * have weights of zero there. */
#include <string.h>

#include "photons/base/error.h"
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
  float weight[2][4][BATCH]; /**< x and y */
  float row[BATCH][4];       /**< z */
};

/* Weights of a particle that is f cells past its first cell; `low` holds f 2^32. */
static inline __attribute__((always_inline)) void weights(enum assignment scheme, uint32_t low,
                                                          float w[4]) {
  const float f = (float)(int32_t)(low >> 8) * 0x1p-24f, g = 1.0f - f;
  if (scheme == ASSIGN_CIC) {
    w[0] = g;
    w[1] = f;
    w[2] = w[3] = 0.0f;
  } else if (scheme == ASSIGN_TSC) { /* the distance to the nearest cell is f - 1/2 */
    w[0] = 0.5f * g * g;
    w[1] = 0.75f - (f - 0.5f) * (f - 0.5f);
    w[2] = 0.5f * f * f;
    w[3] = 0.0f;
  } else {
    w[0] = g * g * g * (1.0f / 6.0f);
    w[1] = (4.0f - 6.0f * f * f + 3.0f * f * f * f) * (1.0f / 6.0f);
    w[2] = (4.0f - 6.0f * g * g + 3.0f * g * g * g) * (1.0f / 6.0f);
    w[3] = f * f * f * (1.0f / 6.0f);
  }
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
      float w[4];
      weights(scheme, (uint32_t)scaled, w);
      if (c < 2)
        for (int a = 0; a < 4; a++) s->weight[c][a][j] = w[a];
      else
        for (int a = 0; a < 4; a++) s->row[j][a] = w[a];
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
      for (uint32_t c = 0; c < width; c++) row[cell[2][c]] += w * s->row[j][c];
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
      if (mass) store4(s.row[j], load4(s.row[j]) * mass[i + (uint32_t)j]);
      const uint32_t first[3] = {s.first[0][j], s.first[1][j], s.first[2][j]};
      if (first[0] + width > patch->size[0] || first[1] + width > patch->size[1] ||
          first[2] + 4 > patch->size[2]) {
        deposit_wrapped(&s, width, m, j, patch, data);
        continue;
      }
      float *corner = data + first[0] * plane + first[1] * line + first[2];
      const row4 weight_z = load4(s.row[j]);
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
      const uint32_t y = (patch->origin[1] + b) % m->cells;
      const float *from = data + ((size_t)a * patch->size[1] + b) * patch->size[2];
      float *row = slab + x * plane_floats(m) + (size_t)y * m->row;
      add_row(before_edge, from, row + patch->origin[2]);
      add_row(patch->size[2] - before_edge, from + before_edge, row);
    }
  }
}

static inline float sum4(row4 v) { return (v[0] + v[1]) + (v[2] + v[3]); }

/* Interpolate the three fields. */
static inline __attribute__((always_inline)) void
read_fields(enum assignment scheme, const struct mesh *m, uint32_t count, const uint32_t *x,
            bool shifted, float factor, const struct field_view *view, float *acceleration) {
  const uint32_t width = assignment_width(scheme), cells = m->cells,
                 origin[3] = {0, view->origin[0], view->origin[1]};
  for (uint32_t i = 0; i < count; i += BATCH) {
    struct stencil s;
    stencils(&s, scheme, m, count, i, x, shifted, origin);
    const int n = count - i < BATCH ? (int)(count - i) : BATCH;
    for (int j = 0; j < n; j++) {
      const row4 weight_z = load4(s.row[j]);
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
      difference_weights(s.row[j], d[2]);
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
      const row4 weight_z = load4(s.row[j]);
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
