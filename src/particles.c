/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/particles.h"

#include <stdlib.h>

#include "photons/error.h"

struct particles particles_create(size_t n, double box, double mass) {
  return (struct particles){
      .count = n,
      .blocks = 1,
      .box = box,
      .mass = mass,
      .position = allocate(3 * n, sizeof(uint32_t), "particle positions"),
      .momentum = allocate(3 * n, sizeof(float), "particle momenta"),
      .acceleration = allocate(3 * n, sizeof(float), "particle accelerations"),
      .id = allocate(n, sizeof(uint64_t), "particle ids"),
  };
}

void particles_free(struct particles *s) {
  free(s->position);
  free(s->momentum);
  free(s->acceleration);
  free(s->id);
  *s = (struct particles){0};
}
