/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deposit of particles on the meshes of a power spectrum. */
#include "power_mesh.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis/kernels.h"
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

typedef int32_t cell __attribute__((may_alias));

static struct fft_mesh mesh_of(size_t n) {
  struct fft_mesh m = {.cells = {n, n, n},
                       .precision = FFT_SINGLE,
                       .row = (n + 6) & ~(size_t)3,
                       .spare = 1,
                       .stage = &power_spectrum_stage};
  if (fft_grid_of(&m).columns > 1) m.spare += 2 * GHOSTS;
  return m;
}

/** Ghosts on either side along axis 0 or 1. */
static size_t ghosts_of(struct fft_grid grid, int axis) {
  return (axis == 0 ? comm_size() > 1 : grid.columns > 1) ? GHOSTS : 0;
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

size_t *power_places(size_t n, size_t from, size_t count, size_t stride) {
  size_t *place = allocate(2 * n + 7, sizeof *place, "power spectrum");
  for (size_t h = 0; h < 2 * n + 7 && count > 0; h++)
    place[h] = ((h + 1) / 2 + 2 * n - 2 - from) % n % count * stride;
  return place;
}

struct power_mesh power_mesh_create(const struct particles *s, size_t n) {
  const struct fft_mesh mesh = mesh_of(n);
  struct power_mesh m = {.fft = fft_create(&mesh), .n = n, .row = mesh.row, .unit = first_unit(s)};
  m.points = power_points_create(s, &m.fft);
  m.plane = m.fft.values.step[0];
  for (int axis = 0; axis < 2; axis++) {
    m.first[axis] = m.fft.values.first[axis];
    m.count[axis] = m.fft.values.count[axis];
    m.ghosts[axis] = ghosts_of(m.fft.grid, axis);
    m.places[axis] = power_places(n, (m.first[axis] + n - m.ghosts[axis]) % n,
                                  m.count[axis] + 2 * m.ghosts[axis],
                                  (axis == 0 ? m.plane : m.row) * sizeof(float));
  }
  m.places[2] = power_places(n, 0, n, sizeof(float));
  m.on_gpu = power_gpu_possible(s, &(struct power_layout){n, m.row, m.plane});
  return m;
}

/** The memory of both meshes, if it is not there yet: one block, of which more is in huge pages than of two. */
static void take_cells(struct power_mesh *m) {
  const size_t bytes = fft_bytes(&m->fft) +
                       (2 * m->ghosts[0] * m->plane + m->ghosts[1] * m->row) * sizeof(float),
               floats = (bytes + 15) / 16 * 4; /* the second mesh is aligned, too */
  if (m->cells[0]) return;
  m->cells[0] = allocate_large(2 * floats, sizeof(float), "the meshes of the power spectrum");
  m->cells[1] = m->cells[0] + floats;
  m->empty = true;
}

void power_mesh_free(struct power_mesh *m) {
  power_gpu_end(m->gpu);
  fft_free(&m->fft);
  free(m->cells[0]);
  for (int axis = 0; axis < 3; axis++) free(m->places[axis]);
  power_points_free(&m->points);
}

double power_mesh_memory(size_t particles, size_t n) {
  const struct fft_mesh mesh = mesh_of(n);
  const struct fft_grid grid = fft_grid_of(&mesh);
  const struct fft_box own = fft_values_of(&mesh, grid, 0);
  const double size = comm_size(), ghosts = 2.0 * (double)(ghosts_of(grid, 0) * own.step[0]),
               points = size > 1 ? 2.0 : 1.0; /* another copy where ranks exchange them */
  return (2.0 * fft_bytes_of_all(&mesh) + fft_exchange_bytes_of_all(&mesh) +
          points * sizeof(struct point) * (double)particles) /
             size +
         2.0 * sizeof(float) * ghosts;
}

/* Deposit. */

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
  const struct power_target target = {.mesh = {(void *)m->cells[0], (void *)m->cells[1]},
                                      .n = m->n,
                                      .plane = m->places[0],
                                      .row = m->places[1],
                                      .column = m->places[2],
                                      .per_unit = (float)(1.0 / m->unit)};
  size_t first, end;
  power_points_range(p, tile, &first, &end);
  if (power_kernels_select()->deposit(&target, end - first, &p->point.point[first].x,
                                      p->point.mass ? p->point.mass + first : NULL))
    atomic_store(&m->overflow, true); /* a sum that overflows was negative at some time */
}

static void clear_plane(void *context, uint32_t x) {
  const struct power_mesh *m = context;
  for (int set = 0; set < 2; set++)
    memset(m->cells[set] + x * m->plane, 0, m->plane * sizeof(float));
}

