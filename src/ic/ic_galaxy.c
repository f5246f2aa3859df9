/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of a galaxy of a section of config.ini. */
#include "ic_isolated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"

_Static_assert(GALAXY_COMPONENTS >= GALAXY_COMPONENTS_MAX, "all components of config.ini fit");

/* Of scale lengths. Hernquist's sphere has 2 % of its mass beyond: few particles so far out would widen the
 * frame until floats no longer resolve the softening. */
#define HERNQUIST_CUTOFF 100.0
#define HERNQUIST_WIDTH 10.0

/** Cut a component off that config.ini gives without a cutoff. */
static void cut_off(struct galaxy_component *c) {
  if (c->profile != GALAXY_HERNQUIST || c->cutoff > 0.0) return;
  c->cutoff = HERNQUIST_CUTOFF * c->scale;
  c->cutoff_width = HERNQUIST_WIDTH * c->scale;
}

static void choose_model(const struct parameters *p, const char *section, const char *name,
                         const char *others, struct galaxy *g) {
  if (!galaxy_model(name, g))
    fail(EXIT_BAD_USAGE, "%s = %s: not a model; allowed: m31 | plummer | hernquist | nfw%s",
         parameter_origin(p, section, "model").text, name, others);
}

static struct galaxy first_galaxy(const struct parameters *p) {
  struct galaxy g = {.count = 0};
  char reason[256];
  if (*p->galaxy.model) choose_model(p, "galaxy", p->galaxy.model, "", &g);
  for (size_t k = 0; k < GALAXY_COMPONENTS_MAX; k++) {
    const char *text = p->galaxy.component[k];
    char key[16];
    if (!*text) continue;
    snprintf(key, sizeof key, "component_%zu", k + 1);
    if (*p->galaxy.model)
      fail(EXIT_BAD_USAGE, "%s: a model is chosen, galaxy.model = %s: give one of both",
           parameter_origin(p, "galaxy", key).text, p->galaxy.model);
    if (!galaxy_component_parse(text, &g.component[g.count], reason, sizeof reason))
      fail(EXIT_BAD_USAGE, "%s = %s: %s", parameter_origin(p, "galaxy", key).text, text, reason);
    cut_off(&g.component[g.count++]);
  }
  if (g.count == 0)
    fail(EXIT_BAD_USAGE, "ic.source = galaxy needs galaxy.model or galaxy.component_1");
  return g;
}

/** Stores the key of a component in config.ini; components are those that are given. */
static void name_component(const struct parameters *p, size_t component, char key[16]) {
  size_t k = 0;
  for (size_t given = 0; k < GALAXY_COMPONENTS_MAX; k++)
    if (*p->galaxy.component[k] && given++ == component) break;
  snprintf(key, 16, "component_%zu", k + 1);
}

/** Give a type the softening length of a component. All components of the type have it. */
static void soften_type(struct parameters *p, const struct galaxy *g, size_t c) {
  const struct galaxy_component *one = &g->component[c];
  double *length = &p->gravity.softening_type[one->type];
  char key[16];
  for (size_t k = 0; k < g->count; k++) {
    const struct galaxy_component *other = &g->component[k];
    if (other->type != one->type || other->softening == one->softening) continue;
    name_component(p, k, key);
    fail(
        EXIT_BAD_USAGE,
        "%s: %s and %s have particles of type %d, which has one softening length, but softening=%g "
        "and %g: give one of them another type=N",
        parameter_origin(p, "galaxy", key).text, one->name, other->name, one->type, one->softening,
        other->softening);
  }
  name_component(p, c, key);
  if (*length > 0.0 && *length != one->softening)
    fail(EXIT_BAD_USAGE, "%s: softening=%g, but gravity.softening_type_%d = %g: give one of both",
         parameter_origin(p, "galaxy", key).text, one->softening, one->type, *length);
  *length = one->softening;
}

void ic_choose_softening(struct parameters *p) {
  if (p->ic.source != IC_GALAXY || *p->galaxy.model) return;
  const struct galaxy g = first_galaxy(p);
  for (size_t c = 0; c < g.count; c++)
    if (g.component[c].softening > 0.0) soften_type(p, &g, c);
}

