/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The maps of a light cone. Each rank has a range of the pixels of all maps. Tasks add particles to it at once;
 * pixels of other ranks are lists, which the ranks exchange after the drifts of a step. A particle adds 1 to its pixel,
 * and its mass in whole units where masses differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/step/light_cone.h"
#include "src/base/exchange.h"

#ifdef HAVE_CHEALPIX
#include <chealpix.h>
#endif

size_t light_cone_pixels(const struct light_cone *cone) {
  return 12 * (size_t)cone->nside * (size_t)cone->nside;
}

size_t light_cone_first_pixel(const struct light_cone *cone) {
  return comm_first(light_cone_pixels(cone), comm_rank());
}

size_t light_cone_own_pixels(const struct light_cone *cone) {
  return comm_first(light_cone_pixels(cone), comm_rank() + 1) - light_cone_first_pixel(cone);
}

uint64_t *light_cone_open_map(struct light_cone *cone, int64_t shell) {
  struct cone_map *map = &cone->map[shell];
  if (!map->pixel)
    map->pixel = allocate(light_cone_own_pixels(cone), sizeof *map->pixel,
                          "a map of the light cone");
  return map->pixel;
}

void light_cone_close_map(struct light_cone *cone, int64_t shell) {
  free(cone->map[shell].pixel);
  cone->map[shell] = (struct cone_map){0};
}

size_t light_cone_words(const struct light_cone *cone) { return cone->masses.differ ? 2 : 1; }

bool light_cone_passed(const struct light_cone *cone, int64_t shell) {
  return light_cone_distance(cone->cosmology, cone->a1) <= (double)shell * cone->shell_width;
}

/** The shell of a distance in Mpc/h, of those that there are. */
static int64_t shell_of(const struct light_cone *cone, double distance) {
  const int64_t shell = (int64_t)floor(distance / cone->shell_width);
  return shell < 0 ? 0 : shell < cone->shells ? shell : cone->shells - 1;
}

void light_cone_open_maps(struct light_cone *cone) {
  const struct cosmology *c = cone->cosmology;
  if (cone->nside == 0) return;
  cone->first_shell = shell_of(cone, light_cone_distance(c, cone->a1));
  cone->last_shell = shell_of(cone, light_cone_distance(c, cone->a0));
  for (int64_t k = cone->first_shell; k <= cone->last_shell; k++)
    (void)light_cone_open_map(cone, k);
}

/** The open shell that a particle at x is in. Rounding at the ends of the step leads no further than these. */
static int64_t open_shell_of(const struct light_cone *cone, const double x[3]) {
  const int64_t shell = shell_of(cone, sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
  if (shell < cone->first_shell) return cone->first_shell;
  return shell > cone->last_shell ? cone->last_shell : shell;
}

static void keep_pixel(const struct light_cone *cone, struct cone_part *part, uint64_t pixel,
                       uint64_t weight) {
  const size_t words = light_cone_words(cone);
  if (part->sent_count == part->sent_room) {
    part->sent_room = part->sent_room > 0 ? 2 * part->sent_room : 64;
    part->sent = reallocate(part->sent, part->sent_room, words * sizeof *part->sent,
                            "pixels of the light cone");
  }
  uint64_t *entry = part->sent + words * part->sent_count++;
  entry[0] = pixel;
  if (words == 2) entry[1] = weight;
}

/** Add to a pixel of this rank's part of a map. */
static void add_to(const struct cone_map *map, size_t own, uint64_t weight) {
  if (__atomic_fetch_add(&map->pixel[own], weight, __ATOMIC_RELAXED) > UINT64_MAX - weight)
    fail(EXIT_RUN_FAILED,
         "the masses of a pixel of the light cone do not fit into their sum: set lightcone.nside "
         "higher");
}

/* ---- Squares of masses ---- */

typedef unsigned __int128 wide;

static wide wide_of(const uint64_t words[2]) { return (wide)words[1] << 64 | words[0]; }

/** Any number of tasks add at once: each one carries what overflowed when it added. */
static void add_squares(struct cone_map *map, wide sum) {
  const uint64_t low = (uint64_t)sum,
                 before = __atomic_fetch_add(&map->squares[0], low, __ATOMIC_RELAXED);
  const uint64_t high = (uint64_t)(sum >> 64) + (before > UINT64_MAX - low);
  if (high > 0) (void)__atomic_fetch_add(&map->squares[1], high, __ATOMIC_RELAXED);
}

/** Add the squares of particles to their shells, those in one shell that follow each other at once. */
static void count_squares(struct light_cone *cone, const int64_t *shell, const uint64_t *weight,
                          uint32_t count) {
  wide sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum += (wide)weight[i] * weight[i] >> CONE_SQUARE_BITS;
    if (i + 1 < count && shell[i + 1] == shell[i]) continue;
    add_squares(&cone->map[shell[i]], sum);
    sum = 0;
  }
}

/** The sum over ranks. Collective. */
static wide sum_of_ranks(wide own) {
  enum { LIMBS = 4, BITS = 32 };
  uint64_t limb[LIMBS];
  wide sum = 0;
  for (int i = 0; i < LIMBS; i++) limb[i] = (uint32_t)(own >> BITS * i);
  comm_sum_u64(limb, LIMBS);
  for (int i = 0; i < LIMBS; i++) sum += (wide)limb[i] << BITS * i;
  return sum;
}

