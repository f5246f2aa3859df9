/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an N-body run consists of, for people. */
#include <math.h>
#include <stdio.h>

#include "isolated_lines.h"
#include "nbody_run_parts.h"
#include "photons/app/cone.h"
#include "photons/app/memory.h"
#include "photons/app/softening.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/linear_statistics.h"
#include "photons/cosmology/species.h"
#include "photons/ic/start.h"

/** Which finer mesh a run may change to, and its memory, for people. */
static const char *finer_mesh(const struct parameters *p, const struct particles *s,
                              uint32_t first) {
  static char text[128];
  struct parameters finer = *p;
  if (p->gravity.pm_grid_most <= first) return "";
  finer.gravity.pm_grid = p->gravity.pm_grid_most;
  const struct memory_use use = memory_estimate(&finer, s);
  snprintf(text, sizeof text, "; later at most %lld^3, then %.1f MB of memory in all",
           (long long)p->gravity.pm_grid_most, 1e-6 * memory_peak(&use));
  return text;
}

static void print_layout(FILE *out, const struct parameters *p, const struct particles *s) {
  const size_t n = s->all;
  const struct layout l = layout_choose(p, n);
  const struct memory_use m = memory_estimate(p, s);
  char on_gpus[64] = "";
  if (m.on_gpus > 0.0) snprintf(on_gpus, sizeof on_gpus, ", less %.1f on GPUs", 1e-6 * m.on_gpus);
  fprintf(out, "  groups      %u of %zu particles, leaves of at most %u (tree depth %u)\n",
          l.domain.group_count, (n + l.domain.group_count - 1) / l.domain.group_count,
          l.domain.leaf_size, l.domain.depth);
  if (p->time.step == STEP_PM)
    fprintf(out, "  mesh        %u^3%s, no pairs\n", l.mesh.cells,
            p->gravity.interlace ? " interlaced" : "");
  else if (l.mesh.cells > 0)
    fprintf(out, "  mesh        %u^3%s, r_split %.3g, r_cut %.3g cells%s\n", l.mesh.cells,
            p->gravity.interlace ? " interlaced" : "", p->gravity.r_split, p->gravity.r_cut,
            finer_mesh(p, s, l.mesh.cells));
  fprintf(out,
          "  memory      about %.1f MB: program %.1f, particles %.1f, trees %.1f, mesh %.1f,\n"
          "              tasks %.1f, at times %.1f%s\n",
          1e-6 * memory_peak(&m), 1e-6 * m.program, 1e-6 * m.particles, 1e-6 * m.trees,
          1e-6 * m.mesh, 1e-6 * m.tasks, 1e-6 * m.at_times, on_gpus);
}

static const char *on_average(const struct particles *s) {
  return particles_have(s, COLUMN_relative_mass) ? " on average" : "";
}

/** @param masses  types without particles are left out; without any, of a restart, none */
static void print_softening(FILE *out, const struct parameters *p, const struct particles *s,
                            const struct type_masses *masses) {
  const char *unit = isolated(p) ? "kpc" : "kpc/h comoving";
  const char *kernel = p->gravity.softening_kernel == SOFTENING_SPLINE
                           ? "spline, Plummer-equivalent"
                           : "Plummer";
  if (!particles_have(s, COLUMN_type) || !softening_differs(p)) {
    fprintf(out, "  softening   %g %s (%s)\n", softening_of_type(p, PARTICLE_HALO), unit, kernel);
    return;
  }
  const char *separator = "  softening   ";
  uint64_t all = 0;
  for (unsigned t = 0; t < PARTICLE_TYPES; t++) all += masses->count[t];
  for (unsigned t = 1; t < PARTICLE_TYPES; t++) {
    if (softening_of_type(p, t) < 0.0 || (all > 0 && masses->count[t] == 0)) continue;
    fprintf(out, "%s%g %s of type %u", separator, softening_of_type(p, t), unit, t);
    separator = ", ";
  }
  fprintf(out, " (%s)\n", kernel);
}

