/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The galaxies that an isolated system begins with: their particles have consecutive ids. */
#ifndef PHOTONS_DOMAIN_GALAXY_IDS_H
#define PHOTONS_DOMAIN_GALAXY_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/config/parameters.h"

/** Galaxy k > 0 has the ids from last[k - 1] + 1 to last[k], and the first one those from 1 on. A
 * galaxy that is alone has all particles, whatever their ids. */
struct galaxy_ids {
  size_t count;
  uint64_t last[GALAXIES_MAX];
};

static inline bool galaxy_has(const struct galaxy_ids *g, size_t k, uint64_t id) {
  return g->count <= 1 || (id <= g->last[k] && (k == 0 || id > g->last[k - 1]));
}

#endif
