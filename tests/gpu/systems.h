/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole systems of particles, on cores and on GPUs. */
#ifndef PHOTONS_TESTS_GPU_SYSTEMS_H
#define PHOTONS_TESTS_GPU_SYSTEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/domain/particles.h"

#define UNIVERSE "[box]\nsize = 50\nnpart_side = 40\n[ic]\nz_init = 1\n"
#define ISOLATED                                                                                   \
  "[box]\nboundary = isolated\n[ic]\nsource = galaxy\n[time]\nend = 10\nstep = block\nmax_step = " \
  "2\n"
#define PLUMMER(particles)                                          \
  ISOLATED "[galaxy]\nmodel = plummer\nparticles = " particles "\n" \
           "[gravity]\nsoftening = 0.1\n"
#define SPHERE PLUMMER("32768")
#define GALAXY                                                                 \
  ISOLATED "[galaxy]\nmodel = m31\nparticles = 32768\n[gravity]\nsoftening = " \
           "0.015625\nsoftening_kernel = plummer\n"

struct setting {
  const char *text; /* of a config.ini */
  const char *const *overrides;
  size_t count;
  bool mixed; /* particles have masses and types that differ */
};

struct universe {
  struct parameters p;
  struct cosmology c;
  struct particles particles;
};

/** Read or generate a system. */
struct universe make_universe(const struct setting *setting);
/** Compare all stages, and whole forces. */
void check_system(const struct setting *setting);

#endif
