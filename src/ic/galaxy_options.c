/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words KEY=VALUE that follow the numbers of a component: how many particles it has, their
 * type and their softening length. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "galaxy_profile.h"

#define MOST_PARTICLES 1e12
/* kpc; as of gravity.softening_type_1 and the others */
#define LEAST_SOFTENING 1e-6
#define MOST_SOFTENING 1e6

static const char blanks[] = " \t\r\n";

static bool whole(double value, double most) {
  return value >= 1.0 && value <= most && floor(value) == value;
}

/** Each takes a value and returns what was expected instead, or NULL. */
static const char *take_particles(struct galaxy_component *c, double value) {
  if (!whole(value, MOST_PARTICLES)) return "expected a whole number from 1 to 1e12";
  if (c->particles > 0) return "the number is given twice: give particles or particle_mass";
  c->particles = (size_t)value;
  return NULL;
}

static const char *take_particle_mass(struct galaxy_component *c, double value) {
  const double count = round(c->mass / (1e-10 * value));
  if (!whole(count, MOST_PARTICLES))
    return "expected a mass in Msun that the component has 1 to 1e12 times";
  return take_particles(c, count);
}

static const char *take_type(struct galaxy_component *c, double value) {
  if (!whole(value, 5.0)) return "expected a whole number from 1 to 5";
  c->type = (int)value;
  return NULL;
}

static const char *take_softening(struct galaxy_component *c, double value) {
  if (!(value >= LEAST_SOFTENING && value <= MOST_SOFTENING))
    return "expected a length in kpc from 1e-6 to 1e6";
  c->softening = value;
  return NULL;
}

static const struct {
  const char *key;
  const char *(*take)(struct galaxy_component *c, double value);
} options[] = {{"particles=", take_particles},
               {"particle_mass=", take_particle_mass},
               {"type=", take_type},
               {"softening=", take_softening}};

/** One word. @return what is wrong, or NULL */
static const char *take(const char *word, size_t length, struct galaxy_component *c) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    const size_t key = strlen(options[i].key);
    if (length < key || strncmp(word, options[i].key, key) != 0) continue;
    char *end;
    const double value = strtod(word + key, &end);
    return options[i].take(c, length > key && end == word + length ? value : NAN);
  }
  return "";
}

bool galaxy_options_parse(const char *text, struct galaxy_component *component, char *reason,
                          size_t size) {
  const char *word = text + strspn(text, blanks);
  for (size_t length; (length = strcspn(word, blanks)) > 0; word += strspn(word, blanks)) {
    const char *wrong = take(word, length, component);
    if (wrong && !*wrong)
      snprintf(reason, size,
               "galaxy: '%.*s' is none of particles=N, particle_mass=MASS, type=N, "
               "softening=LENGTH",
               (int)length, word);
    else if (wrong)
      snprintf(reason, size, "galaxy: component %s: %.*s: %s", component->name, (int)length, word,
               wrong);
    if (wrong) return false;
    word += length;
  }
  return true;
}
