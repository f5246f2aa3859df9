/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gas on an adaptive mesh, with particles or without, in a box at rest or one that expands. */
#include <math.h>

#include "parameter_check.h"

/** Where gas is flagged: a number for each level that may be refined, or one for all of them. */
static void check_flags(const struct parameters *p, struct parameter_problems *problems) {
  const struct {
    const char *key;
    size_t count;
  } lists[] = {{"flag_density", p->gas.flag_density_count},
               {"flag_particles", p->gas.flag_particles_count},
               {"flag_gradient_density", p->gas.flag_gradient_density_count},
               {"flag_gradient_pressure", p->gas.flag_gradient_pressure_count},
               {"flag_loehner", p->gas.flag_loehner_count}};
  size_t given = 0;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const struct parameter *row = row_of("gas", lists[i].key);
    given += lists[i].count;
    if (lists[i].count > 1 && lists[i].count != (size_t)p->gas.levels && sound(problems, row))
      problem_with(problems, row, p, NULL,
                   "%zu numbers; allowed: one, or one for each of gas.levels = %lld",
                   lists[i].count, (long long)p->gas.levels);
  }
  if (given == 0 && p->gas.levels > 0 && sound(problems, row_of("gas", "levels")))
    problem_with(
        problems, row_of("gas", "levels"), p, NULL,
        "nothing would be refined: give gas.flag_density, flag_particles, flag_gradient_density, "
        "flag_gradient_pressure or flag_loehner");
}

/** The root level and the boundaries of its box. */
static void check_root(const struct parameters *p, struct parameter_problems *problems) {
  static const char *const low[] = {"x_low", "y_low", "z_low"};
  const double most = 1 << 25; /* cells along an axis: places of groups have 21 bits in keys */
  const struct parameter *root = row_of("gas", "root"), *levels = row_of("gas", "levels");
  check_needed(p, problems, "gas", "root", p->gas.root_count > 0, "run.system = gas");
  if (p->gas.root_count > 0 && p->gas.root_count != 3 && sound(problems, root))
    problem_with(problems, root, p, NULL, "%zu numbers; allowed: three, for x, y and z",
                 p->gas.root_count);
  for (size_t c = 0; c < p->gas.root_count && sound(problems, root); c++)
    if (fmod(p->gas.root[c], 16.0) != 0.0)
      problem_with(problems, root, p, NULL, "%g is not a multiple of 16", p->gas.root[c]);
  for (size_t c = 0; c < p->gas.root_count && sound(problems, levels); c++)
    if (ldexp(p->gas.root[c], (int)p->gas.levels) > most)
      problem_with(problems, levels, p, NULL,
                   "%g cells of the root level would be %g of the finest; allowed: %g",
                   p->gas.root[c], ldexp(p->gas.root[c], (int)p->gas.levels), most);
  for (int c = 0; c < 3; c++)
    if ((p->gas.boundary[c][0] == GAS_PERIODIC) != (p->gas.boundary[c][1] == GAS_PERIODIC) &&
        sound(problems, row_of("gas", low[c])))
      problem_with(problems, row_of("gas", low[c]), p, NULL,
                   "periodic at one end alone; allowed: at both ends or at none");
}

/** Uniform gravity is of gas alone. */
static void check_acceleration(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("gas", "acceleration");
  if (p->gas.acceleration_count == 0 || !sound(problems, row)) return;
  if (p->gas.acceleration_count != 3)
    problem_with(problems, row, p, NULL, "%zu numbers; allowed: three, for x, y and z",
                 p->gas.acceleration_count);
  else if (p->gas.solver == GAS_NONE)
    problem_with(problems, row, p, NULL, "gas.solver = none has no gas that could fall");
  else if (*p->ic.particles)
    problem_with(problems, row, p, NULL,
                 "particles would not fall with the gas: not with ic.particles");
}

