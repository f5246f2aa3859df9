/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of particles, in a box and isolated: initial conditions, forces, and steps. */
#include <string.h>

#include "parameter_check.h"

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

/** Steps of pairs are those of block steps, of particles that attract each other. */
static void check_pairs(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *type = row_of("time", "pair_type"),
                         *criterion = row_of("time", "criterion");
  const bool pairs = p->time.criterion == CRITERION_PAIRS;
  const struct parameter *by = pairs ? criterion : type;
  if (!sound(problems, type) || !sound(problems, criterion)) return;
  if (!pairs && p->time.pair_type == 0) return;
  if (pairs && p->time.pair_type > 0)
    problem_with(problems, type, p, NULL, "time.criterion = pairs has steps of all pairs");
  if (p->time.step != STEP_BLOCK) problem_with(problems, by, p, NULL, "needs time.step = block");
  if (!p->external.self_gravity)
    problem_with(problems, by, p, NULL, "needs external.self_gravity = yes");
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

static void check_ic_file(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *file = row_of("ic", "file");
  check_needed(p, problems, "ic", "file", *p->ic.file, "ic.source = gadget");
  if (sound(problems, file)) check_gadget_file(p, problems, file, p->ic.file);
}

/** Whether a component names a softening length, which the program reads with the others of its words. */
static bool component_is_softened(const struct parameters *p) {
  for (size_t k = 0; k < GALAXY_COMPONENTS_MAX; k++)
    if (strstr(p->galaxy.component[k], "softening=")) return true;
  return false;
}

/** Myr: several times the age of the universe. */
#define ISOLATED_END_MOST 1e5

/** What isolated systems need. */
static void check_isolated(const struct parameters *p, struct parameter_problems *problems) {
  if (p->ic.source == IC_GENERATE && sound(problems, row_of("ic", "source")))
    problem_with(problems, row_of("ic", "source"), p, NULL,
                 "is of periodic boxes; allowed with box.boundary = isolated: galaxy | gadget");
  if (p->ic.source == IC_GADGET) check_ic_file(p, problems);
  for (size_t k = 1; k < GALAXIES_MAX; k++) {
    const struct parameter *file = row_of(galaxy_sections[k], "file");
    if (sound(problems, file) && *p->companion[k - 1].file)
      check_gadget_file(p, problems, file, p->companion[k - 1].file);
  }
  check_needed(p, problems, "time", "end", p->time.end > 0.0, "box.boundary = isolated");
  if (sound(problems, row_of("time", "end")) && p->time.end > ISOLATED_END_MOST)
    problem_with(problems, row_of("time", "end"), p, NULL,
                 "too long; allowed with box.boundary = isolated: 0 .. %g Myr", ISOLATED_END_MOST);
  check_needed(p, problems, "gravity", "softening",
               softening_shortest(p) >= 0.0 || component_is_softened(p), "box.boundary = isolated");
  if (p->output.movie > 0)
    check_needed(p, problems, "output", "movie_width", p->output.movie_width > 0.0,
                 "output.movie and box.boundary = isolated");
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

void check_particle_runs(const struct parameters *p, struct parameter_problems *problems) {
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
  check_pairs(p, problems);
  check_groups(p, problems);
  check_steps(p, problems);
}
