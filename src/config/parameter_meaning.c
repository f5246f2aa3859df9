/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that have no meaning, or are probably not meant, because others are as they are. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "build_config.h"
#include "photons/base/error.h"
#include "photons/config/parameter_table.h"

struct name {
  const char *section, *key;
};

/** A key that acts only where another one has, or has not, the value that is its default. Who gives the first
 * and not the second has forgotten it. Who gives both knows: values may stand in a file for other runs. */
static const struct dependence {
  struct name key, switched_by;
  const char *needed; /* value of the second, for people */
} dependences[] = {
    {{"galaxy", "model"}, {"ic", "source"}, "galaxy"},
    {{"galaxy", "component_1"}, {"ic", "source"}, "galaxy"},
    {{"gas", "newton_constant"}, {"gas", "gravity"}, "self"},
    {{"gas", "poisson"}, {"gas", "gravity"}, "self"},
    {{"gas", "sor_tolerance"}, {"gas", "poisson"}, "sor"},
    {{"gravity", "delta_acc"}, {"gravity", "mac"}, "gothic"},
    {{"time", "steps"}, {"time", "step"}, "fixed"},
    {{"gravity", "pm_cut"}, {"time", "step"}, "pm"},
    {{"time", "gothic_eta"}, {"time", "criterion"}, "gothic"},
    {{"output", "position_error"}, {"output", "lean"}, "yes"},
    {{"output", "velocity_error"}, {"output", "lean"}, "yes"},
    {{"output", "movie_pixels"}, {"output", "movie"}, "a number of frames"},
    {{"lightcone", "z_max"}, {"lightcone", "geometry"}, "sky, octant or pencil"},
    {{"lightcone", "nside"}, {"lightcone", "geometry"}, "sky, octant or pencil"},
    {{"lightcone", "direction"}, {"lightcone", "geometry"}, "octant or pencil"},
    {{"lightcone", "opening"}, {"lightcone", "geometry"}, "pencil"},
    {{"lightcone", "shell_width"}, {"lightcone", "nside"}, "a power of 2"},
    {{"output", "movie_width"}, {"output", "movie"}, "a number of frames"},
};

static const struct parameter *row_of(struct name name) {
  const struct parameter *row = parameter_find(name.section, name.key);
  assert(row);
  return row;
}

static bool given(const struct parameters *p, const struct parameter *row) {
  return p->given[row - parameter_table];
}

static void check_dependences(const struct parameters *p, struct parameter_problems *problems) {
  for (size_t i = 0; i < sizeof dependences / sizeof *dependences; i++) {
    const struct dependence *d = &dependences[i];
    const struct parameter *row = row_of(d->key), *by = row_of(d->switched_by);
    if (!given(p, row) || given(p, by) || !parameter_is_of_system(row, p) ||
        !parameter_is_of_system(by, p) || problems->origin[row - parameter_table].bad ||
        parameter_is_default(p, row))
      continue;
    problem_with(problems, row, p, NULL, "has no meaning without %s.%s = %s, which is not given",
                 d->switched_by.section, d->switched_by.key, d->needed);
  }
}

/** The factor of steps of pairs, which either of two keys switches on. */
static void check_eta_pair(const struct parameters *p, struct parameter_problems *problems) {
  const struct name name = {"time", "eta_pair"};
  const struct parameter *row = row_of(name);
  if (!given(p, row) || parameter_given(p, "time", "pair_type") ||
      parameter_given(p, "time", "criterion") || !parameter_is_of_system(row, p) ||
      problems->origin[row - parameter_table].bad || parameter_is_default(p, row))
    return;
  problem_with(problems, row, p, NULL,
               "has no meaning without time.pair_type = a type or time.criterion = pairs");
}

/** A key that is given, not as its default, and that the chosen ic.source does not use. */
static bool is_of_other_source(const struct parameters *p, const struct parameter *row) {
  return given(p, row) && parameter_is_of_system(row, p) && !parameter_is_of_source(row, p) &&
         !parameter_is_default(p, row);
}

/** Who gives such a key and no ic.source has forgotten the source. */
static void check_sources(const struct parameters *p, struct parameter_problems *problems) {
  if (parameter_given(p, "ic", "source")) return;
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (!is_of_other_source(p, row) || problems->origin[row - parameter_table].bad) continue;
    char sources[256] = "";
    FILE *text = fmemopen(sources, sizeof sources, "w");
    if (!text) fail(EXIT_RUN_FAILED, "not enough memory for a message");
    parameter_print_sources(row, text);
    fclose(text);
    problem_with(problems, row, p, NULL,
                 "has no meaning without ic.source = %s, which is not given", sources);
  }
}

