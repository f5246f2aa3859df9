/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting and exchange of folded positions. */
#include "power_points.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"
#include "power_deposit.h"

LOOP_STAGE(power_spectrum, 0x6699cc, .untimed = true);

enum { CHUNKS = 64 }; /* pieces of the input, one task each */
#define ROUND_MOST \
  1.5 /* most points received in a round, over the mean number of particles of a
                          rank */

/** Points that are sorted: by x[cell] y_keys + y[cell]. */
struct keys {
  const uint32_t *x, *y;
  size_t n, y_keys;
};

/** Sorting: count, then move. The input is the particles of some ORB groups, or points. */
struct sorting {
  const struct particles *particles; /* NULL: the input is points */
  struct point_set in;
  size_t count;
  unsigned fold;
  double redshift_space; /* of struct power_points */
  struct keys key;
  size_t keys;
  uint32_t chunks;
  size_t *offset; /* [chunk][key] index in `out`: tasks write to no common cache line */
  struct point_set out;
};

static void free_points(struct point_set *s) {
  free(s->point);
  free(s->mass);
  *s = (struct point_set){0};
}

/** Room for points, and for masses where the particles have them. */
static struct point_set make_points(size_t count, bool masses) {
  static const char what[] = "the power spectrum's particles";
  struct point_set s = {.point = allocate_large(count, sizeof *s.point, what)};
  if (masses) s.mass = allocate(count, sizeof *s.mass, what);
  return s;
}

static inline size_t key_of(const struct keys *k, uint32_t x, uint32_t y) {
  return k->x[power_cell(x, k->n)] * k->y_keys + k->y[power_cell(y, k->n)];
}

/** z of particle i of a block, in redshift space if that is meant. */
static inline uint32_t line_of_sight(const struct sorting *s, const struct particle_block *b,
                                     size_t i) {
  if (s->redshift_space == 0.0) return b->x[2][i];
  return power_line_of_sight(b->x[2][i], s->redshift_space, b->p[2][i]);
}

/** Do something with each part of a chunk that is of one block. */
static void for_blocks(const struct sorting *s, uint32_t chunk,
                       void (*function)(const struct sorting *s, const struct particle_block *b,
                                        size_t first, size_t end, size_t *offset)) {
  const size_t end = block_first(s->count, s->chunks, chunk + 1);
  for (size_t at = block_first(s->count, s->chunks, chunk), stop; at < end; at = stop) {
    const struct particle_block b = particles_block_of(s->particles, at);
    stop = end < b.first + b.count ? end : b.first + b.count;
    function(s, &b, at - b.first, stop - b.first, s->offset + chunk * s->keys);
  }
}

static void count_particles(const struct sorting *s, const struct particle_block *b, size_t first,
                            size_t end, size_t *offset) {
  const struct keys key = s->key; /* copies: what is stored might be part of *s otherwise */
  const unsigned fold = s->fold;
  const uint32_t *x = b->x[0], *y = b->x[1];
  for (size_t i = first; i < end; i++) ++offset[key_of(&key, x[i] << fold, y[i] << fold)];
}

static void move_particles(const struct sorting *s, const struct particle_block *b, size_t first,
                           size_t end, size_t *offset) {
  const struct keys key = s->key;
  const struct point_set out = s->out;
  const unsigned fold = s->fold;
  const uint32_t *x = b->x[0], *y = b->x[1];
  for (size_t i = first; i < end; i++) {
    const struct point p = {{x[i] << fold, y[i] << fold, line_of_sight(s, b, i) << fold}};
    const size_t at = offset[key_of(&key, p.x[0], p.x[1])]++;
    out.point[at] = p;
    if (b->relative_mass) out.mass[at] = b->relative_mass[i];
  }
}

static void count_points(const struct sorting *s, uint32_t chunk) {
  const struct keys key = s->key;
  const struct point *in = s->in.point;
  size_t *const offset = s->offset + chunk * s->keys;
  const size_t end = block_first(s->count, s->chunks, chunk + 1);
  for (size_t i = block_first(s->count, s->chunks, chunk); i < end; i++)
    ++offset[key_of(&key, in[i].x[0], in[i].x[1])];
}

