/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Direct short-range forces: the force law and the reference in double precision. */
#include "photons/tree/p2p.h"
#include "photons/domain/geometry.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "photons/base/error.h"

void p2p_law_init(struct p2p_law *law, enum p2p_kind kind, enum softening_kind softening_kind,
                  double softening, int table_order, const struct split *split) {
  double epsilon = fmax(softening / split->r_cut, SOFTENING_LEAST);
  *law = (struct p2p_law){
      .kind = kind, .softening_kind = softening_kind, .split = split, .table_order = table_order};
  if (softening_kind == SOFTENING_SPLINE)
    law->support2 = (float)(SPLINE_SUPPORT * SPLINE_SUPPORT * epsilon * epsilon);
  else
    law->plummer2 = (float)(epsilon * epsilon);
}

void p2p_law_soften(struct p2p_law *law, const double softening[PARTICLE_TYPES]) {
  law->by_type = true;
  for (int k = 0; k < PARTICLE_TYPES; k++) {
    struct p2p_law of_type;
    p2p_law_init(&of_type, law->kind, law->softening_kind, softening[k], law->table_order,
                 law->split);
    law->soft2_of[k] = p2p_soft2(&of_type, NULL, 0);
  }
}

/* Rows begin with a cache line, and their length is an odd number of lines, so that they do not compete for
 * the same cache sets. */
enum { LINE = 16 }; /* floats */

void p2p_scratch_reserve(struct p2p_scratch *s, size_t sources, unsigned levels) {
  if (sources <= s->capacity && levels <= s->levels) return;
  if (sources > s->capacity) s->capacity = LINE * ((sources + sources / 2 + 256) / LINE | 1);
  s->levels = levels > s->levels ? levels : s->levels;
  free(s->data); /* no list is kept from one leaf to the next, so nothing is copied */
  s->data = aligned_alloc(LINE * sizeof(float), P2P_ROWS * s->capacity * s->levels * sizeof(float));
  if (!s->data) fail(EXIT_RUN_FAILED, "not enough memory for gathered sources");
}

void p2p_scratch_free(struct p2p_scratch *s) {
  free(s->data);
  *s = (struct p2p_scratch){0};
}

/** F/d at squared distance u, in units of r_cut^2.
 * @param soft2  of the pair, as the law's support2 or plummer2 */
static double exact_factor(const struct p2p_law *law, double soft2, double u) {
  if (u >= (double)R_CUT_SQUARED) return 0.0;
  double r = sqrt(u), support = sqrt(soft2);
  double softened = law->softening_kind == SOFTENING_PLUMMER ? 1.0 / pow(u + soft2, 1.5)
                    : r < support ? spline_factor(r / support) / (support * support * support)
                                  : 1.0 / (u * r);
  double h = -2.0 * split_series_derivative(law->split, 1, u);
  return softened - h;
}

uint64_t p2p_exact(const struct p2p_law *law, const struct p2p_target *t, float *acceleration) {
  const uint32_t node_mask = tree_nodes(t->source_depth) - 1;
  const double scale = t->scale;
  uint64_t pairs = 0;
  for (uint32_t leaf = 0; leaf < 1u << t->depth; leaf++) {
    const uint32_t end = tree_level_first(t->count, t->depth, t->first, t->depth, leaf + 1);
    for (uint32_t i = tree_level_first(t->count, t->depth, t->first, t->depth, leaf); i < end;
         i++) {
      double a[P2P_SUMS] = {0.0};
      const float soft2 = p2p_target_soft2(law, t, i);
      for (uint32_t e = t->near->offset[leaf]; e < t->near->offset[leaf + 1]; e++) {
        uint32_t slot = t->near->entry[e] >> (t->source_depth + 1),
                 node = t->near->entry[e] & node_mask;
        uint32_t n = t->source_count[slot];
        const uint32_t *x = t->source_x[slot];
        const float *mass = t->source_mass ? t->source_mass[slot] : NULL;
        const uint8_t *type = t->source_type ? t->source_type[slot] : NULL;
        for (uint32_t j = node_first(n, node); j < node_end(n, node); j++) {
          double d[3];
          for (size_t c = 0; c < 3; c++)
            d[c] = scale * position_difference(x[c * n + j], t->x[c * t->count + i]);
          const double u = d[0] * d[0] + d[1] * d[1] + d[2] * d[2],
                       f = (mass ? (double)mass[j] : 1.0) *
                           exact_factor(law, (double)fmaxf(soft2, p2p_soft2(law, type, j)), u);
          for (int c = 0; c < 3; c++) a[c] += f * d[c];
          if (u > 0.0) a[P2P_TIDE] += f;
        }
        pairs += node_end(n, node) - node_first(n, node);
      }
      for (size_t c = 0; c < p2p_components(t); c++)
        acceleration[c * t->count + i] = (float)(t->factor * a[c]);
    }
  }
  return pairs;
}

double p2p_newton_potential(const struct p2p_law *law, double soft2, double u) {
  if (law->softening_kind == SOFTENING_PLUMMER) return 1.0 / sqrt(u + soft2);
  const double support = sqrt(soft2), q = support > 0.0 ? sqrt(u) / support : 1.0;
  if (q >= 1.0) return 1.0 / sqrt(u);
  const double q2 = q * q, q4 = q2 * q2; /* Springel et al. (2001), equation 71 */
  return (q < 0.5 ? 2.8 - 16.0 / 3.0 * q2 + q4 * (9.6 - 6.4 * q)
                  : 3.2 - 1.0 / (15.0 * q) - q2 * (32.0 / 3.0 - 16.0 * q) -
                        q4 * (9.6 - 32.0 / 15.0 * q)) /
         support;
}