/** Who gives both may have them in the file for other runs. */
static void warn_of_sources(const struct parameters *p) {
  char names[512] = "";
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++)
    if (is_of_other_source(p, row))
      snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s.%s", *names ? ", " : "",
               row->section, row->key);
  const struct parameter *source = row_of((struct name){"ic", "source"});
  if (*names) warn("%s: no effect with ic.source = %s", names, source->words[p->ic.source]);
}

/** Report a wish that a switch, which is off, makes impossible. */
static void check_switch(const struct parameters *p, struct parameter_problems *problems,
                         bool wanted, struct name wish, bool on, struct name other) {
  const struct parameter *row = row_of(wish);
  if (wanted && !on && parameter_is_of_system(row, p) &&
      !problems->origin[row - parameter_table].bad)
    problem_with(problems, row, p, NULL, "needs %s.%s = yes", other.section, other.key);
}

/** Report the keys of a galaxy's section that are given: galaxy @p missing, which is this one or before it, is not. */
static void refuse_section(const struct parameters *p, struct parameter_problems *problems,
                           const char *section, const char *missing) {
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++)
    if (strcmp(row->section, section) == 0 && given(p, row) && parameter_is_of_system(row, p) &&
        !parameter_is_default(p, row) && !problems->origin[row - parameter_table].bad)
      problem_with(problems, row, p, NULL, "there is no %s galaxy: give %s.model or %s.file",
                   missing, missing, missing);
}

/** What belongs to a galaxy that there is not, and galaxies behind it. */
static void check_companions(const struct parameters *p, struct parameter_problems *problems) {
  const char *missing = NULL;
  for (size_t k = 1; k < GALAXIES_MAX; k++) {
    if (!missing && !companion_exists(&p->companion[k - 1])) missing = galaxy_sections[k];
    if (missing) refuse_section(p, problems, galaxy_sections[k], missing);
  }
}

/** Three numbers, or none. */
static bool is_vector(const double *x, size_t count, bool zero_allowed) {
  return count == 0 || (count == 3 && (zero_allowed || x[0] != 0.0 || x[1] != 0.0 || x[2] != 0.0));
}

#ifdef HAVE_CHEALPIX
#define HEALPIX_KNOWN true
#else
#define HEALPIX_KNOWN false
#endif

/** What a light cone cannot be. */
static void check_lightcone(const struct parameters *p, struct parameter_problems *problems) {
  const enum cone_shape shape = p->lightcone.geometry;
  if (shape == CONE_NONE || system_kind_of(p) != KIND_BOX) return;
  const struct {
    const char *key;
    bool wrong;
    const char *why;
  } rules[] = {
      {"observer", !is_vector(p->lightcone.observer, p->lightcone.observer_count, true),
       "allowed: three numbers, or none"},
      {"direction", !is_vector(p->lightcone.direction, p->lightcone.direction_count, false),
       "allowed: three numbers that are not all 0, or none"},
      {"direction", shape == CONE_SKY && p->lightcone.direction_count > 0,
       "has no meaning with lightcone.geometry = sky: it is of octant and pencil"},
      {"nside", (p->lightcone.nside & (p->lightcone.nside - 1)) != 0, "not a power of 2"},
      {"nside", p->lightcone.nside > 0 && !HEALPIX_KNOWN,
       "this program was built without libchealpix: install Debian's package libchealpix-dev and "
       "configure and make again, or leave out the maps"},
      {"particles", !p->lightcone.particles && p->lightcone.nside == 0,
       "nothing would be written; allowed: yes, or a lightcone.nside above 0"},
      {"z_max",
       (p->ic.source == IC_GENERATE || parameter_given(p, "ic", "z_init")) &&
           !start_is_automatic(p) && !(p->lightcone.z_max <= p->ic.z_init),
       "above ic.z_init, where the run begins"},
      {"z_max", !(p->lightcone.z_max > p->time.z_end), "not above time.z_end, where the run ends"},
  };
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    const struct parameter *row = row_of((struct name){"lightcone", rules[i].key});
    if (rules[i].wrong && !problems->origin[row - parameter_table].bad)
      problem_with(problems, row, p, NULL, "%s", rules[i].why);
  }
}

/** Gadget-2's format has a place for few things. */
static void check_format(const struct parameters *p, struct parameter_problems *problems) {
  static const char *const keys[] = {"lean", "compression", "accelerations", "potential"};
  if (p->output.format != FORMAT_GADGET2) return;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const struct parameter *row = row_of((struct name){"output", keys[i]});
    if (parameter_is_of_system(row, p) && !parameter_is_default(p, row) &&
        !problems->origin[row - parameter_table].bad)
      problem_with(problems, row, p, NULL, "needs output.format = hdf5");
  }
}

