/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The root level: its groups fill the box, so that the number of a key follows from the numbers of groups in cubes
 * before it. */
#include <stdlib.h>

#include "photons/base/error.h"
#include "topology_keys.h"

/** A cube of places along the Morton curve. */
struct cube {
  uint32_t low[3];
  int bits; /* its side is 1 << bits */
};

/** The smallest one that has all groups. */
static struct cube whole(const uint32_t root[3]) {
  struct cube c = {.bits = 0};
  for (int k = 0; k < 3; k++)
    while (root[k] > 1u << c.bits) c.bits++;
  return c;
}

static struct cube part_of(const struct cube *c, int part) {
  struct cube p = {.bits = c->bits - 1};
  for (int k = 0; k < 3; k++) p.low[k] = c->low[k] + ((uint32_t)(part >> k & 1) << p.bits);
  return p;
}

/** The groups in a cube. */
static uint32_t groups_in(const uint32_t root[3], const struct cube *c) {
  uint32_t groups = 1;
  for (int k = 0; k < 3; k++) {
    const uint32_t left = root[k] > c->low[k] ? root[k] - c->low[k] : 0, side = 1u << c->bits;
    groups *= left < side ? left : side;
  }
  return groups;
}

/** Those keys that are looked for. */
struct listing {
  const uint32_t *root;
  uint32_t first, end;
  uint64_t *key;
};

/** List the groups in a cube. @return the number of groups up to its end */
static uint32_t list(const struct listing *l, const struct cube *c, uint32_t number) {
  const uint32_t end = number + groups_in(l->root, c);
  if (end <= l->first || number >= l->end || end == number) return end;
  if (c->bits == 0) {
    l->key[number - l->first] = morton_key(c->low);
    return end;
  }
  for (int part = 0; part < 8; part++) {
    const struct cube p = part_of(c, part);
    number = list(l, &p, number); /* as deep as a key has bits: NOLINT(misc-no-recursion) */
  }
  return end;
}

uint64_t *root_keys(const uint32_t root[3], uint32_t first, uint32_t end) {
  const struct cube all = whole(root);
  const struct listing l = {root, first, end, allocate(end - first, sizeof *l.key, "patch groups")};
  list(&l, &all, 0);
  return l.key;
}

uint64_t root_key(const uint32_t root[3], uint32_t group) {
  struct cube c = whole(root);
  while (c.bits > 0) {
    int part = 0;
    struct cube p = part_of(&c, part);
    for (uint32_t groups; group >= (groups = groups_in(root, &p)); p = part_of(&c, ++part))
      group -= groups;
    c = p;
  }
  return morton_key(c.low);
}

uint32_t root_with_key(const uint32_t root[3], uint64_t key) {
  struct cube c = whole(root);
  uint32_t number = 0;
  if (key >> 3 * c.bits != 0) return NO_GROUP;
  while (c.bits > 0) {
    const int wanted = (int)(key >> 3 * (c.bits - 1) & 7);
    for (int part = 0; part < wanted; part++) {
      const struct cube p = part_of(&c, part);
      number += groups_in(root, &p);
    }
    c = part_of(&c, wanted);
  }
  return groups_in(root, &c) > 0 ? number : NO_GROUP;
}
