/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particle mesh: tables, FFTW plans, and the transforms between density slabs, k-space columns
 * and field slabs. */
#include "photons/mesh/mesh.h"

#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/cosmology/species.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(mesh_green, 0x887733, .family = "pm", .untimed = true);

/* Number of lines transformed together along x or y, and the stride between the cells of a line, in
 * complex numbers. Neighbouring kz fill vector registers and cache lines, LINES lines of N cells
 * stay in the second-level cache, and the stride is no power of two, which would alias. On planes
 * cut up like this, FFTW_ESTIMATE finds plans nearly as fast as those of FFTW_MEASURE, and the same
 * ones in each run. */
enum { LINES = 64, LINE_STRIDE = 72, ALIGNMENT = 64 };

struct mesh_plans {
  fftwf_plan z_forward, z_backward; /* one row */
  /* y: between the transform along z (stride row/2) and a line buffer. x: between line buffers.
   * [0]: LINES lines, [1]: the last lines of a row of kz. Out of place. */
  fftwf_plan y_forward[2], y_backward[2], x_forward[2], x_backward[2];
};

static float complex *align(void *scratch) {
  uintptr_t p = (uintptr_t)scratch;
  return (float complex *)((p + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

/* Complex numbers of a line buffer, and of a plane after the transform along z. */
static size_t lines_size(const struct mesh *m) { return (size_t)m->cells * LINE_STRIDE; }
static size_t spectrum_size(const struct mesh *m) { return plane_floats(m) / 2; }

static int signed_index(const struct mesh *m, uint32_t n) {
  return n <= m->cells / 2 ? (int)n : (int)n - (int)m->cells;
}

static fftwf_plan plan_lines(const struct mesh *m, uint32_t lines, int stride_in, int stride_out,
                             int sign, fftwf_complex *in, fftwf_complex *out) {
  const int n = (int)m->cells;
  return fftwf_plan_many_dft(1, &n, (int)lines, in, NULL, stride_in, 1, out, NULL, stride_out, 1,
                             sign, FFTW_ESTIMATE);
}

static struct mesh_plans *plans_create(const struct mesh *m) {
  struct mesh_plans *p = allocate(1, sizeof *p, "FFT plans");
  const int n = (int)m->cells, spectrum_row = (int)m->row / 2;
  float *plane = fftwf_alloc_real(plane_floats(m));
  fftwf_complex *spectrum = fftwf_alloc_complex(spectrum_size(m));
  fftwf_complex *lines = fftwf_alloc_complex(lines_size(m)),
                *lines_out = fftwf_alloc_complex(lines_size(m));
  if (!plane || !spectrum || !lines || !lines_out)
    fail(EXIT_RUN_FAILED, "not enough memory for FFT plans of a mesh of %d cells a side", n);

  p->z_forward = fftwf_plan_dft_r2c_1d(n, plane, spectrum, FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
  p->z_backward = fftwf_plan_dft_c2r_1d(n, spectrum, plane, FFTW_ESTIMATE);
  bool complete = p->z_forward && p->z_backward;
  for (int tail = 0; tail < 2; tail++) {
    uint32_t count = tail ? m->kz % LINES : LINES;
    if (count == 0 || count > m->kz) continue;
    p->y_forward[tail] = plan_lines(m, count, spectrum_row, LINE_STRIDE, FFTW_FORWARD, spectrum,
                                    lines);
    p->y_backward[tail] = plan_lines(m, count, LINE_STRIDE, spectrum_row, FFTW_BACKWARD, lines,
                                     spectrum);
    p->x_forward[tail] = plan_lines(m, count, LINE_STRIDE, LINE_STRIDE, FFTW_FORWARD, lines,
                                    lines_out);
    p->x_backward[tail] = plan_lines(m, count, LINE_STRIDE, LINE_STRIDE, FFTW_BACKWARD, lines,
                                     lines_out);
    complete = complete && p->y_forward[tail] && p->y_backward[tail] && p->x_forward[tail] &&
               p->x_backward[tail];
  }
  if (!complete) fail(EXIT_RUN_FAILED, "FFTW made no plan for a mesh of %d cells a side", n);
  fftwf_free(plane);
  fftwf_free(spectrum);
  fftwf_free(lines);
  fftwf_free(lines_out);
  return p;
}

/** S(k) of a mesh without pairs: 1/2 at its cut, or where none is given at half of its Nyquist frequency, which is that of the particles
 * where the mesh has twice as many cells a side, and 5e-5 at all of it. There lies the lattice that particles
 * begin on. Its waves, displaced by long waves, pull along these: with S = 1 the forces of 32^3 particles in
 * 250 Mpc/h at z = 9 are 2.7 times too large. */
static double mesh_alone_factor(const struct mesh *m, double k) {
  const double of_nyquist = k * m->box / (m->cells * M_PI);
  return exp(-(m->cut > 0.0 ? M_LN2 / pow(m->cut, 4.0) : 10.0) * pow(of_nyquist, 4.0));
}

enum { GREEN_PART = 4096 }; /* entries of Green's function that a task computes */

struct green {
  struct mesh *mesh;
  const struct response *response; /* or NULL */
};

static void green_part(void *context, uint32_t part) {
  const struct green *g = context;
  const struct mesh *m = g->mesh;
  const double fundamental = 2.0 * M_PI / m->box,
               unit = 4.0 * M_PI / (m->box * m->box * m->box) / (m->interlace ? 2.0 : 1.0);
  const size_t first = (size_t)part * GREEN_PART, all = mesh_squares(m),
               end = first + GREEN_PART < all ? first + GREEN_PART : all;
  for (size_t i = first > 0 ? first : 1; i < end; i++) {
    const double k = fundamental * sqrt((double)i),
                 others = g->response ? response_at(g->response, k) : 0;
    const double own = m->split ? split_mesh_factor(m->split, k) : mesh_alone_factor(m, k);
    m->green[i] = (float)(unit / (k * k) * (own + others));
  }
}

void mesh_make_green(struct mesh *m, const struct response *response) {
  struct green g = {m, response};
  loop_run(&mesh_green_stage, (uint32_t)((mesh_squares(m) + GREEN_PART - 1) / GREEN_PART),
           green_part, &g);
}

void mesh_cut_force(struct mesh *m, double cut) {
  m->cut = cut;
  mesh_make_green(m, NULL);
}

static void tables_create(struct mesh *m) {
  const uint32_t n = m->cells, half = n / 2;
  const double fundamental = 2.0 * M_PI / m->box;
  m->green = allocate(mesh_squares(m), sizeof *m->green, "Green's function");
  mesh_make_green(m, NULL);
  m->window = allocate(n, sizeof *m->window, "assignment window");
  m->wave = allocate(n, sizeof *m->wave, "wave numbers");
  /* the window of a scheme of width w is sinc^w */
  const double power = -2.0 * assignment_width(m->assignment);
  for (uint32_t i = 0; i < n; i++) {
    int s = signed_index(m, i);
    double x = M_PI * s / n;
    m->window[i] = (float)pow(s == 0 ? 1.0 : sin(x) / x, power);
    m->wave[i] = i == half ? 0.0f : (float)(fundamental * s);
  }
  m->phase = allocate(5 * (size_t)half + 1, sizeof *m->phase, "interlacing phases");
  for (size_t i = 0; i <= 5 * (size_t)half; i++) {
    double angle = M_PI * ((double)i - n) / n;
    m->phase[i] = (float)cos(angle) + (float)sin(angle) * I;
  }
}

struct mesh *mesh_create(uint32_t cells, uint32_t slabs, uint32_t columns, double box,
                         enum assignment assignment, enum gradient gradient, bool interlace,
                         const struct split *split) {
  if (cells < 8 || cells > MESH_MOST || cells % 2)
    fail(EXIT_BAD_USAGE, "a mesh of %u cells a side: the number must be even, 8 to %d", cells,
         MESH_MOST);
  if (slabs < 1 || slabs > cells || columns < 1 || columns > cells)
    fail(EXIT_BAD_USAGE,
         "%u slabs and %u columns for a mesh of %u cells a side: allowed are 1 to that number",
         slabs, columns, cells);
  struct mesh *m = allocate(1, sizeof *m, "mesh");
  *m = (struct mesh){.cells = cells,
                     .row = mesh_row(cells),
                     .kz = cells / 2 + 1,
                     .slabs = slabs,
                     .columns = columns,
                     .box = box,
                     .assignment = assignment,
                     .gradient = gradient,
                     .interlace = interlace,
                     .fields = gradient == GRADIENT_SPECTRAL ? 3 : 1,
                     .spectra = gradient == GRADIENT_SPECTRAL ? 2 : 1,
                     .split = split};
  tables_create(m);
  m->plans = plans_create(m);
  return m;
}

void mesh_free(struct mesh *m) {
  if (!m) return;
  fftwf_destroy_plan(m->plans->z_forward);
  fftwf_destroy_plan(m->plans->z_backward);
  for (int tail = 0; tail < 2; tail++) {
    fftwf_destroy_plan(m->plans->y_forward[tail]);
    fftwf_destroy_plan(m->plans->y_backward[tail]);
    fftwf_destroy_plan(m->plans->x_forward[tail]);
    fftwf_destroy_plan(m->plans->x_backward[tail]);
  }
  free(m->plans);
  free(m->green);
  free(m->window);
  free(m->wave);
  free(m->phase);
  free(m);
}

uint32_t mesh_good_size(uint32_t n) {
  for (uint32_t size = n < 2 ? 2 : n + n % 2;; size += 2) {
    uint32_t rest = size;
    const uint32_t primes[] = {2, 3, 5, 7};
    for (size_t i = 0; i < 4; i++)
      while (rest % primes[i] == 0) rest /= primes[i];
    if (rest == 1) return size;
  }
}

struct patch patch_for_box(const struct mesh *m, const uint32_t centre[3], const double half[3]) {
  struct patch patch;
  for (int c = 0; c < 3; c++) {
    const uint32_t width = c == 2 ? 4 : assignment_width(m->assignment);
    /* Positions are integers: rounding the half width down loses none of them, and all that follows
     * is exact. */
    const int64_t reach = (int64_t)half[c];
    const int64_t low = (int64_t)centre[c] - reach, high = (int64_t)centre[c] + reach;
    const int64_t first = (low * m->cells + (int64_t)assignment_offset(m, 0, false)) >> 32;
    const int64_t last = ((high * m->cells + (int64_t)assignment_offset(m, 0, m->interlace)) >>
                          32) +
                         width - 1;
    const bool whole = last - first + 1 >= m->cells;
    patch.size[c] = whole ? m->cells : (uint32_t)(last - first + 1);
    patch.origin[c] = whole ? 0 : (uint32_t)((first + m->cells) % m->cells);
  }
  return patch;
}

struct field_box field_box_for_patch(const struct mesh *m, const struct patch *patch) {
  /* differences reach two cells beyond the window */
  const uint32_t margin = m->gradient == GRADIENT_FD4 ? 2 : 0;
  uint32_t origin[3], size[3];
  for (int c = 0; c < 3; c++) {
    const bool whole = patch->size[c] + 2 * margin >= m->cells;
    origin[c] = whole ? 0 : (patch->origin[c] + m->cells - margin) % m->cells;
    size[c] = whole ? m->cells : patch->size[c] + 2 * margin;
  }
  return (struct field_box){.first = origin[0],
                            .planes = size[0],
                            .origin = {origin[1], origin[2]},
                            .size = {size[1], size[2]},
                            .row = size[2] + 4};
}

void mesh_cut_plane(const struct mesh *m, const struct field_box *b, const float *plane,
                    float *out) {
  const uint32_t to_edge = m->cells - b->origin[1], before = b->row < to_edge ? b->row : to_edge;
  for (uint32_t i = 0; i < b->size[0]; i++, out += b->row) {
    const float *row = plane + (size_t)((b->origin[0] + i) % m->cells) * m->row;
    memcpy(out, row + b->origin[1], before * sizeof *out);
    /* rows of a slab also repeat their first four cells */
    memcpy(out + before, row, (b->row - before) * sizeof *out);
  }
}

size_t mesh_scratch_bytes(const struct mesh *m) {
  size_t along_x = 3 * lines_size(m) + (size_t)(m->cells / 2 + 1) * LINES / 2;
  size_t along_yz = spectrum_size(m) + lines_size(m);
  return ALIGNMENT + sizeof(float complex) * (along_x > along_yz ? along_x : along_yz);
}

void mesh_fft_yz(const struct mesh *m, uint32_t s, float *slab, float complex *const *blocks,
                 void *scratch) {
  float complex *spectrum = align(scratch), *lines = spectrum + spectrum_size(m);
  const uint32_t planes = slab_first(m, s + 1) - slab_first(m, s);
  for (uint32_t x = 0; x < planes; x++) {
    float *plane = slab + x * plane_floats(m);
    for (uint32_t y = 0; y < m->cells; y++)
      fftwf_execute_dft_r2c(m->plans->z_forward, plane + (size_t)y * m->row,
                            spectrum + (size_t)y * m->row / 2);
    for (uint32_t z = 0; z < m->kz; z += LINES) {
      const uint32_t count = m->kz - z < LINES ? m->kz - z : LINES;
      fftwf_execute_dft(m->plans->y_forward[count < LINES], spectrum + z, lines);
      for (uint32_t c = 0; c < m->columns; c++) {
        const uint32_t first = column_first(m, c), width = column_first(m, c + 1) - first;
        float complex *block = blocks[c] + (size_t)x * width * m->kz + z;
        for (uint32_t y = 0; y < width; y++)
          memcpy(block + (size_t)y * m->kz, lines + (size_t)(first + y) * LINE_STRIDE,
                 count * sizeof *lines);
      }
    }
  }
}

/** Fields y and z: their common spectrum times the wave number. */
static void multiply_row(const struct mesh *m, uint32_t field, uint32_t ky, uint32_t z,
                         uint32_t count, float complex *row) {
  for (uint32_t i = 0; i < count; i++) row[i] *= field == 1 ? m->wave[ky] : m->wave[z + i];
}

void mesh_ifft_yz(const struct mesh *m, uint32_t s, uint32_t field,
                  const float complex *const *blocks, float *slab, void *scratch) {
  float complex *spectrum = align(scratch), *lines = spectrum + spectrum_size(m);
  const uint32_t planes = slab_first(m, s + 1) - slab_first(m, s);
  for (uint32_t x = 0; x < planes; x++) {
    for (uint32_t z = 0; z < m->kz; z += LINES) {
      const uint32_t count = m->kz - z < LINES ? m->kz - z : LINES;
      for (uint32_t c = 0; c < m->columns; c++) {
        const uint32_t first = column_first(m, c), width = column_first(m, c + 1) - first;
        const float complex *block = blocks[c] + (size_t)x * width * m->kz + z;
        for (uint32_t y = 0; y < width; y++) {
          float complex *row = lines + (size_t)(first + y) * LINE_STRIDE;
          memcpy(row, block + (size_t)y * m->kz, count * sizeof *lines);
          if (field > 0) multiply_row(m, field, first + y, z, count, row);
        }
      }
      fftwf_execute_dft(m->plans->y_backward[count < LINES], lines, spectrum + z);
    }
    float *plane = slab + x * plane_floats(m);
    for (uint32_t y = 0; y < m->cells; y++) {
      float *row = plane + (size_t)y * m->row;
      fftwf_execute_dft_c2r(m->plans->z_backward, spectrum + (size_t)y * m->row / 2, row);
      memcpy(row + m->cells, row, 4 * sizeof *row);
    }
  }
}

/* Lines along x: those of ky and z .. z + count - 1 in column c. */
struct lines {
  uint32_t column, ky, z, count;
};

/* Offset of the lines' first number in a transpose block, and the distance in the transpose block
 * from one x to the next. */
static size_t lines_offset(const struct mesh *m, const struct lines *l) {
  return (size_t)(l->ky - column_first(m, l->column)) * m->kz + l->z;
}
static size_t lines_step(const struct mesh *m, const struct lines *l) {
  return (size_t)(column_first(m, l->column + 1) - column_first(m, l->column)) * m->kz;
}

static void gather(const struct mesh *m, const struct lines *l, const float complex *const *blocks,
                   float complex *to) {
  for (uint32_t s = 0; s < m->slabs; s++) {
    const float complex *from = blocks[s] + lines_offset(m, l);
    for (uint32_t x = slab_first(m, s); x < slab_first(m, s + 1); x++, from += lines_step(m, l))
      memcpy(to + (size_t)x * LINE_STRIDE, from, l->count * sizeof *to);
  }
}

static void scatter(const struct mesh *m, const struct lines *l, const float complex *from,
                    float complex *const *blocks) {
  for (uint32_t s = 0; s < m->slabs; s++) {
    float complex *to = blocks[s] + lines_offset(m, l);
    for (uint32_t x = slab_first(m, s); x < slab_first(m, s + 1); x++, to += lines_step(m, l))
      memcpy(to, from + (size_t)x * LINE_STRIDE, l->count * sizeof *to);
  }
}

/* -phi_k / n_k (n: particles per cell) of the lines for |kx| = 0 .. N/2: Green's function, split
 * factor and both windows. */
static void potential_factor(const struct mesh *m, const struct lines *l, float (*factor)[LINES]) {
  const int ky = signed_index(m, l->ky);
  for (uint32_t kx = 0; kx <= m->cells / 2; kx++) {
    const float *green = m->green + (size_t)kx * kx + (size_t)(ky * ky);
    const float window = m->window[kx] * m->window[l->ky];
    for (uint32_t i = 0; i < l->count; i++) {
      const size_t kz = l->z + i;
      factor[kx][i] = green[kz * kz] * window * m->window[kz];
    }
  }
}

/* Multiply by e^{+-i k . shift}: from the shifted mesh to the mesh (+) or back (-). */
static void multiply_phase(const struct mesh *m, const struct lines *l, float direction,
                           float complex *spectrum) {
  for (uint32_t x = 0; x < m->cells; x++) {
    const int n = signed_index(m, x) + signed_index(m, l->ky) + (int)l->z + (int)m->cells;
    const float *phase = (const float *)(m->phase + n);
    float *a = (float *)(spectrum + (size_t)x * LINE_STRIDE);
    for (uint32_t i = 0; i < 2 * l->count; i += 2) {
      const float re = a[i], im = a[i + 1], sine = direction * phase[i + 1];
      a[i] = re * phase[i] - im * sine;
      a[i + 1] = re * sine + im * phase[i];
    }
  }
}

static void add_lines(const struct mesh *m, const struct lines *l, const float complex *from,
                      float complex *to) {
  for (size_t x = 0; x < m->cells; x++)
    for (uint32_t i = 0; i < l->count; i++) to[x * LINE_STRIDE + i] += from[x * LINE_STRIDE + i];
}

/* Density to potential phi (fd4), or to -i phi (spectral), which times k_i is the acceleration
 * along i.
 * @return sum of -phi n^* over the modes of these lines and their complex conjugates */
static double apply_green(const struct mesh *m, const struct lines *l, float (*factor)[LINES],
                          float complex *density) {
  double energy[LINES] = {0.0}, sum = 0.0;
  potential_factor(m, l, factor);
  for (uint32_t x = 0; x < m->cells; x++) {
    const float *scale = factor[x <= m->cells / 2 ? x : m->cells - x];
    float *n = (float *)(density + (size_t)x * LINE_STRIDE);
    for (uint32_t i = 0; i < l->count; i++) {
      const float re = n[2 * i] * scale[i], im = n[2 * i + 1] * scale[i];
      energy[i] += (double)(n[2 * i] * re + n[2 * i + 1] * im);
      n[2 * i] = m->gradient == GRADIENT_SPECTRAL ? -im : -re;
      n[2 * i + 1] = m->gradient == GRADIENT_SPECTRAL ? re : -im;
    }
  }
  for (uint32_t i = 0; i < l->count; i++) sum += mode_weight(m, l->z + i) * energy[i];
  return sum;
}

static void multiply_wave(const struct mesh *m, const struct lines *l, const float complex *from,
                          float complex *to) {
  for (size_t x = 0; x < m->cells; x++)
    for (uint32_t i = 0; i < l->count; i++)
      to[x * LINE_STRIDE + i] = from[x * LINE_STRIDE + i] * m->wave[x];
}

/* From the spectrum of the potential or the acceleration to the spectra of one set. */
static void scatter_fields(const struct mesh *m, const struct lines *l, float complex *field,
                           float complex *work, float complex *result, float complex *const *out) {
  const fftwf_plan backward = m->plans->x_backward[l->count < LINES];
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
  return a;
}

/* For the lines of a column, LINES at a time. */
#define FOR_LINES(m, c, l)                                             \
  for (struct lines l = {.column = (c), .ky = column_first((m), (c))}; \
       l.ky < column_first((m), (c) + 1); l.ky++)                      \
    for (l.z = 0; l.z < (m)->kz && (l.count = lines_count((m), l.z)); l.z += LINES)

static uint32_t lines_count(const struct mesh *m, uint32_t z) {
  return m->kz - z < LINES ? m->kz - z : LINES;
}

/* From the densities to what scatter_fields() needs, in a->field.
 * @return see apply_green() */
static double make_potential(const struct mesh *m, const struct lines *l, const struct along_x *a,
                             const float complex *const *in) {
  const fftwf_plan forward = m->plans->x_forward[l->count < LINES];
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
  return apply_green(m, l, a->factor, a->field);
}

static void clear_energy(const struct mesh *m, uint32_t c, double *energy) {
  memset(energy, 0, (column_first(m, c + 1) - column_first(m, c)) * sizeof *energy);
}

void mesh_fft_x(const struct mesh *m, uint32_t c, const float complex *const *in,
                float complex *const *out, double *energy, void *scratch) {
  const struct along_x a = along_x(m, scratch);
  clear_energy(m, c, energy);
  FOR_LINES(m, c, l) {
    energy[l.ky - column_first(m, c)] += make_potential(m, &l, &a, in);
    scatter_fields(m, &l, a.field, a.work, a.result, out);
    if (!m->interlace) continue;
    multiply_phase(m, &l, -1.0f, a.field);
    scatter_fields(m, &l, a.field, a.work, a.result, out + m->spectra * m->slabs);
  }
}

void mesh_potential_x(const struct mesh *m, uint32_t c, const float complex *const *in,
                      float complex *const *potential, double *energy, void *scratch) {
  const struct along_x a = along_x(m, scratch);
  clear_energy(m, c, energy);
  FOR_LINES(m, c, l) {
    energy[l.ky - column_first(m, c)] += make_potential(m, &l, &a, in);
    scatter(m, &l, a.field, potential);
  }
}

void mesh_fields_x(const struct mesh *m, uint32_t c, uint32_t set,
                   const float complex *const *potential, float complex *const *out,
                   void *scratch) {
  const struct along_x a = along_x(m, scratch);
  FOR_LINES(m, c, l) {
    gather(m, &l, potential, a.field);
    if (set == 1) multiply_phase(m, &l, -1.0f, a.field);
    scatter_fields(m, &l, a.field, a.work, a.result, out);
  }
}
