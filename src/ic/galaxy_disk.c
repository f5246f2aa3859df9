/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exponential disks with a vertical profile sech^2(z/height)/(2 height).
 *
 * Their potential is an integral over waves, without approximation (Casertano 1983, MNRAS 203,
 * 735):
 *   Phi(R, z) = -2 pi G int dk J0(k R) S(k) int dz' zeta(z') exp(-k |z - z'|),
 * S(k) = int dR R Sigma(R) J0(k R). */
#include "galaxy_disk.h"

#include <float.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_interp2d.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_bessel.h>
#include <gsl/gsl_spline.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "galaxy_profile.h"
#include "photons/base/error.h"

static gsl_integration_glfixed_table *points(size_t count) {
  gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(count);
  if (!rule) fail(EXIT_RUN_FAILED, "galaxy: no quadrature rule of %zu points", count);
  return rule;
}

static void point(double from, double to, size_t i, double *x, double *weight,
                  const gsl_integration_glfixed_table *rule) {
  if (gsl_integration_glfixed_point(from, to, i, x, weight, rule))
    fail(EXIT_RUN_FAILED, "galaxy: point %zu of a quadrature rule is missing", i);
}

/** Gauss' rule is exact to all digits from about a third of a point for each radian of the fastest
 * wave. */
static size_t enough_points(double radians) { return (size_t)(0.6 * radians) + 64; }

double galaxy_sech2(double x) { return gsl_pow_2(1.0 / cosh(x)); }

static double vertical_density(double height, double z) {
  return galaxy_sech2(z / height) / (2.0 * height);
}

double galaxy_disk_average(const struct galaxy_component *c, double r) {
  enum { ANGLES = 256 };
  const double end = galaxy_profile_end(c);
  gsl_integration_glfixed_table *rule = points(ANGLES);
  double sum = 0.0;
  for (size_t i = 0; i < ANGLES; i++) {
    double angle, weight;
    point(0.0, M_PI_2, i, &angle, &weight, rule);
    const double radius = r * sin(angle);
    if (radius < end)
      sum += weight * sin(angle) * galaxy_profile_at(c, radius).density *
             galaxy_sech2(r * cos(angle) / c->height) / (2.0 * c->height);
  }
  gsl_integration_glfixed_table_free(rule);
  return sum;
}

double galaxy_disk_surface_density(const struct galaxy_disks *d, size_t c, double radius) {
  if (radius >= galaxy_profile_end(&d->galaxy.component[c])) return 0.0;
  return d->disk[c].amplitude * galaxy_profile_at(&d->galaxy.component[c], radius).density;
}

/** From far inside the smallest disk to the end of the largest one. */
static void make_grid(struct galaxy_disks *d) {
  double shortest = INFINITY, end = DBL_MIN;
  for (size_t c = 0; c < d->galaxy.count; c++) {
    if (!galaxy_is_disk(&d->galaxy.component[c])) continue;
    shortest = fmin(shortest, d->galaxy.component[c].scale);
    end = fmax(end, galaxy_profile_end(&d->galaxy.component[c]));
  }
  d->longest = 60.0 / shortest;
  d->waves = points(enough_points(d->longest * end));
  const double first = log(1e-4 * shortest), step = (log(end) - first) / (DISK_RADII - 1);
  for (size_t i = 0; i < DISK_RADII; i++) {
    d->ln_r[i] = first + (double)i * step;
    d->r[i] = exp(d->ln_r[i]);
  }
  for (size_t i = 0; i < DISK_HEIGHTS; i++)
    d->height[i] = DISK_TOP * (double)i / (DISK_HEIGHTS - 1);
}

static void make_masses(struct galaxy_disks *d, size_t c) {
  struct galaxy_disk *disk = &d->disk[c];
  double *per_step = allocate(DISK_RADII, sizeof *per_step, "masses of a disk");
  disk->amplitude = 1.0;
  for (size_t i = 0; i < DISK_RADII; i++)
    per_step[i] = 2.0 * M_PI * gsl_pow_2(d->r[i]) * galaxy_disk_surface_density(d, c, d->r[i]);
  galaxy_integrate(d->ln_r, per_step, DISK_RADII, 0.5 * per_step[0], disk->mass);
  disk->amplitude = d->galaxy.component[c].mass / disk->mass[DISK_RADII - 1];
  for (size_t i = 0; i < DISK_RADII; i++) disk->mass[i] *= disk->amplitude;
  free(per_step);
}

/** S(k) at the points of d->waves. */
static void make_transform(struct galaxy_disks *d, size_t c) {
  const double end = galaxy_profile_end(&d->galaxy.component[c]);
  gsl_integration_glfixed_table *rule = points(enough_points(d->longest * end));
  double *transform = allocate(d->waves->n, sizeof *transform, "transform of a disk");
  for (size_t i = 0; i < rule->n; i++) {
    double radius, weight;
    point(0.0, end, i, &radius, &weight, rule);
    const double mass = weight * radius * galaxy_disk_surface_density(d, c, radius);
    for (size_t w = 0; w < d->waves->n; w++) {
      double k, unused;
      point(0.0, d->longest, w, &k, &unused, d->waves);
      transform[w] += mass * gsl_sf_bessel_J0(k * radius);
    }
  }
  gsl_integration_glfixed_table_free(rule);
  d->disk[c].transform = transform;
}

/** Fourier transform of sech^2(z/height)/(2 height); 1 for a sheet, of height 0. */
static double vertical_wave(double height, double k) {
  const double x = M_PI_2 * height * k;
  return x < 1e-4 ? 1.0 : (x > 300.0 ? 0.0 : x / sinh(x));
}

/** The mean of exp(-k |z - z'|) over two vertical profiles, as an integral over their Fourier
 * transforms: int dw/(2 pi) 2 k/(k^2 + w^2), with w = k tan(angle). */
static double vertical_mean(double k, double height, double other) {
  enum { ANGLES = 64 };
  gsl_integration_glfixed_table *rule = points(ANGLES);
  double sum = 0.0;
  for (size_t i = 0; i < ANGLES; i++) {
    double angle, weight;
    point(0.0, M_PI_2, i, &angle, &weight, rule);
    const double w = k * tan(angle);
    sum += weight * vertical_wave(height, w) * vertical_wave(other, w);
  }
  gsl_integration_glfixed_table_free(rule);
  return sum / M_PI_2;
}

/* int dz' zeta(z') exp(-k |z - z'|) over z' below z plus that above z, and the difference of both,
 * at the heights z of a disk. */
struct layers {
  double sum[DISK_HEIGHTS], difference[DISK_HEIGHTS];
};

/** Both integrals by steps of a fraction of either disk's height: what is farther decays. */
static void make_layers(double k, double source, double height, struct layers *layers) {
  const size_t fine = (size_t)ceil(height / source), inside = fine * (DISK_HEIGHTS - 1);
  const double step = height * DISK_TOP / (double)inside, decay = exp(-k * step);
  size_t n = GSL_MAX(inside, (size_t)ceil(DISK_TOP * source / step));
  double beyond = vertical_density(source, (double)n * step) / (k + 2.0 / source);
  double *above = layers->sum;
  above[DISK_HEIGHTS - 1] = beyond;
  for (; n-- > 0;) {
    beyond = beyond * decay + 0.5 * step *
                                  (vertical_density(source, (double)n * step) +
                                   decay * vertical_density(source, (double)(n + 1) * step));
    if (n % fine == 0 && n <= inside) above[n / fine] = beyond;
  }
  double within = beyond;
  for (n = 0; n <= inside; n++) {
    if (n % fine == 0) {
      beyond = above[n / fine];
      layers->sum[n / fine] = within + beyond;
      layers->difference[n / fine] = within - beyond;
    }
    within = within * decay + 0.5 * step *
                                  (decay * vertical_density(source, (double)n * step) +
                                   vertical_density(source, (double)(n + 1) * step));
  }
}

/** The waves of all disks at the heights of disk c: 2 pi G k S(k) times both integrals. */
static struct layers *make_waves(const struct galaxy_disks *d, size_t c) {
  struct layers *waves = allocate(d->waves->n, sizeof *waves, "waves of a disk"),
                *one = allocate(1, sizeof *one, "waves of a disk");
  for (size_t w = 0; w < d->waves->n; w++) {
    double k, weight;
    point(0.0, d->longest, w, &k, &weight, d->waves);
    for (size_t other = 0; other < d->galaxy.count; other++) {
      if (!galaxy_is_disk(&d->galaxy.component[other])) continue;
      const double factor = 2.0 * M_PI * GALAXY_GRAVITY * k * weight * d->disk[other].transform[w];
      make_layers(k, d->galaxy.component[other].height, d->galaxy.component[c].height, one);
      for (size_t j = 0; j < DISK_HEIGHTS; j++) {
        waves[w].sum[j] += factor * one->sum[j];
        waves[w].difference[j] += factor * one->difference[j];
      }
    }
  }
  free(one);
  return waves;
}

/** The force of all disks at the radii of the grid and the heights of disk c: R dPhi/dR with J1 and
 * the sum of both integrals, dPhi/dz with J0 and the difference. */
static void make_forces(struct galaxy_disks *d, size_t c) {
  const char *what = "forces of a disk";
  struct galaxy_disk *disk = &d->disk[c];
  struct layers *waves = make_waves(d, c), *column = allocate(1, sizeof *column, what);
  disk->force_z = allocate(DISK_HEIGHTS * DISK_RADII, sizeof *disk->force_z, what);
  disk->speed2 = allocate(DISK_HEIGHTS * DISK_RADII, sizeof *disk->speed2, what);
  for (size_t i = 0; i < DISK_RADII; i++) {
    memset(column, 0, sizeof *column);
    for (size_t w = 0; w < d->waves->n; w++) {
      double k, unused;
      point(0.0, d->longest, w, &k, &unused, d->waves);
      const double j0 = gsl_sf_bessel_J0(k * d->r[i]);
      const double j1 = d->r[i] * gsl_sf_bessel_J1(k * d->r[i]);
      for (size_t j = 0; j < DISK_HEIGHTS; j++) {
        column->sum[j] += j1 * waves[w].sum[j];
        column->difference[j] += j0 * waves[w].difference[j];
      }
    }
    for (size_t j = 0; j < DISK_HEIGHTS; j++) {
      disk->speed2[j * DISK_RADII + i] = column->sum[j];
      disk->force_z[j * DISK_RADII + i] = column->difference[j];
    }
  }
  free(column);
  free(waves);
}

/** The rotation curve, from the row of a table in the plane. */
static void make_rotation(struct galaxy_disks *d, const double *speed2) {
  d->speed2 = gsl_spline_alloc(gsl_interp_cspline, DISK_RADII);
  if (!d->speed2 || gsl_spline_init(d->speed2, d->ln_r, speed2, DISK_RADII))
    fail(EXIT_RUN_FAILED, "galaxy: no spline of the rotation curve");
}

struct galaxy_disks *galaxy_disks_create(const struct galaxy *galaxy) {
  size_t count = 0;
  for (size_t c = 0; c < galaxy->count; c++) count += galaxy_is_disk(&galaxy->component[c]);
  if (count == 0) return NULL;
  struct galaxy_disks *d = allocate(1, sizeof *d, "tables of disks");
  d->galaxy = *galaxy;
  make_grid(d);
  for (size_t c = 0; c < galaxy->count; c++) {
    if (!galaxy_is_disk(&d->galaxy.component[c])) continue;
    make_masses(d, c);
    make_transform(d, c);
  }
  for (size_t c = 0; c < galaxy->count; c++) {
    if (!galaxy_is_disk(&d->galaxy.component[c])) continue;
    make_forces(d, c);
    if (!d->speed2) make_rotation(d, d->disk[c].speed2);
  }
  d->bilinear = gsl_interp2d_alloc(gsl_interp2d_bilinear, DISK_RADII, DISK_HEIGHTS);
  double *any = allocate(DISK_HEIGHTS * DISK_RADII, sizeof *any, "tables of disks");
  if (!d->bilinear ||
      gsl_interp2d_init(d->bilinear, d->ln_r, d->height, any, DISK_RADII, DISK_HEIGHTS))
    fail(EXIT_RUN_FAILED, "galaxy: no interpolation of the tables of a disk");
  free(any);
  return d;
}

void galaxy_disks_free(struct galaxy_disks *d) {
  if (!d) return;
  for (size_t c = 0; c < d->galaxy.count; c++) {
    free(d->disk[c].transform);
    free(d->disk[c].force_z);
    free(d->disk[c].speed2);
    free(d->disk[c].sigma_z2);
  }
  gsl_integration_glfixed_table_free(d->waves);
  gsl_spline_free(d->speed2);
  gsl_interp2d_free(d->bilinear);
  free(d);
}

/* W = -2 pi^2 G int dk S(k)^2 <exp(-k |z - z'|)>, summed over pairs of disks. */
double galaxy_disks_energy(const struct galaxy_disks *d) {
  double energy = 0.0;
  for (size_t w = 0; w < d->waves->n; w++) {
    double k, weight, sum = 0.0;
    point(0.0, d->longest, w, &k, &weight, d->waves);
    for (size_t a = 0; a < d->galaxy.count; a++)
      for (size_t b = 0; b < d->galaxy.count && galaxy_is_disk(&d->galaxy.component[a]); b++)
        if (galaxy_is_disk(&d->galaxy.component[b]))
          sum += d->disk[a].transform[w] * d->disk[b].transform[w] *
                 vertical_mean(k, d->galaxy.component[a].height, d->galaxy.component[b].height);
    energy -= 2.0 * M_PI * M_PI * GALAXY_GRAVITY * weight * sum;
  }
  return energy;
}
