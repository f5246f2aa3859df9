/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/topology.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "topology_links.h"

static int compare_keys(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static struct group_span own_of(const struct topology *t, int level, uint32_t count) {
  if (!t->share) return (struct group_span){0, count};
  return t->share(t->sharing, level, count, comm_rank());
}

void topology_replace(struct topology *t, int level, uint64_t *keys, uint32_t count) {
  struct gas_tree_level *l = &t->level[level];
  free(l->key);
  l->key = keys;
  l->count = count;
  l->own = own_of(t, level, count);
  l->changes++;
  topology_link(t, level);
}

struct group_span topology_of_nobody(const void *context, int level, uint32_t count, int rank) {
  (void)context;
  (void)level;
  (void)count;
  (void)rank;
  return (struct group_span){0, 0};
}

/** Fill in topology.step and topology.around. */
static void make_steps(struct topology *t) {
  for (int p = 0; p < 8; p++)
    for (int n = 0; n < NEIGHBOURS; n++) {
      const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      int group = 0, patch = 0;
      for (int c = 2; c >= 0; c--) {
        const int place = (p >> c & 1) + direction[c] + 2; /* of the patch, in groups' halves */
        patch |= (place & 1) << c;
        group = 3 * group + place / 2;
      }
      t->step[p][n] = (struct patch_step){(uint8_t)group, (uint8_t)patch};
      t->around[p] |= 1u << group;
    }
}

void topology_init_divided(struct topology *t, const uint32_t root[3],
                           const enum gas_boundary boundary[3][2], int finest,
                           topology_share *share, const void *context) {
  *t = (struct topology){
      .root = {root[0], root[1], root[2]}, .finest = finest, .share = share, .sharing = context};
  memcpy(t->boundary, boundary, sizeof t->boundary);
  make_steps(t);
  const uint32_t count = root[0] * root[1] * root[2];
  uint64_t *keys = allocate(count, sizeof *keys, "patch groups");
  for (uint32_t i = 0; i < count; i++)
    keys[i] = morton_key(
        (const uint32_t[3]){i % root[0], i / root[0] % root[1], i / root[0] / root[1]});
  qsort(keys, count, sizeof *keys, compare_keys);
  topology_replace(t, 0, keys, count);
}

void topology_init(struct topology *t, const uint32_t root[3],
                   const enum gas_boundary boundary[3][2], int finest) {
  topology_init_divided(t, root, boundary, finest, NULL, NULL);
}

void topology_free(struct topology *t) {
  for (int l = 0; l <= t->finest; l++) {
    free(t->level[l].key);
    topology_unlink(&t->level[l]);
  }
}
