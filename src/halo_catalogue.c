/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Halos from friends-of-friends groups: members, and properties that do not depend on the order of the particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/analysis_tasks.h"
#include "photons/cosmology.h"
#include "photons/error.h"
#include "photons/halo.h"
#include "photons/tree.h"

#define SHRINK 0.9       /* radius of one sphere over the one before */
#define PEAK_LEAST 10    /* members in the last sphere at least, */
#define PEAK_SHARE 0.005 /* and this share of all */
enum { TASKS = 64, SHELLS = 128 };

struct catalogue_work {
  const struct fof *fof;
  struct halo_catalogue *catalogue;
  double threshold_count; /* particles in a sphere of unit radius (position units) at the threshold density */
};

/* Members. */

static int compare_halos(const void *a, const void *b) {
  const struct halo *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return (x->lowest_id > y->lowest_id) - (x->lowest_id < y->lowest_id);
}

/** Count members; on return slot[head] is a halo's number + 1, 0 for groups too small. */
static void count_members(struct halo_catalogue *c, const struct fof *f, size_t min_members, uint32_t *slot) {
  const size_t n = f->particles->count;
  for (size_t i = 0; i < n; i++) slot[f->head[i]]++;
  for (size_t i = 0; i < n; i++) c->count += slot[i] >= min_members && slot[i] > 0;
  c->halo = allocate(c->count, sizeof *c->halo, "halos");
  uint32_t next = 0;
  for (size_t i = 0; i < n; i++) {
    if (slot[i] < min_members || slot[i] == 0) {
      slot[i] = 0;
      continue;
    }
    c->halo[next] = (struct halo){.count = slot[i], .first = i, .lowest_id = UINT64_MAX};
    slot[i] = ++next;
  }
}

/** Fill c->member; its order inside a halo is that of the particles. */
static void collect_members(struct halo_catalogue *c, const struct fof *f, size_t min_members) {
  const struct particles *s = f->particles;
  uint32_t *slot = allocate(s->count, sizeof *slot, "halo numbers");
  count_members(c, f, min_members, slot);
  for (size_t i = 0; i < s->count; i++) {
    const uint32_t number = slot[f->head[i]];
    if (number == 0) continue;
    struct halo *h = &c->halo[number - 1];
    if (s->id[i] < h->lowest_id) h->lowest_id = s->id[i];
  }
  qsort(c->halo, c->count, sizeof *c->halo, compare_halos);
  uint64_t *next = allocate(c->count, sizeof *next, "halo members");
  for (size_t h = 0; h < c->count; h++) {
    slot[c->halo[h].first] = (uint32_t)h + 1; /* first was the head */
    next[h] = c->halo[h].first = c->members;
    c->members += c->halo[h].count;
  }
  c->member = allocate(c->members, sizeof *c->member, "halo members");
  for (size_t i = 0; i < s->count; i++) {
    const uint32_t number = slot[f->head[i]];
    if (number) c->member[next[number - 1]++] = (uint32_t)i;
  }
  free(next);
  free(slot);
}

struct ranked {
  uint64_t id;
  uint32_t particle;
};

static int compare_ranked(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

/** Put a halo's members in the order of their ids. */
static void sort_members(const struct particles *s, size_t n, uint32_t *member) {
  struct ranked *rank = allocate(n, sizeof *rank, "halo members");
  for (size_t i = 0; i < n; i++) rank[i] = (struct ranked){s->id[member[i]], member[i]};
  qsort(rank, n, sizeof *rank, compare_ranked);
  for (size_t i = 0; i < n; i++) member[i] = rank[i].particle;
  free(rank);
}

/* Properties. */

/** Where a particle stands in the arrays of component 0, and the distance to those of the next component. */
static size_t component_offset(const struct particles *s, size_t i, size_t *stride) {
  size_t block = (size_t)((unsigned __int128)i * s->blocks / s->count);
  while (block_first(s->count, s->blocks, block + 1) <= i) block++;
  const size_t first = block_first(s->count, s->blocks, block);
  *stride = block_first(s->count, s->blocks, block + 1) - first;
  return 3 * first + (i - first);
}

/** A point by its distance to a reference particle, position units. */
struct offset {
  int32_t x[3];
};

/** Mean of n offsets, rounded. */
static struct offset mean_offset(size_t n, const struct offset *o) {
  int64_t sum[3] = {0};
  for (size_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) sum[c] += o[i].x[c];
  struct offset mean;
  for (int c = 0; c < 3; c++) mean.x[c] = (int32_t)llrint((double)sum[c] / (double)n);
  return mean;
}

static inline uint64_t offset_distance2(const struct offset *a, const struct offset *b) {
  uint64_t sum = 0;
  for (int c = 0; c < 3; c++) {
    const int64_t d = (int64_t)a->x[c] - b->x[c];
    sum += (uint64_t)(d * d);
  }
  return sum;
}

/** The peak of n offsets: the centre of mass inside ever smaller spheres about the last one. Rearranges the offsets. */
static struct offset find_peak(size_t n, struct offset *o) {
  const double share = PEAK_SHARE * (double)n;
  const size_t least = share > PEAK_LEAST ? (size_t)share : PEAK_LEAST;
  struct offset centre = mean_offset(n, o);
  uint64_t radius2 = 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t d2 = offset_distance2(&o[i], &centre);
    radius2 = d2 > radius2 ? d2 : radius2;
  }
  while (n > least) {
    radius2 = (uint64_t)((double)radius2 * (SHRINK * SHRINK));
    size_t inside = 0;
    for (size_t i = 0; i < n; i++)
      if (offset_distance2(&o[i], &centre) <= radius2) {
        const struct offset swap = o[inside];
        o[inside++] = o[i];
        o[i] = swap;
      }
    if (inside < least) break;
    n = inside;
    centre = mean_offset(n, o);
  }
  return centre;
}

