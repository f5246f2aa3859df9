/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Defaults, and what follows from parameters alone. */
#include <assert.h>
#include <string.h>

#include "photons/config/parameter_table.h"
#include "photons/config/parameters.h"

#define CLOUDS_MOST 4.0 /* Mpc/h between particles */

/** The accuracy that chooses a preset. Steps of gas follow its flow: time.accuracy is none of its
 * parameters, and its longest step is that of fast. */
static unsigned accuracy_of(const struct parameters *p, const struct parameter *row) {
  if (strcmp(row->section, "gravity") == 0) return p->gravity.accuracy;
  return p->run.system == SYSTEM_GAS ? STEPS_FAST : p->time.accuracy;
}

static void apply_presets(struct parameters *p) {
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++)
    if (!row->initial && !p->given[row - parameter_table])
      parameter_reset(row, parameter_initial(row, accuracy_of(p, row), p->box.boundary), p);
}

/** Whether the mesh alone may assign particles by triangular clouds: a lattice that is much wider dissolves late or
 * never, and its waves alias to long ones. How wide that of a file is, is not known yet. */
static bool clouds_will_do(const struct parameters *p) {
  return p->ic.source == IC_GENERATE && p->box.size <= CLOUDS_MOST * (double)p->box.npart_side;
}

/** Defaults that follow from other values, but for time.z_end, which follows from the outputs. */
static void apply_computed(struct parameters *p) {
  if (!parameter_given(p, "cosmology", "Omega_lambda"))
    p->cosmology.omega_lambda = 1.0 - p->cosmology.omega_m - p->cosmology.omega_r;
  if (p->time.step == STEP_PM) {
    /* The mesh alone smooths what aliasing would reach, and what differences get wrong. */
    if (!parameter_given(p, "gravity", "interlace")) p->gravity.interlace = false;
    if (!parameter_given(p, "gravity", "gradient")) p->gravity.gradient = GRADIENT_FD4;
    if (clouds_will_do(p) && !parameter_given(p, "gravity", "assignment"))
      p->gravity.assignment = ASSIGN_TSC;
  }
}

void parameters_complete(struct parameters *p) {
  apply_presets(p);
  apply_computed(p);
}

void parameters_default(struct parameters *p) {
  memset(p, 0, sizeof *p);
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++)
    if (row->initial) parameter_reset(row, row->initial, p);
  parameters_complete(p);
}

bool parameter_is_default(const struct parameters *p, const struct parameter *row) {
  struct parameters defaults;
  parameters_default(&defaults);
  return memcmp((const char *)p + row->offset, (const char *)&defaults + row->offset, row->size) ==
         0;
}

bool parameter_given(const struct parameters *p, const char *section, const char *key) {
  const struct parameter *row = parameter_find(section, key);
  assert(row);
  return p->given[row - parameter_table];
}

double softening_of_type(const struct parameters *p, unsigned type) {
  const double own = type == 0 ? 0.0 : p->gravity.softening_type[type]; /* there is no gas */
  return own > 0.0 ? own : p->gravity.softening;
}

double softening_shortest(const struct parameters *p) {
  double shortest = p->gravity.softening;
  for (unsigned type = 1; type < sizeof p->gravity.softening_type / sizeof(double); type++) {
    const double own = p->gravity.softening_type[type];
    if (own > 0.0 && (shortest < 0.0 || own < shortest)) shortest = own;
  }
  return shortest;
}

bool softening_differs(const struct parameters *p) {
  for (unsigned type = 2; type < sizeof p->gravity.softening_type / sizeof(double); type++)
    if (softening_of_type(p, type) != softening_of_type(p, 1)) return true;
  return false;
}