/** The plane or row that ghost g < 2 GHOSTS of a part of n stands for, and its number among those in memory. */
static size_t ghost(size_t n, size_t parts, size_t part, size_t g, size_t *local) {
  const size_t first = block_first(n, parts, part), count = block_first(n, parts, part + 1) - first;
  *local = g < GHOSTS ? g : g + count;
  return (first + n - GHOSTS + *local) % n;
}

/** Ghosts along axis 0 or 1, and who has the cells that they stand for. */
struct edge {
  struct power_mesh *m;
  int axis;
  size_t parts, own;            /* along the axis; the own one */
  size_t rank, step;            /* of part 0, and to that of the next */
  const uint32_t *owner;        /* [plane or row] part */
  size_t copies, length, apart; /* a ghost is so many numbers together, so often, so far apart */
};

static struct edge edge_of(struct power_mesh *m, int axis) {
  const struct fft_grid grid = m->fft.grid;
  const size_t rank = (size_t)comm_rank(), row = rank / grid.columns, column = rank % grid.columns;
  if (axis == 0)
    return (struct edge){m, axis,     grid.rows, row, column, grid.columns, m->points.x_owner,
                         1, m->plane, 0};
  /* of own planes only: ghost planes were added to these */
  return (struct edge){
      m,           axis,   grid.columns, column, row * grid.columns, 1, m->points.y_owner,
      m->count[0], m->row, m->plane};
}

/** A plane or row of this rank's memory. */
static cell *edge_at(const struct edge *e, size_t set, size_t local) {
  const struct power_mesh *m = e->m;
  float *cells = m->cells[set];
  return (cell *)(void *)(e->axis == 0 ? cells + local * m->plane
                                       : cells + m->ghosts[0] * m->plane + local * m->row);
}

/** Add what came for a plane or row. */
static void add_edge(const struct edge *e, cell *to, const cell *from) {
  bool over = false;
  for (size_t copy = 0; copy < e->copies; copy++)
    for (size_t i = 0; i < e->length; i++) {
      cell *sum = &to[copy * e->apart + i];
      over |= __builtin_add_overflow(*sum, from[copy * e->length + i], sum);
    }
  if (over) atomic_store(&e->m->overflow, true);
}

static void copy_edge(const struct edge *e, cell *to, const cell *from) {
  for (size_t copy = 0; copy < e->copies; copy++)
    memcpy(to + copy * e->length, from + copy * e->apart, e->length * sizeof *to);
}

/** Pack what this rank's ghosts have for a part, set by set. @return how many planes or rows */
static size_t pack_edges(const struct edge *e, size_t to, cell *out) {
  const size_t n = e->m->n, numbers = e->copies * e->length;
  size_t count = 0, local;
  for (size_t set = 0; set < 2; set++)
    for (size_t g = 0; g < 2 * GHOSTS; g++)
      if (e->owner[ghost(n, e->parts, e->own, g, &local)] == to)
        copy_edge(e, out + count++ * numbers, edge_at(e, set, local));
  return count;
}

/** How many planes or rows come from a part. */
static size_t count_edges(const struct edge *e, size_t from) {
  size_t count = 0, local;
  for (size_t g = 0; g < 2 * GHOSTS; g++)
    if (e->owner[ghost(e->m->n, e->parts, from, g, &local)] == e->own) count += 2;
  return count;
}

/** Add what came from a part. @return what is behind it */
static const cell *add_edges(const struct edge *e, size_t from, const cell *in) {
  size_t local;
  for (size_t set = 0; set < 2; set++)
    for (size_t g = 0; g < 2 * GHOSTS; g++) {
      const size_t place = ghost(e->m->n, e->parts, from, g, &local);
      if (e->owner[place] != e->own) continue;
      add_edge(e, edge_at(e, set, place - e->m->first[e->axis] + GHOSTS), in);
      in += e->copies * e->length;
    }
  return in;
}

/** Add the deposits on ghosts along an axis to the cells that they stand for. */
static void add_ghosts(struct power_mesh *m, int axis) {
  static const char what[] = "the power spectrum's ghosts";
  const struct edge e = edge_of(m, axis);
  const size_t size = (size_t)comm_size(), numbers = e.copies * e.length;
  const bool any = m->count[0] > 0 && m->count[1] > 0;
  size_t *send = allocate(2 * size, sizeof *send, what), *receive = send + size, sent = 0,
         received = 0;
  cell *out = allocate(4 * GHOSTS * numbers, sizeof *out, what);
  for (size_t part = 0; part < e.parts && any; part++) {
    const size_t rank = e.rank + part * e.step, packed = pack_edges(&e, part, out + sent * numbers),
                 coming = count_edges(&e, part);
    send[rank] = packed * numbers * sizeof *out;
    receive[rank] = coming * numbers * sizeof *out;
    sent += packed;
    received += coming;
  }
  cell *in = allocate(received * numbers, sizeof *in, what);
  comm_exchange(out, send, in, receive);
  const cell *from = in;
  for (size_t part = 0; part < e.parts && any; part++) from = add_edges(&e, part, from);
  free(send);
  free(out);
  free(in);
}

