/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Isolated galaxies in equilibrium: spheres and exponential disks that hold each other.
 *
 * Units everywhere: kpc, km/s, 1e10 Msun, hence (km/s)^2 for potentials and energies a mass. Only
 * galaxy_component_parse() reads masses in Msun.
 *
 * The method is that of MAGI (Miki & Umemura 2018, MNRAS 475, 2269). A sphere's velocities follow
 * its distribution function f(E), from Eddington's inversion of its density in the potential of all
 * components. The potential in the inversion is spherical: a disk enters with its mass averaged
 * over spheres. A disk's velocities follow Jeans' equations. The tables are made once, on each
 * rank; they are the same everywhere. Particle i then depends on the seed and on i alone. */
#ifndef PHOTONS_GALAXY_H
#define PHOTONS_GALAXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** G in (km/s)^2 kpc/1e10 Msun. */
#define GALAXY_GRAVITY 43007.1

/** Density profiles; x = r/scale. */
enum galaxy_profile {
  GALAXY_NFW,         /**< 1/(x (1 + x)^2), Navarro et al. 1996; needs a cutoff */
  GALAXY_HERNQUIST,   /**< 1/(x (1 + x)^3), Hernquist 1990 */
  GALAXY_PLUMMER,     /**< (1 + x^2)^(-5/2) */
  GALAXY_SERSIC,      /**< x^-p exp(-b x^(1/n)), scale: effective radius. Sersic's surface density
                           without projection after Prugniel & Simien 1997, p(n) of Lima Neto et al.
                           1999, b(n) of Ciotti & Bertin 1999 */
  GALAXY_EXPONENTIAL, /**< disk: exp(-R/scale) sech^2(z/height) */
};

/** One component. Its density is multiplied by erfc((r - cutoff)/(2 cutoff_width))/2, a disk's
 * surface density by the same function of R, as MAGI does. */
struct galaxy_component {
  char name[32]; /**< for messages and files */
  enum galaxy_profile profile;
  double mass;         /**< 1e10 Msun, all of it, after the cutoff */
  double scale;        /**< kpc */
  double n;            /**< Sersic index, 0.6 to 10 */
  double height;       /**< of a disk, kpc */
  double cutoff;       /**< kpc; 0: a sphere ends at 1000 scales, a disk at 40 */
  double cutoff_width; /**< kpc, above 0 if there is a cutoff */
  double toomre_q;     /**< of a disk: its least Q over all radii; 0: GALAXY_DEFAULT_Q */
  int type;            /**< of the particles, as in Gadget: 1 halo, 2 disk, 3 bulge, 4 stars */
  size_t particles;    /**< 0: a share of the rest in proportion to the mass */
  double softening;    /**< kpc; 0: that of the type */
};

/** The least Q of a disk that names none: that of the M31 of Miki 2019. */
#define GALAXY_DEFAULT_Q 1.844

enum { GALAXY_COMPONENTS = 8 };

/** The components of a galaxy. */
struct galaxy {
  struct galaxy_component component[GALAXY_COMPONENTS];
  size_t count;
};

/**
 * A ready model.
 * @param name  m31 (Miki 2019, arXiv:1909.07439, after Geehan et al. 2006 and Fardal et al. 2007),
 *              or plummer, hernquist, nfw: one component
 * @return whether there is such a model
 */
bool galaxy_model(const char *name, struct galaxy *galaxy);

/**
 * Read one component from text: the profile, then numbers; masses in Msun, lengths in kpc.
 *
 *     nfw          MASS SCALE CUTOFF WIDTH
 *     hernquist    MASS SCALE [CUTOFF WIDTH]
 *     plummer      MASS SCALE [CUTOFF WIDTH]
 *     sersic       MASS EFFECTIVE_RADIUS INDEX [CUTOFF WIDTH]
 *     exponential  MASS SCALE HEIGHT [CUTOFF WIDTH [LEAST_Q]]
 *
 * What may follow, in any order: particles=N, or particle_mass=MASS in Msun, for the number of
 * particles; type=N; softening=LENGTH in kpc. The component is called after its profile; without type=N its type is 1 for
 * nfw, 2 for exponential, 3 for hernquist, else 4.
 * @param reason  receives one line if the text is refused
 * @return whether the text is a component
 */
bool galaxy_component_parse(const char *text, struct galaxy_component *component, char *reason,
                            size_t size);

/** All that diagnostics and sampling need. */
struct galaxy_tables;