static void print_physics(FILE *out, const struct parameters *p, const struct particles *s) {
  fprintf(out, "  particles   %zu (%.4g^3) of %.4g Msun/h%s in %g Mpc/h\n", s->all,
          cbrt((double)s->all), 1e10 * s->mass, on_average(s), p->box.size);
  char w[PARAMETER_PATH_MAX + 16];
  if (p->cosmology.w_table[0])
    snprintf(w, sizeof w, "w of %s", p->cosmology.w_table);
  else
    snprintf(w, sizeof w, "w0 %g, wa %g", p->cosmology.w0, p->cosmology.wa);
  fprintf(out, "  cosmology   Omega_m %g, Omega_lambda %g, Omega_k %g, h %g, %s, Omega_r %g\n",
          p->cosmology.omega_m, p->cosmology.omega_lambda, cosmology_printed_curvature(p),
          p->cosmology.h, w, p->cosmology.omega_r);
  const struct cosmology c = cosmology_from(p);
  if (c.neutrinos.species)
    fprintf(out, "  neutrinos   %u with mass: Omega_nu %.4g of Omega_m, linear, from %s\n",
            c.neutrinos.species, neutrinos_density(&c.neutrinos, 1.0), p->cosmology.species_file);
  else if (p->cosmology.species_file[0])
    fprintf(out, "  species     linear, from %s\n", p->cosmology.species_file);
}

static void print_isolated(FILE *out, const struct parameters *p, const struct particles *s) {
  fprintf(out, "  particles   %zu of %.4g Msun%s, isolated, in a frame of %g kpc\n", s->all,
          1e10 * s->mass, on_average(s), 1e3 * p->box.size);
}

static void print_spectrum(FILE *out, const struct parameters *p,
                           const struct linear_power *linear) {
  const double found = linear ? linear_power_table_sigma8(linear) : 0.0;
  if (found > 0.0)
    fprintf(out, "  spectrum    %s: sigma8 %.5g, %s%.5g\n", p->ic.power_spectrum_file, found,
            p->ic.normalise ? "scaled to " : "as it is; cosmology.sigma8 ", p->cosmology.sigma8);
}

/** How generated initial conditions are made, and how far particles are from their grid: a start is late where that is much of the
 * spacing, and early where it is little beside what forces of a grid are wrong by. */
static void print_waves(FILE *out, const struct parameters *p, const struct linear_power *linear) {
  static const char *const order[] = {"", "Zel'dovich", "2LPT", "3LPT"};
  if (p->ic.source != IC_GENERATE || !linear) return;
  const struct cosmology c = cosmology_from(p);
  const double side = (double)p->box.npart_side, longest = 2.0 * M_PI / p->box.size;
  const double way = linear_displacement(linear, longest, 0.5 * side * longest) *
                     cosmology_growth(&c, 1.0 / (1.0 + p->ic.z_init)).d1;
  fprintf(
      out,
      "  waves       %s from z = %g%s%s, from a %s: displacements of %.3g of the spacing (rms)\n",
      order[p->ic.order], p->ic.z_init, p->ic.fixed ? ", fixed amplitudes" : "",
      p->ic.sphere_mode ? "" : ", with corner modes", p->ic.glass[0] ? "glass" : "grid",
      way * side / p->box.size);
  if (p->ic.lattice_growth > 1.0)
    fprintf(out, "              as in linear theory when its growth factor is %g times that\n",
            p->ic.lattice_growth);
  ic_print_start(out, p);
}

void nbody_run_print(FILE *out, const struct story *s) {
  const struct parameters *p = s->parameters;
  if (isolated(p)) {
    print_isolated(out, p, s->particles);
    isolated_print_components(out, p, s->summary);
    isolated_print_potentials(out, p);
  } else {
    print_physics(out, p, s->particles);
    type_masses_print(out, p, s->masses);
  }
  print_spectrum(out, p, s->linear);
  if (!isolated(p)) print_waves(out, p, s->linear);
  print_softening(out, p, s->particles, s->masses);
  print_layout(out, p, s->particles);
  cone_print(out, p, s->particles);
  if (!isolated(p)) return;
  isolated_print_least_step(out, p, s->masses);
  isolated_print_costs(out, p, s->timeline, s->summary, s->particles->all, s->cores);
}
