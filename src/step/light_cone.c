/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/step/light_cone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/domain/geometry.h"
#include "photons/step/kernels.h"

#define PI 3.14159265358979323846

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
                              .kernels = step_kernels_select(),
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
  memset(cone->map, 0, (size_t)cone->shells * sizeof *cone->map);
  return cone;
}

void light_cone_forget_step(struct light_cone *cone) {
  for (size_t i = 0; i < cone->parts; i++) {
    for (struct cone_page *page = cone->part[i].first, *next; page; page = next) {
      next = page->next;
      free(page);
    }
    free(cone->part[i].sent);
  }
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
};

/** The page of the next crossing. */
static struct cone_page *open_page(struct cone_part *part, const struct cone_particles *p) {
  if (part->last && part->last->count < CONE_BLOCK) return part->last;
  const size_t masses = p->mass ? CONE_BLOCK * sizeof *p->mass : 0,
               types = p->type ? CONE_BLOCK * sizeof *p->type : 0;
  struct cone_page *page = allocate(1, sizeof *page + masses + types,
                                    "particles of the light cone");
  void *behind = page + 1;
  *(part->last ? &part->last->next : &part->first) = page;
  page->next = NULL;
  page->mass = p->mass ? behind : NULL;
  page->type = p->type ? (uint8_t *)behind + masses : NULL;
  page->count = 0;
  return part->last = page;
}

static void keep_crossings(const struct finding *f, const struct cone_crossings *crossings) {
  const struct cone_particles *p = f->particles;
  for (uint32_t i = 0; i < crossings->count; i++) {
    const uint32_t index = crossings->index[i];
    struct cone_page *page = open_page(f->part, p);
    const uint32_t place = page->count++;
    struct cone_particle *q = &page->particle[place];
    *q = (struct cone_particle){.id = p->id[index], .a = (float)crossings->a[i]};
    if (p->mass) page->mass[place] = p->mass[index];
    if (p->type) page->type[place] = p->type[index];
    for (size_t c = 0; c < 3; c++) {
      q->x[c] = crossings->x[c][i];
      q->velocity[c] = (float)((double)p->momentum[c * p->count + index] / crossings->a[i]);
    }
  }
}

static void found(void *context, struct cone_crossings *crossings) {
  const struct finding *f = context;
  for (int c = 0; c < 3; c++)
    for (uint32_t i = 0; i < crossings->count; i++) crossings->x[c][i] *= f->cone->unit;
  if (f->cone->particles) keep_crossings(f, crossings);
  if (f->cone->nside > 0) light_cone_count(f->cone, f->part, crossings, f->particles->mass);
}

void light_cone_find(struct light_cone *cone, struct cone_part *part, const struct cone_drift *d,
                     const struct cone_bounds *bounds, const struct cone_particles *p) {
  struct finding f = {cone, part, p};
  for (size_t k = 0; k < cone->copies; k++) {
    const struct cone_bounds there = light_cone_in_copy(cone, bounds, cone->copy[k]);
    if (cone_meets(&cone->view, d, &there))
      cone_cross(cone->kernels, &cone->view, d, p, there.centre, found, &f);
  }
}