/** What belongs to potentials, where there are none. */
static void check_external(const struct parameters *p, struct parameter_problems *problems) {
  static const char *const keys[] = {"table", "table_column", "self_gravity"};
  for (size_t i = 0; i < EXTERNAL_POTENTIALS_MAX; i++)
    if (*p->external.potential[i]) return;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const struct parameter *row = row_of((struct name){"external", keys[i]});
    if (given(p, row) && parameter_is_of_system(row, p) && !parameter_is_default(p, row) &&
        !problems->origin[row - parameter_table].bad)
      problem_with(problems, row, p, NULL, "there is no potential: give external.potential_1");
  }
}

void parameters_check_meaning(const struct parameters *p, struct parameter_problems *problems) {
  const bool snapshots = p->output.snapshots;
  const struct name switch_snapshots = {"output", "snapshots"};
  check_dependences(p, problems);
  check_eta_pair(p, problems);
  check_sources(p, problems);
  check_companions(p, problems);
  check_lightcone(p, problems);
  check_format(p, problems);
  check_external(p, problems);
  check_switch(p, problems, p->output.halo_order, (struct name){"output", "halo_order"},
               p->analysis.fof, (struct name){"analysis", "fof"});
  check_switch(p, problems, p->output.subhalos, (struct name){"output", "subhalos"},
               p->analysis.fof, (struct name){"analysis", "fof"});
  check_switch(p, problems, p->output.halo_power, (struct name){"output", "halo_power"},
               p->analysis.fof, (struct name){"analysis", "fof"});
  check_switch(p, problems, p->output.trees, (struct name){"output", "trees"}, p->analysis.fof,
               (struct name){"analysis", "fof"});
  check_switch(p, problems, p->output.halo_order, (struct name){"output", "halo_order"}, snapshots,
               switch_snapshots);
  check_switch(p, problems, p->output.accelerations, (struct name){"output", "accelerations"},
               snapshots, switch_snapshots);
  check_switch(p, problems, p->output.lean, (struct name){"output", "lean"}, snapshots,
               switch_snapshots);
  check_switch(p, problems, p->output.potential, (struct name){"output", "potential"}, snapshots,
               switch_snapshots);
}

static void warn_of_start(const struct parameters *p) {
  const double least = 5.0;
  if (p->ic.source == IC_GENERATE && run_has_redshifts(p) && !start_is_automatic(p) &&
      p->ic.z_init < least)
    warn("ic.z_init = %g is late: Lagrangian perturbation theory makes the initial conditions, and "
         "does not hold where structures have formed; usual is 20 to 100",
         p->ic.z_init);
}

/** A flat universe of more than the critical density of matter. */
static void warn_of_lambda(const struct parameters *p) {
  if (run_has_redshifts(p) && p->cosmology.omega_lambda < 0.0 &&
      !parameter_given(p, "cosmology", "Omega_lambda"))
    warn("cosmology.Omega_lambda is not given and makes the universe flat: it is 1 - Omega_m - "
         "Omega_r = %g, below 0; "
         "for a closed universe give it",
         p->cosmology.omega_lambda);
}

static void warn_of_flags(const struct parameters *p) {
  const size_t flags = p->gas.flag_density_count + p->gas.flag_particles_count +
                       p->gas.flag_gradient_density_count + p->gas.flag_gradient_pressure_count +
                       p->gas.flag_loehner_count;
  const int line = p->origin.line[row_of((struct name){"gas", "levels"}) - parameter_table];
  if (p->run.system == SYSTEM_GAS && p->gas.levels == 0 && flags > 0 && line >= 0)
    warn("gas.levels = 0: nothing is refined, although thresholds (gas.flag_...) are given");
}

/** A wave must not leave the cells around those that were flagged before the next regridding. Who gives the
 * buffer, too, knows. */
static void warn_of_buffer(const struct parameters *p) {
  const double way = (double)p->gas.regrid * p->gas.cfl;
  if (p->run.system == SYSTEM_GAS && p->gas.levels > 0 && way > (double)p->gas.buffer &&
      !parameter_given(p, "gas", "buffer"))
    warn("gas.regrid = %lld: a wave crosses up to %g cells (times gas.cfl = %g) before the mesh "
         "follows "
         "it, and gas.buffer = %lld",
         (long long)p->gas.regrid, way, p->gas.cfl, (long long)p->gas.buffer);
}

/** Halos of more particles than there are. */
static void warn_of_members(const struct parameters *p) {
  const double all = pow((double)p->box.npart_side, 3.0);
  const struct parameter *fof = row_of((struct name){"analysis", "fof"});
  if (p->analysis.fof && parameter_is_of_system(fof, p) && p->ic.source == IC_GENERATE &&
      all > 0.0 && (double)p->analysis.min_members > all)
    warn("analysis.min_members = %lld: the run has %g particles, and will have no halos",
         (long long)p->analysis.min_members, all);
}

void parameters_warn(const struct parameters *p) {
  warn_of_sources(p);
  warn_of_start(p);
  warn_of_lambda(p);
  warn_of_flags(p);
  warn_of_buffer(p);
  warn_of_members(p);
}
