/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of isolated systems. */
#include "photons/domain/domain.h"

void domain_double_frame(struct domain *d) {
  struct particles *s = &d->particles;
  s->box *= 2.0;
  d->geometry = geometry_make(s->box, 2.0 * d->geometry.r_cut);
  for (size_t i = 0; i < 3 * s->count; i++)
    s->position[i] = position_in_doubled_frame(s->position[i]);
}
