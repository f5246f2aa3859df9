/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where generated initial conditions begin, if ic.z_init = auto: as late as what perturbation theory leaves out allows,
 * since the errors of particles on a grid grow from the start on (Michaux et al. 2021, MNRAS 500, 663). */
#include <math.h>
#include <stdio.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/cosmology/linear_power.h"
#include "photons/cosmology/linear_statistics.h"
#include "photons/ic/start.h"

enum criterion { DISPLACEMENT, CONTRAST, FIRST_OUTPUT, CRITERIA };

/** The rms displacement over the spacing, of first and second order. */
#define DISPLACEMENT_MOST 0.5
/** The order n leaves out the next one, about rms^n of the lattice's density contrasts: with 3LPT a contrast of 0.37. */
#define CONTRAST_MOST 0.05
/** What is left out becomes transients, which fall as D1^-n (Scoccimarro 1998, MNRAS 299, 1097), by this until the
 * first output. */
#define TRANSIENTS_MOST 0.01

#define LATEST 1     /**< redshifts among which the start is */
#define EARLIEST 199 /**< at higher ones radiation counts, of which many runs have none */

struct start {
  struct cosmology cosmology;
  int order;
  double displacement;  /**< rms of the lattice's waves at z = 0, over the spacing */
  double contrast;      /**< the same of the density */
  double first, growth; /**< redshift of the first output, and D1 there */
};

/** Gas begins with waves of first order. */
static int order_of(const struct parameters *p) { return run_of_gas(p) ? 1 : (int)p->ic.order; }

/** Particles, or cells without particles, along the box. */
static double lattice_side(const struct parameters *p) {
  return p->box.npart_side > 0 ? (double)p->box.npart_side : p->gas.root[0];
}

/** The highest redshift that is looked at: of outputs, the end and a light cone. */
static double first_output(const struct parameters *p) {
  double z = p->time.z_end;
  for (size_t i = 0; i < p->output.redshift_count; i++) z = fmax(z, p->output.redshifts[i]);
  return p->lightcone.geometry == CONE_NONE ? z : fmax(z, p->lightcone.z_max);
}

static double growth_at(const struct start *s, double z) {
  return cosmology_growth(&s->cosmology, 1.0 / (1.0 + z)).d1;
}

static struct start start_of(const struct parameters *p) {
  struct linear_power *linear = linear_power_create(p);
  const double side = lattice_side(p), low = 2.0 * M_PI / p->box.size,
               corners = p->ic.sphere_mode ? 1.0 : cbrt(6.0 / M_PI), /* a sphere of as many modes */
      high = 0.5 * side * low * corners;
  struct start s = {.cosmology = cosmology_from(p),
                    .order = order_of(p),
                    .displacement = linear_displacement(linear, low, high) * side / p->box.size,
                    .contrast = linear_contrast(linear, low, high),
                    .first = first_output(p)};
  s.growth = growth_at(&s, s.first);
  linear_power_free(linear);
  return s;
}

/** What a start at z has, over what is allowed. */
static void measure(const struct start *s, double z, double of_allowed[CRITERIA]) {
  const double d1 = growth_at(s, z);
  of_allowed[DISPLACEMENT] = s->order < 3 ? d1 * s->displacement / DISPLACEMENT_MOST : 0.0;
  of_allowed[CONTRAST] = pow(d1 * s->contrast, s->order) / CONTRAST_MOST;
  of_allowed[FIRST_OUTPUT] = pow(d1 / s->growth, s->order) / TRANSIENTS_MOST;
}

/** The criterion that is nearest to its limit, or furthest beyond it. */
static enum criterion decisive(const double of_allowed[CRITERIA]) {
  enum criterion most = DISPLACEMENT;
  for (enum criterion c = CONTRAST; c < CRITERIA; c++)
    if (of_allowed[c] > of_allowed[most]) most = c;
  return most;
}

/** The least whole redshift at which all is as allowed; EARLIEST where none is. */
static int least_redshift(const struct start *s) {
  int low = LATEST, high = EARLIEST;
  while (low < high) {
    const int z = (low + high) / 2;
    double of_allowed[CRITERIA];
    measure(s, z, of_allowed);
    if (of_allowed[decisive(of_allowed)] <= 1.0)
      high = z;
    else
      low = z + 1;
  }
  return low;
}

static void tell(const struct start *s, double z, char *text, size_t size) {
  double of_allowed[CRITERIA];
  measure(s, z, of_allowed);
  const enum criterion c = decisive(of_allowed);
  const char *early = of_allowed[c] > 1.0 ? ", the earliest choice" : "";
  if (c == DISPLACEMENT)
    snprintf(text, size, "z = %g chosen by the rms displacement, %.3g of the spacing, at most %g%s",
             z, DISPLACEMENT_MOST * of_allowed[c], DISPLACEMENT_MOST, early);
  else if (c == CONTRAST)
    snprintf(
        text, size,
        "z = %g chosen by the rms density contrast of the lattice's waves, %.3g, at most %.3g%s", z,
        pow(CONTRAST_MOST * of_allowed[c], 1.0 / s->order), pow(CONTRAST_MOST, 1.0 / s->order),
        early);
  else
    snprintf(text, size,
             "z = %g chosen by growth to the first output, z = %g, by %.3g, at least %.3g%s", z,
             s->first, pow(TRANSIENTS_MOST * of_allowed[c], -1.0 / s->order),
             pow(TRANSIENTS_MOST, -1.0 / s->order), early);
}

void ic_choose_start(struct parameters *p) {
  if (!start_is_automatic(p)) return;
  const struct start s = start_of(p);
  p->ic.z_init = least_redshift(&s);
  if (s.first >= p->ic.z_init)
    fail(EXIT_BAD_USAGE,
         "ic.z_init = auto: expected outputs and a light cone below z = %d, and the first is at z "
         "= %g: give ic.z_init",
         EARLIEST, s.first);
  tell(&s, p->ic.z_init, p->ic.start, sizeof p->ic.start);
}

void ic_print_start(FILE *out, const struct parameters *p) {
  if (p->ic.start[0]) fprintf(out, "  start       %s\n", p->ic.start);
}
