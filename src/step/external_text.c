/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials as text: a name, then KEY=VALUE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/cosmology/cosmology.h"
#include "photons/step/external.h"

#define G_KPC (1e3 * GRAVITY) /* kpc (km/s)^2/1e10 Msun */

enum key { MASS, SPEED, SCALE, SOFTENING, CORE, FLATTENING, A, B, C, PATTERN, ANGLE, KEYS };

/** What a value must be. */
enum range { ABOVE_0, FROM_0, ANY };

static const struct {
  const char *name;
  enum range range;
} keys[KEYS] = {[MASS] = {"mass", ABOVE_0},   [SPEED] = {"speed", ABOVE_0},
                [SCALE] = {"scale", ABOVE_0}, [SOFTENING] = {"softening", FROM_0},
                [CORE] = {"core", ABOVE_0},   [FLATTENING] = {"flattening", ABOVE_0},
                [A] = {"a", FROM_0},          [B] = {"b", ABOVE_0},
                [C] = {"c", ABOVE_0},         [PATTERN] = {"pattern_speed", ANY},
                [ANGLE] = {"angle", ANY}};

static const struct {
  const char *name, *usage;
  unsigned needed, allowed; /* bits of keys */
} kinds[EXTERNAL_KINDS] = {
    [EXTERNAL_POINT] = {"point", "mass=MSUN [softening=KPC]", 1U << MASS,
                        1U << MASS | 1U << SOFTENING},
    [EXTERNAL_LOGARITHMIC] = {"logarithmic", "speed=KMS core=KPC [flattening=Q]",
                              1U << SPEED | 1U << CORE,
                              1U << SPEED | 1U << CORE | 1U << FLATTENING},
    [EXTERNAL_MIYAMOTO] = {"miyamoto_nagai", "mass=MSUN a=KPC b=KPC",
                           1U << MASS | 1U << A | 1U << B, 1U << MASS | 1U << A | 1U << B},
    [EXTERNAL_NFW] = {"nfw", "mass=MSUN scale=KPC", 1U << MASS | 1U << SCALE,
                      1U << MASS | 1U << SCALE},
    [EXTERNAL_HERNQUIST] = {"hernquist", "mass=MSUN scale=KPC", 1U << MASS | 1U << SCALE,
                            1U << MASS | 1U << SCALE},
    [EXTERNAL_BAR] = {"bar", "mass=MSUN a=KPC b=KPC c=KPC [pattern_speed=KMS/KPC] [angle=DEGREES]",
                      1U << MASS | 1U << A | 1U << B | 1U << C,
                      1U << MASS | 1U << A | 1U << B | 1U << C | 1U << PATTERN | 1U << ANGLE},
    [EXTERNAL_TABLE] = {"table", "", 0, 0}};

static const char blanks[] = " \t\r\n";

static bool in_range(enum range range, double value) {
  return isfinite(value) && (range == ANY || value > 0.0 || (range == FROM_0 && value == 0.0));
}

/** Read one word KEY=VALUE. @return its bit; 0 if it is wrong */
static unsigned read_word(const char *word, size_t length, double value[KEYS]) {
  for (int k = 0; k < KEYS; k++) {
    const size_t name = strlen(keys[k].name);
    if (length < name + 2 || strncmp(word, keys[k].name, name) != 0 || word[name] != '=') continue;
    char *end;
    value[k] = strtod(word + name + 1, &end);
    return end == word + length && in_range(keys[k].range, value[k]) ? 1U << k : 0;
  }
  return 0;
}

static struct external_term term_of(enum external_kind kind, const double value[KEYS]) {
  const double q = value[FLATTENING] > 0.0 ? value[FLATTENING] : 1.0;
  return (struct external_term){.kind = kind,
                                .gm = G_KPC * 1e-10 * value[MASS],
                                .speed2 = value[SPEED] * value[SPEED],
                                .a = value[A] + value[SCALE] + value[SOFTENING] + value[CORE],
                                .b = value[B],
                                .c = value[C],
                                .per_q2 = 1.0 / (q * q),
                                .pattern = value[PATTERN],
                                .angle = M_PI / 180.0 * value[ANGLE],
                                .cosine = 1.0};
}

static bool parse_keys(enum external_kind kind, const char *text, struct external_term *term,
                       char *reason, size_t size) {
  double value[KEYS] = {0.0};
  unsigned given = 0;
  const char *word = text + strspn(text, blanks);
  for (size_t length; (length = strcspn(word, blanks)) > 0; word += strspn(word, blanks)) {
    const unsigned bit = read_word(word, length, value);
    if (bit == 0 || !(kinds[kind].allowed & bit) || (given & bit)) {
      snprintf(reason, size, "'%.*s': expected %s %s, each once, lengths and masses above 0",
               (int)length, word, kinds[kind].name, kinds[kind].usage);
      return false;
    }
    given |= bit;
    word += length;
  }
  if (kind == EXTERNAL_BAR && (given & 1U << A) && value[A] == 0.0) given &= ~(1U << A);
  if ((given & kinds[kind].needed) != kinds[kind].needed) {
    snprintf(reason, size, "'%s%s': expected %s %s", kinds[kind].name, text, kinds[kind].name,
             kinds[kind].usage);
    return false;
  }
  *term = term_of(kind, value);
  return true;
}

bool external_parse(const char *text, struct external_term *term, char *reason, size_t size) {
  text += strspn(text, blanks);
  const size_t length = strcspn(text, blanks);
  for (int k = 0; k < EXTERNAL_KINDS; k++)
    if (length == strlen(kinds[k].name) && !strncmp(text, kinds[k].name, length))
      return parse_keys((enum external_kind)k, text + length, term, reason, size);
  snprintf(
      reason, size,
      "'%.*s' is no potential; known: point, logarithmic, miyamoto_nagai, nfw, hernquist, bar, "
      "table",
      (int)length, text);
  return false;
}
