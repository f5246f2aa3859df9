/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exponential disks with a vertical profile sech^2(z/height)/(2 height).
 *
 * Their potential is an integral over waves, without approximation (Casertano 1983, MNRAS 203, 735):
 *   Phi(R, z) = -2 pi G int dk J0(k R) S(k) int dz' zeta(z') exp(-k |z - z'|),
 * S(k) = int dR R Sigma(R) J0(k R). */
#include "galaxy_disk.h"

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

enum { DISK_RADII = 512, HEIGHTS = 193 };
#define TOP 12.0 /* of the heights, in scale heights */

/* One disk. */
struct disk {
  double amplitude;         /* of the surface density */
  double mass[DISK_RADII];  /* within a cylinder */
  double *transform;        /* S(k) */
  double *force_z;          /* dPhi/dz of all disks, [HEIGHTS][DISK_RADII], heights of this disk */
  double *speed2;           /* R dPhi/dR of all disks, likewise */
  double *sigma_z2;         /* likewise */
  double sigma_r;           /* at R = 0 */
  double q, least_q_radius; /* the least Q, and where */
};

struct galaxy_disks {
  struct galaxy galaxy;
  double r[DISK_RADII], ln_r[DISK_RADII], height[HEIGHTS];
  struct disk disk[GALAXY_COMPONENTS]; /* by component */
  gsl_integration_glfixed_table *waves;
  double longest; /* wavenumber */
  gsl_spline *speed2;
  gsl_interp2d *bilinear; /* over ln R and height */
};

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

static const struct galaxy_component *component(const struct galaxy_disks *d, size_t c) {
  return &d->galaxy.component[c];
}

static bool is_disk(const struct galaxy_disks *d, size_t c) {
  return galaxy_is_disk(component(d, c));
}

static double sech2(double x) { return gsl_pow_2(1.0 / cosh(x)); }

static double vertical_density(double height, double z) {
  return sech2(z / height) / (2.0 * height);
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
             sech2(r * cos(angle) / c->height) / (2.0 * c->height);
  }
  gsl_integration_glfixed_table_free(rule);
  return sum;
}

static double surface_density(const struct galaxy_disks *d, size_t c, double radius) {
  if (radius >= galaxy_profile_end(component(d, c))) return 0.0;
  return d->disk[c].amplitude * galaxy_profile_at(component(d, c), radius).density;
}

/** From far inside the smallest disk to the end of the largest one. */
static void make_grid(struct galaxy_disks *d) {
  double shortest = INFINITY, end = 0.0;
  for (size_t c = 0; c < d->galaxy.count; c++) {
    if (!is_disk(d, c)) continue;
    shortest = fmin(shortest, component(d, c)->scale);
    end = fmax(end, galaxy_profile_end(component(d, c)));
  }
  d->longest = 60.0 / shortest;
  /* Each radian of the fastest wave gets a point. */
  d->waves = points((size_t)(d->longest * end) + 64);
  const double first = log(1e-4 * shortest), step = (log(end) - first) / (DISK_RADII - 1);
  for (size_t i = 0; i < DISK_RADII; i++) {
    d->ln_r[i] = first + (double)i * step;
    d->r[i] = exp(d->ln_r[i]);
  }
  for (size_t i = 0; i < HEIGHTS; i++) d->height[i] = TOP * (double)i / (HEIGHTS - 1);
}

static void make_masses(struct galaxy_disks *d, size_t c) {
  struct disk *disk = &d->disk[c];
  double *per_step = allocate(DISK_RADII, sizeof *per_step, "masses of a disk");
  disk->amplitude = 1.0;
  for (size_t i = 0; i < DISK_RADII; i++)
    per_step[i] = 2.0 * M_PI * gsl_pow_2(d->r[i]) * surface_density(d, c, d->r[i]);
  galaxy_integrate(d->ln_r, per_step, DISK_RADII, 0.5 * per_step[0], disk->mass);
  disk->amplitude = component(d, c)->mass / disk->mass[DISK_RADII - 1];
  for (size_t i = 0; i < DISK_RADII; i++) disk->mass[i] *= disk->amplitude;
  free(per_step);
}

