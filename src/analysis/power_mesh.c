/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deposit of particles on the meshes of a power spectrum, and the transforms of the meshes along y
 * and z. */
#include "power_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

enum {
  GHOSTS = 2,  /* a particle touches two planes on either side of its own, the shifted mesh
                  included */
  COLOURS = 3, /* along one axis; tiles of one colour touch no common cell */
  HOLDS = 1024,
  UNIT_BITS = 20 /* deposits are multiples of 2^-20 if no cell holds more than 2048 particles; their
            rounding is 5e-12 of the shot noise */
};

/** Four cells of a row. */
typedef float floats4 __attribute__((vector_size(16), may_alias));
typedef int32_t integers4 __attribute__((vector_size(16)));
typedef int32_t cells4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t cell __attribute__((may_alias));

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

struct shape {
  size_t planes, ghosts, row, plane, floats; /* floats: of one mesh, before or after the
                                                transform */
};

static struct shape shape_of(size_t n, int rank) {
  struct shape s = {.planes = comm_first(n, rank + 1) - comm_first(n, rank),
                    .ghosts = comm_size() > 1 ? GHOSTS : 0,
                    .row = (n + 6) & ~(size_t)3};
  s.plane = (n + 1) * s.row;
  s.floats = larger(larger(s.planes + 2 * s.ghosts, 1) * s.plane, n * s.planes * (n + 2));
  return s;
}

/** The largest mass of a particle over the mean. Collective. */
static double largest_mass(const struct particles *s) {
  double largest = 1.0;
  if (!particles_have(s, COLUMN_relative_mass)) return largest;
  for (size_t i = 0; i < s->count; i++) largest = fmax(largest, (double)s->relative_mass[i]);
  comm_max_double(&largest, 1);
  return largest;
}

/** The unit of the first deposit. An integer holds HOLDS mean masses or more in units of 2^-20, and must hold
 * the heaviest particle. */
static double first_unit(const struct particles *s) {
  const double excess = fmax(1.0, largest_mass(s) / HOLDS);
  return ldexp(1.0, (int)ceil(log2(excess)) - UNIT_BITS);
}

struct power_mesh power_mesh_create(const struct particles *s, size_t n) {
  const struct shape shape = shape_of(n, comm_rank());
  struct power_mesh m = {.points = power_points_create(s, n),
                         .n = n,
                         .first = comm_first(n, comm_rank()),
                         .planes = shape.planes,
                         .ghosts = shape.ghosts,
                         .row = shape.row,
                         .plane = shape.plane,
                         .unit = first_unit(s)};
  for (int set = 0; set < 2; set++) {
    m.cells[set] = fftwf_alloc_real(shape.floats);
    if (!m.cells[set])
      fail(EXIT_RUN_FAILED,
           "not enough memory for the power spectrum's mesh of %zu^3 cells (%zu MiB)", n,
           shape.floats >> 18);
  }
  const int side = (int)n, size[2] = {side, side}, real[2] = {side, (int)m.row},
            complex[2] = {side, (int)m.row / 2};
  m.plane_plan = fftwf_plan_many_dft_r2c(2, size, 1, m.cells[0], real, 1, 0,
                                         (fftwf_complex *)m.cells[0], complex, 1, 0, FFTW_ESTIMATE);
  if (!m.plane_plan)
    fail(EXIT_RUN_FAILED, "FFTW cannot plan the power spectrum's transform of %zu^3 cells", n);
  return m;
}

void power_mesh_free(struct power_mesh *m) {
  fftwf_destroy_plan(m->plane_plan);
  for (int set = 0; set < 2; set++) fftwf_free(m->cells[set]);
  power_points_free(&m->points);
}

double power_mesh_memory(size_t particles, size_t n) {
  const struct shape s = shape_of(n, 0);
  /* one more mesh and one more copy of the points where ranks exchange them */
  const double size = comm_size(), sets = size > 1 ? 3.0 : 2.0, points = size > 1 ? 2.0 : 1.0;
  return sets * sizeof(float) * (double)s.floats +
         points * sizeof(struct point) * (double)particles / size;
}