/** Self-gravity is periodic or isolated along all axes. */
static void check_self_gravity(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("gas", "gravity");
  const enum gas_boundary first = p->gas.boundary[0][0];
  bool same = first != GAS_REFLECTING;
  for (int i = 0; i < 6; i++) same = same && p->gas.boundary[i / 2][i % 2] == first;
  if (p->gas.gravity == GAS_GRAVITY_SELF && !same && sound(problems, row))
    problem_with(problems, row, p, NULL, "needs boundaries that are all periodic, or all outflow");
}

/** Particles on the adaptive mesh. */
static void check_gas_particles(const struct parameters *p, struct parameter_problems *problems) {
  const bool alone = p->ic.source == IC_POINT_MASSES || p->ic.source == IC_PARTICLES;
  const bool either = p->gas.comoving && !alone; /* the source gives gas, particles or both */
  const struct parameter *solver = row_of("gas", "solver"), *file = row_of("ic", "particles"),
                         *gravity = row_of("gas", "gravity");
  if (!either && alone != (p->gas.solver == GAS_NONE) && sound(problems, solver))
    problem_with(problems, solver, p, NULL,
                 alone ? "this ic.source has no gas; allowed: none"
                       : "this ic.source has gas; none needs ic.source = point_masses | particles");
  if (p->gas.solver == GAS_NONE && p->gas.scalars > 0 && sound(problems, row_of("gas", "scalars")))
    problem_with(problems, row_of("gas", "scalars"), p, NULL,
                 "gas.solver = none has no gas to carry them");
  if (either && p->gas.solver == GAS_NONE)
    check_needed(p, problems, "box", "npart_side", p->box.npart_side > 0, "gas.solver = none");
  if (p->ic.source == IC_PARTICLES)
    check_needed(p, problems, "ic", "particles", *p->ic.particles, "ic.source = particles");
  if (p->ic.source == IC_POINT_MASSES && *p->ic.particles && sound(problems, file))
    problem_with(problems, file, p, NULL, "not with ic.source = point_masses");
  if (*p->ic.particles && sound(problems, file)) check_readable(p, problems, file, p->ic.particles);
  const bool many = p->box.npart_side > 0;
  if (many && *p->ic.particles && sound(problems, file))
    problem_with(problems, file, p, NULL, "not with box.npart_side, which makes the particles");
  if (p->gas.flag_particles_count > 0 && !(alone || many || *p->ic.particles) &&
      sound(problems, row_of("gas", "flag_particles")))
    problem_with(problems, row_of("gas", "flag_particles"), p, NULL, "there are no particles");
  if ((alone || many || *p->ic.particles) && p->gas.gravity == GAS_GRAVITY_NONE &&
      sound(problems, gravity))
    problem_with(problems, gravity, p, NULL, "particles need gas.gravity = self");
}

/** Particles in a box that expands. */
static void check_dark_matter(const struct parameters *p, struct parameter_problems *problems) {
  const bool both = p->gas.solver != GAS_NONE && (p->box.npart_side > 0 || *p->ic.particles);
  const double part = p->cosmology.omega_b / p->cosmology.omega_m;
  const struct parameter *side = row_of("box", "npart_side"),
                         *baryons = row_of("cosmology", "Omega_b");
  if (both && !(part > 0.0 && part < 1.0) && sound(problems, baryons))
    problem_with(problems, baryons, p, NULL,
                 "gas and particles need more than 0 and less than Omega_m = %g",
                 p->cosmology.omega_m);
  const struct parameter *transfer = row_of("ic", "transfer_file");
  if (*p->ic.transfer_file && !(p->gas.solver != GAS_NONE && p->box.npart_side > 0))
    problem_with(problems, transfer, p, NULL,
                 "needs gas and particles: box.npart_side, and another gas.solver than none");
  else if (*p->ic.transfer_file)
    check_readable(p, problems, transfer, p->ic.transfer_file);
  for (size_t c = 1; c < p->gas.root_count && p->box.npart_side > 0 && sound(problems, side); c++)
    if (fmod((double)p->box.npart_side * p->gas.root[c], p->gas.root[0]) != 0.0)
      problem_with(problems, side, p, NULL,
                   "particles as far apart along %c as along x do not fit into the box of gas.root",
                   "xyz"[c]);
}

