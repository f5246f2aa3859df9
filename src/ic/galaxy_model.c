/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Galaxies by name, and components as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "galaxy_profile.h"

/** Miki 2019, arXiv:1909.07439: the masses and lengths of section 3. */
static const struct galaxy m31 = {.count = 4,
                                  .component = {{.name = "halo",
                                                 .profile = GALAXY_NFW,
                                                 .mass = 81.1,
                                                 .scale = 7.63,
                                                 .cutoff = 250.0,
                                                 .cutoff_width = 25.0,
                                                 .type = 1},
                                                {.name = "stellar halo",
                                                 .profile = GALAXY_SERSIC,
                                                 .mass = 0.8,
                                                 .scale = 9.0,
                                                 .n = 2.2,
                                                 .cutoff = 176.0,
                                                 .cutoff_width = 20.0,
                                                 .type = 4},
                                                {.name = "bulge",
                                                 .profile = GALAXY_HERNQUIST,
                                                 .mass = 3.24,
                                                 .scale = 0.61,
                                                 .cutoff = 6.1,
                                                 .cutoff_width = 0.61,
                                                 .type = 3},
                                                {.name = "disk",
                                                 .profile = GALAXY_EXPONENTIAL,
                                                 .mass = 3.66,
                                                 .scale = 5.4,
                                                 .height = 0.6,
                                                 .cutoff = 54.0,
                                                 .cutoff_width = 5.4,
                                                 .toomre_q = GALAXY_DEFAULT_Q,
                                                 .type = 2}}};

static const struct {
  const char *name, *component;
} single[] = {
    {"plummer", "plummer 1e11 5 250 25"},
    {"hernquist", "hernquist 1e11 5 250 25"},
    {"nfw", "nfw 1e12 20 250 25"},
};

bool galaxy_model(const char *name, struct galaxy *galaxy) {
  if (!strcmp(name, "m31")) {
    *galaxy = m31;
    return true;
  }
  for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
    char unused[8];
    if (strcmp(name, single[i].name) != 0) continue;
    *galaxy = (struct galaxy){.count = 1};
    return galaxy_component_parse(single[i].component, galaxy->component, unused, sizeof unused);
  }
  return false;
}

/* The numbers that follow a profile's name: as many as are required, then all or no cutoff. */
enum { MASS, SCALE, SHAPE, CUTOFF, WIDTH, LEAST_Q, NUMBERS };
static const struct {
  const char *name, *numbers;
  size_t count;
  int order[NUMBERS];
  size_t required;
  int type;
} profiles[] = {
    [GALAXY_NFW] = {"nfw", "MASS SCALE CUTOFF WIDTH", 4, {MASS, SCALE, CUTOFF, WIDTH}, 4, 1},
    [GALAXY_HERNQUIST] =
        {"hernquist", "MASS SCALE [CUTOFF WIDTH]", 4, {MASS, SCALE, CUTOFF, WIDTH}, 2, 3},
    [GALAXY_PLUMMER] =
        {"plummer", "MASS SCALE [CUTOFF WIDTH]", 4, {MASS, SCALE, CUTOFF, WIDTH}, 2, 4},
    [GALAXY_SERSIC] = {"sersic",
                       "MASS EFFECTIVE_RADIUS INDEX [CUTOFF WIDTH]",
                       5,
                       {MASS, SCALE, SHAPE, CUTOFF, WIDTH},
                       3,
                       4},
    [GALAXY_EXPONENTIAL] = {"exponential",
                            "MASS SCALE HEIGHT [CUTOFF WIDTH [LEAST_Q]]",
                            6,
                            {MASS, SCALE, SHAPE, CUTOFF, WIDTH, LEAST_Q},
                            3,
                            2},
};
enum { PROFILES = sizeof profiles / sizeof *profiles };

static const char blanks[] = " \t\r\n";

/** Where the words KEY=VALUE of a component begin. */
static const char *options_of(const char *text) {
  const char *word = text + strspn(text, blanks);
  for (size_t length; (length = strcspn(word, blanks)) > 0; word += strspn(word, blanks)) {
    if (memchr(word, '=', length)) break;
    word += length;
  }
  return word;
}

/** Read up to `most` numbers of the text before `end_of_text`. Returns how many there are; `most` + 1 if there are
 * more, or if there is something else. */
static size_t read_numbers(const char *text, const char *end_of_text, size_t most, double *number) {
  size_t count = 0;
  for (text += strspn(text, blanks); text < end_of_text; text += strspn(text, blanks)) {
    char *end;
    const double value = strtod(text, &end);
    if (end == text || count == most || !strchr(blanks, *end)) return most + 1;
    number[count++] = value;
    text = end;
  }
  return count;
}

static struct galaxy_component component_of(enum galaxy_profile profile, const double *number) {
  struct galaxy_component c = {.profile = profile,
                               .mass = number[MASS] * 1e-10,
                               .scale = number[SCALE],
                               .cutoff = number[CUTOFF],
                               .cutoff_width = number[WIDTH],
                               .toomre_q = number[LEAST_Q],
                               .type = profiles[profile].type};
  snprintf(c.name, sizeof c.name, "%s", profiles[profile].name);
  *(profile == GALAXY_EXPONENTIAL ? &c.height : &c.n) = number[SHAPE];
  return c;
}

static bool parse_numbers(enum galaxy_profile profile, const char *text,
                          struct galaxy_component *component, char *reason, size_t size) {
  double read[NUMBERS] = {0.0}, number[NUMBERS] = {0.0};
  const size_t most = profiles[profile].count, required = profiles[profile].required;
  const char *options = options_of(text);
  const size_t count = read_numbers(text, options, most, read);
  if (count < required || count > most || count == required + 1) {
    snprintf(reason, size, "galaxy: expected '%s %s' with numbers, found '%s%s'",
             profiles[profile].name, profiles[profile].numbers, profiles[profile].name, text);
    return false;
  }
  for (size_t i = 0; i < count; i++) number[profiles[profile].order[i]] = read[i];
  *component = component_of(profile, number);
  return galaxy_component_check(component, reason, size) &&
         galaxy_options_parse(options, component, reason, size);
}

bool galaxy_component_parse(const char *text, struct galaxy_component *component, char *reason,
                            size_t size) {
  text += strspn(text, blanks);
  const size_t length = strcspn(text, blanks);
  for (size_t i = 0; i < PROFILES; i++)
    if (length == strlen(profiles[i].name) && !strncmp(text, profiles[i].name, length))
      return parse_numbers((enum galaxy_profile)i, text + length, component, reason, size);
  snprintf(reason, size,
           "galaxy: '%.*s' is no profile; known: nfw, hernquist, plummer, sersic, exponential",
           (int)length, text);
  return false;
}