/**
 * Compute the tables, in about a second. Every rank gets the same bits. The GSL error handler must
 * be off.
 * @param particles  in the whole galaxy, at least 1. Components without numbers of their own share
 *                   what the others leave, in proportion to their masses, by the largest remainders.
 *                   Where all have numbers, the sum of these, or 0
 * @param reason     receives one line if there is no such galaxy: a number out of range; a
 *                   distribution function below 0, with the component and the energy; a disk that
 *                   is hotter than its rotation
 * @return NULL if there is no such galaxy
 */
struct galaxy_tables *galaxy_tables_create(const struct galaxy *galaxy, size_t particles,
                                           char *reason, size_t size);
void galaxy_tables_free(struct galaxy_tables *tables);

/** The first particle of component @p c; that of component galaxy.count is the number of
 * particles. */
size_t galaxy_first(const struct galaxy_tables *tables, size_t c);

/** Mass of each particle of component @p c, 1e10 Msun. Components without numbers of their own have
 * one mass. */
double galaxy_particle_mass(const struct galaxy_tables *tables, size_t c);
/** Whether not all particles of the galaxy have one mass. */
bool galaxy_masses_differ(const struct galaxy_tables *tables);

/**
 * The particles first .. first + count - 1 of the galaxy. A particle depends on @p seed and on its
 * number alone. Components follow one another. The galaxy rotates about the z axis, positively. May
 * be called on any thread.
 * @param x     positions, kpc, [count][3]
 * @param v     velocities, km/s, [count][3]; no particle is faster than the escape speed
 * @param type  of the components, [count]; may be NULL
 */
void galaxy_sample(const struct galaxy_tables *tables, uint64_t seed, size_t first, size_t count,
                   double (*x)[3], double (*v)[3], uint8_t *type);

/** Sums of positions and of velocities as integers modulo 2^64 in units of 2^-24 kpc and 2^-24
 * km/s. So they are the same on any number of ranks; comm_sum_u64() adds up the six numbers of all
 * ranks. */
struct galaxy_sums {
  uint64_t position[3], velocity[3];
};

/** The sums over these particles, which all have one mass. */
struct galaxy_sums galaxy_sum(const double (*x)[3], const double (*v)[3], size_t count);

/** Move the particles so that the galaxy's centre of mass is at rest at 0.
 * @param sums  over each component of the whole galaxy, or parts of these that add up */
void galaxy_center(const struct galaxy_tables *tables,
                   const struct galaxy_sums sums[GALAXY_COMPONENTS], size_t count, double (*x)[3],
                   double (*v)[3]);

/** Mass of all components, 1e10 Msun. */
double galaxy_mass(const struct galaxy_tables *tables);

/** Mass of component @p c within the sphere of radius @p r. */
double galaxy_enclosed_mass(const struct galaxy_tables *tables, size_t c, double r);

/** Radius of the sphere with half of the mass of component @p c, kpc. */
double galaxy_half_mass_radius(const struct galaxy_tables *tables, size_t c);

/** Density of component @p c averaged over the sphere of radius @p r, 1e10 Msun/kpc^3. */
double galaxy_density(const struct galaxy_tables *tables, size_t c, double r);

/** The potential averaged over the sphere of radius @p r, (km/s)^2, below 0. */
double galaxy_potential(const struct galaxy_tables *tables, double r);

/** Distribution function of component @p c, 1e10 Msun/kpc^3/(km/s)^3, at the energy a mass
 * @p energy (km/s)^2 in galaxy_potential(); 0 for a disk. */
double galaxy_distribution(const struct galaxy_tables *tables, size_t c, double energy);

/** Speed on a circular orbit in the plane, km/s: spheres, and the thick disks without
 * approximation. */
double galaxy_circular_speed(const struct galaxy_tables *tables, double radius);

/** Radial and vertical velocity dispersion and mean rotation, km/s, of disk @p c at (R, z). */
struct galaxy_disk_moments {
  double sigma_r, sigma_phi, sigma_z, rotation;
};
struct galaxy_disk_moments galaxy_disk_moments(const struct galaxy_tables *tables, size_t c,
                                               double radius, double z);

/** Toomre's Q = sigma_R kappa/(3.36 G Sigma) of disk @p c (Toomre 1964). */
double galaxy_toomre_q(const struct galaxy_tables *tables, size_t c, double radius);

/** The least Q of disk @p c.
 * @param radius  receives where that is, kpc */
double galaxy_least_q(const struct galaxy_tables *tables, size_t c, double *radius);

/** Potential energy W of the smooth galaxy, 1e10 Msun (km/s)^2, below 0; in equilibrium -2T/W = 1.
 * The disks' own part is that of flat disks with their thickness, the other parts need spherical
 * averages only; nothing is approximated. */
double galaxy_potential_energy(const struct galaxy_tables *tables);

#endif
