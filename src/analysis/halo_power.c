/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The power spectrum of halos, and what it says of their bias. */
#include <math.h>
#include <stdlib.h>

#include "density_modes.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/output_text.h"
#include "photons/cosmology/linear_theory.h"
#include "photons/cosmology/mass_function.h"
#include "src/base/index_order.h"
#include "statistics.h"

/** Sums of a bin of modes. */
enum { MODES, WAVE_NUMBER, HALOS, CROSS, MATTER, KINDS };

struct pair {
  const struct density_modes *halos, *matter;
};

static void add_mode(const void *context, size_t at, const double k[3], double weight,
                     double *sums) {
  const struct pair *p = context;
  const double *h = mode_at(p->halos->memory, at), *m = mode_at(p->matter->memory, at);
  sums[MODES] += weight;
  sums[WAVE_NUMBER] += weight * sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
  sums[HALOS] += weight * (h[0] * h[0] + h[1] * h[1]);
  sums[CROSS] += weight * (h[0] * m[0] + h[1] * m[1]);
  sums[MATTER] += weight * (m[0] * m[0] + m[1] * m[1]);
}

/** Deal the halos out evenly over the ranks, which the meshes of particles ask for. */
static struct index_order order_of(const struct halo_catalogue *halos) {
  uint64_t *number = allocate(halos->count, sizeof *number, "halos");
  for (size_t i = 0; i < halos->count; i++) number[i] = halos->first_halo + i;
  const struct index_order order = index_order_create(halos->all, halos->count, number);
  free(number);
  return order;
}

/** Particles at the centres of mass of the halos. */
static struct particles points_of(const struct halo_catalogue *halos) {
  const double box = halos->particles->box;
  struct particles s = particles_create_share(halos->all, box, 1.0);
  struct index_order order = order_of(halos);
  uint32_t *place = allocate(halos->count, sizeof *place, "halos");
  for (size_t axis = 0; axis < 3; axis++) {
    for (size_t i = 0; i < halos->count; i++)
      place[i] = position_to_integer(halos->halo[i].position[axis], box);
    index_order_apply(&order, place, sizeof *place, s.position + axis * s.count);
  }
  free(place);
  index_order_free(&order);
  return s;
}

struct halo_power_bin *halo_power_measure(const struct density_modes *modes,
                                          const struct halo_catalogue *halos, size_t *count) {
  const size_t n = modes->fft.size[0], bins = mode_bins(n);
  struct halo_power_bin *result = allocate(bins, sizeof *result, "P(k) of halos");
  *count = 0;
  if (halos->all == 0) return result;
  struct particles points = points_of(halos);
  struct density_modes of_halos = density_modes_create(&points, n, 0.0);
  double *sums = allocate(bins * KINDS, sizeof *sums, "P(k) of halos");
  modes_bin(&modes->fft, KINDS, add_mode, &(struct pair){&of_halos, modes}, sums);
  for (size_t i = 1; i < bins; i++) {
    const double *t = sums + i * KINDS, norm = pow(modes->box, 3.0) / t[MODES];
    result[(*count)++] = (struct halo_power_bin){.k = 2.0 * M_PI / modes->box * t[WAVE_NUMBER] /
                                                      t[MODES],
                                                 .halos = norm * t[HALOS],
                                                 .cross = norm * t[CROSS],
                                                 .matter = norm * t[MATTER],
                                                 .modes = t[MODES]};
  }
  free(sums);
  density_modes_free(&of_halos);
  particles_free(&points);
  return result;
}

/** For the masses of all halos. */
static struct halo_theory *theory_of(const struct halo_catalogue *halos,
                                     const struct linear_theory *linear) {
  double members[2] = {0.0, -HUGE_VAL}; /* the largest number, and minus the smallest one */
  for (size_t i = 0; i < halos->count; i++) {
    members[0] = fmax(members[0], (double)halos->halo[i].count);
    members[1] = fmax(members[1], -(double)halos->halo[i].count);
  }
  comm_max_double(members, 2);
  const double mass = halos->particles->mass;
  return halo_theory_create(linear, -members[1] * mass, members[0] * mass);
}

double halo_mean_bias(const struct halo_catalogue *halos, const struct linear_theory *linear) {
  /* Sums are of whole numbers, which have the same bits in any order. */
  const double unit = 0x1p-24, most = 0x1p12;
  if (!linear->power || halos->all == 0) return 0.0;
  uint64_t sum = 0, last = 0;
  double bias = 0.0;
  struct halo_theory *theory = theory_of(halos, linear);
  for (size_t i = 0; i < halos->count; i++) {
    const struct halo *h = &halos->halo[i];
    if (h->count != last) /* halos follow each other by their masses */
      bias = halo_theory_bias(theory, (double)h->count * halos->particles->mass);
    last = h->count;
    sum += (uint64_t)llround(fmin(bias, most) / unit);
  }
  comm_sum_u64(&sum, 1);
  halo_theory_free(theory);
  return (double)sum * unit / (double)halos->all;
}

/** The root of a ratio that noise may make negative. */
static double root(double ratio) { return copysign(sqrt(fabs(ratio)), ratio); }

void halo_power_write(const char *path, const struct halo_power_bin *bins, size_t count,
                      size_t halos, double bias, const struct statistics_state *state) {
  const double shot = halos > 0 ? pow(state->box, 3.0) / (double)halos : 0.0;
  struct output_text text;
  FILE *file = output_text_begin(&text);
  statistics_head(file,
                  "power spectrum of halos, each of them one point, as measured, nothing is "
                  "subtracted; Nmodes counts k and -k once",
                  state);
  fprintf(file, "# halos = %zu, mean bias of Tinker et al. (2010) = %.6g, f_nl = %g\n", halos, bias,
          state->linear.f_nl);
  fprintf(file, "# Pshot = V/N of halos; bias = sqrt((Phh - Pshot)/Pmm), bias_cross = Phm/Pmm\n");
  fprintf(file, "# k[h/Mpc] Phh[(Mpc/h)^3] Phm[(Mpc/h)^3] Pmm[(Mpc/h)^3] Nmodes Pshot bias "
                "bias_cross biasTinker2010\n");
  for (size_t i = 0; i < count; i++) {
    const struct halo_power_bin *b = &bins[i];
    const bool power = b->matter > 0.0;
    fprintf(file, "%.7e %.7e %.7e %.7e %.1f %.7e %.7e %.7e %.7e\n", b->k, b->halos, b->cross,
            b->matter, b->modes, shot, power ? root((b->halos - shot) / b->matter) : 0.0,
            power ? b->cross / b->matter : 0.0, linear_theory_bias(&state->linear, bias, b->k));
  }
  output_text_save(&text, path);
}
