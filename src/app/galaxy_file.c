/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "galaxy_file.h"

#include <math.h>
#include <stdlib.h>

#include "photons/app/csv.h"
#include "photons/cosmology/cosmology.h"

#define KPC_OVER_KMS (1e-3 / MYR) /* in Myr */

enum { LAST_BYTES = 1 << 16 }; /* more than the last rows of all galaxies */

void galaxy_bars_read(struct galaxy_bars *bars, const char *path) {
  struct csv t;
  for (size_t k = 0; k < GALAXIES_MAX; k++) bars->time_myr[k] = bars->angle[k] = NAN;
  if (!csv_read(&t, path, LAST_BYTES)) return;
  for (size_t row = 0; row < t.rows; row++) {
    const double galaxy = csv_number(&t, row, "galaxy");
    if (!(galaxy >= 1.0 && galaxy <= GALAXIES_MAX)) continue;
    const size_t k = (size_t)galaxy - 1;
    bars->time_myr[k] = csv_number(&t, row, "time_myr");
    bars->angle[k] = csv_number(&t, row, "bar_angle");
  }
  csv_free(&t);
}

static void write_radii_header(FILE *out, const char *of) {
  for (int k = 0; k < GALAXY_RADII_MEASURED; k++) fprintf(out, ",r%d%s", galaxy_percent[k], of);
}

void galaxy_file_header(FILE *out, unsigned types) {
  fprintf(out,
          "step,time_myr,galaxy,particles,mass,centre_x,centre_y,centre_z,velocity_x,velocity_y,"
          "velocity_z");
  write_radii_header(out, "");
  fprintf(out, ",dispersion,angular_x,angular_y,angular_z,bar_strength,bar_angle,pattern_speed,"
               "scale_length,height,sigma_R,sigma_phi,sigma_z,spin_x,spin_y,spin_z");
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    char of[16];
    snprintf(of, sizeof of, "_type_%d", t);
    if (types >> t & 1) write_radii_header(out, of);
  }
  fprintf(out, "\n");
}

static void write_numbers(FILE *out, const double *number, size_t count) {
  for (size_t k = 0; k < count; k++) fprintf(out, isnan(number[k]) ? "," : ",%.9g", number[k]);
}

/** A number as it is read from a file. */
static double as_written(double number) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", number);
  return strtod(text, NULL);
}

/** The speed of a bar since the row before, km/s/kpc: of the shortest turn between two angles, which are known up
 * to half a turn. NAN where one of both is not known. */
static double pattern_speed(struct galaxy_bars *bars, size_t k, double time_myr, double angle) {
  const double now = as_written(time_myr), here = as_written(angle);
  const double turn = remainder(here - bars->angle[k], M_PI);
  const double speed = turn / (now - bars->time_myr[k]) * KPC_OVER_KMS;
  bars->time_myr[k] = now;
  bars->angle[k] = here;
  return isfinite(speed) ? speed : NAN;
}

static void write_disk(FILE *out, const struct disk_measures *d, double speed) {
  write_numbers(out, &d->bar_strength, 1);
  write_numbers(out, &d->bar_angle, 1);
  write_numbers(out, &speed, 1);
  write_numbers(out, &d->scale_length, 1);
  write_numbers(out, &d->height, 1);
  write_numbers(out, d->sigma, 3);
  write_numbers(out, d->spin, 3);
}

static void write_galaxy(FILE *out, const struct galaxy_measures *g, double speed, unsigned types) {
  fprintf(out, "%llu,%.9g", (unsigned long long)g->particles, g->mass);
  write_numbers(out, g->centre, 3);
  write_numbers(out, g->velocity, 3);
  write_numbers(out, g->radius, GALAXY_RADII_MEASURED);
  write_numbers(out, &g->dispersion, 1);
  write_numbers(out, g->angular, 3);
  write_disk(out, &g->disk, speed);
  for (int t = 0; t < PARTICLE_TYPES; t++)
    if (types >> t & 1) write_numbers(out, g->type_radius[t], GALAXY_RADII_MEASURED);
  fprintf(out, "\n");
}

void galaxy_file_rows(FILE *out, long long step, double time_myr, unsigned types,
                      const struct galaxy_measures *galaxies, size_t count,
                      struct galaxy_bars *bars) {
  for (size_t k = 0; k < count; k++) {
    const double speed = pattern_speed(bars, k, time_myr, galaxies[k].disk.bar_angle);
    fprintf(out, "%lld,%.9g,%zu,", step, time_myr, k + 1);
    write_galaxy(out, &galaxies[k], speed, types);
  }
}
