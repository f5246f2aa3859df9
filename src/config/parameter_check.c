/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of config.ini that need several values, or the files and hardware of the host. They end
 * the program before a run begins. */
#include <assert.h>
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/config/parameter_table.h"
#include "photons/config/scheduler_names.h"

static const struct parameter *row_of(const char *section, const char *key) {
  const struct parameter *row = parameter_find(section, key);
  assert(row);
  return row;
}

/* No problem was reported with this value, so that it may be compared with others. */
static bool sound(const struct parameter_problems *problems, const struct parameter *row) {
  return !problems->origin[row - parameter_table].bad;
}

static double omega_curvature(const struct parameters *p) {
  return 1 - p->cosmology.omega_m - p->cosmology.omega_lambda - p->cosmology.omega_r;
}

/** The lowest redshift up to z_init at which the universe does not expand. NAN: it always
 * expands. */
static double expansion_ends(const struct parameters *p) {
  const double w0 = p->cosmology.w0, wa = p->cosmology.wa, omega_k = omega_curvature(p);
  enum { SAMPLES = 256 };
  for (int i = 0; i <= SAMPLES; i++) {
    const double x = pow(1 + p->ic.z_init, i / (double)SAMPLES); /* 1/a */
    const double dark_energy = pow(x, 3 * (1 + w0 + wa)) * exp(-3 * wa * (1 - 1 / x));
    const double others = ((p->cosmology.omega_r * x + p->cosmology.omega_m) * x + omega_k) * x * x;
    if (!(others + p->cosmology.omega_lambda * dark_energy > 0)) return x - 1;
  }
  return NAN;
}

bool cosmology_possible(const struct parameters *p, char *reason, size_t size) {
  const double z = expansion_ends(p);
  if (p->cosmology.omega_b > p->cosmology.omega_m)
    snprintf(reason, size, "Omega_b = %g is more than all matter, Omega_m = %g",
             p->cosmology.omega_b, p->cosmology.omega_m);
  else if (!isnan(z))
    snprintf(reason, size, "no expanding universe: H^2 <= 0 at z = %.3g (Omega_k = %.6g)", z,
             omega_curvature(p));
  else
    return true;
  return false;
}

static void check_readable(const struct parameters *p, struct parameter_problems *problems,
                           const struct parameter *row, const char *path) {
  const char *reason = input_refusal(path);
  if (reason)
    problem_with(problems, row, p, NULL, "cannot read it: %s%s", reason,
                 *path == '/' ? ""
                              : " (neither in the current directory nor beside the configuration)");
}

/** Omega h^2 of neutrinos with masses in eV is their sum over this. */
#define NEUTRINO_EV 93.14

/** Neutrinos, and what they cannot do without. */
static void check_neutrinos(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("cosmology", "m_nu");
  double sum = 0.0;
  for (size_t i = 0; i < p->cosmology.m_nu_count; i++) sum += p->cosmology.m_nu[i];
  const double omega = sum / (NEUTRINO_EV * p->cosmology.h * p->cosmology.h);
  if (p->cosmology.m_nu_count == 0 || !sound(problems, row)) return;
  if (p->cosmology.m_nu_count > 3)
    problem_with(problems, row, p, NULL, "at most 3 neutrinos have masses");
  else if (omega + p->cosmology.omega_b > p->cosmology.omega_m)
    problem_with(problems, row, p, NULL,
                 "neutrinos of Omega = %.4g and baryons are more than all matter, Omega_m = %g",
                 omega, p->cosmology.omega_m);
  else if (!p->cosmology.species_file[0])
    problem_with(problems, row, p, NULL,
                 "needs cosmology.species_file, which says how neutrinos cluster");
  else if (p->ic.source == IC_GENERATE && p->ic.power_spectrum != POWER_FILE)
    problem_with(problems, row, p, NULL,
                 "needs ic.power_spectrum = file: the fit of Eisenstein & Hu has no neutrinos");
}

