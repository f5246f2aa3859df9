/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an isolated system is made of, for people: its galaxies and their components. */
#ifndef PHOTONS_IC_SUMMARY_H
#define PHOTONS_IC_SUMMARY_H

#include "photons/domain/galaxy_ids.h"
#include "photons/domain/particles.h"
#include "photons/ic/galaxy.h"

struct parameters;

/** A component of a model, or the particles of one type of a file. */
struct component_summary {
  char name[32];
  int type;
  size_t particles;
  double mass;                    /**< 1e10 Msun */
  double particle_mass;           /**< of a file: on average */
  double scale, half_mass_radius; /**< kpc; 0: a file has no scale, and one particle no radius */
  double least_q, least_q_radius; /**< Toomre's, and where in kpc; 0: no disk */
  double acceleration;            /**< of the galaxy at the half-mass radius, (km/s)^2/kpc */
};

struct galaxy_summary {
  size_t components;
  struct component_summary component[GALAXY_COMPONENTS];
  double mass;                    /**< 1e10 Msun */
  double fastest, fastest_radius; /**< largest circular speed, km/s, and where in kpc */
};

struct isolated_summary {
  struct galaxy_ids ids; /**< of the particles of its galaxies */
  struct galaxy_summary galaxy[GALAXIES_MAX];
};

/** ic_isolated(), and what its particles are. */
struct particles ic_isolated_with(const struct parameters *p, struct isolated_summary *summary);

#endif
