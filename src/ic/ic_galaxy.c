/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of a galaxy in a frame that is wide enough for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/ic/galaxy.h"
#include "photons/ic/ic.h"

_Static_assert(GALAXY_COMPONENTS >= GALAXY_COMPONENTS_MAX, "all components of config.ini fit");

#define KPC 1e-3 /* Mpc */
/* The frame is so many times wider than needed, so that particles may move out. */
#define MARGIN 4.0

static struct galaxy galaxy_from(const struct parameters *p) {
  struct galaxy g = {.count = 0};
  char reason[256];
  if (*p->galaxy.model && !galaxy_model(p->galaxy.model, &g))
    fail(EXIT_BAD_USAGE, "galaxy.model = %s: allowed: m31 | plummer | hernquist | nfw",
         p->galaxy.model);
  for (size_t k = 0; k < GALAXY_COMPONENTS_MAX; k++) {
    const char *text = p->galaxy.component[k];
    if (!*text) continue;
    if (*p->galaxy.model)
      fail(EXIT_BAD_USAGE,
           "galaxy.component_%zu: a model is chosen, galaxy.model = %s: give one of "
           "both",
           k + 1, p->galaxy.model);
    if (!galaxy_component_parse(text, &g.component[g.count++], reason, sizeof reason))
      fail(EXIT_BAD_USAGE, "galaxy.component_%zu = %s: %s", k + 1, text, reason);
  }
  if (g.count == 0)
    fail(EXIT_BAD_USAGE, "ic.source = galaxy needs galaxy.model or galaxy.component_1");
  return g;
}

double isolated_frame(double largest) {
  double side = 0x1p-20; /* Mpc: powers of two, so that the frame can be doubled without rounding */
  while (side < 4.0 * MARGIN * largest) side *= 2.0;
  return side;
}

/** The largest |coordinate| on all ranks. */
static double largest_coordinate(const double (*x)[3], size_t count) {
  double largest = 0.0;
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) {
      if (!isfinite(x[i][c])) fail(EXIT_RUN_FAILED, "the galaxy: a position is %g kpc", x[i][c]);
      largest = fmax(largest, fabs(x[i][c]));
    }
  comm_max_double(&largest, 1);
  return largest;
}

static void check_speeds(const double (*v)[3], size_t count) {
  for (size_t i = 0; i < count; i++) {
    const double speed = sqrt(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    if (!(speed < SPEED_OF_LIGHT)) /* nor NaN */
      fail(
          EXIT_BAD_USAGE,
          "the galaxy: a particle has a speed of %g km/s, not below that of light: its mass is too "
          "large for its size",
          speed);
  }
}

struct particles ic_galaxy(const struct parameters *p) {
  const struct galaxy g = galaxy_from(p);
  char reason[256];
  const size_t all = (size_t)p->galaxy.particles;
  struct galaxy_tables *tables = galaxy_tables_create(&g, all, reason, sizeof reason);
  if (!tables) fail(EXIT_BAD_USAGE, "the galaxy: %s", reason);
  struct particles s = particles_create_share(all, 1.0, galaxy_mass(tables) / (double)all);
  double(*x)[3] = allocate(s.count, sizeof *x, "a galaxy"),
  (*v)[3] = allocate(s.count, sizeof *v, "a galaxy");
  galaxy_sample(tables, (uint64_t)p->ic.seed, particles_first(&s), s.count, x, v, NULL);
  struct galaxy_sums sums = galaxy_sum((const double(*)[3])x, (const double(*)[3])v, s.count);
  comm_sum_u64(&sums.position[0], sizeof sums / sizeof sums.position[0]);
  galaxy_center(&sums, all, s.count, x, v);
  s.box = isolated_frame(KPC * largest_coordinate((const double(*)[3])x, s.count));
  check_speeds((const double(*)[3])v, s.count);
  for (size_t i = 0; i < s.count; i++) {
    for (size_t c = 0; c < 3; c++) {
      s.position[c * s.count + i] = position_to_integer(0.5 * s.box + KPC * x[i][c], s.box);
      s.momentum[c * s.count + i] = (float)v[i][c];
    }
    s.id[i] = particles_first(&s) + i + 1;
  }
  free(x);
  free(v);
  galaxy_tables_free(tables);
  return s;
}
