/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of pairs: of each target the largest one over its near list. */
#include "photons/tree/pair_rates.h"

#include <stdbool.h>

#include "photons/domain/geometry.h"
#include "photons/tree/kernels.h"

/** A target, or the sources of one entry: columns of a group, component c at x + c * n. */
struct one {
  uint32_t x[3];
  float p[3], mass, soft2;
};
struct many {
  const uint32_t *x;
  const float *p, *mass; /* NULL: all masses are 1 */
  const uint8_t *type;   /* NULL: all softening lengths are the target's */
  size_t n, first, end;
};

/** Numbers of a source that differ: masses alone, or types, too. */
static inline __attribute__((always_inline)) float
largest_of(const struct pair_law *law, const struct p2p_law *forces, float scale,
           const struct one *t, const struct many *s, bool masses, bool types) {
  const uint32_t *x = s->x, *y = x + s->n, *z = y + s->n;
  const float *px = s->p, *py = px + s->n, *pz = py + s->n, speed = law->speed, unit = law->mass,
              inverse_eta = law->inverse_eta, own_mass = t->mass, own2 = t->soft2, soft = law->soft;
  const uint32_t x0 = t->x[0], y0 = t->x[1], z0 = t->x[2];
  const float p0 = t->p[0], p1 = t->p[1], p2 = t->p[2];
  float largest = 0.0f;
#pragma omp simd reduction(max : largest)
  for (size_t i = s->first; i < s->end; i++) {
    /* differences of integers: a particle is at no distance from itself */
    const float dx = scale * (float)(int32_t)(x[i] - x0), dy = scale * (float)(int32_t)(y[i] - y0),
                dz = scale * (float)(int32_t)(z[i] - z0);
    const float vx = speed * (px[i] - p0), vy = speed * (py[i] - p1), vz = speed * (pz[i] - p2);
    const float r2 = dx * dx + dy * dy + dz * dz, v2 = vx * vx + vy * vy + vz * vz,
                rv = dx * vx + dy * vy + dz * vz;
    const float of_type = types ? forces->soft2_of[s->type[i]] : own2,
                soft2 = of_type > own2 ? of_type : own2;
    const float rate = pair_rate(r2 + soft * soft2, rv, v2,
                                 unit * (own_mass + (masses ? s->mass[i] : 1.0f)), inverse_eta);
    const float counts = r2 + v2 > 0.0f ? rate : 0.0f; /* else it is the target itself */
    largest = counts > largest ? counts : largest;
  }
  return largest;
}

static float largest_of_entry(const struct pair_law *law, const struct p2p_law *forces, float scale,
                              const struct one *t, const struct many *s) {
  if (s->type) return largest_of(law, forces, scale, t, s, s->mass != NULL, true);
  if (s->mass) return largest_of(law, forces, scale, t, s, true, false);
  return largest_of(law, forces, scale, t, s, false, false);
}

static struct one target_at(const struct pair_target *target, const struct p2p_law *forces,
                            uint32_t i) {
  const struct p2p_target *t = &target->at;
  const uint32_t place = t->index ? t->index[i] : i;
  struct one one = {.mass = p2p_target_mass(t, i), .soft2 = p2p_target_soft2(forces, t, i)};
  for (size_t c = 0; c < 3; c++) {
    one.x[c] = t->x[c * t->count + i];
    one.p[c] = target->source_p[0][c * t->source_count[0] + place];
  }
  return one;
}

static struct many sources_at(const struct pair_target *target, uint32_t entry) {
  const struct p2p_target *t = &target->at;
  const uint32_t slot = entry >> (t->source_depth + 1),
                 node = entry & (tree_nodes(t->source_depth) - 1), n = t->source_count[slot];
  return (struct many){.x = t->source_x[slot],
                       .p = target->source_p[slot],
                       .mass = t->source_mass ? t->source_mass[slot] : NULL,
                       .type = t->source_type ? t->source_type[slot] : NULL,
                       .n = n,
                       .first = node_first(n, node),
                       .end = node_end(n, node)};
}

void KERNEL(pair_rates)(const struct pair_law *law, const struct p2p_law *forces,
                        const struct pair_target *target, float *rate) {
  const struct p2p_target *t = &target->at;
  for (uint32_t leaf = t->leaf; leaf < t->leaf_end; leaf++) {
    const uint32_t end = tree_level_first(t->count, t->depth, t->first, t->depth, leaf + 1);
    for (uint32_t i = tree_level_first(t->count, t->depth, t->first, t->depth, leaf); i < end;
         i++) {
      const struct one one = target_at(target, forces, i);
      float largest = 0.0f;
      for (uint32_t e = t->near->offset[leaf]; e < t->near->offset[leaf + 1]; e++) {
        const struct many sources = sources_at(target, t->near->entry[e]);
        largest = fmaxf(largest, largest_of_entry(law, forces, t->scale, &one, &sources));
      }
      rate[i] = largest;
    }
  }
}