/** Squared distances of particles to a point. */
struct gathering {
  const struct fof *fof;
  uint32_t point[3];
  uint64_t radius2;
  uint64_t *distance2;
  size_t count, capacity;
};

static void gather_leaf(struct gathering *g, const struct particle_block *b, uint32_t leaf) {
  const uint32_t first = node_first((uint32_t)b->count, leaf), end = node_end((uint32_t)b->count, leaf);
  if (g->count + (end - first) > g->capacity) {
    g->capacity = 2 * g->capacity + (end - first) + 1024;
    g->distance2 = reallocate(g->distance2, g->capacity, sizeof *g->distance2, "spherical overdensity");
  }
  for (uint32_t i = first; i < end; i++) {
    g->distance2[g->count] = distance2(b->x[0][i], b->x[1][i], b->x[2][i], g->point[0], g->point[1], g->point[2]);
    g->count += g->distance2[g->count] <= g->radius2;
  }
}

static void gather_node(struct gathering *g, const struct particle_block *b, const struct fof_box *boxes,
                        uint32_t node) {
  if (fof_box_distance2(&boxes[node], g->point) > g->radius2) return;
  if (node >= 1u << g->fof->depth) {
    gather_leaf(g, b, node);
  } else {
    gather_node(g, b, boxes, 2 * node);
    gather_node(g, b, boxes, 2 * node + 1);
  }
}

static void gather_blocks(struct gathering *g, uint32_t node) {
  const struct fof *f = g->fof;
  if (fof_box_distance2(&f->top[node], g->point) > g->radius2) return;
  const uint32_t blocks = (uint32_t)f->particles->blocks;
  if (node < blocks) {
    gather_blocks(g, 2 * node);
    gather_blocks(g, 2 * node + 1);
  } else {
    const struct particle_block b = particles_block(f->particles, node - blocks);
    gather_node(g, &b, f->boxes + (size_t)(node - blocks) * tree_nodes(f->depth), 1);
  }
}

