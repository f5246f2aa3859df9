/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which keys a rank needs to link its groups: around them, around what is coarser there, and below all of these.
 *
 * Keys alone say so, before any is asked for. Places are looked at in cubes of eight, the sons of one place of the next
 * coarser level, whose keys follow each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "topology_keys.h"

/** The places of a level, of which a coordinate is each third bit of a key. */
struct lattice {
  uint64_t last[3]; /* bits of the last place along an axis */
  bool periodic[3];
};

static uint64_t axis_bits(int c) { return UINT64_C(0x1249249249249249) << c; }

static struct lattice lattice_of(const struct topology *t, int level) {
  uint32_t last[3];
  struct lattice l;
  for (int c = 0; c < 3; c++) last[c] = (t->root[c] << level) - 1;
  const uint64_t key = morton_key(last);
  for (int c = 0; c < 3; c++) {
    l.last[c] = key & axis_bits(c);
    l.periodic[c] = t->boundary[c][0] == GAS_PERIODIC;
  }
  return l;
}

/** Of a place and those beside it along an axis the bits: before, itself, behind. @param[out] there  which there are
 * @return whether all are inside the box */
static bool beside(const struct lattice *l, int c, uint64_t key, uint64_t bits[3], bool there[3]) {
  const uint64_t mask = axis_bits(c), at = key & mask;
  const bool first = at == 0, last = at == l->last[c];
  bits[0] = first ? l->last[c] : (at - 1) & mask;
  bits[1] = at;
  bits[2] = last ? 0 : ((at | ~mask) + 1) & mask;
  there[0] = !first || l->periodic[c];
  there[1] = true;
  there[2] = !last || l->periodic[c];
  return !first && !last;
}

static struct key_range below(uint64_t first, uint64_t last, int levels) {
  return (struct key_range){first << 3 * levels, (last + 1) << 3 * levels};
}

/** Ask for what is below a place and below its neighbours.
 * @param level   of the place
 * @param levels  how many of the next finer ones */
static void want_ring(struct key_wants *w, const struct topology *t, const struct lattice *l,
                      int level, uint64_t key, int levels) {
  uint64_t bits[3][3];
  bool there[3][3], inside = true;
  for (int c = 0; c < 3; c++) inside = beside(l, c, key, bits[c], there[c]) && inside;
  for (int k = 1; k <= levels && level + k <= t->finest; k++) {
    if (t->level[level + k].count == 0) return; /* nor are there finer groups */
    const struct key_range all = below(bits[0][0] | bits[1][0] | bits[2][0],
                                       bits[0][2] | bits[1][2] | bits[2][2], k),
                           own = t->level[level + k].own_range;
    if (inside && is_in_range(own, all.begin) && all.end <= own.end) continue; /* most places */
    for (int n = 0; n < NEIGHBOURS; n++) {
      const int x = n % 3, y = n / 3 % 3, z = n / 9;
      if (!there[0][x] || !there[1][y] || !there[2][z]) continue;
      const uint64_t near = bits[0][x] | bits[1][y] | bits[2][z];
      topology_want(w, t, level + k, below(near, near, k));
    }
  }
}

void topology_want_around(struct key_wants *w, const struct topology *t, int level, uint64_t key) {
  const struct lattice l = lattice_of(t, level - 1);
  want_ring(w, t, &l, level - 1, key, 1);
}

void topology_want_at(struct key_wants *w, const struct topology *t, int finest,
                      const double position[3]) {
  uint32_t place[3];
  if (!t->share || comm_size() == 1) return;
  for (int c = 0; c < 3; c++) {
    const double at = floor(ldexp(position[c], finest));
    const uint32_t side = t->root[c] << finest;
    if (!(at >= 0.0 && at <= side)) return;
    place[c] = at == side ? side - 1 : (uint32_t)at; /* rounding */
  }
  const uint64_t key = morton_key(place);
  for (int level = 1; level <= finest; level++) {
    const uint64_t father = key >> 3 * (finest - level + 1);
    if (w->latest[level] == father + 1) continue;
    w->latest[level] = father + 1;
    topology_want_around(w, t, level, father);
  }
}

/** Keys that rise. */
struct key_list {
  size_t count;
  uint64_t *key;
};

static int compare_keys(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/** The fathers of own groups of a level and of others, each once; free() them. */
static struct key_list fathers_of(const struct gas_tree_level *l, const struct key_list *others) {
  const uint32_t own = l->own.end - l->own.first;
  struct key_list f = {0, allocate(own + others->count, sizeof *f.key, "patch groups")};
  for (size_t i = 0; i < own + others->count; i++) {
    const uint64_t father = (i < own ? l->key[i] : others->key[i - own]) >> 3;
    if (f.count == 0 || f.key[f.count - 1] != father) f.key[f.count++] = father;
  }
  if (others->count > 0) qsort(f.key, f.count, sizeof *f.key, compare_keys);
  size_t count = 0;
  for (size_t i = 0; i < f.count; i++)
    if (count == 0 || f.key[count - 1] != f.key[i]) f.key[count++] = f.key[i];
  f.count = count;
  return f;
}

static void want_rings(struct key_wants *w, const struct topology *t, int level,
                       const uint64_t *key, size_t count, int levels) {
  const struct lattice l = lattice_of(t, level);
  for (size_t i = 0; i < count; i++) want_ring(w, t, &l, level, key[i], levels);
}

void want_for_links(const struct topology *t, struct key_wants *w) {
  struct key_list above = {0}; /* of the level: what is around own groups of finer ones */
  if (!t->share || comm_size() == 1) return;
  for (int level = t->finest; level > 0; level--) {
    const struct key_list fathers = fathers_of(&t->level[level], &above);
    want_rings(w, t, level - 1, fathers.key, fathers.count, 2);
    free(above.key);
    above = fathers;
  }
  const struct gas_tree_level *root = &t->level[0];
  want_rings(w, t, 0, root->key, root->own.end - root->own.first, 1);
  want_rings(w, t, 0, above.key, above.count, 1);
  free(above.key);
}
