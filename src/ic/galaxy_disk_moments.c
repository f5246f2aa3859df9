/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Velocities of disks by Jeans' equations, in the forces of all components. */
#include <gsl/gsl_interp2d.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_spline.h>
#include <math.h>
#include <stdio.h>

#include "galaxy_disk.h"
#include "galaxy_profile.h"
#include "photons/base/error.h"

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
  const double z = d->galaxy.component[c].height * d->height[j], r = hypot(d->r[i], z);
  return fmax(d->disk[c].force_z[j * DISK_RADII + i], 0.0) +
         GALAXY_GRAVITY * galaxy_spheres_mass(t, r) * z / gsl_pow_3(r);
}

/** Jeans: density sigma_z^2 = int_z^infinity density dPhi/dz dz; at the top, where the density is
 * exp(-2 z/height), that is dPhi/dz height/2. */
static void heat_column(const struct galaxy_tables *t, size_t c, size_t i) {
  const struct galaxy_disks *d = t->disks;
  const double height = d->galaxy.component[c].height,
               step = height * DISK_TOP / (DISK_HEIGHTS - 1);
  double *sigma_z2 = d->disk[c].sigma_z2;
  double integral = 0.0, above = 0.0;
  for (size_t j = DISK_HEIGHTS; j-- > 0;) {
    const double density = galaxy_sech2(d->height[j]);
    const double here = density * vertical_force(t, c, i, j);
    integral += j + 1 == DISK_HEIGHTS ? here * 0.5 * height : 0.5 * step * (here + above);
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
    if (!galaxy_is_disk(&t->galaxy.component[c]))
      slope += GALAXY_GRAVITY * (4.0 * M_PI * gsl_pow_2(radius) * galaxy_density(t, c, radius) -
                                 galaxy_enclosed_mass(t, c, radius) / radius);
  return fmax(2.0 + slope / plane_speed2(t, radius), 0.0);
}

/** sigma_R is exp(-R/(2 scale)): with the constant height of the disk, a constant ratio of the
 * dispersions of a layer (Lewis & Freeman 1989). The M31 of Miki 2019 has Q(R_d)/Q_least = 1.245 at
 * 12.34 kpc. This profile gives 1.26 at 12.4 kpc; a constant ratio to sigma_z, 1.40. */
static double radial_dispersion(const struct galaxy_disks *d, size_t c, double radius) {
  return d->disk[c].sigma_r * exp(-0.5 * radius / d->galaxy.component[c].scale);
}

double galaxy_toomre_q(const struct galaxy_tables *t, size_t c, double radius) {
  const double kappa = sqrt(epicycle(t, radius)) * galaxy_circular_speed(t, radius) / radius;
  return radial_dispersion(t->disks, c, radius) * kappa /
         (3.36 * GALAXY_GRAVITY * galaxy_disk_surface_density(t->disks, c, radius));
}

/** Scale sigma_R to the least Q. */
static void heat_radially(struct galaxy_tables *t, size_t c) {
  struct galaxy_disk *disk = &t->disks->disk[c];
  const double asked = t->galaxy.component[c].toomre_q;
  const double end = galaxy_profile_end(&t->galaxy.component[c]);
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
                               fraction * t->galaxy.component[c].mass);
}

/** A table of disk c at (R, z). */
static double table_at(const struct galaxy_disks *d, size_t c, const double *table, double radius,
                       double z) {
  const double height = fmin(fabs(z) / d->galaxy.component[c].height, DISK_TOP);
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
  const double slope = galaxy_profile_at(&d->galaxy.component[c], radius).slope -
                       radius / d->galaxy.component[c].scale;
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
  const struct galaxy_component *one = &t->galaxy.component[c];
  if (galaxy_disk_moments(t, c, one->scale, 0.0).rotation > 0.0) return true;
  snprintf(reason, size,
           "galaxy: component %s: at its scale length of %g kpc the velocity dispersion of a least "
           "Q of %g exceeds what gravity holds: a smaller least Q is needed",
           one->name, one->scale, t->disks->disk[c].q);
  return false;
}

bool galaxy_disks_heat(struct galaxy_tables *t, char *reason, size_t size) {
  for (size_t c = 0; c < t->galaxy.count; c++) {
    if (!galaxy_is_disk(&t->galaxy.component[c])) continue;
    t->disks->disk[c].sigma_z2 = allocate(DISK_HEIGHTS * DISK_RADII, sizeof(double),
                                          "dispersions of a disk");
    for (size_t i = 0; i < DISK_RADII; i++) heat_column(t, c, i);
    heat_radially(t, c);
    if (!rotates(t, c, reason, size)) return false;
  }
  return true;
}