static void move_points(const struct sorting *s, uint32_t chunk) {
  const struct keys key = s->key;
  const struct point_set in = s->in, out = s->out;
  size_t *const offset = s->offset + chunk * s->keys;
  const size_t end = block_first(s->count, s->chunks, chunk + 1);
  for (size_t i = block_first(s->count, s->chunks, chunk); i < end; i++) {
    const size_t at = offset[key_of(&key, in.point[i].x[0], in.point[i].x[1])]++;
    out.point[at] = in.point[i];
    if (in.mass) out.mass[at] = in.mass[i];
  }
}

static void count_chunk(void *context, uint32_t chunk) {
  const struct sorting *s = context;
  if (s->particles)
    for_blocks(s, chunk, count_particles);
  else
    count_points(s, chunk);
}

static void move_chunk(void *context, uint32_t chunk) {
  const struct sorting *s = context;
  if (s->particles)
    for_blocks(s, chunk, move_particles);
  else
    move_points(s, chunk);
}

/** Sort into s->out, allocated here if it is not there.
 * @param[out] key_end  [key] end of each key's points in s->out */
static void sort(struct sorting *s, size_t *key_end) {
  s->chunks = s->count < CHUNKS ? (uint32_t)s->count : CHUNKS;
  if (!s->out.point)
    s->out = make_points(s->count, s->particles ? particles_have(s->particles, COLUMN_relative_mass)
                                                : s->in.mass != NULL);
  memset(key_end, 0, s->keys * sizeof *key_end);
  if (s->chunks == 0) return;
  s->offset = allocate(s->keys * s->chunks, sizeof *s->offset, "power spectrum");
  loop_run(&power_spectrum_stage, s->chunks, count_chunk, s);
  for (size_t key = 0, sum = 0; key < s->keys; key++)
    for (size_t chunk = 0; chunk < s->chunks; chunk++) {
      size_t *at = &s->offset[chunk * s->keys + key];
      const size_t count = *at;
      *at = sum;
      sum += count;
    }
  /* each task moves its offsets to where the next task's begin */
  loop_run(&power_spectrum_stage, s->chunks, move_chunk, s);
  for (size_t key = 0; key < s->keys; key++)
    key_end[key] = s->offset[(s->chunks - 1) * s->keys + key];
  free(s->offset);
}

/** Divide @p cells cells into tiles of so many strips, beginning with cell @p first. @return number of tiles */
static uint32_t cut_tiles(uint32_t *strip, size_t first, size_t cells, size_t strips) {
  const size_t tiles = cells < 2 * POWER_TILE ? cells > 0 : cells / POWER_TILE;
  for (size_t i = 0; i < cells; i++) strip[first + i] = (uint32_t)(i * tiles * strips / cells);
  return (uint32_t)tiles;
}

struct power_points power_points_create(const struct particles *s, const struct fft *f) {
  const size_t n = f->size[0];
  const struct fft_box *own = &f->values;
  struct power_points p = {.particles = s, .n = n, .grid = f->grid, .loaded = 1, .rounds = 1};
  p.x_owner = allocate(4 * n, sizeof *p.x_owner, "power spectrum");
  p.y_owner = p.x_owner + n;
  p.x_tile = p.x_owner + 2 * n;
  p.y_strip = p.x_owner + 3 * n;
  for (size_t x = 0; x < n; x++) {
    p.x_owner[x] = (uint32_t)fft_row_of(f, x);
    p.y_owner[x] = (uint32_t)fft_column_of(f, x);
  }
  p.x_tiles = cut_tiles(p.x_tile, own->first[0], own->count[0], 1);
  p.y_tiles = cut_tiles(p.y_strip, own->first[1], own->count[1], POWER_STRIPS);
  p.sent_end = allocate((size_t)comm_size(), sizeof *p.sent_end, "power spectrum");
  p.strip_end = allocate((size_t)p.x_tiles * p.y_tiles * POWER_STRIPS, sizeof *p.strip_end,
                         "power spectrum");
  return p;
}

void power_points_free(struct power_points *p) {
  free(p->x_owner);
  free_points(&p->sent);
  free(p->sent_end);
  free_points(&p->point);
  free(p->strip_end);
}