static void check_cosmology(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *omega_m = row_of("cosmology", "Omega_m"),
                         *omega_b = row_of("cosmology", "Omega_b");
  const struct parameter *wa = row_of("cosmology", "wa"),
                         *omega_lambda = row_of("cosmology", "Omega_lambda");
  if (sound(problems, omega_m) && sound(problems, omega_b) &&
      p->cosmology.omega_b > p->cosmology.omega_m)
    problem_with(problems, omega_b, p, NULL, "more than all matter, Omega_m = %g",
                 p->cosmology.omega_m);
  if (sound(problems, wa) && sound(problems, row_of("cosmology", "w0")) &&
      p->cosmology.w0 + p->cosmology.wa > 0)
    problem_with(problems, wa, p, NULL,
                 "w0 + wa = %g; allowed: at most 0, or dark energy would rule the early universe",
                 p->cosmology.w0 + p->cosmology.wa);

  bool all_sound = sound(problems, row_of("ic", "z_init"));
  for (size_t i = 0; i < parameter_count; i++)
    if (strcmp(parameter_table[i].section, "cosmology") == 0)
      all_sound = all_sound && sound(problems, &parameter_table[i]);
  if (!all_sound) return;
  char reason[160];
  if (!cosmology_possible(p, reason, sizeof reason))
    problem_with(problems, omega_lambda, p, NULL, "%s", reason);
  check_neutrinos(p, problems);
  const struct parameter *species = row_of("cosmology", "species_file");
  if (p->cosmology.species_file[0]) check_readable(p, problems, species, p->cosmology.species_file);
}

/* Check the file itself, or the first file of a set with this stem. */
static void check_gadget_file(const struct parameters *p, struct parameter_problems *problems,
                              const struct parameter *row, const char *path) {
  static const char *const suffixes[] = {".0", ".0.hdf5", ".hdf5"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char name[PARAMETER_PATH_MAX + 8];
    snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
    if (access(name, R_OK) == 0) return;
  }
  check_readable(p, problems, row, path);
}

static void check_needed(const struct parameters *p, struct parameter_problems *problems,
                         const char *section, const char *key, bool there, const char *why) {
  const struct parameter *row = row_of(section, key);
  if (!there && sound(problems, row))
    problem_with(problems, row, p, "", "not given, but needed with %s", why);
}

static void check_begins_before_end(const struct parameters *p,
                                    struct parameter_problems *problems) {
  const struct parameter *z_init = row_of("ic", "z_init");
  if (sound(problems, z_init) && sound(problems, row_of("time", "z_end")) &&
      p->ic.z_init <= p->time.z_end)
    problem_with(problems, z_init, p, NULL,
                 "not above the redshift where the run ends, time.z_end = %g: it would have no "
                 "step; for the "
                 "initial conditions alone give output.redshifts = %g, a lower time.z_end or none, "
                 "and --steps 0",
                 p->time.z_end, p->ic.z_init);
}

static void check_generated(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *side = row_of("box", "npart_side"), *mesh = row_of("ic", "mesh"),
                         *glass = row_of("ic", "glass");
  check_needed(p, problems, "box", "size", p->box.size > 0, "ic.source = generate");
  check_needed(p, problems, "box", "npart_side", p->box.npart_side > 0, "ic.source = generate");
  if (sound(problems, side) && sound(problems, mesh)) {
    if (p->ic.mesh % 2)
      problem_with(problems, mesh, p, NULL, "odd; allowed: even numbers");
    else if (p->ic.mesh && p->ic.mesh < p->box.npart_side)
      problem_with(problems, mesh, p, NULL, "coarser than the particles, box.npart_side = %lld",
                   (long long)p->box.npart_side);
  }
  check_begins_before_end(p, problems);
  if (sound(problems, glass) && *p->ic.glass) check_gadget_file(p, problems, glass, p->ic.glass);
}

/* The linear spectrum is also needed with initial conditions from a file: measured spectra are
 * compared with it. */
static void check_power_spectrum(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *table = row_of("ic", "power_spectrum_file");
  const bool from_file = p->ic.power_spectrum == POWER_FILE;
  if (from_file)
    check_needed(p, problems, "ic", "power_spectrum_file", *p->ic.power_spectrum_file,
                 "ic.power_spectrum = file");
  if (from_file && sound(problems, table))
    check_readable(p, problems, table, p->ic.power_spectrum_file);
  if (!sound(problems, row_of("ic", "power_spectrum"))) return;
  if (!from_file && *p->ic.power_spectrum_file)
    problem_with(problems, table, p, NULL,
                 "not used with ic.power_spectrum = eh98; set ic.power_spectrum = file, or leave "
                 "this empty");
  if (!from_file && !p->ic.normalise)
    problem_with(problems, row_of("ic", "normalise"), p, NULL,
                 "ic.power_spectrum = eh98 has no amplitude of its own; allowed: yes");
}