/* Deposit. */

/** First of the four cells that a particle touches along one side, and the weights of these cells
 * (cubic B-spline).
 * @param shift  of the mesh, 2^-32 cells */
static inline size_t spline_weights(uint32_t u, size_t n, uint64_t shift, float weight[4]) {
  /* cells, 32 bits of fraction */
  uint64_t whole = (uint64_t)n << 32, position = (uint64_t)u * n + whole - shift;
  float d = (float)(uint32_t)position * 0x1p-32f, e = 1.0f - d;
  weight[0] = e * e * e * (1.0f / 6.0f);
  weight[1] = 2.0f / 3.0f - d * d * (1.0f - 0.5f * d);
  weight[2] = 2.0f / 3.0f - e * e * (1.0f - 0.5f * e);
  weight[3] = d * d * d * (1.0f / 6.0f);
  size_t first = (size_t)(position >> 32) - 1;
  return first >= n ? first - n : first;
}

/** Where and how a task deposits. */
struct target {
  cell *mesh;
  size_t n, row, plane;
  size_t from, planes; /* plane x of the first plane here, and the number of planes */
  uint64_t shift;
  float per_unit;
};

/** @param mass  over the mean
 * @return OR of the bits of all sums */
static inline integers4 deposit_point(const struct target *t, const struct point *p, float mass) {
  float wx[4], wy[4], wz[4];
  const size_t n = t->n;
  size_t x = spline_weights(p->x[0], n, t->shift, wx);
  size_t y = spline_weights(p->x[1], n, t->shift, wy);
  size_t z = spline_weights(p->x[2], n, t->shift, wz);
  const floats4 w = {wz[0], wz[1], wz[2], wz[3]}, half = {0.5f, 0.5f, 0.5f, 0.5f};
  integers4 bits = {0};
  size_t row[4];
  for (size_t c = 0; c < 4; c++) row[c] = (y + c < n ? y + c : y + c - n) * t->row + z;
  x = x >= t->from ? x - t->from : x + n - t->from;
#pragma GCC unroll 4
  for (size_t a = 0; a < 4; a++) {
    cell *plane = t->mesh + (x + a < t->planes ? x + a : x + a - t->planes) * t->plane;
    const float wa = wx[a] * (mass * t->per_unit);
#pragma GCC unroll 4
    for (size_t c = 0; c < 4; c++) {
      cells4 *cells = (cells4 *)(void *)(plane + row[c]);
      const integers4 sum = *cells + __builtin_convertvector(wa * wy[c] * w + half, integers4);
      *cells = sum;
      bits |= sum;
    }
  }
  return bits;
}

/** Colour of a tile along one axis. Neighbours differ, also across the periodic edge. */
static uint32_t tile_colour(uint32_t tile, uint32_t tiles) {
  return tile + 1 == tiles && tiles % 2 ? 2 : tile % 2;
}

static void deposit_tile(void *context, uint32_t tile) {
  struct power_mesh *m = context;
  const struct power_points *p = &m->points;
  if (tile_colour(tile / p->y_tiles, p->x_tiles) * COLOURS +
          tile_colour(tile % p->y_tiles, p->y_tiles) !=
      m->colour)
    return;
  if (atomic_load(&m->overflow)) return; /* the deposit will be repeated with larger units */
  const struct target target = {.mesh = (cell *)(void *)m->cells[0],
                                .n = m->n,
                                .row = m->row,
                                .plane = m->plane,
                                .from = (m->first + m->n - m->ghosts) % m->n,
                                .planes = m->planes + 2 * m->ghosts,
                                .per_unit = (float)(1.0 / m->unit)};
  struct target displaced = target;
  displaced.mesh = (cell *)(void *)m->cells[1];
  displaced.shift = UINT64_C(1) << 31;
  integers4 seen = {0};
  size_t i, end;
  for (power_points_range(p, tile, &i, &end); i < end; i++) {
    const float mass = p->point.mass ? p->point.mass[i] : 1.0f;
    seen |= deposit_point(&target, &p->point.point[i], mass) |
            deposit_point(&displaced, &p->point.point[i], mass);
  }
  if ((seen[0] | seen[1] | seen[2] | seen[3]) < 0)
    atomic_store(&m->overflow, true); /* a sum that overflows was negative at some time */
}

