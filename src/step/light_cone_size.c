/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/step/light_cone_size.h"

#include <math.h>

#include "photons/base/comm.h"
#include "photons/domain/geometry.h"
#include "photons/step/light_cone.h"

#define PI 3.14159265358979323846

/** Bytes of a particle in files: those of the fields. */
#define FILE_BYTES (3.0 * sizeof(double) + 3.0 * sizeof(float) + sizeof(uint64_t) + sizeof(float))

/** Bytes of a particle that another rank counts: words in lists, which double, in one list, sorted, and received; and
 * its rank. */
static double exchange_bytes(bool masses) {
  return (masses ? 2.0 : 1.0) * 5.0 * sizeof(uint64_t) + sizeof(uint32_t);
}

/** The longest step in ln a that begins at a. */
static double longest_step(const struct parameters *p, double a) {
  const double early = 0.2; /* see time.stretch */
  if (p->time.step == STEP_FIXED)
    return log((1.0 + p->ic.z_init) / (1.0 + p->time.z_end)) / (double)p->time.steps;
  if (p->time.step == STEP_PM) { /* of equal length in a */
    const double whole = 1.0 / (1.0 + p->time.z_end) - 1.0 / (1.0 + p->ic.z_init);
    return log1p(whole / ((double)p->time.steps * a));
  }
  if (p->time.step != STEP_BLOCK || p->time.kicks != KICKS_GROWTH) return p->time.max_dlna;
  return p->time.max_dlna * fmax(fmin(p->time.stretch, early / a), 1.0);
}

/** Thickness in Mpc/h of what the light cone sweeps in the longest step that begins at a. */
static double thickness(const struct parameters *p, const struct cosmology *c, double a) {
  return longest_step(p, a) * SPEED_OF_LIGHT / (a * cosmology_hubble(c, a));
}

static uint64_t count_copies(const struct light_cone *cone, double nearest) {
  const struct cone_drift whole = {.chi = {cone->view.reach, nearest}};
  const double most = ceil(cone->view.reach / POSITION_TURN) + 1.0;
  uint64_t copies = 0;
  for (double x = -most; x <= most; x++)
    for (double y = -most; y <= most; y++)
      for (double z = -most; z <= most; z++) {
        const double corner[3] = {x, y, z};
        struct cone_bounds b;
        for (int c = 0; c < 3; c++) {
          b.centre[c] = (corner[c] + 0.5) * POSITION_TURN - cone->observer[c];
          b.half[c] = 0.5 * POSITION_TURN;
        }
        copies += cone_meets(&cone->view, &whole, &b);
      }
  return copies;
}

/** The most particles that cross in one step, and the most shells that it touches. */
static void largest_step(const struct parameters *p, const struct light_cone *cone, double density,
                         double *particles, double *shells) {
  enum { SAMPLES = 128 };
  const double begin = -log1p(p->lightcone.z_max), end = -log1p(p->time.z_end);
  *particles = *shells = 0.0;
  for (int i = 0; i <= SAMPLES; i++) {
    const double a = exp(begin + (end - begin) * i / SAMPLES),
                 chi = light_cone_distance(cone->cosmology, a),
                 depth = thickness(p, cone->cosmology, a);
    *particles = fmax(*particles, density * 4.0 * PI * chi * chi * depth);
    *shells = fmax(*shells, ceil(depth / cone->shell_width) + 1.0);
  }
}

bool light_cone_beside(const struct parameters *p) { return p->runtime.memory == MEMORY_FAST; }

struct light_cone_size light_cone_size(const struct parameters *p, size_t particles,
                                       column_set columns) {
  if (!(p->box.size > 0.0)) return (struct light_cone_size){0};
  const struct cosmology c = cosmology_from(p);
  struct light_cone *cone = light_cone_create(p, &c, p->box.size);
  if (!cone) return (struct light_cone_size){0};
  const double density = light_cone_sky(p) * (double)particles / pow(p->box.size, 3.0),
               reach = cone->view.reach * cone->unit,
               nearest = light_cone_distance(&c, 1.0 / (1.0 + p->time.z_end)),
               map = cone->nside > 0 ? (double)light_cone_pixels(cone) : 0.0;
  const bool masses = column_in(columns, COLUMN_relative_mass),
             types = column_in(columns, COLUMN_type);
  double most, shells;
  largest_step(p, cone, density, &most, &shells);
  struct light_cone_size s = {.reach = reach,
                              .copies = count_copies(cone, nearest / cone->unit),
                              .maps = cone->shells,
                              .memory = shells * map * sizeof(uint64_t)};
  if (cone->shells > 0) s.maps -= (int64_t)floor(nearest / cone->shell_width);
  s.particles = density * 4.0 / 3.0 * PI * (pow(reach, 3.0) - pow(nearest, 3.0));
  if (cone->particles)
    s.particle_bytes = (FILE_BYTES + (masses ? sizeof(float) : 0.0)) * s.particles;
  s.map_bytes = (double)s.maps * map * (sizeof(uint64_t) + sizeof(float));
  const size_t kept = sizeof(struct cone_particle) + masses * sizeof(float) + types;
  if (cone->particles) s.memory += 2.0 * most * (double)kept; /* pages have room */
  if (light_cone_beside(p)) s.memory *= 2.0; /* what is written, and what the next step finds */
  if (cone->nside > 0 && comm_size() > 1) s.memory += most * exchange_bytes(masses);
  light_cone_free(cone);
  return s;
}