static void check_gravity(const struct parameters *p, struct parameter_problems *problems) {
  /* Up to the largest ratio the power series of the split has enough terms. Below the least ratio
   * the force jumps noticeably at the cutoff. */
  static const double least_ratio = 2, largest_ratio = 8;
  const struct parameter *r_cut = row_of("gravity", "r_cut"), *grid = row_of("gravity", "pm_grid");
  const struct parameter *most = row_of("gravity", "pm_grid_most");
  const struct parameter *theta = row_of("gravity", "theta");
  const double ratio = p->gravity.r_cut / p->gravity.r_split;
  if (sound(problems, r_cut) && sound(problems, row_of("gravity", "r_split")) &&
      (ratio < least_ratio || ratio > largest_ratio))
    problem_with(problems, r_cut, p, NULL, "%g times r_split = %g; allowed: %g .. %g times", ratio,
                 p->gravity.r_split, least_ratio, largest_ratio);
  if (sound(problems, grid) && p->gravity.pm_grid % 2)
    problem_with(problems, grid, p, NULL, "odd; allowed: even numbers");
  if (sound(problems, most) && p->gravity.pm_grid_most % 2)
    problem_with(problems, most, p, NULL, "odd; allowed: even numbers");
  if (sound(problems, grid) && sound(problems, r_cut) && p->gravity.pm_grid &&
      2 * p->gravity.r_cut > (double)p->gravity.pm_grid)
    problem_with(problems, r_cut, p, NULL, "more than half the mesh, pm_grid = %lld",
                 (long long)p->gravity.pm_grid);
  if (sound(problems, theta) && sound(problems, row_of("gravity", "mac")) &&
      p->gravity.mac == MAC_GEOMETRIC && p->gravity.theta >= 1)
    problem_with(problems, theta, p, NULL,
                 "not below 1, as mac = geometric needs it: expansions would not converge");
}

/* The criteria of GOTHIC are of isolated systems. */
static void check_gothic(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *mac = row_of("gravity", "mac"), *criterion = row_of("time", "criterion");
  if (sound(problems, mac) && p->gravity.mac == MAC_GOTHIC && p->box.boundary != BOUNDARY_ISOLATED)
    problem_with(problems, mac, p, NULL, "needs box.boundary = isolated");
  if (sound(problems, criterion) && p->time.criterion == CRITERION_GOTHIC &&
      p->time.step != STEP_BLOCK)
    problem_with(problems, criterion, p, NULL, "needs time.step = block");
}

static void check_groups(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *group = row_of("runtime", "group_size");
  if (p->runtime.group_size > 0 && p->runtime.group_size < p->runtime.leaf_size &&
      sound(problems, group) && sound(problems, row_of("runtime", "leaf_size")))
    problem_with(problems, group, p, NULL, "less than a leaf, leaf_size = %lld",
                 (long long)p->runtime.leaf_size);
}

/* Adaptive and block steps are proportional to the root of the softening length: without softening
 * they would be zero. */
static void check_steps(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *softening = row_of("gravity", "softening"),
                         *step = row_of("time", "step");
  if (!sound(problems, step)) return;
  const bool counted = p->time.step == STEP_FIXED || p->time.step == STEP_PM;
  if (p->time.step == STEP_PM && p->box.boundary == BOUNDARY_ISOLATED)
    problem_with(problems, step, p, NULL, "not with box.boundary = isolated, which has no mesh");
  if (counted)
    check_needed(p, problems, "time", "steps", p->time.steps > 0,
                 p->time.step == STEP_PM ? "time.step = pm" : "time.step = fixed");
  else if (sound(problems, softening) && p->gravity.softening == 0)
    problem_with(
        problems, softening, p, NULL,
        "no length for time.step = adaptive or block; allowed: more than 0, or time.step = fixed");
  const struct parameter *least = row_of("time", "min_dlna");
  if (!counted && p->box.boundary == BOUNDARY_PERIODIC && sound(problems, least) &&
      sound(problems, row_of("time", "max_dlna")) && p->time.min_dlna > p->time.max_dlna)
    problem_with(problems, least, p, NULL, "more than the longest step, max_dlna = %g",
                 p->time.max_dlna);
}