/** S(k) at the points of d->waves. */
static void make_transform(struct galaxy_disks *d, size_t c) {
  const double end = galaxy_profile_end(component(d, c));
  gsl_integration_glfixed_table *rule = points((size_t)(d->longest * end) + 64);
  double *transform = allocate(d->waves->n, sizeof *transform, "transform of a disk");
  for (size_t i = 0; i < rule->n; i++) {
    double radius, weight;
    point(0.0, end, i, &radius, &weight, rule);
    const double mass = weight * radius * surface_density(d, c, radius);
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

/** R dPhi/dR = 2 pi G R int dk k J1(k R) S(k) <exp(-k |z|)> in the plane, on the grid of radii. */
static void make_speeds(struct galaxy_disks *d) {
  double *speed2 = allocate(DISK_RADII, sizeof *speed2, "speeds of a disk");
  for (size_t w = 0; w < d->waves->n; w++) {
    double k, weight, source = 0.0;
    point(0.0, d->longest, w, &k, &weight, d->waves);
    for (size_t c = 0; c < d->galaxy.count; c++)
      if (is_disk(d, c))
        source += d->disk[c].transform[w] * vertical_mean(k, component(d, c)->height, 0.0);
    source *= 2.0 * M_PI * GALAXY_GRAVITY * k * weight;
    for (size_t i = 0; i < DISK_RADII; i++)
      speed2[i] += source * d->r[i] * gsl_sf_bessel_J1(k * d->r[i]);
  }
  d->speed2 = gsl_spline_alloc(gsl_interp_cspline, DISK_RADII);
  if (!d->speed2 || gsl_spline_init(d->speed2, d->ln_r, speed2, DISK_RADII))
    fail(EXIT_RUN_FAILED, "galaxy: no spline of the rotation curve");
  free(speed2);
}

/* Of a vertical profile, at the heights of a disk: int dz' zeta(z') exp(-k |z - z'|) over z' below z
 * plus that above z, and the difference of both. */
struct layers {
  double sum[HEIGHTS], difference[HEIGHTS];
};

/** Both integrals by steps of a fraction of either disk's height: what is farther decays. */
static void make_layers(double k, double source, double height, struct layers *layers) {
  const size_t fine = (size_t)ceil(height / source), inside = fine * (HEIGHTS - 1);
  const double step = height * TOP / (double)inside, decay = exp(-k * step);
  size_t n = GSL_MAX(inside, (size_t)ceil(TOP * source / step));
  double beyond = vertical_density(source, (double)n * step) / (k + 2.0 / source);
  double *above = layers->sum;
  above[HEIGHTS - 1] = beyond;
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
      if (!is_disk(d, other)) continue;
      const double factor = 2.0 * M_PI * GALAXY_GRAVITY * k * weight * d->disk[other].transform[w];
      make_layers(k, component(d, other)->height, component(d, c)->height, one);
      for (size_t j = 0; j < HEIGHTS; j++) {
        waves[w].sum[j] += factor * one->sum[j];
        waves[w].difference[j] += factor * one->difference[j];
      }
    }
  }
  free(one);
  return waves;
}

/** The force of all disks at the radii of the grid and the heights of disk c. */
static void make_forces(struct galaxy_disks *d, size_t c) {
  const char *what = "forces of a disk";
  struct disk *disk = &d->disk[c];
  struct layers *waves = make_waves(d, c), *column = allocate(1, sizeof *column, what);
  disk->force_z = allocate(HEIGHTS * DISK_RADII, sizeof *disk->force_z, what);
  disk->speed2 = allocate(HEIGHTS * DISK_RADII, sizeof *disk->speed2, what);
  for (size_t i = 0; i < DISK_RADII; i++) {
    memset(column, 0, sizeof *column);
    for (size_t w = 0; w < d->waves->n; w++) {
      double k, unused;
      point(0.0, d->longest, w, &k, &unused, d->waves);
      const double j0 = gsl_sf_bessel_J0(k * d->r[i]);
      const double j1 = d->r[i] * gsl_sf_bessel_J1(k * d->r[i]);
      for (size_t j = 0; j < HEIGHTS; j++) {
        column->sum[j] += j1 * waves[w].sum[j];
        column->difference[j] += j0 * waves[w].difference[j];
      }
    }
    for (size_t j = 0; j < HEIGHTS; j++) {
      disk->speed2[j * DISK_RADII + i] = column->sum[j];
      disk->force_z[j * DISK_RADII + i] = column->difference[j];
    }
  }
  free(column);
  free(waves);
}