static void deposit_on_gpu(struct power_mesh *m) {
  const struct power_folding folding = {.fold = m->points.fold,
                                        .redshift_space = m->points.redshift_space,
                                        .per_unit = (float)(1.0 / m->unit)};
  atomic_store(&m->overflow, power_gpu_deposit(m->gpu, &folding));
}

static void deposit_on_cores(struct power_mesh *m) {
  const struct power_points *p = &m->points;
  atomic_store(&m->overflow, false);
  if (m->count[0] > 0 && !m->empty)
    loop_run(&power_spectrum_stage, (uint32_t)(m->count[0] + 2 * m->ghosts[0]), clear_plane, m);
  m->empty = false;
  for (size_t round = 0; round < p->rounds; round++) {
    power_points_load(&m->points, round);
    for (m->colour = 0; m->colour < COLOURS * COLOURS; m->colour++)
      if ((p->x_tiles % 2 || m->colour / COLOURS < 2) &&
          (p->y_tiles % 2 || m->colour % COLOURS < 2))
        loop_run(&power_spectrum_stage, p->x_tiles * p->y_tiles, deposit_tile, m);
  }
  for (int axis = 0; axis < 2; axis++)
    if (m->ghosts[axis] > 0) add_ghosts(m, axis);
}

/** Deposit in the smallest unit that the fullest cell of all ranks allows; few folds need a second
 * attempt. */
static void deposit_finely(struct power_mesh *m) {
  for (double over = 1.0; over > 0.0;) {
    (m->gpu ? deposit_on_gpu : deposit_on_cores)(m);
    over = atomic_load(&m->overflow);
    comm_max_double(&over, 1);
    if (over > 0.0) m->unit *= 8.0;
  }
}

/* Transform. */

static_assert((int)POWER_ROWS == (int)FFT_LINES && FFT_BEYOND >= 6, "rows of a kernel are lines");

/** Deposits less their mean; else the transform's rounding would be relative to the mean, not to the fluctuations. */
static void weave_rows(void *context, size_t x, size_t y, size_t count, float *lines) {
  const struct power_mesh *m = context;
  const int32_t *row[2][POWER_ROWS];
  for (size_t set = 0; set < 2; set++)
    for (size_t i = 0; i < POWER_ROWS; i++)
      row[set][i] = (const int32_t *)(const void *)power_mesh_own(m, set) + x * m->plane +
                    (y + (i < count ? i : count - 1)) * m->row;
  power_kernels_select()->weave(m->n, row, m->mean, lines);
}

/** The deposited mass, from the modes ky = kz = 0 of all planes x. */
static void sum_mass(struct power_mesh *m) {
  const struct fft_box *b = &m->fft.modes;
  double excess = 0.0; /* over the mean */
  const bool here = b->first[1] == 0 && b->count[1] > 0 && b->first[2] == 0;
  for (size_t set = 0; set < 2 && here; set++)
    for (size_t x = 0; x < m->n; x++)
      excess += (double)power_mesh_own(m, set)[2 * fft_at(b, x, 0, 0)];
  comm_sum_double(&excess, 1);
  m->mass = (double)m->mean * pow((double)m->n, 3.0) + 0.5 * excess;
}

/** The tasks on a GPU. @param cells  as power_gpu_begin() has it */
static struct power_gpu *begin_on_gpu(const struct power_mesh *m, float *const *cells) {
  const struct power_layout layout = {m->n, m->row, m->plane};
  return power_gpu_begin(m->points.particles, &layout, m->points.redshift_space != 0.0, cells);
}

void power_mesh_fill(struct power_mesh *m, unsigned fold, size_t width) {
  take_cells(m);
  power_points_fold(&m->points, fold);
  if (m->on_gpu) m->gpu = begin_on_gpu(m, m->cells);
  deposit_finely(m);
  power_gpu_end(m->gpu);
  m->gpu = NULL;
  void *const own[2] = {power_mesh_own(m, 0), power_mesh_own(m, 1)};
  m->mean = (int32_t)lround((double)m->points.particles->all / (pow((double)m->n, 3.0) * m->unit));
  fft_pair_to_lines(&m->fft, own, width, weave_rows, m);
  sum_mass(m);
}

void power_mesh_sum(struct power_mesh *m, unsigned fold, float *table, struct power_shell *shell) {
  power_points_fold(&m->points, fold);
  if (!m->gpu) m->gpu = begin_on_gpu(m, NULL);
  deposit_finely(m);
  power_gpu_shells(m->gpu, m->unit, table, shell);
}