void power_points_fold(struct power_points *p, unsigned fold) {
  const size_t size = (size_t)comm_size();
  free_points(&p->sent);
  p->fold = fold;
  p->rounds = 1;
  if (size > 1) {
    struct sorting by_owner = {.particles = p->particles,
                               .count = p->particles->count,
                               .fold = fold,
                               .redshift_space = p->redshift_space,
                               .key = {p->x_owner, p->y_owner, p->n, p->grid.columns},
                               .keys = p->grid.rows * p->grid.columns};
    sort(&by_owner, p->sent_end);
    for (size_t r = by_owner.keys; r < size; r++) p->sent_end[r] = p->sent_end[r - 1];
    p->sent = by_owner.out;
    uint64_t *arriving = allocate(size, sizeof *arriving, "power spectrum"), most = 0;
    for (size_t r = 0; r < size; r++)
      arriving[r] = p->sent_end[r] - (r > 0 ? p->sent_end[r - 1] : 0);
    comm_sum_u64(arriving, size);
    for (size_t r = 0; r < size; r++) most = arriving[r] > most ? arriving[r] : most;
    free(arriving);
    p->rounds = 1 + (size_t)((double)most /
                             (ROUND_MOST * (double)p->particles->all / (double)size + 1.0));
  }
  p->loaded = p->rounds;
}

/** The points of this rank that are sent in a round, and their number for each rank. The points of
 * the only round are all. */
static struct point_set take_round(struct power_points *p, size_t round, size_t *send) {
  const size_t size = (size_t)comm_size();
  const bool masses = p->sent.mass != NULL;
  struct point_set part = p->sent;
  size_t sum = 0;
  if (p->rounds > 1) part = make_points(p->particles->count / p->rounds + size, masses);
  for (size_t r = 0; r < size; r++) {
    const size_t begin = r > 0 ? p->sent_end[r - 1] : 0, of_rank = p->sent_end[r] - begin;
    const size_t first = block_first(of_rank, p->rounds, round),
                 count = block_first(of_rank, p->rounds, round + 1) - first;
    if (p->rounds > 1)
      memcpy(part.point + sum, p->sent.point + begin + first, count * sizeof *part.point);
    if (p->rounds > 1 && masses)
      memcpy(part.mass + sum, p->sent.mass + begin + first, count * sizeof *part.mass);
    send[r] = count;
    sum += count;
  }
  if (p->rounds == 1) p->sent = (struct point_set){0};
  return part;
}

/** Exchange one array of the points.
 * @param send, receive  [rank] numbers of points; bytes: room for [2][rank] */
static void exchange_array(const size_t *send, const size_t *receive, size_t *bytes, size_t size,
                           const void *from, void *to) {
  const size_t ranks = (size_t)comm_size();
  for (size_t r = 0; r < ranks; r++) {
    bytes[r] = send[r] * size;
    bytes[ranks + r] = receive[r] * size;
  }
  comm_exchange(from, bytes, to, bytes + ranks);
}

/** The points of a round that belong to this rank's cells, in memory that the caller frees. */
static struct point_set exchange(struct power_points *p, size_t round, size_t *count) {
  const size_t size = (size_t)comm_size();
  size_t *send = allocate(4 * size, sizeof *send, "power spectrum"), *receive = send + size;
  struct point_set part = take_round(p, round, send);
  comm_exchange_sizes(send, receive);
  *count = 0;
  for (size_t r = 0; r < size; r++) *count += receive[r];
  struct point_set arrived = make_points(*count,
                                         particles_have(p->particles, COLUMN_relative_mass));
  exchange_array(send, receive, send + 2 * size, sizeof *part.point, part.point, arrived.point);
  if (arrived.mass)
    exchange_array(send, receive, send + 2 * size, sizeof *part.mass, part.mass, arrived.mass);
  free_points(&part);
  free(send);
  return arrived;
}

void power_points_load(struct power_points *p, size_t round) {
  if (p->loaded == round) return;
  const size_t strips = (size_t)p->y_tiles * POWER_STRIPS;
  struct sorting by_tile = {.key = {p->x_tile, p->y_strip, p->n, strips},
                            .keys = p->x_tiles * strips};
  struct point_set arrived = {0};
  if (comm_size() > 1) {
    free_points(&p->point);
    by_tile.in = arrived = exchange(p, round, &by_tile.count);
  } else {
    by_tile.out = p->point; /* of the fold before */
    by_tile.particles = p->particles;
    by_tile.count = p->particles->count;
    by_tile.fold = p->fold;
    by_tile.redshift_space = p->redshift_space;
  }
  sort(&by_tile, p->strip_end);
  free_points(&arrived);
  p->point = by_tile.out;
  p->loaded = round;
}
