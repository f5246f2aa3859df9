/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mass function of the halos of the run as a text file, massfunc_NNN.txt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis/halo.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"
#include "photons/cosmology/linear_theory.h"
#include "photons/cosmology/mass_function.h"
#include "photons/io/provenance.h"

#define BIN_DEX 0.15 /* width of a bin in log10 M */

/** A bin of masses in numbers of particles: the halos in it by members and by particles inside
 * R_Crit200. */
struct mass_bin {
  double low, high;
  uint64_t count[2];
};

/** Add a halo of so many particles to the bin that has this number, if there is one. */
static void count_in(struct mass_bin *bin, size_t bins, int which, uint64_t particles) {
  const double n = (double)particles;
  size_t low = 0, high = bins; /* the first bin that ends above */
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (bin[middle].high < n)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < bins && n > bin[low].low) bin[low].count[which]++;
}

/** The bins from the smallest to the largest halo of the run. Collective. */
static struct mass_bin *count_halos(const struct halo_catalogue *halos, size_t min_members,
                                    size_t *bins) {
  double largest = 0.0; /* exact: counts are below 2^53 */
  for (size_t h = 0; h < halos->count; h++)
    largest = fmax(
        largest, fmax((double)halos->halo[h].count, (double)halos->halo[h].sphere[CRIT_200].count));
  comm_max_double(&largest, 1);
  /* Masses are integer numbers of particles: bin edges lie between integers. */
  struct mass_bin *bin = NULL;
  double low = (double)min_members - 0.5;
  for (*bins = 0; low < largest; low = bin[(*bins)++].high) {
    bin = reallocate(bin, *bins + 1, sizeof *bin, "bins of mass");
    const double edge = floor((double)min_members * pow(10.0, BIN_DEX * (double)(*bins + 1))) - 0.5;
    bin[*bins] = (struct mass_bin){.low = low, .high = fmax(edge, low + 1.0)};
  }
  for (size_t h = 0; h < halos->count; h++) {
    count_in(bin, *bins, 0, halos->halo[h].count);
    count_in(bin, *bins, 1, halos->halo[h].sphere[CRIT_200].count);
  }
  for (size_t i = 0; i < *bins; i++) comm_sum_u64(bin[i].count, 2);
  return bin;
}

static void write_bins(const char *path, const struct halo_catalogue *halos,
                       const struct mass_bin *bin, size_t bins, const struct linear_theory *linear,
                       const struct provenance *provenance) {
  const double a = linear->a;
  const struct particles *s = halos->particles;
  const double volume = s->box * s->box * s->box;
  struct output_text text;
  FILE *file = output_text_begin(&text);
  fprintf(file, "# halo mass function, dn/dlnM in (Mpc/h)^-3; errors are Poisson, theory is "
                "averaged over the bin\n");
  fprintf(file,
          "# FoF: masses of friends-of-friends groups; 200c: within R200 of their density peaks\n");
  if (provenance) provenance_print(file, provenance);
  fprintf(
      file,
      "# a = %.9g, z = %.9g, box = %.9g Mpc/h, N = %zu, particle mass = %.9g Msun/h, halos = %zu\n",
      a, 1.0 / a - 1.0, s->box, s->all, 1e10 * s->mass, halos->all);
  fprintf(file, "# M_low[Msun/h] M_high[Msun/h] N_FoF FoF FoF_error N_200c 200c 200c_error "
                "PressSchechter ShethTormen Reed2007 "
                "Tinker2008_200m Tinker2008_200c\n");
  double theory[3][MASS_FUNCTIONS] = {{0}}; /* at a bin's low edge, middle and high edge */
  struct halo_theory *known = NULL;
  if (linear->power && bins > 0)
    known = halo_theory_create(linear, bin[0].low * s->mass, bin[bins - 1].high * s->mass);
  for (size_t i = 0; i < bins; i++) {
    const double low = bin[i].low, high = bin[i].high, norm = 1.0 / (volume * log(high / low));
    const double fof = (double)bin[i].count[0], sphere = (double)bin[i].count[1];
    fprintf(file, "%.7e %.7e %.0f %.6e %.6e %.0f %.6e %.6e", 1e10 * low * s->mass,
            1e10 * high * s->mass, fof, fof * norm, sqrt(fof) * norm, sphere, sphere * norm,
            sqrt(sphere) * norm);
    if (known) {
      halo_theory_mass_functions(known, low * s->mass, theory[0]);
      halo_theory_mass_functions(known, sqrt(low * high) * s->mass, theory[1]);
      halo_theory_mass_functions(known, high * s->mass, theory[2]);
    }
    for (int k = 0; k < MASS_FUNCTIONS; k++) /* Simpson's rule over ln M */
      fprintf(file, " %.6e", (theory[0][k] + 4.0 * theory[1][k] + theory[2][k]) / 6.0);
    fprintf(file, "\n");
  }
  if (known) halo_theory_free(known);
  output_text_save(&text, path);
}

void mass_function_write(const char *path, const struct halo_catalogue *halos, size_t min_members,
                         const struct linear_theory *linear, const struct provenance *provenance) {
  size_t bins;
  struct mass_bin *bin = count_halos(halos, min_members, &bins);
  if (comm_rank() == 0) write_bins(path, halos, bin, bins, linear, provenance);
  free(bin);
}
