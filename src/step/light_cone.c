/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/step/light_cone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build_config.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/geometry.h"

#ifdef HAVE_CHEALPIX
#include <chealpix.h>
#endif

#define PI 3.14159265358979323846
double light_cone_distance(const struct cosmology *c, double a) {
  return SPEED_OF_LIGHT * cosmology_kick(c, a, 1.0);
}

/** Newton's method in ln a, where the distance falls by c/(a H). */
double light_cone_scale_factor(const struct cosmology *c, double distance) {
  enum { ITERATIONS = 20 };
  double a = 1.0;
  for (int i = 0; i < ITERATIONS; i++) {
    const double slope = SPEED_OF_LIGHT / (a * cosmology_hubble(c, a));
    a *= exp((light_cone_distance(c, a) - distance) / slope);
  }
  return a;
}

/** A list of the parameters, or what it means where it is empty. */
static void take_vector(const double *list, size_t count, const double empty[3], double x[3]) {
  for (int c = 0; c < 3; c++) x[c] = count == 3 ? list[c] : empty[c];
}

static struct cone_view view_of(const struct parameters *p, double reach) {
  const bool octant = p->lightcone.geometry == CONE_OCTANT;
  struct cone_view v = {
      .shape = p->lightcone.geometry, .opening = p->lightcone.opening * PI / 180.0, .reach = reach};
  double d[3];
  take_vector(p->lightcone.direction, p->lightcone.direction_count,
              octant ? (const double[3]){1.0, 1.0, 1.0} : (const double[3]){0.0, 0.0, 1.0}, d);
  const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  for (int c = 0; c < 3; c++) v.direction[c] = octant ? copysign(1.0, d[c]) : d[c] / length;
  return v;
}

struct light_cone *light_cone_create(const struct parameters *p, const struct cosmology *c,
                                     double box) {
  if (p->lightcone.geometry == CONE_NONE || c->isolated) return NULL;
  const double reach = light_cone_distance(c, 1.0 / (1.0 + p->lightcone.z_max)),
               unit = box / POSITION_TURN;
  struct light_cone *cone = allocate(1, sizeof *cone, "the light cone");
  *cone = (struct light_cone){.cosmology = c,
                              .view = view_of(p, reach / unit),
                              .unit = unit,
                              .particles = p->lightcone.particles,
                              .nside = p->lightcone.nside,
                              .shell_width = p->lightcone.shell_width,
                              .first_shell = 0,
                              .last_shell = -1};
  take_vector(p->lightcone.observer, p->lightcone.observer_count, (const double[3]){0},
              cone->observer);
  for (int k = 0; k < 3; k++) cone->observer[k] = position_to_integer(cone->observer[k], box);
  if (cone->nside == 0) return cone;
  cone->shells = (int64_t)ceil(reach / cone->shell_width);
  cone->map = allocate((size_t)cone->shells, sizeof *cone->map, "maps of the light cone");
  for (int64_t k = 0; k < cone->shells; k++) cone->map[k] = NULL;
  return cone;
}

void light_cone_forget_step(struct light_cone *cone) {
  for (size_t i = 0; i < cone->parts; i++) free(cone->part[i].particle);
  free(cone->part);
  free(cone->copy);
  cone->part = NULL;
  cone->copy = NULL;
  cone->parts = cone->copies = 0;
}

void light_cone_free(struct light_cone *cone) {
  if (!cone) return;
  light_cone_forget_step(cone);
  for (int64_t k = 0; k < cone->shells; k++) light_cone_close_map(cone, k);
  free(cone->map);
  free(cone);
}

double light_cone_sky(const struct parameters *p) {
  if (p->lightcone.geometry == CONE_OCTANT) return 0.125;
  if (p->lightcone.geometry == CONE_PENCIL)
    return 0.5 * (1.0 - cos(p->lightcone.opening * PI / 180.0));
  return 1.0;
}

/* ---- Maps ---- */

size_t light_cone_pixels(const struct light_cone *cone) {
  return 12 * (size_t)cone->nside * (size_t)cone->nside;
}

