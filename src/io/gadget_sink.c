/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the values in a Gadget file to particles. Every value is checked here, whatever the
 * format. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gadget.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"

static const char axis_name[3] = {'x', 'y', 'z'};

static uint64_t id_of(const struct gadget_sink *sink, size_t particle) {
  return sink->particles->id[sink->place + particle - sink->row];
}

bool gadget_wants(const struct gadget_sink *sink, const struct gadget_header *header,
                  unsigned block) {
  if (block != GADGET_BLOCKS - 1) return !sink->masses;
  return header->mass[sink->type] == 0.0 &&
         (sink->masses || particles_have(sink->particles, COLUMN_relative_mass));
}

void gadget_say_still(const char *path, unsigned type) {
  warn("%s: has no velocities of particles of type %u: they are 0, and so are those of halos", path,
       type);
}

/** Positions of isolated systems. */
static void put_in_space(const struct gadget_sink *sink, const char *block, size_t first,
                         size_t count, const double *x) {
  const size_t place = sink->place + first - sink->row;
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) {
      if (!isfinite(x[3 * i + c]))
        fail(EXIT_BAD_INPUT, "%s: block %s: %c of particle %zu (id %" PRIu64 ") is %g", sink->path,
             block, axis_name[c], first + i, id_of(sink, first + i), x[3 * i + c]);
      sink->x[place + i][c] = sink->length_factor * x[3 * i + c];
    }
}

void gadget_put_positions(const struct gadget_sink *sink, const char *block, size_t first,
                          size_t count, const double *x) {
  if (sink->x) {
    put_in_space(sink, block, first, count, x);
    return;
  }
  const struct particles *s = sink->particles;
  const size_t place = sink->place + first - sink->row;
  /* Some programs write displaced particles where they are (monofonIC), others wrap positions into the box in double
   * and round to float. A box in another unit of length, Mpc in the place of Mpc/h, is beyond. */
  const double excess = 0.1 * sink->box;
  for (size_t i = 0; i < count; i++)
    for (size_t c = 0; c < 3; c++) {
      const double value = x[3 * i + c];
      if (!(value >= -excess && value <= sink->box + excess))
        fail(EXIT_BAD_INPUT,
             "%s: block %s: %c of particle %zu (id %" PRIu64
             ") is %g, expected a number in [0, BoxSize = %g], or beyond by a tenth of it at most",
             sink->path, block, axis_name[c], first + i, id_of(sink, first + i), value, sink->box);
      s->position[c * s->count + place + i] = position_to_integer(value, sink->box);
    }
}

void gadget_put_velocities(const struct gadget_sink *sink, const char *block, size_t first,
                           size_t count, const double *u) {
  const struct particles *s = sink->particles;
  const size_t place = sink->place + first - sink->row;
  const double factor = sink->velocity_factor, most = pow(SPEED_OF_LIGHT / factor, 2.0);
  for (size_t i = 0; i < count; i++) {
    const double *v = u + 3 * i;
    if (!(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < most)) /* true for NaN, too */
      fail(EXIT_BAD_INPUT,
           "%s: block %s: particle %zu (id %" PRIu64
           ") has the peculiar velocity (%g, %g, %g) km/s, "
           "expected less than the speed of light, %.0f km/s",
           sink->path, block, first + i, id_of(sink, first + i), factor * v[0], factor * v[1],
           factor * v[2], SPEED_OF_LIGHT);
    for (size_t c = 0; c < 3; c++)
      if (sink->v)
        sink->v[place + i][c] = factor * v[c];
      else
        s->momentum[c * s->count + place + i] = (float)(sink->momentum_factor * v[c]);
  }
}

void gadget_put_ids(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
                    const uint64_t *ids) {
  (void)block; /* any integer is a valid id; gadget_check_ids() finds duplicates */
  memcpy(sink->particles->id + sink->place + first - sink->row, ids, count * sizeof *ids);
}

static void gather_mass(struct gadget_masses *all, double mass) {
  if (all->count == 0) *all = (struct gadget_masses){.least = mass, .first = mass};
  all->count++;
  all->sum += mass;
  all->least = fmin(all->least, mass);
  all->largest = fmax(all->largest, mass);
}

void gadget_put_masses(const struct gadget_sink *sink, const char *block, size_t first,
                       size_t count, const double *m) {
  struct particles *s = sink->particles;
  const size_t place = sink->place + first - sink->row;
  for (size_t i = 0; i < count; i++) {
    if (!(m[i] > 0.0) || isinf(m[i]))
      fail(EXIT_BAD_INPUT,
           "%s: block %s: particle %zu of type %u has mass %g, expected a finite number above 0",
           sink->path, block, first + i, sink->type, m[i]);
    const double mass = sink->mass_factor * m[i];
    if (sink->masses)
      gather_mass(sink->masses, mass);
    else
      s->relative_mass[place + i] = (float)(mass / s->mass);
  }
}
