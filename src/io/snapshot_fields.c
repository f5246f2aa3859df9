/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "snapshot_fields.h"

#include <math.h>
#include <string.h>

#include "photons/domain/geometry.h"

static void convert_positions(const struct file_units *units, const struct particle_block *b,
                              size_t c, size_t i, size_t count, void *numbers) {
  double *out = numbers;
  const uint32_t *x = b->x[c] + i;
  for (size_t n = 0; n < count; n++) out[n] = x[n] * units->position + units->corner;
}

/** Positions that are rounded up to the end of the box are at its begin. */
static struct rounded_scale scale_of_positions(const struct file_units *units) {
  return (struct rounded_scale){units->position, units->corner, units->rounding.position,
                                units->side};
}

static void convert_rounded_positions(const struct file_units *units,
                                      const struct particle_block *b, size_t c, size_t i,
                                      size_t count, void *numbers) {
  const struct rounded_scale scale = scale_of_positions(units);
  units->kernels->round_positions(count, b->x[c] + i, &scale, numbers);
}

static void convert_wide_positions(const struct file_units *units, const struct particle_block *b,
                                   size_t c, size_t i, size_t count, void *numbers) {
  const struct rounded_scale scale = scale_of_positions(units);
  units->kernels->round_positions_wide(count, b->x[c] + i, &scale, numbers);
}

static void convert_floats(const float *from, double factor, size_t count, float *out) {
  for (size_t n = 0; n < count; n++) out[n] = (float)((double)from[n] * factor);
}

static void convert_velocities(const struct file_units *units, const struct particle_block *b,
                               size_t c, size_t i, size_t count, void *numbers) {
  convert_floats(b->p[c] + i, units->momentum, count, numbers);
}

static void convert_rounded_velocities(const struct file_units *units,
                                       const struct particle_block *b, size_t c, size_t i,
                                       size_t count, void *numbers) {
  const struct rounded_scale scale = {units->momentum, 0.0, units->rounding.velocity, HUGE_VAL};
  units->kernels->round_velocities(count, b->p[c] + i, &scale, numbers);
}

static void convert_accelerations(const struct file_units *units, const struct particle_block *b,
                                  size_t c, size_t i, size_t count, void *numbers) {
  convert_floats(b->acc[c] + i, units->acceleration, count, numbers);
}

static void convert_potentials(const struct file_units *units, const struct particle_block *b,
                               size_t c, size_t i, size_t count, void *numbers) {
  (void)units, (void)c;
  memcpy(numbers, b->potential + i, count * sizeof(float));
}

static void convert_ids(const struct file_units *units, const struct particle_block *b, size_t c,
                        size_t i, size_t count, void *numbers) {
  (void)units, (void)c;
  memcpy(numbers, b->id + i, count * sizeof *b->id);
}

static void convert_masses(const struct file_units *units, const struct particle_block *b, size_t c,
                           size_t i, size_t count, void *numbers) {
  (void)c;
  float *out = numbers;
  for (size_t n = 0; n < count; n++)
    out[n] = (float)(b && b->relative_mass ? units->mass * (double)b->relative_mass[i + n]
                                           : units->mass);
}

static bool exact(const struct parameters *p, const struct rounding *r) {
  (void)p;
  return r->position == 0.0;
}

static bool lean(const struct parameters *p, const struct rounding *r) { return !exact(p, r); }

static bool lean_and_narrow(const struct parameters *p, const struct rounding *r) {
  return lean(p, r) && !r->wide;
}

static bool lean_and_wide(const struct parameters *p, const struct rounding *r) {
  return lean(p, r) && r->wide;
}

static bool with_accelerations(const struct parameters *p, const struct rounding *r) {
  (void)r;
  return p->output.accelerations;
}

static bool with_potential(const struct parameters *p, const struct rounding *r) {
  (void)r;
  return p->output.potential;
}

static double position_step(const struct rounding *r) { return r->position; }
static double velocity_step(const struct rounding *r) { return r->velocity; }

/* clang-format off */
const struct snapshot_field snapshot_fields[] = {
  {"Coordinates", FIELD_DOUBLE, 3, false, convert_positions, 1, -1, 1, 0, 0, exact, NULL},
  {"Coordinates", FIELD_FLOAT, 3, false, convert_rounded_positions, 1, -1, 1, 0, 0, lean_and_narrow, position_step},
  {"Coordinates", FIELD_DOUBLE, 3, false, convert_wide_positions, 1, -1, 1, 0, 0, lean_and_wide, position_step},
  {"Velocities", FIELD_FLOAT, 3, false, convert_velocities, 0.5, 0, 0, 0, 1, exact, NULL},
  {"Velocities", FIELD_FLOAT, 3, false, convert_rounded_velocities, 0.5, 0, 0, 0, 1, lean, velocity_step},
  {"ParticleIDs", FIELD_ID, 1, false, convert_ids, 0, 0, 0, 0, 0, NULL, NULL},
  {"Masses", FIELD_FLOAT, 1, true, convert_masses, 0, -1, 0, 1, 0, NULL, NULL},
  {"Acceleration", FIELD_FLOAT, 3, false, convert_accelerations, -2, 1, -1, 0, 2, with_accelerations, NULL},
  {"Potential", FIELD_FLOAT, 1, false, convert_potentials, 0, 0, 0, 0, 2, with_potential, NULL},
};
/* clang-format on */
const size_t snapshot_field_count = sizeof snapshot_fields / sizeof *snapshot_fields;

bool snapshot_field_wanted(const struct snapshot_field *f, const struct parameters *p,
                           const struct rounding *r) {
  return !f->wanted || f->wanted(p, r);
}

size_t snapshot_field_size(const struct snapshot_field *f) {
  const size_t sizes[] = {
      [FIELD_DOUBLE] = sizeof(double), [FIELD_FLOAT] = sizeof(float), [FIELD_ID] = sizeof(uint64_t)};
  return sizes[f->number];
}

hid_t snapshot_field_type(const struct snapshot_field *f) {
  const hid_t types[] = {[FIELD_DOUBLE] = H5T_NATIVE_DOUBLE,
                         [FIELD_FLOAT] = H5T_NATIVE_FLOAT,
                         [FIELD_ID] = H5T_NATIVE_UINT64};
  return types[f->number];
}
