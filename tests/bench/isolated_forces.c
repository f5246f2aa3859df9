/* SPDX-License-Identifier: GPL-3.0-or-later */
/* isolated_forces CONFIG PROBES ["section.key=value ..."] ...: errors of the forces on an isolated
 * system at its beginning, against direct sums in double precision at so many particles, the counted
 * work, and the torque of all forces together before it is removed (net_force.h). Each further argument
 * is a row of the table with other settings of the acceptance or of the expansions; it must not change
 * the particles.
 *
 * The last rows are those of an octree of monopoles with the acceptance of GOTHIC (Miki & Umemura
 * 2017, New Astron. 52, 65), in double precision: a node with the mass m, whose farthest particle has
 * the distance b from its centre of mass, counts as one point where
 *   (G m/d^2) (b/d)^2 <= Delta_acc |a|,
 * with the distance d of its centre of mass from the nearest point of the sphere about a group of at
 * most 32 targets, and the least |a| of the group. Groups here are branches of the octree. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/cosmology.h"
#include "photons/ic/ic.h"
#include "photons/runtime/engine.h"
#include "support/force_set.h"

enum { GROUP = 32, LEAF = 8, LEVELS = 32 };

/** Particles by rising id: Mpc, 1e10 Msun, km/s and Mpc. */
struct bodies {
  size_t count;
  double (*x)[3], *mass, *softening;
};

struct record {
  uint64_t id;
  uint32_t place[3];
  size_t index;
};

