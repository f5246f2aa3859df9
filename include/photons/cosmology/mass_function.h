/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Theoretical halo mass functions, from sigma(M) of cold dark matter and baryons: with massive neutrinos, too, halos are
 * those of the particles (Castorina et al. 2014, JCAP 02, 049). */
#ifndef PHOTONS_MASS_FUNCTION_H
#define PHOTONS_MASS_FUNCTION_H

struct linear_theory;

/** Linear density contrast at collapse, Einstein-de Sitter: (3/20) (12 pi)^(2/3). */
#define HALO_COLLAPSE 1.686470199841

enum mass_function {
  PRESS_SCHECHTER,  /**< Press & Schechter 1974 (ApJ 187, 425) */
  SHETH_TORMEN,     /**< Sheth & Tormen 1999 (MNRAS 308, 119) */
  REED_2007,        /**< Reed et al. 2007 (MNRAS 374, 2), with n_eff: friends of friends, b = 0.2 */
  TINKER_2008_200M, /**< Tinker et al. 2008 (ApJ 688, 709), spheres of 200 times the mean density */
  TINKER_2008_200C, /**< the same for 200 times the critical density: interpolated to 200/Omega_m(z)
                         times the mean density */
  MASS_FUNCTIONS
};

/** Theory of halos at one time. */
struct halo_theory;

/**
 * Prepare for masses between two.
 * @param linear     with a spectrum; its cosmology must outlive the result
 * @param low, high  1e10 Msun/h
 */
struct halo_theory *halo_theory_create(const struct linear_theory *linear, double low, double high);
void halo_theory_free(struct halo_theory *t);

/** dn/dlnM in (Mpc/h)^-3 of all mass functions. @param mass  1e10 Msun/h */
void halo_theory_mass_functions(const struct halo_theory *t, double mass,
                                double result[MASS_FUNCTIONS]);

/** Linear bias of halos of 200 times the mean density: Tinker et al. 2010 (ApJ 724, 878), equation 6 and table
 * 2. @param height  1.686 over the rms linear density contrast on the scale of the mass */
double halo_bias_of_peak(double height);
/** The same of halos of a mass. @param mass  1e10 Msun/h */
double halo_theory_bias(const struct halo_theory *t, double mass);

#endif
