/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ic_orbit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/ic/galaxy.h"

static const char blanks[] = " \t";

#define USAGE "orbit pericentre=KPC eccentricity=E separation=KPC"

/** Read one word KEY=VALUE. @return whether it is one */
static bool read_word(const char *word, size_t length, struct orbit *orbit) {
  const struct {
    const char *key;
    double *value;
  } keys[] = {{"pericentre=", &orbit->pericentre},
              {"eccentricity=", &orbit->eccentricity},
              {"separation=", &orbit->separation}};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const size_t key = strlen(keys[k].key);
    if (length <= key || strncmp(word, keys[k].key, key) != 0 || *keys[k].value >= 0.0) continue;
    char *end;
    *keys[k].value = strtod(word + key, &end);
    return end == word + length;
  }
  return false;
}

/** What is wrong with the numbers, or NULL. */
static const char *fault(const struct orbit *o) {
  const double e = o->eccentricity;
  if (!(o->pericentre >= 0.0 && e >= 0.0 && o->separation > 0.0) ||
      !isfinite(o->pericentre + e + o->separation))
    return "expected " USAGE ", each once and not below 0";
  if (o->separation < o->pericentre) return "the separation is below the pericentre";
  if (e < 1.0 && o->separation > o->pericentre * (1.0 + e) / (1.0 - e) * (1.0 + 1e-9))
    return "the separation is above the apocentre";
  if (o->pericentre == 0.0 && e != 1.0)
    return "without a pericentre the eccentricity is 1: a fall along the x axis from rest far away";
  return NULL;
}

bool orbit_parse(const char *text, struct orbit *orbit, char *reason, size_t size) {
  const char *word = text + strspn(text, blanks);
  *orbit = (struct orbit){-1.0, -1.0, -1.0};
  *reason = '\0';
  if (strncmp(word, "orbit", 5) != 0) return false;
  word += 5;
  bool good = true;
  for (word += strspn(word, blanks); *word && good; word += strspn(word, blanks)) {
    const size_t length = strcspn(word, blanks);
    good = read_word(word, length, orbit);
    word += length;
  }
  const char *wrong = good ? fault(orbit) : "expected " USAGE ", each once";
  if (wrong) snprintf(reason, size, "%s", wrong);
  return true;
}

void orbit_state(const struct orbit *o, double mass, double position[3], double velocity[3]) {
  const double e = o->eccentricity, gm = GALAXY_GRAVITY * mass, r = o->separation;
  const double parameter = o->pericentre * (1.0 + e); /* p = r (1 + e cos) */
  const double speed2 = gm * (2.0 / r - (parameter > 0.0 ? (1.0 - e * e) / parameter : 0.0));
  const double across = sqrt(gm * parameter) / r,
               inward = sqrt(fmax(speed2 - across * across, 0.0));
  const double cosine = e > 0.0 && parameter > 0.0
                            ? fmax(-1.0, fmin(1.0, (parameter / r - 1.0) / e))
                        : e > 0.0 ? -1.0
                                  : 1.0;
  const double sine = -sqrt(1.0 - cosine * cosine); /* before the pericentre */
  const double along[3] = {cosine, sine, 0.0}, around[3] = {-sine, cosine, 0.0};
  for (int c = 0; c < 3; c++) {
    position[c] = r * along[c];
    velocity[c] = across * around[c] - inward * along[c];
  }
}

/** Numbers of a key. Those of an empty text are 0. */
static void read_numbers(const struct parameters *p, const char *section, const char *key,
                         const char *text, int count, double *number) {
  const char *rest = text;
  char *end;
  int found = 0;
  bool finite = true;
  for (int k = 0; k < count; k++) number[k] = 0.0;
  if (!*text) return;
  for (; found < count; found++, rest = end) {
    number[found] = strtod(rest, &end);
    if (end == rest) break;
    finite = finite && isfinite(number[found]);
  }
  rest += strspn(rest, blanks);
  if (found != count || *rest || !finite)
    fail(EXIT_BAD_USAGE, "%s = %s: expected %d numbers, separated by blanks",
         parameter_origin(p, section, key).text, text, count);
}

struct place place_given(const struct parameters *p, const char *section,
                         const struct placing *placing) {
  struct place place = {0};
  struct orbit orbit;
  char reason[160];
  const bool second = strcmp(section, "second") == 0;
  if (!second || !orbit_parse(placing->position, &orbit, reason, sizeof reason))
    read_numbers(p, section, "position", placing->position, 3, place.position);
  read_numbers(p, section, "velocity", placing->velocity, 3, place.velocity);
  read_numbers(p, section, "inclination", placing->inclination, 2, place.angle);
  return place;
}

void place_on_orbit(const struct parameters *p, const double mass[2], struct place place[2]) {
  struct orbit orbit;
  char reason[160];
  if (!orbit_parse(p->second.placing.position, &orbit, reason, sizeof reason)) return;
  if (*reason)
    fail(EXIT_BAD_USAGE, "%s = %s: %s", parameter_origin(p, "second", "position").text,
         p->second.placing.position, reason);
  if (*p->second.placing.velocity)
    fail(EXIT_BAD_USAGE, "%s: second.position names an orbit, which gives the velocity",
         parameter_origin(p, "second", "velocity").text);
  double apart[3], relative[3];
  const double both = mass[0] + mass[1];
  orbit_state(&orbit, both, apart, relative);
  for (int c = 0; c < 3; c++) {
    const double centre = place[0].position[c], drift = place[0].velocity[c];
    place[0].position[c] = centre - mass[1] / both * apart[c];
    place[0].velocity[c] = drift - mass[1] / both * relative[c];
    place[1].position[c] = centre + mass[0] / both * apart[c];
    place[1].velocity[c] = drift + mass[0] / both * relative[c];
  }
}