/** What gas in a box that expands needs. */
static void check_comoving(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("gas", "comoving"), *gamma = row_of("gas", "gamma");
  bool periodic = true;
  for (int i = 0; i < 6; i++) periodic = periodic && p->gas.boundary[i / 2][i % 2] == GAS_PERIODIC;
  if (!periodic && sound(problems, row))
    problem_with(problems, row, p, NULL, "needs boundaries that are all periodic");
  const double *root = p->gas.root;
  if (p->ic.source == IC_GENERATE) check_power_spectrum(p, problems);
  if (p->ic.source == IC_GENERATE && (root[0] != root[1] || root[0] != root[2]) &&
      sound(problems, row_of("gas", "root")))
    problem_with(problems, row_of("gas", "root"), p, NULL,
                 "needs to be a cube with ic.source = generate");
  if (p->ic.source != IC_GENERATE && p->ic.source != IC_PANCAKE && p->ic.source != IC_PARTICLES &&
      sound(problems, row_of("ic", "source")))
    problem_with(
        problems, row_of("ic", "source"), p, NULL,
        "is of a box at rest; allowed with gas.comoving = yes: generate | pancake | particles");
  check_dark_matter(p, problems);
  if (fabs(p->gas.gamma - 5.0 / 3.0) > 1e-4 && sound(problems, gamma))
    problem_with(problems, gamma, p, NULL, "not 5/3, which gas.comoving = yes needs");
  check_needed(p, problems, "box", "size", p->box.size > 0, "gas.comoving = yes");
  if (p->ic.source == IC_PANCAKE && p->ic.z_caustic >= p->ic.z_init &&
      sound(problems, row_of("ic", "z_caustic")))
    problem_with(problems, row_of("ic", "z_caustic"), p, NULL, "not after ic.z_init = %g",
                 p->ic.z_init);
  check_begins_before_end(p, problems);
  check_cosmology(p, problems);
  check_redshifts(p, problems);
}

/** What gas in a box at rest needs. */
static void check_static(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *source = row_of("ic", "source");
  if (p->ic.source == IC_PANCAKE && sound(problems, source))
    problem_with(problems, source, p, NULL, "needs gas.comoving = yes");
  check_needed(p, problems, "time", "end", p->time.end > 0.0, "run.system = gas");
  if (sound(problems, row_of("output", "times")) && p->output.time_count > 0 &&
      p->output.times[p->output.time_count - 1] > p->time.end)
    problem_with(problems, row_of("output", "times"), p, NULL, "after time.end = %g", p->time.end);
}

void check_gas_runs(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *source = row_of("ic", "source");
  const bool generated = p->gas.comoving && p->ic.source == IC_GENERATE;
  if (p->ic.source < IC_SOD && !generated && sound(problems, source))
    problem_with(
        problems, source, p, NULL,
        "is of particles; allowed with run.system = gas: sod | sedov | acoustic | "
        "kelvin_helmholtz | blast | array | jeans | collapse | point_masses | particles, and "
        "with gas.comoving = yes: generate | pancake");
  if (p->ic.source == IC_ARRAY) {
    const struct parameter *file = row_of("ic", "file");
    check_needed(p, problems, "ic", "file", *p->ic.file, "ic.source = array");
    if (sound(problems, file)) check_readable(p, problems, file, p->ic.file);
  }
  check_root(p, problems);
  check_flags(p, problems);
  check_acceleration(p, problems);
  check_self_gravity(p, problems);
  check_gas_particles(p, problems);
  (p->gas.comoving ? check_comoving : check_static)(p, problems);
}