uint64_t *light_cone_open_map(struct light_cone *cone, int64_t shell) {
  if (!cone->map[shell]) {
    cone->map[shell] = allocate(light_cone_pixels(cone), sizeof **cone->map,
                                "a map of the light cone");
    memset(cone->map[shell], 0, light_cone_pixels(cone) * sizeof **cone->map);
  }
  return cone->map[shell];
}

void light_cone_close_map(struct light_cone *cone, int64_t shell) {
  free(cone->map[shell]);
  cone->map[shell] = NULL;
}

bool light_cone_passed(const struct light_cone *cone, int64_t shell) {
  return light_cone_distance(cone->cosmology, cone->a1) <= (double)shell * cone->shell_width;
}

void light_cone_gather_map(struct light_cone *cone, int64_t shell) {
  const size_t pixels = light_cone_pixels(cone), piece = 1 << 20;
  uint64_t *map = cone->map[shell];
  if (comm_size() == 1) return;
  for (size_t i = 0; i < pixels; i += piece)
    comm_sum_u64(map + i, pixels - i < piece ? pixels - i : piece);
  if (comm_rank() > 0) memset(map, 0, pixels * sizeof *map);
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

/** Count a particle. Any number of tasks do. */
static void count_in_map(struct light_cone *cone, const double x[3]) {
#ifdef HAVE_CHEALPIX
  long pixel;
  double place[3] = {x[0], x[1], x[2]};
  vec2pix_ring((long)cone->nside, place, &pixel);
  /* Rounding at the ends of the step leads no further than its shells. */
  int64_t shell = shell_of(cone, sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
  if (shell < cone->first_shell) shell = cone->first_shell;
  if (shell > cone->last_shell) shell = cone->last_shell;
  (void)__atomic_fetch_add(&cone->map[shell][pixel], 1, __ATOMIC_RELAXED);
#else
  (void)cone, (void)x;
#endif
}

/* ---- Crossings ---- */

struct cone_bounds light_cone_in_copy(const struct light_cone *cone, const struct cone_bounds *b,
                                      const double copy[3]) {
  struct cone_bounds moved = *b;
  for (int c = 0; c < 3; c++) moved.centre[c] += copy[c] * POSITION_TURN - cone->observer[c];
  return moved;
}

/** What found() knows. */
struct finding {
  struct light_cone *cone;
  struct cone_part *part;
  const struct cone_particles *particles;
  const uint64_t *id;
};

static void keep_crossing(const struct finding *f, const struct cone_crossing *crossing,
                          const double x[3]) {
  struct cone_part *part = f->part;
  const struct cone_particles *p = f->particles;
  if (part->count == part->room) {
    part->room = part->room > 0 ? 2 * part->room : 64;
    part->particle = reallocate(part->particle, part->room, sizeof *part->particle,
                                "particles of the light cone");
  }
  struct cone_particle *q = &part->particle[part->count++];
  *q = (struct cone_particle){.id = f->id[crossing->index], .a = (float)crossing->a};
  for (size_t c = 0; c < 3; c++) {
    q->x[c] = x[c];
    q->velocity[c] = (float)((double)p->momentum[c * p->count + crossing->index] / crossing->a);
  }
}

static void found(void *context, const struct cone_crossing *crossing) {
  const struct finding *f = context;
  double x[3];
  for (int c = 0; c < 3; c++) x[c] = crossing->x[c] * f->cone->unit;
  if (f->cone->particles) keep_crossing(f, crossing, x);
  if (f->cone->nside > 0) count_in_map(f->cone, x);
}

void light_cone_find(struct light_cone *cone, struct cone_part *part, const struct cone_drift *d,
                     const struct cone_bounds *bounds, const struct cone_particles *p,
                     const uint64_t *id) {
  struct finding f = {cone, part, p, id};
  for (size_t k = 0; k < cone->copies; k++) {
    const struct cone_bounds there = light_cone_in_copy(cone, bounds, cone->copy[k]);
    if (cone_meets(&cone->view, d, &there)) cone_cross(&cone->view, d, p, there.centre, found, &f);
  }
}