static bool all_have_numbers(const struct galaxy *g) {
  for (size_t c = 0; c < g->count; c++)
    if (g->component[c].particles == 0) return false;
  return true;
}

/** Numbers of particles by component of a model. @param section  of the key that has the numbers */
static void take_numbers(const struct parameters *p, const char *section, const char *text,
                         struct galaxy *g) {
  const char *rest = text;
  for (size_t c = 0; c < g->count; c++) {
    char *end;
    const double number = strtod(rest, &end);
    if (end == rest || !(number >= 0.0 && number <= 1e12) || (double)(size_t)number != number)
      break;
    g->component[c].particles = (size_t)number;
    rest = end;
    if (c + 1 == g->count && rest[strspn(rest, " \t")] == '\0') return;
  }
  fail(EXIT_BAD_USAGE,
       "%s = %s: expected %zu whole numbers, one for each component of the model; 0 for a share of "
       "the rest",
       parameter_origin(p, section, "component_particles").text, text, g->count);
}

/** @param companion  NULL: it is the first galaxy */
static bool is_like_first(const struct companion *companion) {
  return !companion || strcmp(companion->model, "same") == 0;
}

static void choose_numbers(const struct parameters *p, const struct companion *companion,
                           const char *section, struct galaxy *g) {
  const bool own = companion && *companion->component_particles;
  const bool same = is_like_first(companion);
  const char *of = own ? section : "galaxy";
  const char *text = own ? companion->component_particles
                         : (same ? p->galaxy.component_particles : "");
  if (!*text) return;
  if (same && !*p->galaxy.model)
    fail(EXIT_BAD_USAGE,
         "%s: is of the components of a model; write particles=N behind the numbers of component_1 "
         "and the others",
         parameter_origin(p, of, "component_particles").text);
  take_numbers(p, of, text, g);
}

void body_from_model(struct body *b, const struct parameters *p, int k) {
  struct galaxy g = {.count = 0};
  char reason[256];
  const struct companion *companion = k > 0 ? &p->companion[k - 1] : NULL;
  const bool own = companion && companion->particles > 0;
  const int64_t count = own ? companion->particles : p->galaxy.particles;
  if (is_like_first(companion))
    g = first_galaxy(p);
  else
    choose_model(p, galaxy_sections[k], companion->model, " | same", &g);
  b->seed = (uint64_t)p->ic.seed + ((uint64_t)k << 32);
  choose_numbers(p, companion, galaxy_sections[k], &g);
  const bool asked = own || parameter_given(p, "galaxy", "particles");
  b->tables = galaxy_tables_create(&g, !asked && all_have_numbers(&g) ? 0 : (size_t)count, reason,
                                   sizeof reason);
  if (!b->tables) fail(EXIT_BAD_USAGE, "the galaxy: %s", reason);
  b->components = g.count;
  b->count = galaxy_first(b->tables, g.count);
  b->mean_mass = galaxy_mass(b->tables) / (double)b->count;
  b->has_masses = galaxy_masses_differ(b->tables);
  for (size_t c = 0; c < g.count; c++)
    b->has_types = b->has_types || g.component[c].type != PARTICLE_HALO;
}

struct range body_component(const struct body *b, size_t c, size_t first, size_t count) {
  if (c >= b->components) return (struct range){0};
  const size_t begin = galaxy_first(b->tables, c), end = galaxy_first(b->tables, c + 1);
  const size_t from = begin > first ? begin : first;
  const size_t stop = end < first + count ? end : first + count;
  return stop > from ? (struct range){from - first, stop - from} : (struct range){0};
}

void body_sample(const struct body *b, size_t first, size_t count, double (*x)[3], double (*v)[3],
                 uint8_t *type) {
  galaxy_sample(b->tables, b->seed, first, count, x, v, type);
  struct galaxy_sums sums[GALAXY_COMPONENTS];
  for (size_t c = 0; c < GALAXY_COMPONENTS; c++) {
    const struct range part = body_component(b, c, first, count);
    sums[c] = galaxy_sum((const double(*)[3])x + part.first, (const double(*)[3])v + part.first,
                         part.count);
  }
  comm_sum_u64(&sums[0].position[0], 6 * GALAXY_COMPONENTS);
  galaxy_center(b->tables, sums, count, x, v);
}
