/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ic_orbit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/ic/galaxy.h"

static const char blanks[] = " \t";

#define USAGE "orbit pericentre=KPC eccentricity=E separation=KPC [about=SECTION]"

/** Read the section of the galaxy that the orbit is about. @return whether it is one */
static bool read_partner(const char *word, size_t length, struct orbit *orbit) {
  for (int k = 0; k < GALAXIES_MAX && orbit->about < 0; k++)
    if (strlen(galaxy_sections[k]) == length && strncmp(word, galaxy_sections[k], length) == 0) {
      orbit->about = k;
      return true;
    }
  return false;
}

/** Read one word KEY=VALUE. @return whether it is one */
static bool read_word(const char *word, size_t length, struct orbit *orbit) {
  const struct {
    const char *key;
    double *value;
  } keys[] = {{"pericentre=", &orbit->pericentre},
              {"eccentricity=", &orbit->eccentricity},
              {"separation=", &orbit->separation}};
  static const char about[] = "about=";
  const size_t skip = sizeof about - 1;
  if (length > skip && strncmp(word, about, skip) == 0)
    return read_partner(word + skip, length - skip, orbit);
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
  *orbit = (struct orbit){-1.0, -1.0, -1.0, -1};
  *reason = '\0';
  if (strncmp(word, "orbit", 5) != 0) return false;
  word += 5;
  bool good = true;
  for (word += strspn(word, blanks); *word && good; word += strspn(word, blanks)) {
    const size_t length = strcspn(word, blanks);
    good = read_word(word, length, orbit);
    word += length;
  }
  if (orbit->about < 0) orbit->about = 0;
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
  const bool first = strcmp(section, galaxy_sections[0]) == 0;
  if (first || !orbit_parse(placing->position, &orbit, reason, sizeof reason))
    read_numbers(p, section, "position", placing->position, 3, place.position);
  read_numbers(p, section, "velocity", placing->velocity, 3, place.velocity);
  read_numbers(p, section, "inclination", placing->inclination, 2, place.angle);
  return place;
}

/** Galaxies of which some are on orbits about others. */
struct orbits {
  int count;
  int partner[GALAXIES_MAX]; /* the galaxy that it orbits, one before it; -1: none */
  struct orbit orbit[GALAXIES_MAX];
  double alone[GALAXIES_MAX], mass[GALAXIES_MAX]; /* of the galaxy, and with all that orbit it */
};

/** Read the orbit of galaxy k, if it has one. */
static void read_orbit(const struct parameters *p, struct orbits *o, int k) {
  const char *section = galaxy_sections[k];
  const struct placing *placing = &p->companion[k - 1].placing;
  char reason[160];
  if (!orbit_parse(placing->position, &o->orbit[k], reason, sizeof reason)) return;
  o->partner[k] = o->orbit[k].about;
  if (!*reason && o->partner[k] >= k)
    snprintf(reason, sizeof reason, "about=%s is not the section of a galaxy before this one",
             galaxy_sections[o->partner[k]]);
  if (*reason)
    fail(EXIT_BAD_USAGE, "%s = %s: %s", parameter_origin(p, section, "position").text,
         placing->position, reason);
  if (*placing->velocity)
    fail(EXIT_BAD_USAGE, "%s: %s.position names an orbit, which gives the velocity",
         parameter_origin(p, section, "velocity").text, section);
}

static struct orbits read_orbits(const struct parameters *p, int count, const double *mass) {
  struct orbits o = {.count = count};
  for (int k = 0; k < count; k++) {
    o.alone[k] = o.mass[k] = mass[k];
    o.partner[k] = -1;
    if (k > 0) read_orbit(p, &o, k);
  }
  for (int k = count - 1; k > 0; k--)
    if (o.partner[k] >= 0) o.mass[o.partner[k]] += o.mass[k];
  return o;
}

/** The mass that galaxy k orbits: of its partner, and of the galaxies before k that orbit that one. */
static double mass_inside(const struct orbits *o, int k) {
  const int partner = o->partner[k];
  double mass = o->alone[partner];
  for (int i = partner + 1; i < k; i++)
    if (o->partner[i] == partner) mass += o->mass[i];
  return mass;
}

/** Whether galaxy k is galaxy j, or orbits it or one that does. */
static bool belongs(const struct orbits *o, int k, int j) {
  while (k > j) k = o->partner[k];
  return k == j;
}

static void move(struct place *place, double factor, const double apart[3],
                 const double relative[3]) {
  for (int c = 0; c < 3; c++) {
    place->position[c] += factor * apart[c];
    place->velocity[c] += factor * relative[c];
  }
}

/** Put galaxy k on its orbit. @param centre  places of the centres of mass of galaxies and of those that orbit them */
static void put_on_orbit(const struct orbits *o, int k, struct place *place, struct place *centre) {
  const int partner = o->partner[k];
  const double inside = mass_inside(o, k), both = inside + o->mass[k];
  double apart[3], relative[3];
  orbit_state(&o->orbit[k], both, apart, relative);
  for (int i = partner; i < k; i++) {
    if (!belongs(o, i, partner)) continue;
    move(&place[i], -o->mass[k] / both, apart, relative);
    if (i > partner) move(&centre[i], -o->mass[k] / both, apart, relative);
  }
  for (int c = 0; c < 3; c++) {
    place[k].position[c] = centre[partner].position[c];
    place[k].velocity[c] = centre[partner].velocity[c];
  }
  move(&place[k], inside / both, apart, relative);
  centre[k] = place[k];
}

void place_on_orbits(const struct parameters *p, int count, const double *mass,
                     struct place *place) {
  const struct orbits orbits = read_orbits(p, count, mass);
  struct place centre[GALAXIES_MAX];
  for (int k = 0; k < count; k++) centre[k] = place[k];
  for (int k = 1; k < count; k++)
    if (orbits.partner[k] >= 0) put_on_orbit(&orbits, k, place, centre);
}