static int compare_distances(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/** Radius at which n particles have the threshold density, position units. */
static double threshold_radius(const struct catalogue_work *w, double n) { return cbrt(n / w->threshold_count); }

/**
 * Where the mean density falls below the threshold: the largest j >= 1 with r_j <= R_j < r_(j+1), r_j the distance of the
 * j-th particle and R_j the radius at which j particles have the threshold density.
 * @return j; 0: not among the gathered particles
 */
static size_t find_crossing(const struct catalogue_work *w, struct gathering *g) {
  /* Only the shell where it happens needs to be sorted. */
  size_t begin[SHELLS + 1] = {0}, shell_end[SHELLS];
  const double scale = SHELLS / (sqrt((double)g->radius2) * (1.0 + 1e-9) + 1.0);
  uint8_t *shell = allocate(g->count, 1, "spherical overdensity");
  uint64_t *sorted = allocate(g->count, sizeof *sorted, "spherical overdensity");
  for (size_t i = 0; i < g->count; i++) {
    shell[i] = (uint8_t)(sqrt((double)g->distance2[i]) * scale);
    begin[shell[i] + 1]++;
  }
  for (size_t k = 0; k < SHELLS; k++) shell_end[k] = begin[k + 1] += begin[k];
  for (size_t i = g->count; i-- > 0;) sorted[--shell_end[shell[i]]] = g->distance2[i];
  size_t found = 0;
  for (size_t k = SHELLS; k-- > 0 && !found;) {
    const size_t first = begin[k], end = begin[k + 1];
    const double inner = (double)k / scale, outer = fmin((double)(k + 1) / scale, sqrt((double)g->radius2));
    if (threshold_radius(w, (double)end) < inner) continue; /* below the threshold throughout */
    qsort(sorted + first, end - first, sizeof *sorted, compare_distances);
    for (size_t j = end; j >= 1 && j >= first && !found; j--) {
      /* A crossing belongs to the shell in which R_j lies. */
      const double here = j > first ? sqrt((double)sorted[j - 1]) : inner,
                   next = j < end ? sqrt((double)sorted[j]) : outer;
      const double radius = threshold_radius(w, (double)j);
      if (here <= radius && radius < next) found = j;
    }
  }
  free(sorted);
  free(shell);
  return found;
}

/** The search begins at twice the mass of the friends, and goes on where it is denser even there. */
static void measure_sphere(const struct catalogue_work *w, struct gathering *g, struct halo *h) {
  for (double radius = threshold_radius(w, 2.0 * (double)h->count); radius < 0x1p31; radius *= 1.5) {
    g->radius2 = (uint64_t)(radius * radius);
    g->count = 0;
    gather_blocks(g, 1);
    if (threshold_radius(w, (double)g->count) < sqrt((double)g->radius2)) break;
  }
  h->count_200 = find_crossing(w, g);
  h->r_200 = threshold_radius(w, (double)h->count_200) * w->fof->particles->box / 4294967296.0;
}

static void measure_halo(const struct catalogue_work *w, struct gathering *g, struct halo *h) {
  const struct particles *s = w->fof->particles;
  uint32_t *member = w->catalogue->member + h->first;
  sort_members(s, h->count, member);
  struct offset *o = allocate(h->count, sizeof *o, "halo members");
  uint32_t reference[3] = {0};
  double sum[3] = {0}, momentum[3] = {0};
  for (size_t i = 0; i < h->count; i++) {
    size_t stride;
    const size_t at = component_offset(s, member[i], &stride);
    for (size_t c = 0; c < 3; c++) {
      const uint32_t x = s->position[at + c * stride];
      if (i == 0) reference[c] = x;
      o[i].x[c] = (int32_t)(x - reference[c]);
      sum[c] += o[i].x[c];
      momentum[c] += (double)s->momentum[at + c * stride];
    }
  }
  const struct offset peak = find_peak(h->count, o);
  free(o);
  for (size_t c = 0; c < 3; c++) {
    const double n = (double)h->count, turns = (reference[c] + sum[c] / n) * 0x1p-32;
    h->position[c] = (turns - floor(turns)) * s->box;
    h->momentum[c] = momentum[c] / n;
    g->point[c] = reference[c] + (uint32_t)peak.x[c];
    h->centre[c] = position_from_integer(g->point[c], s->box);
  }
  measure_sphere(w, g, h);
}

/** The halos whose members begin in this part of all members. */
static void measure_part(void *context, uint32_t part) {
  const struct catalogue_work *w = context;
  struct halo_catalogue *c = w->catalogue;
  struct gathering g = {.fof = w->fof};
  for (size_t h = 0; h < c->count; h++)
    if (c->halo[h].first * TASKS / c->members == part) measure_halo(w, &g, &c->halo[h]);
  free(g.distance2);
}

struct halo_catalogue *halo_catalogue_create(const struct fof *f, size_t min_members, double threshold) {
  const struct particles *s = f->particles;
  struct halo_catalogue *c = allocate(1, sizeof *c, "halo catalogue");
  c->particles = s;
  collect_members(c, f, min_members);
  const double unit = s->box / 4294967296.0;
  struct catalogue_work w = {
      .fof = f, .catalogue = c, .threshold_count = 4.0 / 3.0 * M_PI * unit * unit * unit * threshold / s->mass};
  if (c->count > 0) analysis_for(ANALYSIS_HALOS, TASKS, measure_part, &w);
  return c;
}

void halo_catalogue_free(struct halo_catalogue *c) {
  if (!c) return;
  free(c->halo);
  free(c->member);
  free(c);
}

double halo_threshold(const struct cosmology *c, double a) {
  const double hubble = cosmology_hubble(c, a) / HUBBLE_0;
  return 200.0 * RHO_CRITICAL * hubble * hubble * a * a * a;
}

struct particles halo_ordered_particles(const struct halo_catalogue *c) {
  const struct particles *s = c->particles;
  struct particles out = particles_create(s->count, s->box, s->mass);
  uint8_t *taken = allocate(s->count, 1, "particles in halo order");
  size_t next = 0;
  for (size_t pass = 0; pass < 2; pass++)
    for (size_t k = 0; k < (pass == 0 ? c->members : s->count); k++) {
      const size_t i = pass == 0 ? c->member[k] : k;
      if (taken[i]) continue;
      taken[i] = 1;
      size_t stride;
      const size_t at = component_offset(s, i, &stride);
      for (size_t x = 0; x < 3; x++) {
        out.position[x * s->count + next] = s->position[at + x * stride];
        out.momentum[x * s->count + next] = s->momentum[at + x * stride];
        out.acceleration[x * s->count + next] = s->acceleration[at + x * stride];
      }
      out.id[next++] = s->id[i];
    }
  free(taken);
  return out;
}