struct galaxy_disks *galaxy_disks_create(const struct galaxy *galaxy) {
  size_t count = 0;
  for (size_t c = 0; c < galaxy->count; c++) count += galaxy_is_disk(&galaxy->component[c]);
  if (count == 0) return NULL;
  struct galaxy_disks *d = allocate(1, sizeof *d, "tables of disks");
  d->galaxy = *galaxy;
  make_grid(d);
  for (size_t c = 0; c < galaxy->count; c++) {
    if (!is_disk(d, c)) continue;
    make_masses(d, c);
    make_transform(d, c);
  }
  make_speeds(d);
  for (size_t c = 0; c < galaxy->count; c++)
    if (is_disk(d, c)) make_forces(d, c);
  d->bilinear = gsl_interp2d_alloc(gsl_interp2d_bilinear, DISK_RADII, HEIGHTS);
  double *any = allocate(HEIGHTS * DISK_RADII, sizeof *any, "tables of disks");
  if (!d->bilinear || gsl_interp2d_init(d->bilinear, d->ln_r, d->height, any, DISK_RADII, HEIGHTS))
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
      for (size_t b = 0; b < d->galaxy.count && is_disk(d, a); b++)
        if (is_disk(d, b))
          sum += d->disk[a].transform[w] * d->disk[b].transform[w] *
                 vertical_mean(k, component(d, a)->height, component(d, b)->height);
    energy -= 2.0 * M_PI * M_PI * GALAXY_GRAVITY * weight * sum;
  }
  return energy;
}

static double inside_grid(const struct galaxy_disks *d, double radius) {
  return fmin(fmax(log(radius), d->ln_r[0]), d->ln_r[DISK_RADII - 1]);
}

double galaxy_disks_speed2(const struct galaxy_disks *d, double radius) {
  const double inside = fmin(radius / d->r[0], 1.0); /* solid rotation at the centre */
  const double outside = fmin(d->r[DISK_RADII - 1] / radius, 1.0);
  return gsl_pow_2(inside) * outside * gsl_spline_eval(d->speed2, inside_grid(d, radius), NULL);
}

/** d/dln R of the same. */
static double speed2_slope(const struct galaxy_disks *d, double radius) {
  const double inside = fmin(radius / d->r[0], 1.0);
  return gsl_pow_2(inside) * gsl_spline_eval_deriv(d->speed2, inside_grid(d, radius), NULL);
}

/** dPhi/dz of all components at a node of the tables of disk c. */
static double vertical_force(const struct galaxy_tables *t, size_t c, size_t i, size_t j) {
  const struct galaxy_disks *d = t->disks;
  const double z = component(d, c)->height * d->height[j], r = hypot(d->r[i], z);
  return fmax(d->disk[c].force_z[j * DISK_RADII + i], 0.0) +
         GALAXY_GRAVITY * galaxy_spheres_mass(t, r) * z / gsl_pow_3(r);
}

/** Jeans: density sigma_z^2 = int_z^infinity density dPhi/dz dz; at the top, where the density is
 * exp(-2 z/height), that is dPhi/dz height/2. */
static void heat_column(const struct galaxy_tables *t, size_t c, size_t i) {
  const struct galaxy_disks *d = t->disks;
  const double height = component(d, c)->height, step = height * TOP / (HEIGHTS - 1);
  double *sigma_z2 = d->disk[c].sigma_z2;
  double integral = 0.0, above = 0.0;
  for (size_t j = HEIGHTS; j-- > 0;) {
    const double density = sech2(d->height[j]);
    const double here = density * vertical_force(t, c, i, j);
    integral += j + 1 == HEIGHTS ? here * 0.5 * height : 0.5 * step * (here + above);
    sigma_z2[j * DISK_RADII + i] = integral / density;
    above = here;
  }
}

/** R dPhi/dR of the spheres at (R, z). */
static double spheres_speed2(const struct galaxy_tables *t, double radius, double z) {
  const double r = hypot(radius, z);
  return GALAXY_GRAVITY * galaxy_spheres_mass(t, r) * gsl_pow_2(radius) / gsl_pow_3(r);
}

static double plane_speed2(const struct galaxy_tables *t, double radius) {
  const double disks = t->disks ? galaxy_disks_speed2(t->disks, radius) : 0.0;
  return disks + spheres_speed2(t, radius, 0.0);
}

double galaxy_circular_speed(const struct galaxy_tables *t, double radius) {
  return sqrt(plane_speed2(t, radius));
}

/** (kappa/Omega)^2 = 2 + dln(v^2)/dln R in the plane. */
static double epicycle(const struct galaxy_tables *t, double radius) {
  double slope = speed2_slope(t->disks, radius);
  for (size_t c = 0; c < t->galaxy.count; c++)
    if (!is_disk(t->disks, c))
      slope += GALAXY_GRAVITY * (4.0 * M_PI * gsl_pow_2(radius) * galaxy_density(t, c, radius) -
                                 galaxy_enclosed_mass(t, c, radius) / radius);
  return fmax(2.0 + slope / plane_speed2(t, radius), 0.0);
}

/** sigma_R is exp(-R/(2 scale)): with the constant height of the disk, a constant ratio of the
 * dispersions of a layer (Lewis & Freeman 1989). The M31 of Miki 2019 has Q(R_d)/Q_least = 1.245 at
 * 12.34 kpc. This profile gives 1.26 at 12.4 kpc; a constant ratio to sigma_z, 1.40. */