static void clear_plane(void *context, uint32_t x) {
  const struct power_mesh *m = context;
  for (int set = 0; set < 2; set++)
    memset(m->cells[set] + x * m->plane, 0, m->plane * sizeof(float));
}

/** The plane x that ghost plane g < 2 GHOSTS of rank r stands for, and the number of this plane on
 * its own rank. */
static size_t ghost_plane(size_t n, int r, size_t g, size_t *local) {
  const size_t first = comm_first(n, r), planes = comm_first(n, r + 1) - first;
  *local = g < GHOSTS ? g : g + planes;
  return (first + n - GHOSTS + *local) % n;
}

/** Add the deposits on ghost planes to the planes that they stand for. */
static void add_ghosts(struct power_mesh *m) {
  const size_t size = (size_t)comm_size(), n = m->n, bytes = n * m->row * sizeof(cell);
  const int rank = comm_rank();
  size_t *send = allocate(2 * size, sizeof *send, "power spectrum"), *receive = send + size,
         sent = 0, received = 0, local;
  cell *out = allocate(4 * GHOSTS * n * m->row, sizeof *out, "the power spectrum's ghost planes");
  for (int r = 0; r < comm_size(); r++)
    for (int set = 0; set < 2; set++)
      for (size_t g = 0; g < 2 * GHOSTS; g++) {
        if (m->planes > 0 && m->points.owner[ghost_plane(n, rank, g, &local)] == (uint32_t)r) {
          memcpy(out + sent++ * n * m->row, m->cells[set] + local * m->plane, bytes);
          send[r] += bytes;
        }
        if (comm_first(n, r + 1) > comm_first(n, r) &&
            m->points.owner[ghost_plane(n, r, g, &local)] == (uint32_t)rank) {
          receive[r] += bytes;
          received++;
        }
      }
  cell *in = allocate(received * n * m->row, sizeof *in, "the power spectrum's ghost planes");
  comm_exchange(out, send, in, receive);
  const cell *from = in;
  for (int r = 0; r < comm_size(); r++)
    for (int set = 0; set < 2 && comm_first(n, r + 1) > comm_first(n, r); set++)
      for (size_t g = 0; g < 2 * GHOSTS; g++) {
        const size_t plane = ghost_plane(n, r, g, &local);
        if (m->points.owner[plane] != (uint32_t)rank) continue;
        cell *to = (cell *)(void *)(m->cells[set] + (plane - m->first + GHOSTS) * m->plane);
        bool over = false;
        for (size_t i = 0; i < n * m->row; i++)
          over |= __builtin_add_overflow(to[i], from[i], &to[i]);
        if (over) atomic_store(&m->overflow, true);
        from += n * m->row;
      }
  free(send);
  free(out);
  free(in);
}

/** Deposit all particles of the fold. */
static void deposit(struct power_mesh *m) {
  const struct power_points *p = &m->points;
  atomic_store(&m->overflow, false);
  if (m->planes > 0)
    loop_run(&power_spectrum_stage, (uint32_t)(m->planes + 2 * m->ghosts), clear_plane, m);
  for (size_t round = 0; round < p->rounds; round++) {
    power_points_load(&m->points, round);
    for (m->colour = 0; m->colour < COLOURS * COLOURS; m->colour++)
      if ((p->x_tiles % 2 || m->colour / COLOURS < 2) &&
          (p->y_tiles % 2 || m->colour % COLOURS < 2))
        loop_run(&power_spectrum_stage, p->x_tiles * p->y_tiles, deposit_tile, m);
  }
  if (m->ghosts > 0) add_ghosts(m);
}

/** Deposit in the smallest unit that the fullest cell of all ranks allows; few folds need a second
 * attempt. */
