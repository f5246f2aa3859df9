/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two ways in which the program reads a Gadget file of either format. */
#ifndef PHOTONS_FUZZ_GADGET_READERS_H
#define PHOTONS_FUZZ_GADGET_READERS_H

#include <math.h>
#include <stdio.h>

#include "harness.h"
#include "photons/ic/ic.h"

static inline void check_particles(struct particles *s) {
  fuzz_require(s->count > 0 && s->all == s->count, "no particles");
  fuzz_require(isfinite(s->mass) && isfinite(s->box) && s->box > 0.0,
               "mass or box is not a number");
  for (size_t i = 0; i < 3 * s->count; i++)
    fuzz_require(isfinite(s->momentum[i]), "a momentum is not a number");
  particles_free(s);
}

static inline void read_conditions(const char *path) {
  struct parameters p;
  parameters_default(&p);
  p.ic.source = IC_GADGET;
  snprintf(p.ic.file, sizeof p.ic.file, "%s", path);
  struct particles s = ic_read_gadget(&p);
  check_particles(&s);
}

static inline void read_glass(const char *path) {
  struct particles s = ic_read_glass(path);
  check_particles(&s);
}

#endif
