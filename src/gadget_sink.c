/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the values in a Gadget file to particles: every value is checked here, whatever the format. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gadget.h"
#include "photons/error.h"

static const char axis_name[3] = {'x', 'y', 'z'};

void gadget_put_positions(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                          const double *x) {
  const struct particles *s = sink->particles;
  const double excess = 1e-6 * sink->box; /* rounding of a float position that was wrapped in double */
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) {
      const double value = x[3 * i + c];
      if (!(value >= -excess && value <= sink->box + excess))
        fail(EXIT_BAD_INPUT, "%s: block %s: %c of particle %zu is %g, expected a number in [0, BoxSize = %g]",
             sink->path, block, axis_name[c], first + i, value, sink->box);
      s->position[c * s->count + sink->first + first + i] = position_to_integer(value, sink->box);
    }
}

void gadget_put_velocities(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                           const double *u) {
  const struct particles *s = sink->particles;
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) {
      const double value = u[3 * i + c];
      const double momentum = sink->momentum_factor * value; /* a v_pec: below the speed of light, and not NaN */
      if (!(fabs(momentum) < 299792.458))
        fail(EXIT_BAD_INPUT, "%s: block %s: %c velocity of particle %zu is %g, expected a number in km/s", sink->path,
             block, axis_name[c], first + i, value);
      s->momentum[c * s->count + sink->first + first + i] = (float)momentum;
    }
}

void gadget_put_ids(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                    const uint64_t *ids) {
  (void)block; /* any integer is an id; that they differ is seen at the end */
  memcpy(sink->particles->id + sink->first + first, ids, count * sizeof *ids);
}

void gadget_put_masses(const struct gadget_sink *sink, const char *block, size_t first, size_t count, const double *m) {
  struct particles *s = sink->particles;
  if (s->mass == 0.0 && count > 0) s->mass = m[0];
  for (size_t i = 0; i < count; i++)
    if (!(fabs(m[i] - s->mass) <= 1e-5 * s->mass)) /* float masses written by different codes agree to 1e-7 */
      fail(EXIT_BAD_INPUT, "%s: block %s: particle %zu has mass %g, others %g: only particles of one mass can be run",
           sink->path, block, first + i, m[i], s->mass);
}

_Noreturn static void fail_twice(const char *path, uint64_t id) {
  fail(EXIT_BAD_INPUT, "%s: id %" PRIu64 " stands for more than one particle", path, id);
}

static int compare_ids(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void gadget_check_ids(const struct particles *s, const char *path) {
  uint64_t lowest = UINT64_MAX, highest = 0;
  for (size_t i = 0; i < s->count; i++) {
    if (s->id[i] < lowest) lowest = s->id[i];
    if (s->id[i] > highest) highest = s->id[i];
  }
  const uint64_t range = highest - lowest;
  if (range / 64 < s->count) { /* ids of a grid, the usual case: one bit an id is little memory */
    uint64_t *seen = allocate((size_t)(range / 64 + 1), sizeof *seen, "the check of particle ids");
    for (size_t i = 0; i < s->count; i++) {
      const uint64_t place = s->id[i] - lowest, bit = UINT64_C(1) << (place % 64);
      if (seen[place / 64] & bit) fail_twice(path, s->id[i]);
      seen[place / 64] |= bit;
    }
    free(seen);
    return;
  }
  uint64_t *sorted = allocate(s->count, sizeof *sorted, "the check of particle ids");
  memcpy(sorted, s->id, s->count * sizeof *sorted);
  qsort(sorted, s->count, sizeof *sorted, compare_ids);
  for (size_t i = 1; i < s->count; i++)
    if (sorted[i] == sorted[i - 1]) fail_twice(path, sorted[i]);
  free(sorted);
}
