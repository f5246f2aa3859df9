/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of a galaxy of section [galaxy] or [second]. */
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

void body_from_model(struct body *b, const struct parameters *p, bool second) {
  struct galaxy g = {.count = 0};
  char reason[256];
  const int64_t count = second && p->second.particles > 0 ? p->second.particles
                                                          : p->galaxy.particles;
  if (!second || strcmp(p->second.model, "same") == 0)
    g = first_galaxy(p);
  else
    choose_model(p, "second", p->second.model, " | same", &g);
  b->count = (size_t)count;
  b->seed = (uint64_t)p->ic.seed + (second ? UINT64_C(1) << 32 : 0);
  b->tables = galaxy_tables_create(&g, b->count, reason, sizeof reason);
  if (!b->tables) fail(EXIT_BAD_USAGE, "the galaxy: %s", reason);
  b->mean_mass = galaxy_mass(b->tables) / (double)b->count;
  for (size_t c = 0; c < g.count; c++)
    b->has_types = b->has_types || g.component[c].type != PARTICLE_HALO;
}

void body_sample(const struct body *b, size_t first, size_t count, double (*x)[3], double (*v)[3],
                 uint8_t *type) {
  galaxy_sample(b->tables, b->seed, first, count, x, v, type);
  struct galaxy_sums sums = galaxy_sum((const double(*)[3])x, (const double(*)[3])v, count);
  comm_sum_u64(&sums.position[0], sizeof sums / sizeof sums.position[0]);
  galaxy_center(&sums, b->count, count, x, v);
}