static void check_redshifts(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("output", "redshifts");
  const bool start_known = p->ic.source == IC_GENERATE || p->run.system == SYSTEM_GAS ||
                           parameter_given(p, "ic", "z_init");
  if (!sound(problems, row) || !sound(problems, row_of("ic", "z_init")) ||
      !sound(problems, row_of("time", "z_end")))
    return;
  for (size_t i = 0; i < p->output.redshift_count; i++) {
    const double z = p->output.redshifts[i];
    if (z < p->time.z_end || (start_known && z > p->ic.z_init)) {
      problem_with(problems, row, p, NULL, "%g is not between time.z_end = %g and ic.z_init = %g",
                   z, p->time.z_end, p->ic.z_init);
      return;
    }
  }
}

/* The folder may be created later, inside the nearest folder above it that exists. */
static void check_folder(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("output", "dir");
  char buffer[PARAMETER_PATH_MAX], *path = buffer;
  struct stat status;
  if (!sound(problems, row)) return;
  memcpy(buffer, p->output.dir, sizeof buffer);
  while (stat(path, &status) != 0) {
    if (errno != ENOENT) {
      problem_with(problems, row, p, NULL, "%s: %s", path, strerror(errno));
      return;
    }
    path = dirname(path);
  }
  if (!S_ISDIR(status.st_mode))
    problem_with(problems, row, p, NULL, "%s is not a folder", path);
  else if (access(path, W_OK | X_OK) != 0)
    problem_with(problems, row, p, NULL, "cannot write into the folder %s: %s", path,
                 strerror(errno));
}

static void check_scheduler(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("runtime", "scheduler");
  if (!sound(problems, row) || !*p->runtime.scheduler) return;
  char names[1024] = "";
  if (scheduler_allowed(p->runtime.scheduler, names, sizeof names)) return;
  problem_with(problems, row, p, NULL, "not a scheduler of this StarPU; allowed:%s", names);
}

static void check_trace_steps(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("runtime", "trace_steps");
  int64_t first, last;
  if (!sound(problems, row) || !*p->runtime.trace_steps) return;
  if (!parameter_step_range(p->runtime.trace_steps, &first, &last))
    problem_with(problems, row, p, NULL,
                 "not a range of steps; allowed: A:B with 0 <= A <= B, e.g. 3:4");
}

/** The choice with which a key has no meaning. */
static const char *obstacle(const struct parameter *row, const struct parameters *p) {
  const unsigned gas = KIND_GAS_AT_REST | KIND_COMOVING_GAS,
                 other = parameter_systems(row) & (run_of_gas(p) ? gas : KINDS_ALL & ~gas);
  if (!other) return run_of_gas(p) ? "run.system = gas" : "run.system = particles";
  if (run_of_gas(p)) return p->gas.comoving ? "gas.comoving = yes" : "gas.comoving = no";
  return p->box.boundary == BOUNDARY_ISOLATED ? "box.boundary = isolated"
                                              : "box.boundary = periodic";
}

/** Whether a row is a switch that is off: nothing is asked for. */
static bool is_off(const struct parameters *p, const struct parameter *row) {
  return row->type == PARAMETER_SWITCH && !*(const bool *)((const char *)p + row->offset);
}

/** Whether a row asks for files or their contents. */
static bool asks_for_output(const struct parameters *p, const struct parameter *row) {
  return row->type == PARAMETER_SWITCH && !is_off(p, row) &&
         (strcmp(row->section, "output") == 0 || strcmp(row->section, "analysis") == 0);
}

static void problem_no_meaning(struct parameter_problems *problems, const struct parameter *row,
                               const struct parameters *p, const char *with) {
  char *systems;
  size_t size;
  FILE *text = open_memstream(&systems, &size);
  if (!text) fail(EXIT_RUN_FAILED, "not enough memory for a message");
  parameter_print_systems(row, text);
  if (fclose(text) != 0) fail(EXIT_RUN_FAILED, "not enough memory for a message");
  problem_with(problems, row, p, NULL, "has no meaning with %s: it is of %s", with, systems);
  free(systems);
}