static int by_id(const void *a, const void *b) {
  const struct record *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

static struct record *records_by_id(const struct particles *s) {
  struct record *r = allocate(s->count, sizeof *r, "ids");
  for (size_t k = 0; k < s->blocks; k++) {
    const struct particle_block b = particles_block(s, k);
    for (size_t i = 0; i < b.count; i++)
      r[b.first + i] = (struct record){b.id[i], {b.x[0][i], b.x[1][i], b.x[2][i]}, b.first + i};
  }
  qsort(r, s->count, sizeof *r, by_id);
  return r;
}

static struct bodies bodies_of(const struct particles *s, const struct parameters *p) {
  struct bodies b = {s->count, allocate(s->count, sizeof *b.x, "positions"),
                     allocate(s->count, sizeof *b.mass, "masses"),
                     allocate(s->count, sizeof *b.softening, "softening lengths")};
  struct record *r = records_by_id(s);
  for (size_t i = 0; i < b.count; i++) {
    for (int c = 0; c < 3; c++) b.x[i][c] = position_from_integer(r[i].place[c], s->box);
    b.mass[i] = particle_mass(s, r[i].index);
    b.softening[i] = 1e-3 * softening_of_type(p, particle_type(s, r[i].index));
  }
  free(r);
  return b;
}

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/** Add the acceleration by a mass at a distance d, softened as Plummer's sphere. */
static void pull(const double d[3], double mass, double softening, double a[3]) {
  const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening * softening;
  const double factor = r2 > 0.0 ? GRAVITY * mass / (r2 * sqrt(r2)) : 0.0;
  for (int c = 0; c < 3; c++) a[c] += factor * d[c];
}

static void sum_directly(const struct bodies *b, size_t target, double a[3]) {
  const double *to = b->x[target];
  for (int c = 0; c < 3; c++) a[c] = 0.0;
  for (size_t j = 0; j < b->count; j++) {
    const double d[3] = {b->x[j][0] - to[0], b->x[j][1] - to[1], b->x[j][2] - to[2]};
    pull(d, b->mass[j], fmax(b->softening[j], b->softening[target]), a);
  }
}

/* Octree of monopoles. */

struct cell {
  double mass, centre[3], radius;
  uint32_t first, count; /* of the order */
  uint32_t child[8];     /* 0: none */
  uint32_t children;
};
struct octree {
  const struct bodies *bodies;
  uint32_t *order; /* bodies, so that those of a cell follow each other */
  struct cell *cells;
  uint32_t used;
};

static void measure(const struct octree *t, struct cell *cell) {
  for (uint32_t i = cell->first; i < cell->first + cell->count; i++) {
    const uint32_t k = t->order[i];
    cell->mass += t->bodies->mass[k];
    for (int c = 0; c < 3; c++) cell->centre[c] += t->bodies->mass[k] * t->bodies->x[k][c];
  }
  for (int c = 0; c < 3; c++) cell->centre[c] /= cell->mass;
  for (uint32_t i = cell->first; i < cell->first + cell->count; i++) {
    const double *x = t->bodies->x[t->order[i]];
    const double d[3] = {x[0] - cell->centre[0], x[1] - cell->centre[1], x[2] - cell->centre[2]};
    cell->radius = fmax(cell->radius, length(d));
  }
}

static int octant(const double x[3], const double middle[3]) {
  return (x[0] >= middle[0]) + 2 * (x[1] >= middle[1]) + 4 * (x[2] >= middle[2]);
}

/** Order the bodies of a cell by octant. */
static void divide(struct octree *t, const struct cell *cell, const double middle[3],
                   uint32_t count[8]) {
  uint32_t *copy = allocate(cell->count, sizeof *copy, "an octree"), next[8], *order = t->order;
  memcpy(copy, order + cell->first, cell->count * sizeof *copy);
  memset(count, 0, 8 * sizeof *count);
  for (uint32_t i = 0; i < cell->count; i++) count[octant(t->bodies->x[copy[i]], middle)]++;
  next[0] = cell->first;
  for (int k = 1; k < 8; k++) next[k] = next[k - 1] + count[k - 1];
  for (uint32_t i = 0; i < cell->count; i++)
    order[next[octant(t->bodies->x[copy[i]], middle)]++] = copy[i];
  free(copy);
}

static uint32_t build(struct octree *t, uint32_t first, uint32_t count, const double middle[3],
                      double half, int level) {
  const uint32_t number = t->used++;
  struct cell cell = {.first = first, .count = count};
  measure(t, &cell);
  if (count > LEAF && level < LEVELS) {
    uint32_t of[8];
    divide(t, &cell, middle, of);
    for (int k = 0; k < 8; first += of[k], k++) {
      const double at[3] = {middle[0] + (k & 1 ? 0.5 : -0.5) * half,
                            middle[1] + (k & 2 ? 0.5 : -0.5) * half,
                            middle[2] + (k & 4 ? 0.5 : -0.5) * half};
      if (of[k] > 0)
        cell.child[cell.children++] = build(t, first, of[k], at, 0.5 * half, level + 1);
    }
  }
  t->cells[number] = cell;
  return number;
}

static struct octree octree_of(const struct bodies *b, double box) {
  struct octree t = {b, allocate(b->count, sizeof *t.order, "an octree"),
                     allocate(4 * b->count + LEVELS, sizeof *t.cells, "an octree"), 0};
  for (uint32_t i = 0; i < b->count; i++) t.order[i] = i;
  const double middle[3] = {0.5 * box, 0.5 * box, 0.5 * box};
  build(&t, 0, (uint32_t)b->count, middle, 0.5 * box, 0);
  return t;
}

/** The largest branch of at most GROUP bodies that holds the body in this place of the order. */
static const struct cell *group_of(const struct octree *t, uint32_t place) {
  const struct cell *cell = t->cells;
  while (cell->count > GROUP && cell->children > 0) {
    uint32_t k = 0;
    while (place >= t->cells[cell->child[k]].first + t->cells[cell->child[k]].count) k++;
    cell = &t->cells[cell->child[k]];
  }
  return cell;
}

struct target {
  const double *x;
  double softening;
  const struct cell *group;
  double limit; /* Delta_acc times the least |a| of the group */
  uint64_t pulls;
};

static void walk(const struct octree *t, const struct cell *cell, struct target *to, double a[3]) {
  double d[3], apart[3];
  for (int c = 0; c < 3; c++) {
    d[c] = cell->centre[c] - to->x[c];
    apart[c] = cell->centre[c] - to->group->centre[c];
  }
  const double r = length(apart) - to->group->radius, ratio = cell->radius / r;
  if (r > 0.0 && GRAVITY * cell->mass / (r * r) * ratio * ratio <= to->limit) {
    pull(d, cell->mass, to->softening, a);
    to->pulls++;
    return;
  }
  for (uint32_t k = 0; k < cell->children; k++) walk(t, &t->cells[cell->child[k]], to, a);
  for (uint32_t i = cell->first; cell->children == 0 && i < cell->first + cell->count; i++) {
    const uint32_t j = t->order[i];
    for (int c = 0; c < 3; c++) d[c] = t->bodies->x[j][c] - to->x[c];
    pull(d, t->bodies->mass[j], fmax(to->softening, t->bodies->softening[j]), a);
    to->pulls++;
  }
}

/* Tables. */

static int rising(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct probes {
  size_t count, *index; /* of the bodies */
  double (*exact)[3], *error;
};

static struct probes probes_of(const struct bodies *b, size_t count) {
  struct probes p = {count, allocate(count, sizeof *p.index, "probes"),
                     allocate(count, sizeof *p.exact, "probes"),
                     allocate(count, sizeof *p.error, "probes")};
  for (size_t k = 0; k < count; k++) {
    p.index[k] = k * b->count / count;
    sum_directly(b, p.index[k], p.exact[k]);
  }
  return p;
}

static void set_error(struct probes *p, size_t k, const double a[3]) {
  const double *exact = p->exact[k];
  const double d[3] = {a[0] - exact[0], a[1] - exact[1], a[2] - exact[2]};
  p->error[k] = length(d) / length(exact);
}

static void print_errors(struct probes *p) {
  qsort(p->error, p->count, sizeof *p->error, rising);
  printf("%.2e  %.2e  %.2e  %.2e", p->error[p->count / 2], p->error[p->count * 9 / 10],
         p->error[p->count * 99 / 100], p->error[p->count - 1]);
}

/** @return the accelerations by rising id, [N][3] */
static float *print_solver(const char *config, char *settings, struct probes *probes) {
  const char *overrides[16] = {0};
  size_t count = 0;
  for (char *s = strtok(settings, " "); s && count < 16; s = strtok(NULL, " "))
    overrides[count++] = s;
  struct parameters p;
  parameters_read(&p, config, overrides, count);
  struct particles particles = ic_isolated(&p);
  const double n = (double)particles.count;
  struct work_counts work;
  struct net_force net_force;
  float *a = solver_accelerations(&p, particles, &work, &net_force);
  for (size_t k = 0; k < probes->count; k++) {
    const float *found = a + 3 * probes->index[k];
    set_error(probes, k, (double[]){(double)found[0], (double)found[1], (double)found[2]});
  }
  print_errors(probes);
  printf("  %7.0f  %6.2f  %6.1f    %.2e", (double)work.pairs / n, (double)work.interactions / n,
         (double)work.visits / n, net_force.torque);
  for (size_t i = 0; i < count; i++) printf(" %s", overrides[i]);
  printf("\n");
  fflush(stdout);
  return a;
}

/** @param size  |a| of all bodies
 *  @param place  where a body is in the order of the tree */
static void print_monopoles(const struct octree *t, const double *size, const uint32_t *place,
                            int power, struct probes *probes) {
  double pulls = 0.0;
  for (size_t k = 0; k < probes->count; k++) {
    const size_t i = probes->index[k];
    const struct cell *group = group_of(t, place[i]);
    struct target to = {t->bodies->x[i], t->bodies->softening[i], group, HUGE_VAL, 0};
    for (uint32_t j = group->first; j < group->first + group->count; j++)
      to.limit = fmin(to.limit, ldexp(size[t->order[j]], -power));
    double a[3] = {0};
    walk(t, t->cells, &to, a);
    set_error(probes, k, a);
    pulls += (double)to.pulls / (double)probes->count;
  }
  print_errors(probes);
  printf("  %7.0f                  monopoles, Delta_acc = 2^-%d\n", pulls, power);
}

int main(int argc, char **argv) {
  if (argc < 3)
    fail(EXIT_BAD_USAGE, "usage: isolated_forces CONFIG PROBES [\"section.key=value ...\"] ...");
  struct parameters p;
  parameters_read(&p, argv[1], NULL, 0);
  if (p.gravity.softening_kernel != SOFTENING_PLUMMER)
    fail(EXIT_BAD_USAGE, "%s: the direct sums need gravity.softening_kernel = plummer", argv[1]);
  engine_start(&p, NULL);
  struct particles particles = ic_isolated(&p);
  const struct bodies bodies = bodies_of(&particles, &p);
  const double box = particles.box;
  particles_free(&particles);
  struct probes probes = probes_of(&bodies, strtoul(argv[2], NULL, 10));
  printf("median    90 %%      99 %%      largest   pairs/p  m2l/p   visits/p  torque\n");
  float *a = print_solver(argv[1], (char[]){""}, &probes);
  for (int i = 3; i < argc; i++) free(print_solver(argv[1], argv[i], &probes));
  const struct octree tree = octree_of(&bodies, box);
  double *size = allocate(bodies.count, sizeof *size, "accelerations");
  uint32_t *place = allocate(bodies.count, sizeof *place, "an octree");
  for (uint32_t i = 0; i < bodies.count; i++) {
    size[i] = length((double[]){(double)a[3 * i], (double)a[3 * i + 1], (double)a[3 * i + 2]});
    place[tree.order[i]] = i;
  }
  for (int power = 5; power <= 13; power += 2) print_monopoles(&tree, size, place, power, &probes);
  engine_stop();
  return 0;
}
