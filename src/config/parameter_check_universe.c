/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A universe that expands: its matter, its spectrum, and the redshifts of a run. */
#include <math.h>
#include <string.h>

#include "parameter_check.h"

static double omega_curvature(const struct parameters *p) {
  return 1 - p->cosmology.omega_m - p->cosmology.omega_lambda - p->cosmology.omega_r;
}

/** No start that a run chooses is at a higher redshift. */
#define EARLIEST_START 200.0

/** The lowest redshift up to z_init at which the universe does not expand. NAN: it always
 * expands. */
static double expansion_ends(const struct parameters *p) {
  const double w0 = p->cosmology.w0, wa = p->cosmology.wa, omega_k = omega_curvature(p);
  const double z_init = start_is_automatic(p) ? EARLIEST_START : p->ic.z_init;
  enum { SAMPLES = 256 };
  for (int i = 0; i <= SAMPLES; i++) {
    const double x = pow(1 + z_init, i / (double)SAMPLES); /* 1/a */
    const double dark_energy = dark_energy_density(&p->cosmology.w, w0, wa, 1 / x);
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

/** A table of w, and what cannot go with it. */
static void check_w_table(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("cosmology", "w_table");
  if (!p->cosmology.w_table[0] || !sound(problems, row)) return;
  if (p->cosmology.w0 != -1 || p->cosmology.wa != 0)
    problem_with(problems, row, p, NULL, "takes the place of w0 and wa: leave both out");
  if (p->cosmology.species_file[0])
    problem_with(problems, row, p, NULL,
                 "not with cosmology.species_file: CLASS, which makes that, takes w0 and wa alone");
}

/** The index of a power law whose rms in spheres is finite; primordial spectra are not that steep. */
static void check_index(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("cosmology", "n_s");
  const bool law = p->ic.power_spectrum == POWER_LAW;
  const double n = p->cosmology.n_s;
  if (law && !(n > -3.0 && n < 1.0))
    problem_with(problems, row, p, NULL,
                 "allowed with ic.power_spectrum = power_law: above -3 and below 1, where sigma8 "
                 "is finite");
  if (law && p->ic.f_nl != 0.0)
    problem_with(
        problems, row_of("ic", "f_nl"), p, NULL,
        "not with ic.power_spectrum = power_law: a power law has no transfer function from "
        "the potential of matter domination");
  if (!law && n < 0.0)
    problem_with(problems, row, p, NULL,
                 "allowed: 0 .. 2; set ic.power_spectrum = power_law for a linear spectrum that is "
                 "a power law");
}

/** Waves on a grid are known of the forces of all particles, from those of a grid. */
static void check_lattice_growth(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("ic", "lattice_growth");
  if (!(p->ic.lattice_growth > 1.0)) return;
  if (p->ic.glass[0]) problem_with(problems, row, p, NULL, "not with ic.glass, which is no grid");
  if (!p->ic.sphere_mode)
    problem_with(problems, row, p, NULL,
                 "not with ic.sphere_mode = no: beyond the Nyquist sphere it is not known which of "
                 "a grid's waves a wave becomes");
  if (p->cosmology.species_file[0])
    problem_with(problems, row, p, NULL,
                 "not with cosmology.species_file: the growth on a grid is known of matter alone");
  if (p->time.step == STEP_PM)
    problem_with(problems, row, p, NULL,
                 "not with time.step = pm: the growth on a grid is that with forces of all pairs");
}

void check_cosmology(const struct parameters *p, struct parameter_problems *problems) {
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

  check_w_table(p, problems);
  bool all_sound = sound(problems, row_of("ic", "z_init"));
  for (size_t i = 0; i < parameter_count; i++)
    if (strcmp(parameter_table[i].section, "cosmology") == 0)
      all_sound = all_sound && sound(problems, &parameter_table[i]);
  if (all_sound && start_is_automatic(p) && p->ic.source != IC_GENERATE)
    problem_with(
        problems, row_of("ic", "z_init"), p, "auto",
        "of ic.source = generate alone: a file has its redshift, leave this out, and other "
        "sources need a number");
  if (!all_sound) return;
  char reason[160];
  if (!cosmology_possible(p, reason, sizeof reason))
    problem_with(problems, omega_lambda, p, NULL, "%s", reason);
  check_neutrinos(p, problems);
  if (sound(problems, row_of("ic", "power_spectrum"))) check_index(p, problems);
  check_lattice_growth(p, problems);
  const struct parameter *species = row_of("cosmology", "species_file");
  if (p->cosmology.species_file[0]) check_readable(p, problems, species, p->cosmology.species_file);
}

void check_begins_before_end(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *z_init = row_of("ic", "z_init");
  if (start_is_automatic(p)) return;
  if (sound(problems, z_init) && sound(problems, row_of("time", "z_end")) &&
      p->ic.z_init <= p->time.z_end)
    problem_with(problems, z_init, p, NULL,
                 "not above the redshift where the run ends, time.z_end = %g: it would have no "
                 "step; for the "
                 "initial conditions alone give output.redshifts = %g, a lower time.z_end or none, "
                 "and --steps 0",
                 p->time.z_end, p->ic.z_init);
}

/* The linear spectrum is also needed with initial conditions from a file: measured spectra are
 * compared with it. */
void check_power_spectrum(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *table = row_of("ic", "power_spectrum_file");
  const bool from_file = p->ic.power_spectrum == POWER_FILE;
  if (from_file)
    check_needed(p, problems, "ic", "power_spectrum_file", *p->ic.power_spectrum_file,
                 "ic.power_spectrum = file");
  if (from_file && sound(problems, table))
    check_readable(p, problems, table, p->ic.power_spectrum_file);
  if (!sound(problems, row_of("ic", "power_spectrum"))) return;
  const char *word = row_of("ic", "power_spectrum")->words[p->ic.power_spectrum];
  if (!from_file && *p->ic.power_spectrum_file)
    problem_with(problems, table, p, NULL,
                 "not used with ic.power_spectrum = %s; set ic.power_spectrum = file, or leave "
                 "this empty",
                 word);
  if (!from_file && !p->ic.normalise)
    problem_with(problems, row_of("ic", "normalise"), p, NULL,
                 "ic.power_spectrum = %s has no amplitude of its own; allowed: yes", word);
}

void check_redshifts(const struct parameters *p, struct parameter_problems *problems) {
  const struct parameter *row = row_of("output", "redshifts");
  const bool start_known = !start_is_automatic(p) &&
                           (p->ic.source == IC_GENERATE || p->run.system == SYSTEM_GAS ||
                            parameter_given(p, "ic", "z_init"));
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
