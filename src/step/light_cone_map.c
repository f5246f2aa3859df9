/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The maps of a light cone. Each rank has a range of the pixels of all maps. Tasks count particles in it at once;
 * pixels of other ranks are lists, which the ranks exchange after the drifts of a step. */
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
  if (!cone->map[shell])
    cone->map[shell] = allocate(light_cone_own_pixels(cone), sizeof **cone->map,
                                "a map of the light cone");
  return cone->map[shell];
}

void light_cone_close_map(struct light_cone *cone, int64_t shell) {
  free(cone->map[shell]);
  cone->map[shell] = NULL;
}

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

static void keep_pixel(struct cone_part *part, uint64_t pixel) {
  if (part->sent_count == part->sent_room) {
    part->sent_room = part->sent_room > 0 ? 2 * part->sent_room : 64;
    part->sent = reallocate(part->sent, part->sent_room, sizeof *part->sent,
                            "pixels of the light cone");
  }
  part->sent[part->sent_count++] = pixel;
}

#ifdef HAVE_CHEALPIX
/** Count particles where their places of this rank's maps come into the cache together. */
static void count_own(uint64_t *const *place, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (place[i]) (void)__atomic_fetch_add(place[i], 1, __ATOMIC_RELAXED);
}

void light_cone_count(struct light_cone *cone, struct cone_part *part,
                      const struct cone_crossings *crossings) {
  const size_t first = light_cone_first_pixel(cone), count = light_cone_own_pixels(cone);
  uint64_t *place[CONE_BLOCK];
  for (uint32_t i = 0; i < crossings->count; i++) {
    double x[3] = {crossings->x[0][i], crossings->x[1][i], crossings->x[2][i]};
    long pixel;
    vec2pix_ring((long)cone->nside, x, &pixel);
    const int64_t shell = open_shell_of(cone, x);
    const size_t own = (size_t)pixel - first; /* huge: below the first */
    place[i] = own < count ? &cone->map[shell][own] : NULL;
    if (place[i])
      __builtin_prefetch(place[i], 1);
    else
      keep_pixel(part,
                 (uint64_t)(shell - cone->first_shell) * light_cone_pixels(cone) + (uint64_t)pixel);
  }
  count_own(place, crossings->count);
}
#else
void light_cone_count(struct light_cone *cone, struct cone_part *part,
                      const struct cone_crossings *crossings) {
  (void)cone, (void)part, (void)crossings, (void)open_shell_of, (void)keep_pixel;
}
#endif

/** All pixels of other ranks, and which ranks have them. The groups' lists are given up. */
static size_t collect(struct light_cone *cone, uint64_t **pixel, uint32_t **rank) {
  const size_t pixels = light_cone_pixels(cone), ranks = (size_t)comm_size();
  size_t count = 0, next = 0;
  for (size_t i = 0; i < cone->parts; i++) count += cone->part[i].sent_count;
  *pixel = allocate(count, sizeof **pixel, "pixels of the light cone");
  *rank = allocate(count, sizeof **rank, "pixels of the light cone");
  for (size_t i = 0; i < cone->parts; i++) {
    struct cone_part *part = &cone->part[i];
    for (size_t k = 0; k < part->sent_count; k++, next++) {
      (*pixel)[next] = part->sent[k];
      (*rank)[next] = (uint32_t)block_containing(pixels, ranks, part->sent[k] % pixels);
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
               ranks = (size_t)comm_size();
  uint64_t *pixel;
  uint32_t *rank;
  const size_t count = collect(cone, &pixel, &rank);
  size_t *sizes = allocate(2 * ranks, sizeof *sizes, "message sizes");
  uint64_t *received = exchange_scattered(pixel, sizeof *pixel, count, rank, NULL, sizes,
                                          sizes + ranks);
  const size_t all = exchange_total(sizes + ranks);
  for (size_t i = 0; i < all; i++)
    cone->map[cone->first_shell + (int64_t)(received[i] / pixels)][received[i] % pixels - first]++;
  free(received);
  free(sizes);
  free(rank);
  free(pixel);
}
