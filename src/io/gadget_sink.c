/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the values in a Gadget file to particles: every value is checked here, whatever the format. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gadget.h"
#include "photons/base/error.h"

static const char axis_name[3] = {'x', 'y', 'z'};

void gadget_put_positions(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                          const double *x) {
  const struct particles *s = sink->particles;
  const size_t place = sink->place + first - sink->row;
  const double excess = 1e-6 * sink->box; /* rounding of a float position that was wrapped in double */
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) {
      const double value = x[3 * i + c];
      if (!(value >= -excess && value <= sink->box + excess))
        fail(EXIT_BAD_INPUT, "%s: block %s: %c of particle %zu is %g, expected a number in [0, BoxSize = %g]",
             sink->path, block, axis_name[c], first + i, value, sink->box);
      s->position[c * s->count + place + i] = position_to_integer(value, sink->box);
    }
}

void gadget_put_velocities(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                           const double *u) {
  const struct particles *s = sink->particles;
  const size_t place = sink->place + first - sink->row;
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) {
      const double value = u[3 * i + c];
      const double momentum = sink->momentum_factor * value; /* a v_pec: below the speed of light, and not NaN */
      if (!(fabs(momentum) < 299792.458))
        fail(EXIT_BAD_INPUT, "%s: block %s: %c velocity of particle %zu is %g, expected a number in km/s", sink->path,
             block, axis_name[c], first + i, value);
      s->momentum[c * s->count + place + i] = (float)momentum;
    }
}

void gadget_put_ids(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                    const uint64_t *ids) {
  (void)block; /* any integer is an id; that they differ is seen at the end */
  memcpy(sink->particles->id + sink->place + first - sink->row, ids, count * sizeof *ids);
}

void gadget_put_masses(const struct gadget_sink *sink, const char *block, size_t first, size_t count, const double *m) {
  struct particles *s = sink->particles;
  if (s->mass == 0.0 && count > 0) s->mass = m[0];
  for (size_t i = 0; i < count; i++)
    if (!(fabs(m[i] - s->mass) <= 1e-5 * s->mass)) /* float masses written by different codes agree to 1e-7 */
      fail(EXIT_BAD_INPUT, "%s: block %s: particle %zu has mass %g, others %g: only particles of one mass can be run",
           sink->path, block, first + i, m[i], s->mass);
}
