/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spherical overdensity: the largest radii at which the mean density about a halo's centre reaches
 * the thresholds of the definitions of mass. */
#include <math.h>
#include <stdlib.h>

#include "halo_home.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/domain/geometry.h"
#include "photons/domain/tree.h"
#include "photons/runtime/loop.h"
#include "rising.h"
#include "src/base/exchange.h"

#define GROWTH \
  1.5                /* of the radius, where a sphere is still denser than the threshold at its
                      edge */
#define REACH 0x1p31 /* half the box, position units: no search goes farther */
enum { PARTS = 64, BATCH = 1 << 22 /* distances requested by one rank at a time */ };

void gathering_make_room(struct gathering *g, size_t more) {
  if (g->count + more <= g->capacity) return;
  g->capacity = 2 * g->capacity + more + 64;
  g->distance = reallocate(g->distance, g->capacity, sizeof *g->distance, "spherical overdensity");
}

/** Gather the distances of a leaf. */
static void gather_leaf(struct gathering *g, const struct particle_block *b, uint32_t leaf) {
  const uint32_t first = node_first((uint32_t)b->count, leaf),
                 n = node_end((uint32_t)b->count, leaf) - first;
  gathering_make_room(g, n);
  g->count += g->kernels->distances(n, b->x[0] + first, b->x[1] + first, b->x[2] + first, g->point,
                                    (double)g->radius2, g->distance + g->count);
}

static void gather_node(struct gathering *g, const struct particle_block *b,
                        const struct fof_box *boxes, const struct fof_box *point, uint32_t node) {
  if (fof_boxes_distance2(&boxes[node], point) > g->radius2) return;
  if (node >= 1u << g->fof->depth) {
    gather_leaf(g, b, node);
  } else {
    gather_node(g, b, boxes, point, 2 * node);
    gather_node(g, b, boxes, point, 2 * node + 1);
  }
}

static void gather_block(void *context, uint32_t block) {
  struct gathering *g = context;
  const struct particle_block b = particles_block(g->fof->particles, block);
  const struct fof_box point = fof_point_box(g->point[0], g->point[1], g->point[2]);
  gather_node(g, &b, g->fof->boxes + block * tree_nodes(g->fof->depth), &point, 1);
}

/** Gather the distances of this rank's particles. */
static void gather(struct gathering *g) {
  const struct fof_box point = fof_point_box(g->point[0], g->point[1], g->point[2]);
  if (!g->kernels) g->kernels = halo_kernels_select();
  g->count = 0;
  fof_tree_search(&g->fof->own, &point, g->radius2, 0, gather_block, g);
}

/** Visit the other ranks that may have particles in a sphere. */
static void visit_others(const struct fof *f, const uint32_t point[3], uint64_t radius2,
                         void (*visit)(void *context, int rank), void *context) {
  const struct fof_box box = fof_point_box(point[0], point[1], point[2]);
  fof_near_ranks(f, &box, radius2, visit, context);
}

static void note_rank(void *context, int rank) {
  (void)rank;
  *(bool *)context = true;
}

/** Radius at which n particles have the threshold density, position units. */
static double threshold_radius(double threshold_count, double n) {
  return cbrt(n / threshold_count);
}

/** Whether n particles within a radius are at least as dense as the threshold. */
static bool is_dense(double threshold_count, double n, double radius) {
  return n >= threshold_count * radius * radius * radius;
}

/**
 * Where the mean density falls below the threshold: the largest j >= 1 with r_j <= R_j < r_(j+1).
 * Here r_j is the distance of the j-th particle and R_j the radius at which j particles have the
 * threshold density. Where there are k particles within R_j, k < j, none of k + 1 .. j has the property.
 * @param n       distances, rising
 * @param radius  of the search: no distance is larger
 * @return j; 0: the crossing is not among the distances
 */
static size_t find_crossing(double threshold_count, size_t n, const double *distance,
                            double radius) {
  size_t j = n;
  while (j > 0 && is_dense(threshold_count, (double)j, j < n ? distance[j] : radius))
    j--; /* still denser than the threshold */
  for (size_t k = j;; j = k) {
    const double limit = threshold_radius(threshold_count, (double)j);
    while (k > 0 && distance[k - 1] > limit) k--;
    if (k == j) return j;
  }
}

static uint64_t square(double radius) { return (uint64_t)(radius * radius); }

/** The searches begin at twice the mass of the halo's members. */
static struct open_sphere begin_search(const struct gathering *g, const struct threshold_counts *t,
                                       struct halo *h) {
  struct open_sphere s = {h, {g->point[0], g->point[1], g->point[2]}, {0.0}};
  for (int m = 0; m < HALO_MASSES; m++) {
    const double radius = threshold_radius(t->of[m], 2.0 * (double)h->count);
    s.radius[m] = radius < REACH ? radius : 0.0;
  }
  return s;
}