static double radial_dispersion(const struct galaxy_disks *d, size_t c, double radius) {
  return d->disk[c].sigma_r * exp(-0.5 * radius / component(d, c)->scale);
}

double galaxy_toomre_q(const struct galaxy_tables *t, size_t c, double radius) {
  const double kappa = sqrt(epicycle(t, radius)) * galaxy_circular_speed(t, radius) / radius;
  return radial_dispersion(t->disks, c, radius) * kappa /
         (3.36 * GALAXY_GRAVITY * surface_density(t->disks, c, radius));
}

/** Scale sigma_R to the least Q. */
static void heat_radially(struct galaxy_tables *t, size_t c) {
  struct disk *disk = &t->disks->disk[c];
  const double asked = component(t->disks, c)->toomre_q;
  const double end = galaxy_profile_end(component(t->disks, c));
  disk->sigma_r = 1.0;
  disk->q = INFINITY;
  for (size_t i = 0; i < DISK_RADII && t->disks->r[i] < end; i++) {
    const double q = galaxy_toomre_q(t, c, t->disks->r[i]);
    if (!(q < disk->q)) continue;
    disk->q = q;
    disk->least_q_radius = t->disks->r[i];
  }
  disk->sigma_r = (asked > 0.0 ? asked : GALAXY_DEFAULT_Q) / disk->q;
  disk->q *= disk->sigma_r;
}

double galaxy_least_q(const struct galaxy_tables *t, size_t c, double *radius) {
  *radius = t->disks->disk[c].least_q_radius;
  return t->disks->disk[c].q;
}

double galaxy_disk_radius(const struct galaxy_tables *t, size_t c, double fraction) {
  return galaxy_radius_of_mass(t->disks->r, t->disks->disk[c].mass, DISK_RADII,
                               fraction * component(t->disks, c)->mass);
}

/** A table of disk c at (R, z). */
static double table_at(const struct galaxy_disks *d, size_t c, const double *table, double radius,
                       double z) {
  const double height = fmin(fabs(z) / component(d, c)->height, TOP);
  return gsl_interp2d_eval(d->bilinear, d->ln_r, d->height, table, inside_grid(d, radius), height,
                           NULL, NULL);
}

/** Jeans' equation in R at (R, z) without a tilt of the ellipsoid, Binney & Tremaine 2008, eq.
 * 4.227; sigma_phi/sigma_R of epicycles, eq. 8.117. */
struct galaxy_disk_moments galaxy_disk_moments(const struct galaxy_tables *t, size_t c,
                                               double radius, double z) {
  const struct galaxy_disks *d = t->disks;
  const double sigma_r2 = gsl_pow_2(radial_dispersion(d, c, radius));
  const double sigma_phi2 = 0.25 * epicycle(t, radius) * sigma_r2;
  const double slope = galaxy_profile_at(component(d, c), radius).slope -
                       radius / component(d, c)->scale;
  const double speed2 = table_at(d, c, d->disk[c].speed2, radius, z) + spheres_speed2(t, radius, z);
  const double rotation2 = speed2 + sigma_r2 * (1.0 + slope) - sigma_phi2;
  return (struct galaxy_disk_moments){
      .sigma_r = sqrt(sigma_r2),
      .sigma_phi = sqrt(sigma_phi2),
      .sigma_z = sqrt(table_at(d, c, d->disk[c].sigma_z2, radius, z)),
      .rotation = sqrt(fmax(rotation2, 0.0))};
}

/** Whether the disk rotates at its scale length. If not, the pressure of its velocity dispersion
 * alone exceeds gravity there. */
static bool rotates(const struct galaxy_tables *t, size_t c, char *reason, size_t size) {
  const struct galaxy_component *one = component(t->disks, c);
  if (galaxy_disk_moments(t, c, one->scale, 0.0).rotation > 0.0) return true;
  snprintf(reason, size,
           "galaxy: component %s: at its scale length of %g kpc the velocity dispersion of a least "
           "Q of %g exceeds what gravity holds: a smaller least Q is needed",
           one->name, one->scale, t->disks->disk[c].q);
  return false;
}

bool galaxy_disks_heat(struct galaxy_tables *t, char *reason, size_t size) {
  for (size_t c = 0; c < t->galaxy.count; c++) {
    if (!is_disk(t->disks, c)) continue;
    t->disks->disk[c].sigma_z2 = allocate(HEIGHTS * DISK_RADII, sizeof(double),
                                          "dispersions of a disk");
    for (size_t i = 0; i < DISK_RADII; i++) heat_column(t, c, i);
    heat_radially(t, c);
    if (!rotates(t, c, reason, size)) return false;
  }
  return true;
}
