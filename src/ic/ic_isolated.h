/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an isolated system is made of: bodies, each a model of a galaxy or a file. */
#ifndef PHOTONS_IC_ISOLATED_H
#define PHOTONS_IC_ISOLATED_H

#include "gadget_set.h"
#include "ic_orbit.h"
#include "photons/config/parameters.h"
#include "photons/domain/particles.h"
#include "photons/ic/galaxy.h"
#include "photons/ic/summary.h"
#include "row_file.h"

struct body {
  struct galaxy_tables *tables;  /**< of a model; NULL: a file */
  size_t components;             /**< of a model */
  uint64_t seed;                 /**< of a model */
  struct gadget_set set;         /**< of a Gadget file */
  bool has_rows;                 /**< its file is `rows`, */
  struct row_file rows;          /**< text or Tipsy */
  bool analysed;                 /**< not to be followed: gas is matter, and velocities may lack */
  double length, mass, velocity; /**< of a file: its units in kpc, 1e10 Msun, km/s */
  size_t first, count;           /**< its particles among those of all bodies */
  double mean_mass;              /**< 1e10 Msun */
  bool has_masses, has_types;    /**< its particles have different masses, other types than 1 */
  const struct placing *placing;
  struct place place;  /**< that `placing` names */
  const char *section; /**< of config.ini, with the keys of `placing` */
};

/** Make the tables of a model. What cannot be a galaxy ends the program with EXIT_BAD_USAGE.
 * @param k  the number of its section, galaxy_sections[k] */
void body_from_model(struct body *b, const struct parameters *p, int k);
/** What a model is, for people. */
struct galaxy_summary body_summary(const struct body *b);
/** Particles of a body that are on this rank. */
struct cloud_part {
  const struct particles *s; /**< types and masses are those of first .. first + count - 1 */
  size_t first, count;
  const double (*x)[3]; /**< [count], kpc */
};
/** What particles of a file are, for people, about their centre by spheres that shrink. Speeds and accelerations
 * are those of spheres. Collective. */
struct galaxy_summary body_measure(const struct cloud_part *part);
/** A part of an array. */
struct range {
  size_t first, count;
};
/** Which of the particles first .. first + count - 1 of a model are of component @p c. */
struct range body_component(const struct body *b, size_t c, size_t first, size_t count);
/** The particles first .. first + count - 1 of a model, whose centre of mass is at rest at 0.
 * Collective.
 * @param x, v  [count][3], kpc and km/s
 * @param type  [count], or NULL */
void body_sample(const struct body *b, size_t first, size_t count, double (*x)[3], double (*v)[3],
                 uint8_t *type);

#endif