/** The largest of the search radii; 0: all spheres are known. */
static double search_radius(const struct open_sphere *s) {
  double radius = 0.0;
  for (int m = 0; m < HALO_MASSES; m++) radius = fmax(radius, s->radius[m]);
  return radius;
}

/** How many of the rising distances are within a radius. */
static size_t count_within(const struct gathering *g, double radius) {
  size_t low = 0, high = g->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (g->distance[middle] <= radius)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/** With all particles inside the largest search radius gathered: find spheres, or let their searches
 * continue where the density at the search radius is above the threshold. */
static void continue_search(struct open_sphere *s, const struct threshold_counts *t,
                            struct gathering *g) {
  sort_rising(g->count, g->distance);
  for (int m = 0; m < HALO_MASSES; m++) {
    const double radius = s->radius[m];
    if (radius <= 0.0) continue;
    const size_t inside = count_within(g, radius);
    s->radius[m] = radius * GROWTH;
    if (s->radius[m] < REACH && is_dense(t->of[m], (double)inside, radius)) continue;
    s->radius[m] = 0.0;
    struct halo_sphere *found = &s->halo->sphere[m];
    found->count = find_crossing(t->of[m], inside, g->distance, radius);
    found->radius = threshold_radius(t->of[m], (double)found->count) * g->fof->particles->box /
                    POSITION_TURN;
  }
}

struct open_sphere halo_measure_spheres(struct gathering *g, const struct threshold_counts *t,
                                        struct halo *h) {
  struct open_sphere s = begin_search(g, t, h);
  for (double radius; (radius = search_radius(&s)) > 0.0;) {
    g->radius2 = square(radius);
    bool meets_others = false;
    visit_others(g->fof, g->point, g->radius2, note_rank, &meets_others);
    if (meets_others) return s;
    gather(g);
    continue_search(&s, t, g);
  }
  return (struct open_sphere){0};
}

/* Spheres that contain particles of other ranks: these ranks are asked for the distances of their
 * particles. */

struct question {
  uint32_t point[3];
  uint64_t radius2;
};

/** Questions to other ranks about a batch of spheres, and the answers. */
struct batch {
  const struct fof *fof;
  const struct threshold_counts *threshold_counts;
  struct open_sphere *sphere;
  size_t spheres;
  struct asked {
    int rank;
    size_t sphere;
  } * asked;                           /* by sphere, then by rank */
  size_t questions, capacity, current; /* current: index of a sphere */
  uint64_t *count;                     /* answers in the order of `asked` */
  double *distance;                    /* all distances one after the other */
  size_t *begin, *first,
      *next; /* chains of answers: `first` of each sphere and `next` of each answer, both + 1;
                begin: of each answer in distance */
};

static void ask(void *context, int rank) {
  struct batch *b = context;
  if (b->questions == b->capacity) {
    b->capacity = 2 * b->capacity + 64;
    b->asked = reallocate(b->asked, b->capacity, sizeof *b->asked, "spherical overdensity");
  }
  b->asked[b->questions++] = (struct asked){rank, b->current};
}

static int compare_asked(const void *a, const void *b) {
  const struct asked *x = a, *y = b;
  return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                            : (x->sphere > y->sphere) - (x->sphere < y->sphere);
}

/** Questions received from other ranks. */
struct answering {
  const struct fof *fof;
  const struct question *question;
  size_t questions;
  struct gathering *answer;
};

static void answer_part(void *context, uint32_t part) {
  const struct answering *a = context;
  for (size_t i = part; i < a->questions; i += PARTS) {
    const struct question *q = &a->question[i];
    a->answer[i] = (struct gathering){
        .fof = a->fof, .point = {q->point[0], q->point[1], q->point[2]}, .radius2 = q->radius2};
    gather(&a->answer[i]);
  }
}

/** Send the questions of all ranks' batches; fills count and distance, which the caller frees. */
static void exchange_questions(struct batch *b) {
  size_t *send_count = exchange_counts(), *count_from = exchange_counts();
  size_t *distances_to = exchange_counts(), *distances_from = exchange_counts();
  struct question *questions = allocate(b->questions, sizeof *questions, "spherical overdensity");
  for (size_t i = 0; i < b->questions; i++) {
    const struct open_sphere *s = &b->sphere[b->asked[i].sphere];
    questions[i] = (struct question){{s->point[0], s->point[1], s->point[2]},
                                     square(search_radius(s))};
    send_count[b->asked[i].rank]++;
  }
  struct question *received = exchange_records(questions, sizeof *questions, send_count,
                                               count_from);
  const size_t receives = exchange_total(count_from);
  struct answering a = {b->fof, received, receives,
                        allocate(receives, sizeof *a.answer, "spherical overdensity")};
  loop_run(&halos_stage, PARTS, answer_part, &a);
  uint64_t *counts = allocate(receives, sizeof *counts, "spherical overdensity");
  size_t all = 0, i = 0;
  for (int r = 0; r < comm_size(); r++)
    for (const size_t end = i + count_from[r]; i < end; i++) {
      counts[i] = a.answer[i].count;
      distances_to[r] += counts[i];
      all += counts[i];
    }
  double *distances = allocate(all, sizeof *distances, "spherical overdensity");
  all = 0;
  for (i = 0; i < receives; i++) {
    for (size_t k = 0; k < counts[i]; k++) distances[all++] = a.answer[i].distance[k];
    free(a.answer[i].distance);
  }
  b->count = exchange_answers(counts, sizeof *counts, count_from, send_count);
  b->distance = exchange_records(distances, sizeof *distances, distances_to, distances_from);
  free(distances);
  free(counts);
  free(a.answer);
  free(received);
  free(questions);
  free(distances_from);
  free(distances_to);
  free(count_from);
  free(send_count);
}

/** With all distances known, finish spheres or continue with larger radii. */
static void close_sphere(const struct batch *b, size_t i) {
  struct open_sphere *s = &b->sphere[i];
  struct gathering g = {.fof = b->fof,
                        .point = {s->point[0], s->point[1], s->point[2]},
                        .radius2 = square(search_radius(s))};
  gather(&g);
  for (size_t q = b->first[i]; q > 0; q = b->next[q - 1]) {
    gathering_make_room(&g, b->count[q - 1]);
    for (size_t k = 0; k < b->count[q - 1]; k++)
      g.distance[g.count++] = b->distance[b->begin[q - 1] + k];
  }
  continue_search(s, b->threshold_counts, &g);
  if (search_radius(s) <= 0.0) s->halo = NULL;
  free(g.distance);
}

static void close_part(void *context, uint32_t part) {
  const struct batch *b = context;
  for (size_t i = part; i < b->spheres; i += PARTS) close_sphere(b, i);
}

static void close_batch(struct batch *b) {
  b->questions = 0;
  for (b->current = 0; b->current < b->spheres; b->current++) {
    const struct open_sphere *s = &b->sphere[b->current];
    visit_others(b->fof, s->point, square(search_radius(s)), ask, b);
  }
  if (b->questions > 0) qsort(b->asked, b->questions, sizeof *b->asked, compare_asked);
  exchange_questions(b);
  b->begin = allocate(b->questions, sizeof *b->begin, "spherical overdensity");
  b->next = allocate(b->questions, sizeof *b->next, "spherical overdensity");
  b->first = allocate(b->spheres, sizeof *b->first, "spherical overdensity");
  for (size_t q = 0, begin = 0; q < b->questions; begin += b->count[q++]) {
    b->begin[q] = begin;
    b->next[q] = b->first[b->asked[q].sphere];
    b->first[b->asked[q].sphere] = q + 1;
  }
  loop_run(&halos_stage, PARTS, close_part, b);
  free(b->count);
  free(b->distance);
  free(b->begin);
  free(b->next);
  free(b->first);
}

/** Particles inside the search radii, if these are at the threshold densities. */
static double expected_count(const struct open_sphere *s, const struct threshold_counts *t) {
  double count = 0.0;
  for (int m = 0; m < HALO_MASSES; m++) count = fmax(count, t->of[m] * pow(s->radius[m], 3.0));
  return count;
}

void halo_close_spheres(const struct fof *f, const struct threshold_counts *t,
                        struct open_sphere *open, size_t count) {
  struct batch b = {.fof = f, .threshold_counts = t, .sphere = open};
  for (;;) {
    double expected = 0.0; /* particles in the batch */
    for (b.spheres = 0; b.spheres < count && (b.spheres == 0 || expected < BATCH); b.spheres++)
      expected += expected_count(&b.sphere[b.spheres], t);
    uint64_t left = b.spheres;
    comm_sum_u64(&left, 1);
    if (left == 0) break;
    close_batch(&b);
    size_t done = 0; /* move finished spheres to the front; the others keep their order */
    for (size_t i = 0; i < b.spheres; i++)
      if (!b.sphere[i].halo) {
        const struct open_sphere swap = b.sphere[done];
        b.sphere[done++] = b.sphere[i];
        b.sphere[i] = swap;
      }
    b.sphere += done;
    count -= done;
  }
  free(b.asked);
}
