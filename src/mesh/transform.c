/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transforms of the particle mesh between density slabs, k-space columns and field slabs. */
#include <string.h>

#include "plans.h"

static float complex *align(void *scratch) {
  uintptr_t p = (uintptr_t)scratch;
  return (float complex *)((p + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

size_t mesh_scratch_bytes(const struct mesh *m) {
  size_t along_x = 3 * lines_size(m) + (size_t)(m->cells / 2 + 1) * LINES / 2;
  size_t along_yz = spectrum_size(m) + lines_size(m);
  return ALIGNMENT + sizeof(float complex) * (along_x > along_yz ? along_x : along_yz);
}

/* Lines z .. z + count - 1 of this part that are in one batch. */
struct batch {
  uint32_t z, count;
};

/* The batch that begins with line z. */
static struct batch batch_from(const struct mesh *m, uint32_t z) {
  const uint32_t own = m->first_kz + m->kzs, end = (z / LINES + 1) * LINES;
  return (struct batch){z, (own < end ? own : end) - z};
}

#define FOR_BATCHES(m, b)                                                               \
  for (struct batch b = batch_from((m), (m)->first_kz); b.z < (m)->first_kz + (m)->kzs; \
       b = batch_from((m), b.z + b.count))

/* Place of the first of these lines among those of its whole batch, and whether that is the last one, with fewer
 * lines. */
static uint32_t place_in_batch(uint32_t z) { return z % LINES; }
static bool is_tail(const struct mesh *m, uint32_t z) { return z / LINES * LINES + LINES > m->kz; }

/* Where pencils have some lines of a batch only, the others are zeros. */
static void clear_lines(const struct mesh *m, size_t count, float complex *lines) {
  if (m->parts > 1) memset(lines, 0, count * sizeof *lines);
}

static uint32_t planes_of_slab(const struct mesh *m, uint32_t s) {
  return slab_first(m, s + 1) - slab_first(m, s);
}

/* Between the rows of a plane and their transforms along z, [y][row/2]. */
static void rows_forward(const struct mesh *m, float *plane, float complex *spectrum) {
  for (uint32_t y = 0; y < m->ys; y++)
    fftwf_execute_dft_r2c(m->plans->z_forward, plane + (size_t)y * m->row,
                          spectrum + (size_t)y * m->row / 2);
}

static void rows_backward(const struct mesh *m, float complex *spectrum, float *plane) {
  for (uint32_t y = 0; y < m->ys; y++) {
    float *row = plane + (size_t)y * m->row;
    fftwf_execute_dft_c2r(m->plans->z_backward, spectrum + (size_t)y * m->row / 2, row);
    memcpy(row + m->cells, row, 4 * sizeof *row);
  }
}

/* Transform all y of a plane, plane x of its slab, and copy them to transpose blocks. */
static void columns_forward(const struct mesh *m, uint32_t x, float complex *spectrum,
                            float complex *lines, float complex *const *blocks) {
  FOR_BATCHES(m, b) {
    const uint32_t place = place_in_batch(b.z);
    fftwf_execute_dft(m->plans->y_forward[is_tail(m, b.z)], spectrum + b.z - place, lines);
    for (uint32_t c = 0; c < m->columns; c++) {
      const uint32_t first = column_first(m, c), width = column_first(m, c + 1) - first;
      float complex *block = blocks[c] + (size_t)x * width * m->kzs + b.z - m->first_kz;
      for (uint32_t y = 0; y < width; y++)
        memcpy(block + (size_t)y * m->kzs, lines + (size_t)(first + y) * LINE_STRIDE + place,
               b.count * sizeof *lines);
    }
  }
}

/* Fields y and z: their common spectrum times the wave number. */
static void multiply_row(const struct mesh *m, uint32_t field, uint32_t ky, uint32_t z,
                         uint32_t count, float complex *row) {
  for (uint32_t i = 0; i < count; i++) row[i] *= field == 1 ? m->wave[ky] : m->wave[z + i];
}

/* The inverse of columns_forward(). */
static void columns_backward(const struct mesh *m, uint32_t x, uint32_t field,
                             const float complex *const *blocks, float complex *lines,
                             float complex *spectrum) {
  FOR_BATCHES(m, b) {
    const uint32_t place = place_in_batch(b.z);
    for (uint32_t c = 0; c < m->columns; c++) {
      const uint32_t first = column_first(m, c), width = column_first(m, c + 1) - first;
      const float complex *block = blocks[c] + (size_t)x * width * m->kzs + b.z - m->first_kz;
      for (uint32_t y = 0; y < width; y++) {
        float complex *row = lines + (size_t)(first + y) * LINE_STRIDE + place;
        memcpy(row, block + (size_t)y * m->kzs, b.count * sizeof *lines);
        if (field > 0) multiply_row(m, field, first + y, b.z, b.count, row);
      }
    }
    fftwf_execute_dft(m->plans->y_backward[is_tail(m, b.z)], lines, spectrum + b.z - place);
  }
}

void mesh_fft_yz(const struct mesh *m, uint32_t s, float *slab, float complex *const *blocks,
                 void *scratch) {
  float complex *spectrum = align(scratch), *lines = spectrum + spectrum_size(m);
  for (uint32_t x = 0; x < planes_of_slab(m, s); x++) {
    rows_forward(m, slab + x * plane_floats(m), spectrum);
    columns_forward(m, x, spectrum, lines, blocks);
  }
}

void mesh_ifft_yz(const struct mesh *m, uint32_t s, uint32_t field,
                  const float complex *const *blocks, float *slab, void *scratch) {
  float complex *spectrum = align(scratch), *lines = spectrum + spectrum_size(m);
  for (uint32_t x = 0; x < planes_of_slab(m, s); x++) {
    columns_backward(m, x, field, blocks, lines, spectrum);
    rows_backward(m, spectrum, slab + x * plane_floats(m));
  }
}

/* What a row block has of a plane: rows y .. y + ys - 1 and kz .. kz + kzs - 1. */
struct row_range {
  uint32_t y, ys, kz, kzs;
};

static struct row_range row_range(const struct mesh *m, uint32_t i, uint32_t j) {
  const uint32_t y = part_first_y(m, i), kz = part_first_kz(m, j);
  return (struct row_range){y, part_first_y(m, i + 1) - y, kz, part_first_kz(m, j + 1) - kz};
}

/* Copy a row block of plane x to or from a spectrum, of which `first` is the first row. */
static void copy_row_block(const struct mesh *m, const struct row_range *b, uint32_t x,
                           float complex *block, uint32_t first, float complex *spectrum,
                           bool to_block) {
  for (uint32_t y = 0; y < b->ys; y++) {
    float complex *there = block + ((size_t)x * b->ys + y) * b->kzs,
                  *here = spectrum + (size_t)(b->y + y - first) * m->row / 2 + b->kz;
    memcpy(to_block ? there : here, to_block ? here : there, b->kzs * sizeof *here);
  }
}

/* The row blocks of all kz and this part's y, or those of all y and this part's kz. */
static void copy_kz_blocks(const struct mesh *m, uint32_t x, float complex *const *blocks,
                           float complex *spectrum, bool to_blocks) {
  for (uint32_t j = 0; j < m->parts; j++) {
    const struct row_range b = row_range(m, m->part, j);
    copy_row_block(m, &b, x, blocks[j], m->first_y, spectrum, to_blocks);
  }
}

static void copy_y_blocks(const struct mesh *m, uint32_t x, float complex *const *blocks,
                          float complex *spectrum, bool to_blocks) {
  for (uint32_t i = 0; i < m->parts; i++) {
    const struct row_range b = row_range(m, i, m->part);
    copy_row_block(m, &b, x, blocks[i], 0, spectrum, to_blocks);
  }
}

void mesh_fft_z(const struct mesh *m, uint32_t s, float *slab, float complex *const *blocks,
                void *scratch) {
  float complex *spectrum = align(scratch);
  for (uint32_t x = 0; x < planes_of_slab(m, s); x++) {
    rows_forward(m, slab + x * plane_floats(m), spectrum);
    copy_kz_blocks(m, x, blocks, spectrum, true);
  }
}

void mesh_fft_y(const struct mesh *m, uint32_t s, const float complex *const *rows,
                float complex *const *columns, void *scratch) {
  float complex *spectrum = align(scratch), *lines = spectrum + spectrum_size(m);
  clear_lines(m, spectrum_size(m), spectrum);
  for (uint32_t x = 0; x < planes_of_slab(m, s); x++) {
    copy_y_blocks(m, x, (float complex *const *)rows, spectrum, false);
    columns_forward(m, x, spectrum, lines, columns);
  }
}

void mesh_ifft_y(const struct mesh *m, uint32_t s, uint32_t field,
                 const float complex *const *columns, float complex *const *rows, void *scratch) {
  float complex *spectrum = align(scratch), *lines = spectrum + spectrum_size(m);
  clear_lines(m, lines_size(m), lines);
  for (uint32_t x = 0; x < planes_of_slab(m, s); x++) {
    columns_backward(m, x, field, columns, lines, spectrum);
    copy_y_blocks(m, x, rows, spectrum, true);
  }
}

void mesh_ifft_z(const struct mesh *m, uint32_t s, const float complex *const *blocks, float *slab,
                 void *scratch) {
  float complex *spectrum = align(scratch);
  for (uint32_t x = 0; x < planes_of_slab(m, s); x++) {
    copy_kz_blocks(m, x, (float complex *const *)blocks, spectrum, false);
    rows_backward(m, spectrum, slab + x * plane_floats(m));
  }
}

/* Lines along x: those of ky and z .. z + count - 1 in column c. */
struct lines {
  uint32_t column, ky, z, count;
};

/* The first of these lines at x, in a line buffer. */
static float complex *lines_at(const struct lines *l, size_t x, float complex *buffer) {
  return buffer + x * LINE_STRIDE + place_in_batch(l->z);
}

/* Offset of the lines' first number in a transpose block, and the distance in the transpose block
 * from one x to the next. */
static size_t lines_offset(const struct mesh *m, const struct lines *l) {
  return (size_t)(l->ky - column_first(m, l->column)) * m->kzs + l->z - m->first_kz;
}
static size_t lines_step(const struct mesh *m, const struct lines *l) {
  return (size_t)(column_first(m, l->column + 1) - column_first(m, l->column)) * m->kzs;
}

static void gather(const struct mesh *m, const struct lines *l, const float complex *const *blocks,
                   float complex *to) {
  for (uint32_t s = 0; s < m->slabs; s++) {
    const float complex *from = blocks[s] + lines_offset(m, l);
    for (uint32_t x = slab_first(m, s); x < slab_first(m, s + 1); x++, from += lines_step(m, l))
      memcpy(lines_at(l, x, to), from, l->count * sizeof *to);
  }
}

static void scatter(const struct mesh *m, const struct lines *l, float complex *from,
                    float complex *const *blocks) {
  for (uint32_t s = 0; s < m->slabs; s++) {
    float complex *to = blocks[s] + lines_offset(m, l);
    for (uint32_t x = slab_first(m, s); x < slab_first(m, s + 1); x++, to += lines_step(m, l))
      memcpy(to, lines_at(l, x, from), l->count * sizeof *to);
  }
}

/* -phi_k / n_k (n: particles per cell) of the lines for |kx| = 0 .. N/2: Green's function, split
 * factor and both windows. */
static void potential_factor(const struct mesh *m, const struct lines *l, float (*factor)[LINES]) {
  const int ky = signed_index(m, l->ky);
  for (uint32_t kx = 0; kx <= m->cells / 2; kx++) {
    const size_t place = green_place(m, (size_t)kx * kx + (size_t)(ky * ky));
    const float window = m->window[kx] * m->window[l->ky];
    for (uint32_t i = 0; i < l->count; i++) {
      const size_t kz = l->z + i;
      factor[kx][i] = m->green[place + kz * kz] * window * m->window[kz];
    }
  }
}

/* Multiply by e^{+-i k . shift}: from the shifted mesh to the mesh (+) or back (-). */
static void multiply_phase(const struct mesh *m, const struct lines *l, float direction,
                           float complex *spectrum) {
  for (uint32_t x = 0; x < m->cells; x++) {
    const int n = signed_index(m, x) + signed_index(m, l->ky) + (int)l->z + (int)m->cells;
    const float *phase = (const float *)(m->phase + n);
    float *a = (float *)lines_at(l, x, spectrum);
    for (uint32_t i = 0; i < 2 * l->count; i += 2) {
      const float re = a[i], im = a[i + 1], sine = direction * phase[i + 1];
      a[i] = re * phase[i] - im * sine;
      a[i + 1] = re * sine + im * phase[i];
    }
  }
}

static void add_lines(const struct mesh *m, const struct lines *l, float complex *from,
                      float complex *to) {
  for (size_t x = 0; x < m->cells; x++) {
    const float complex *a = lines_at(l, x, from);
    float complex *sum = lines_at(l, x, to);
    for (uint32_t i = 0; i < l->count; i++) sum[i] += a[i];
  }
}

/* Density to potential phi (fd4), or to -i phi (spectral), which times k_i is the acceleration
 * along i.
 * @param[out] sum  of each line: -phi n^* of its modes and their complex conjugates */
static void apply_green(const struct mesh *m, const struct lines *l, float (*factor)[LINES],
                        float complex *density, double *sum) {
  double energy[LINES] = {0.0};
  potential_factor(m, l, factor);
  for (uint32_t x = 0; x < m->cells; x++) {
    const float *scale = factor[x <= m->cells / 2 ? x : m->cells - x];
    float *n = (float *)lines_at(l, x, density);
    for (uint32_t i = 0; i < l->count; i++) {
      const float re = n[2 * i] * scale[i], im = n[2 * i + 1] * scale[i];
      energy[i] += (double)(n[2 * i] * re + n[2 * i + 1] * im);
      n[2 * i] = m->gradient == GRADIENT_SPECTRAL ? -im : -re;
      n[2 * i + 1] = m->gradient == GRADIENT_SPECTRAL ? re : -im;
    }
  }
  for (uint32_t i = 0; i < l->count; i++) sum[i] = mode_weight(m, l->z + i) * energy[i];
}

static void multiply_wave(const struct mesh *m, const struct lines *l, float complex *from,
                          float complex *to) {
  for (size_t x = 0; x < m->cells; x++) {
    const float complex *a = lines_at(l, x, from);
    float complex *product = lines_at(l, x, to);
    for (uint32_t i = 0; i < l->count; i++) product[i] = a[i] * m->wave[x];
  }
}

/* From the spectrum of the potential or the acceleration to the spectra of one set. */
static void scatter_fields(const struct mesh *m, const struct lines *l, float complex *field,
                           float complex *work, float complex *result, float complex *const *out) {
  const fftwf_plan backward = m->plans->x_backward[is_tail(m, l->z)];
  if (m->gradient == GRADIENT_SPECTRAL) {
    multiply_wave(m, l, field, work);
    fftwf_execute_dft(backward, work, result);
    scatter(m, l, result, out);
    out += m->slabs;
  }
  /* The spectra of components y and z differ by a factor constant along x, so that one transform
   * along x serves both. */
  fftwf_execute_dft(backward, field, result);
  scatter(m, l, result, out);
}

/* What a transform along x works on. */
struct along_x {
  float complex *work, *field, *result; /* lines_size() each */
  float (*factor)[LINES];
};

static struct along_x along_x(const struct mesh *m, void *scratch) {
  struct along_x a = {.work = align(scratch)};
  a.field = a.work + lines_size(m);
  a.result = a.field + lines_size(m);
  a.factor = (float(*)[LINES])(a.result + lines_size(m));
  clear_lines(m, 3 * lines_size(m), a.work);
  return a;
}

/* For the lines of some ky of a column, a batch at a time. */
#define FOR_LINES(m, c, kys, l)                                                       \
  for (struct lines l = {.column = (c), .ky = (kys).first}; l.ky < (kys).end; l.ky++) \
    for (struct batch b = batch_from((m), (m)->first_kz); next_lines((m), &b, &l);)

/* Take the lines of the batch, and go on to the next one. @return false: there are no more of this ky */
static bool next_lines(const struct mesh *m, struct batch *b, struct lines *l) {
  if (b->z == m->first_kz + m->kzs) return false;
  l->z = b->z;
  l->count = b->count;
  *b = batch_from(m, b->z + b->count);
  return true;
}

/* From the densities to what scatter_fields() needs, in a->field.
 * @param[out] energy  of the column, see mesh_fft_x() */
static void make_potential(const struct mesh *m, const struct lines *l, const struct along_x *a,
                           const float complex *const *in, double *energy) {
  const fftwf_plan forward = m->plans->x_forward[is_tail(m, l->z)];
  gather(m, l, in, a->work);
  fftwf_execute_dft(forward, a->work, a->field);
  if (m->interlace) {
    gather(m, l, in + m->slabs, a->work);
    fftwf_execute_dft(forward, a->work, a->result);
    /* The aliased images of k have opposite signs in the two densities (Hockney & Eastwood 1981,
     * section 7-8-3). */
    multiply_phase(m, l, 1.0f, a->result);
    add_lines(m, l, a->result, a->field);
  }
  apply_green(m, l, a->factor, a->field, energy + lines_offset(m, l));
}

void mesh_fft_x(const struct mesh *m, uint32_t c, struct mesh_range kys,
                const float complex *const *in, float complex *const *out, double *energy,
                void *scratch) {
  const struct along_x a = along_x(m, scratch);
  FOR_LINES(m, c, kys, l) {
    make_potential(m, &l, &a, in, energy);
    scatter_fields(m, &l, a.field, a.work, a.result, out);
    if (!m->interlace) continue;
    multiply_phase(m, &l, -1.0f, a.field);
    scatter_fields(m, &l, a.field, a.work, a.result, out + m->spectra * m->slabs);
  }
}

void mesh_potential_x(const struct mesh *m, uint32_t c, const float complex *const *in,
                      float complex *const *potential, double *energy, void *scratch) {
  const struct along_x a = along_x(m, scratch);
  FOR_LINES(m, c, column_kys(m, c), l) {
    make_potential(m, &l, &a, in, energy);
    scatter(m, &l, a.field, potential);
  }
}

void mesh_fields_x(const struct mesh *m, uint32_t c, uint32_t set,
                   const float complex *const *potential, float complex *const *out,
                   void *scratch) {
  const struct along_x a = along_x(m, scratch);
  FOR_LINES(m, c, column_kys(m, c), l) {
    gather(m, &l, potential, a.field);
    if (set == 1) multiply_phase(m, &l, -1.0f, a.field);
    scatter_fields(m, &l, a.field, a.work, a.result, out);
  }
}
