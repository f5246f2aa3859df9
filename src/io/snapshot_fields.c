/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "snapshot_fields.h"

#include <string.h>

#include "photons/domain/geometry.h"

static void convert_positions(const struct file_units *units, const struct particle_block *b,
                              size_t i, size_t count, void *rows) {
  double *out = rows;
  for (size_t n = 0; n < count; n++)
    for (size_t c = 0; c < 3; c++)
      out[3 * n + c] = b->x[c][i + n] * units->position + units->corner;
}

/** Positions that are rounded up to the end of the box are at its begin. */
static double rounded_position(const struct file_units *units, uint32_t x) {
  const double place = rounded((double)x * units->position + units->corner,
                               units->rounding.position);
  return place < units->side ? place : 0.0;
}

static void convert_rounded_positions(const struct file_units *units,
                                      const struct particle_block *b, size_t i, size_t count,
                                      void *rows) {
  float *out = rows;
  for (size_t n = 0; n < count; n++)
    for (size_t c = 0; c < 3; c++) out[3 * n + c] = (float)rounded_position(units, b->x[c][i + n]);
}

static void convert_wide_positions(const struct file_units *units, const struct particle_block *b,
                                   size_t i, size_t count, void *rows) {
  double *out = rows;
  for (size_t n = 0; n < count; n++)
    for (size_t c = 0; c < 3; c++) out[3 * n + c] = rounded_position(units, b->x[c][i + n]);
}

static void convert_vectors(float *const component[3], double factor, size_t i, size_t count,
                            float *out) {
  for (size_t n = 0; n < count; n++)
    for (size_t c = 0; c < 3; c++) out[3 * n + c] = (float)((double)component[c][i + n] * factor);
}

static void convert_velocities(const struct file_units *units, const struct particle_block *b,
                               size_t i, size_t count, void *rows) {
  convert_vectors(b->p, units->momentum, i, count, rows);
}

static void convert_rounded_velocities(const struct file_units *units,
                                       const struct particle_block *b, size_t i, size_t count,
                                       void *rows) {
  float *out = rows;
  for (size_t n = 0; n < count; n++)
    for (size_t c = 0; c < 3; c++)
      out[3 * n + c] = (float)rounded((double)b->p[c][i + n] * units->momentum,
                                      units->rounding.velocity);
}

static void convert_accelerations(const struct file_units *units, const struct particle_block *b,
                                  size_t i, size_t count, void *rows) {
  convert_vectors(b->acc, units->acceleration, i, count, rows);
}

static void convert_potentials(const struct file_units *units, const struct particle_block *b,
                               size_t i, size_t count, void *rows) {
  (void)units;
  memcpy(rows, b->potential + i, count * sizeof(float));
}

static void convert_ids(const struct file_units *units, const struct particle_block *b, size_t i,
                        size_t count, void *rows) {
  (void)units;
  uint64_t *out = rows;
  for (size_t n = 0; n < count; n++) out[n] = b->id[i + n];
}

static void convert_masses(const struct file_units *units, const struct particle_block *b, size_t i,
                           size_t count, void *rows) {
  float *out = rows;
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

hid_t snapshot_field_type(const struct snapshot_field *f) {
  const hid_t types[] = {[FIELD_DOUBLE] = H5T_NATIVE_DOUBLE,
                         [FIELD_FLOAT] = H5T_NATIVE_FLOAT,
                         [FIELD_ID] = H5T_NATIVE_UINT64};
  return types[f->number];
}