/** Keys that are given, but belong to the other system or boundary: errors. Defaults that are given are
 * left alone, as --defaults prints them, but for outputs that there will not be: a warning. */
static void check_applies(const struct parameters *p, struct parameter_problems *problems) {
  char asked[256] = "";
  const char *with = "";
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (!p->given[row - parameter_table] || parameter_is_of_system(row, p) ||
        !sound(problems, row) || is_off(p, row))
      continue;
    with = obstacle(row, p);
    if (!parameter_is_default(p, row))
      problem_no_meaning(problems, row, p, with);
    else if (asks_for_output(p, row))
      snprintf(asked + strlen(asked), sizeof asked - strlen(asked), "%s%s.%s", *asked ? ", " : "",
               row->section, row->key);
  }
  if (*asked && comm_rank() == 0) warn("%s = yes: there are no such outputs with %s", asked, with);
}

static void check_ic_file(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *file = row_of("ic", "file");
  check_needed(p, problems, "ic", "file", *p->ic.file, "ic.source = gadget");
  if (sound(problems, file)) check_gadget_file(p, problems, file, p->ic.file);
}

/** Myr: several times the age of the universe. */
#define ISOLATED_END_MOST 1e5

/** What isolated systems need. */
static void check_isolated(const struct parameters *p, struct parameter_problems *problems) {
  if (p->ic.source == IC_GENERATE && sound(problems, row_of("ic", "source")))
    problem_with(problems, row_of("ic", "source"), p, NULL,
                 "is of periodic boxes; allowed with box.boundary = isolated: galaxy | gadget");
  if (p->ic.source == IC_GADGET) check_ic_file(p, problems);
  const struct parameter *second = row_of("second", "file");
  if (sound(problems, second) && *p->second.file)
    check_gadget_file(p, problems, second, p->second.file);
  check_needed(p, problems, "time", "end", p->time.end > 0.0, "box.boundary = isolated");
  if (sound(problems, row_of("time", "end")) && p->time.end > ISOLATED_END_MOST)
    problem_with(problems, row_of("time", "end"), p, NULL,
                 "too long; allowed with box.boundary = isolated: 0 .. %g Myr", ISOLATED_END_MOST);
  check_needed(p, problems, "gravity", "softening", softening_shortest(p) >= 0.0,
               "box.boundary = isolated");
  if (sound(problems, row_of("output", "times")) && p->output.time_count > 0 &&
      p->output.times[p->output.time_count - 1] > p->time.end)
    problem_with(problems, row_of("output", "times"), p, NULL, "after time.end = %g", p->time.end);
}

static void check_box(const struct parameters *p, struct parameter_problems *problems) {
  check_cosmology(p, problems);
  if (sound(problems, row_of("ic", "source"))) {
    if (p->ic.source == IC_GENERATE)
      check_generated(p, problems);
    else if (p->ic.source == IC_GALAXY)
      problem_with(problems, row_of("ic", "source"), p, NULL, "needs box.boundary = isolated");
    else
      check_ic_file(p, problems);
  }
  check_power_spectrum(p, problems);
  check_redshifts(p, problems);
}

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

/** What gas on an adaptive mesh needs. */
static void check_gas(const struct parameters *p, struct parameter_problems *problems) {
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
  check_self_gravity(p, problems);
  check_gas_particles(p, problems);
  (p->gas.comoving ? check_comoving : check_static)(p, problems);
}

/** What particles need. */
static void check_particles(const struct parameters *p, struct parameter_problems *problems) {
  if (p->ic.source >= IC_SOD && sound(problems, row_of("ic", "source"))) {
    problem_with(problems, row_of("ic", "source"), p, NULL, "is of gas; needs run.system = gas");
    return;
  }
  if (p->box.boundary == BOUNDARY_ISOLATED)
    check_isolated(p, problems);
  else
    check_box(p, problems);
  check_gravity(p, problems);
  check_gothic(p, problems);
  check_groups(p, problems);
  check_steps(p, problems);
}

void parameters_check(const struct parameters *p, struct parameter_problems *problems) {
  check_applies(p, problems);
  if (p->run.system == SYSTEM_GAS)
    check_gas(p, problems);
  else
    check_particles(p, problems);
  check_folder(p, problems);
  check_scheduler(p, problems);
  check_trace_steps(p, problems);
}