static void deposit_finely(struct power_mesh *m) {
  for (double over = 1.0; over > 0.0;) {
    deposit(m);
    over = atomic_load(&m->overflow);
    comm_max_double(&over, 1);
    if (over > 0.0) m->unit *= 8.0;
  }
}

/* Transform. */

/** Subtract the mean from the masses in cells before the transform; else the transform's rounding
 * would be relative to the mean, not to the fluctuations. */
static void transform_plane(void *context, uint32_t x) {
  const struct power_mesh *m = context;
  const size_t n = m->n;
  const float unit = (float)m->unit,
              mean = (float)((double)m->points.particles->all / pow((double)n, 3.0));
  for (int set = 0; set < 2; set++) {
    float *plane = m->cells[set] + (m->ghosts + x) * m->plane;
    for (size_t y = 0; y < n; y++) {
      float *row = plane + y * m->row;
      for (size_t z = 0; z < m->row; z += 4) {
        const cells4 *cells = (const cells4 *)(const void *)(row + z);
        *(floats4 *)(void *)(row + z) = __builtin_convertvector(*cells, floats4) * unit - mean;
      }
      /* deposits beyond the end of the row */
      for (size_t z = 0; z < 3; z++) row[z] += row[n + z] + mean;
    }
    fftwf_execute_dft_r2c(m->plane_plan, plane, (fftwf_complex *)plane);
  }
}

static void transform_planes(struct power_mesh *m) {
  loop_run(&power_spectrum_stage, (uint32_t)m->planes, transform_plane, m);
  double excess = 0.0; /* of mass over the mean: the sum of the modes (0, 0) of all planes */
  for (int set = 0; set < 2; set++)
    for (size_t x = 0; x < m->planes; x++)
      excess += (double)m->cells[set][(m->ghosts + x) * m->plane];
  comm_sum_double(&excess, 1);
  m->mass = (double)m->points.particles->all + 0.5 * excess;
}

struct packing {
  const struct power_mesh *mesh;
  const float *from;
};

/** Cut one plane x into pieces, the planes ky of each rank. */
static void pack_plane(void *context, uint32_t x) {
  const struct packing *p = context;
  const struct power_mesh *m = p->mesh;
  const size_t n = m->n, modes = n + 2;
  for (int r = 0; r < comm_size(); r++) {
    const size_t first = comm_first(n, r), count = comm_first(n, r + 1) - first;
    float *to = m->packed + (m->planes * first + x * count) * modes;
    for (size_t y = 0; y < count; y++)
      memcpy(to + y * modes, p->from + (m->ghosts + x) * m->plane + (first + y) * m->row,
             modes * sizeof *to);
  }
}

/** From planes x to planes ky. The data received are [x][ky here][kz]. */
static void transpose(struct power_mesh *m) {
  const size_t size = (size_t)comm_size(), n = m->n, modes = n + 2;
  size_t *send = allocate(2 * size, sizeof *send, "power spectrum"), *receive = send + size;
  for (size_t r = 0; r < size; r++)
    send[r] = receive[r] = m->planes * (comm_first(n, (int)r + 1) - comm_first(n, (int)r)) * modes *
                           sizeof(float);
  m->packed = allocate(m->planes * n * modes, sizeof *m->packed,
                       "the exchange of the power spectrum's mesh");
  for (int set = 0; set < 2; set++) {
    struct packing packing = {.mesh = m, .from = m->cells[set]};
    loop_run(&power_spectrum_stage, (uint32_t)m->planes, pack_plane, &packing);
    comm_exchange(m->packed, send, m->cells[set], receive);
  }
  free(m->packed);
  free(send);
  m->x_stride = m->planes * modes;
  m->y_stride = modes;
}

void power_mesh_fill(struct power_mesh *m, unsigned fold) {
  power_points_fold(&m->points, fold);
  deposit_finely(m);
  transform_planes(m);
  if (comm_size() > 1) {
    transpose(m);
  } else {
    m->x_stride = m->plane;
    m->y_stride = m->row;
  }
}