void light_cone_squares(const struct cone_map *map, uint64_t squares[2]) {
  const wide sum = sum_of_ranks(wide_of(map->squares));
  squares[0] = (uint64_t)sum;
  squares[1] = (uint64_t)(sum >> 64);
}

double light_cone_noise_mass(const struct light_cone *cone, const struct cone_map *map) {
  const struct cone_masses *m = &cone->masses;
  if (!m->differ) return m->mean;
  wide own = 0;
  for (size_t i = 0; i < light_cone_own_pixels(cone); i++) own += map->pixel[i];
  const wide sum = sum_of_ranks(own), squares = sum_of_ranks(wide_of(map->squares));
  return sum > 0 ? ldexp((double)squares / (double)sum * m->mean, CONE_SQUARE_BITS - m->bits)
                 : m->mean;
}

/* ---- Pixels ---- */

#ifdef HAVE_CHEALPIX
/** Particles on their way into maps. */
struct adding {
  size_t own[CONE_BLOCK]; /* pixel of this rank's part; beyond its end: of another rank */
  uint64_t weight[CONE_BLOCK];
  int64_t shell[CONE_BLOCK];
};

/** What particles add to their pixels. */
static void weigh(const struct light_cone *cone, const struct cone_crossings *crossings,
                  const float *mass, uint64_t *weight) {
  const double units = ldexp(1.0, cone->masses.bits); /* of a relative mass of 1 */
  for (uint32_t i = 0; i < crossings->count; i++)
    weight[i] = mass ? (uint64_t)((double)mass[crossings->index[i]] * units) : 1;
}

/** Add particles where their places of this rank's maps come into the cache together. */
static void count_own(const struct light_cone *cone, const struct adding *a, uint32_t count) {
  const size_t pixels = light_cone_own_pixels(cone);
  for (uint32_t i = 0; i < count; i++)
    if (a->own[i] < pixels) add_to(&cone->map[a->shell[i]], a->own[i], a->weight[i]);
}

void light_cone_count(struct light_cone *cone, struct cone_part *part,
                      const struct cone_crossings *crossings, const float *mass) {
  const size_t first = light_cone_first_pixel(cone), count = light_cone_own_pixels(cone);
  struct adding a;
  weigh(cone, crossings, mass, a.weight);
  for (uint32_t i = 0; i < crossings->count; i++) {
    double x[3] = {crossings->x[0][i], crossings->x[1][i], crossings->x[2][i]};
    long pixel;
    vec2pix_ring((long)cone->nside, x, &pixel);
    const int64_t shell = a.shell[i] = open_shell_of(cone, x);
    const size_t own = a.own[i] = (size_t)pixel - first; /* huge: below the first */
    if (own < count)
      __builtin_prefetch(&cone->map[shell].pixel[own], 1);
    else
      keep_pixel(cone, part,
                 (uint64_t)(shell - cone->first_shell) * light_cone_pixels(cone) + (uint64_t)pixel,
                 a.weight[i]);
  }
  count_own(cone, &a, crossings->count);
  if (mass) count_squares(cone, a.shell, a.weight, crossings->count);
}
#else
void light_cone_count(struct light_cone *cone, struct cone_part *part,
                      const struct cone_crossings *crossings, const float *mass) {
  (void)cone, (void)part, (void)crossings, (void)mass;
  (void)open_shell_of, (void)keep_pixel, (void)count_squares;
}
#endif

/** All pixels of other ranks, and which ranks have them. The groups' lists are given up. */
static size_t collect(struct light_cone *cone, uint64_t **pixel, uint32_t **rank) {
  const size_t pixels = light_cone_pixels(cone), ranks = (size_t)comm_size(),
               words = light_cone_words(cone);
  size_t count = 0, next = 0;
  for (size_t i = 0; i < cone->parts; i++) count += cone->part[i].sent_count;
  *pixel = allocate(count, words * sizeof **pixel, "pixels of the light cone");
  *rank = allocate(count, sizeof **rank, "pixels of the light cone");
  for (size_t i = 0; i < cone->parts; i++) {
    struct cone_part *part = &cone->part[i];
    for (size_t k = 0; k < part->sent_count; k++, next++) {
      const uint64_t *entry = part->sent + words * k;
      memcpy(*pixel + words * next, entry, words * sizeof *entry);
      (*rank)[next] = (uint32_t)block_containing(pixels, ranks, entry[0] % pixels);
    }
    free(part->sent);
    part->sent = NULL;
    part->sent_count = part->sent_room = 0;
  }
  return count;
}

void light_cone_exchange_counts(struct light_cone *cone) {
  if (cone->nside == 0 || comm_size() == 1) return;
  const size_t pixels = light_cone_pixels(cone), first = light_cone_first_pixel(cone),
               ranks = (size_t)comm_size(), words = light_cone_words(cone);
  uint64_t *pixel;
  uint32_t *rank;
  const size_t count = collect(cone, &pixel, &rank);
  size_t *sizes = allocate(2 * ranks, sizeof *sizes, "message sizes");
  uint64_t *received = exchange_scattered(pixel, words * sizeof *pixel, count, rank, NULL, sizes,
                                          sizes + ranks);
  const size_t all = exchange_total(sizes + ranks);
  for (size_t i = 0; i < all; i++) {
    const uint64_t *entry = received + words * i;
    const int64_t shell = cone->first_shell + (int64_t)(entry[0] / pixels);
    add_to(&cone->map[shell], entry[0] % pixels - first, words == 2 ? entry[1] : 1);
  }
  free(received);
  free(sizes);
  free(rank);
  free(pixel);
}
