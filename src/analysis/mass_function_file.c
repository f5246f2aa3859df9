/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mass function of the halos of the run as a text file, massfunc_NNN.txt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "halo_home.h"
#include "photons/analysis/halo.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"
#include "photons/base/parts.h"
#include "photons/cosmology/linear_theory.h"
#include "photons/cosmology/mass_function.h"
#include "photons/io/provenance.h"
#include "photons/runtime/loop.h"

#define BIN_DEX 0.15 /* width of a bin in log10 M */
enum { PARTS = 64 }; /* of a loop over halos */

static const char what[] = "bins of mass";

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

/** Halos on their way into bins. */
struct counting {
  const struct halo_catalogue *halos;
  struct mass_bin *bin;
  size_t bins;
  uint64_t largest[PARTS]; /* particles */
};

static size_t part_end(const struct counting *c, uint32_t part) {
  return block_first(c->halos->count, PARTS, (size_t)part + 1);
}

static void find_largest(void *context, uint32_t part) {
  struct counting *c = context;
  for (size_t h = block_first(c->halos->count, PARTS, part); h < part_end(c, part); h++) {
    const struct halo *halo = &c->halos->halo[h];
    const uint64_t inside = halo->sphere[CRIT_200].count,
                   most = inside > halo->count ? inside : halo->count;
    if (most > c->largest[part]) c->largest[part] = most;
  }
}

static void count_part(void *context, uint32_t part) {
  const struct counting *c = context;
  struct mass_bin *bin = allocate(c->bins, sizeof *bin, what); /* of the part */
  for (size_t i = 0; i < c->bins; i++) bin[i].low = c->bin[i].low, bin[i].high = c->bin[i].high;
  for (size_t h = block_first(c->halos->count, PARTS, part); h < part_end(c, part); h++) {
    count_in(bin, c->bins, 0, c->halos->halo[h].count);
    count_in(bin, c->bins, 1, c->halos->halo[h].sphere[CRIT_200].count);
  }
  for (size_t i = 0; i < c->bins; i++)
    for (int which = 0; which < 2; which++)
      __atomic_fetch_add(&c->bin[i].count[which], bin[i].count[which], __ATOMIC_RELAXED);
  free(bin);
}

/** The bins from the smallest to the largest halo of the run. Collective. */
static struct mass_bin *count_halos(const struct halo_catalogue *halos, size_t min_members,
                                    size_t *bins) {
  struct counting c = {.halos = halos};
  loop_run(&halos_stage, PARTS, find_largest, &c);
  double largest = 0.0; /* exact: counts are below 2^53 */
  for (int part = 0; part < PARTS; part++) largest = fmax(largest, (double)c.largest[part]);
  comm_max_double(&largest, 1);
  /* Masses are integer numbers of particles: bin edges lie between integers. */
  double low = (double)min_members - 0.5;
  for (; low < largest; low = c.bin[c.bins++].high) {
    c.bin = reallocate(c.bin, c.bins + 1, sizeof *c.bin, what);
    const double edge = floor((double)min_members * pow(10.0, BIN_DEX * (double)(c.bins + 1))) -
                        0.5;
    c.bin[c.bins] = (struct mass_bin){.low = low, .high = fmax(edge, low + 1.0)};
  }
  loop_run(&halos_stage, PARTS, count_part, &c);
  for (size_t i = 0; i < c.bins; i++) comm_sum_u64(c.bin[i].count, 2);
  *bins = c.bins;
  return c.bin;
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
