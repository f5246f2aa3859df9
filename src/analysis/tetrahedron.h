/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mass of a uniform tetrahedron projected along z onto pixels, exactly, on CPUs and GPUs.
 *
 * Along z the thickness of a tetrahedron is linear on triangles that share one point, where it is
 * largest; it is zero on the outline. The triangles are cut at the borders of pixels, and the
 * linear function is integrated over each piece. */
#ifndef PHOTONS_TETRAHEDRON_H
#define PHOTONS_TETRAHEDRON_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "column.h"

#define UNITS_MIN 0.5 /* of six times the mass of a triangle; less is lost in rounding */
#define AREA_MIN 1e-7 /* pixels; a smaller projection has no shape within rounding */

/** x and y in pixels, in (-pixels, 2 pixels): the map is periodic; z in any unit. */
struct vertex {
  double x, y, z;
};

struct pixel_map {
  size_t pixels;
  uint64_t *map;
};

struct point {
  double x, y;
};

static HOST_DEVICE inline double cross(struct point a, struct point b) {
  return a.x * b.y - a.y * b.x;
}
static HOST_DEVICE inline struct point minus(struct point a, struct point b) {
  return (struct point){a.x - b.x, a.y - b.y};
}

/** A column density that is linear in x and y, and zero at its origin. */
struct linear {
  struct point origin, gradient;
};

/** One side of a triangle as a function y(x), followed from one pixel to the next. */
struct side {
  double x, y, slope, inverse; /* a point of it, dy/dx, and dx/dy if that is finite */
  double low, high;            /* its range in y */
  double here;                 /* y where the side is now */
  double leaves;               /* x where it leaves its pixel */
  long pixel;                  /* that it goes through next */
};

static HOST_DEVICE inline double side_at(const struct side *s, double x) {
  /* Rounding matters where the slope is large. If it is infinite, the middle may be no number. */
  return lesser(greater(s->y + (x - s->x) * s->slope, s->low), s->high);
}

static HOST_DEVICE inline void side_find_leaves(struct side *s) {
  const double y = (double)(s->slope > 0.0 ? s->pixel + 1 : s->pixel);
  s->leaves = s->slope == 0.0 ? INFINITY : s->x + (y - s->y) * s->inverse;
}

static HOST_DEVICE inline void side_next_pixel(struct side *s) {
  s->pixel += s->slope > 0.0 ? 1 : -1;
  side_find_leaves(s);
}

static HOST_DEVICE inline void side_go(struct side *s, double x) {
  s->here = side_at(s, x);
  s->pixel = s->slope < 0.0 ? -pixel_of(-s->here) - 1 : pixel_of(s->here);
  side_find_leaves(s);
}

static HOST_DEVICE inline struct side side_from(struct point begin, struct point end) {
  const double dx = end.x - begin.x, dy = end.y - begin.y;
  /* where it is, where it leaves its pixel, and the pixel: side_go() */
  return (struct side){
      begin.x, begin.y,  dy / dx, dx / dy, lesser(begin.y, end.y), greater(begin.y, end.y),
      begin.y, INFINITY, 0};
}

/** What lies between x0 and x1 in one column of pixels. */
struct strip {
  double x0, x1;
  double f0, f1, gradient, origin; /* density at x0 and x1 is f + gradient (y - origin) */
  size_t pixels;
  uint64_t *column;
};

static HOST_DEVICE inline struct strip strip_of(const struct strip *whole, const struct linear *f,
                                                double x0, double x1) {
  struct strip s = *whole;
  s.x0 = x0;
  s.x1 = x1;
  s.f0 = f->gradient.x * (x0 - f->origin.x);
  s.f1 = f->gradient.x * (x1 - f->origin.x);
  return s;
}

/** Deposit the mass between two lines in one pixel: the width in y and the density in the middle
 * are linear in x. */
static HOST_DEVICE inline void deposit_lines(const struct strip *s, long pixel, double low0,
                                             double low1, double high0, double high1) {
  const double w0 = greater(0.0, high0 - low0), w1 = greater(0.0, high1 - low1);
  const double f0 = s->f0 + s->gradient * (0.5 * (low0 + high0) - s->origin),
               f1 = s->f1 + s->gradient * (0.5 * (low1 + high1) - s->origin);
  const double mass = (s->x1 - s->x0) * (1.0 / 6.0) * (w0 * (2.0 * f0 + f1) + w1 * (f0 + 2.0 * f1));
  column_add_tail(s->column, s->pixels, (long)wrap(pixel, s->pixels), units(mass), 0, 0);
}

/** Deposit whole pixels first .. end - 1. */
static HOST_DEVICE inline void deposit_full(const struct strip *s, long first, long end) {
  const double width = s->x1 - s->x0, step = width * s->gradient,
               start = width * (0.5 * (s->f0 + s->f1) + s->gradient * (0.5 - s->origin));
  const long pixels = (long)s->pixels;
  while (first < end) { /* up to the border of the box */
    const long border = (first < 0 ? 0 : 1 + first / pixels) * pixels;
    const long stop = end < border ? end : border;
    const size_t row = wrap(first, s->pixels);
    column_add_run(s->column, s->pixels, row, row + (size_t)(stop - first),
                   units(start + step * (double)first), units(step));
    first = stop;
  }
}

/** Deposit what lies between a side and y = level, above or below the side. */
static HOST_DEVICE inline void deposit_beside(const struct strip *all, const struct linear *f,
                                              struct side *side, long level, bool above) {
  double x = all->x0;
  while (x < all->x1) {
    const double next = greater(x, lesser(all->x1, side->leaves)), y = side_at(side, next);
    if (next > x) {
      const struct strip s = strip_of(all, f, x, next);
      const long p = side->pixel;
      if (above) {
        const double edge = (double)(p + 1 < level ? p + 1 : level);
        deposit_lines(&s, p, side->here, y, edge, edge);
        deposit_full(&s, p + 1, level);
      } else {
        const double edge = (double)(p > level ? p : level);
        deposit_lines(&s, p, edge, edge, side->here, y);
        deposit_full(&s, level, p);
      }
    }
    side->here = y;
    x = next;
    if (side->leaves <= next) side_next_pixel(side);
  }
}

/** Deposit what lies between two sides that go through common pixels. */
static HOST_DEVICE inline void deposit_narrow(const struct strip *all, const struct linear *f,
                                              struct side *low, struct side *high) {
  double x = all->x0;
  while (x < all->x1) {
    const double next = greater(x, lesser(all->x1, lesser(low->leaves, high->leaves)));
    const double low1 = side_at(low, next), high1 = side_at(high, next);
    if (next > x) {
      const struct strip s = strip_of(all, f, x, next);
      if (low->pixel >= high->pixel) {
        deposit_lines(&s, low->pixel, low->here, low1, high->here, high1);
      } else {
        const double first = (double)(low->pixel + 1), last = (double)high->pixel;
        deposit_lines(&s, low->pixel, low->here, low1, first, first);
        deposit_full(&s, low->pixel + 1, high->pixel);
        deposit_lines(&s, high->pixel, last, last, high->here, high1);
      }
    }
    low->here = low1;
    high->here = high1;
    x = next;
    if (low->leaves <= next) side_next_pixel(low);
    if (high->leaves <= next) side_next_pixel(high);
  }
}

/** Deposit what lies between two sides from x to end, column by column. */
static HOST_DEVICE inline void deposit_between(const struct pixel_map *t, const struct linear *f,
                                               struct side low, struct side high, double x,
                                               double end) {
  side_go(&low, x);
  side_go(&high, x);
  struct strip all = {x, x, 0.0, 0.0, f->gradient.y, f->origin.y, t->pixels, t->map};
  for (long column = pixel_of(x); x < end; column++) {
    const double next = lesser(end, (double)(column + 1));
    const struct strip s = strip_of(&all, f, x, next);
    all = s;
    all.column = t->map + wrap(column, t->pixels) * t->pixels;
    const long above = -pixel_of(-greater(low.here, side_at(&low, next))),
               below = pixel_of(lesser(high.here, side_at(&high, next)));
    if (above <= below) {
      deposit_beside(&all, f, &low, above, true);
      deposit_full(&all, above, below);
      deposit_beside(&all, f, &high, below, false);
    } else {
      deposit_narrow(&all, f, &low, &high);
    }
    x = next;
  }
}

static HOST_DEVICE inline void sort_by_x(struct point p[3]) {
  static const int pairs[3][2] = {{0, 1}, {1, 2}, {0, 1}};
  for (int i = 0; i < 3; i++) {
    struct point *a = &p[pairs[i][0]], *b = &p[pairs[i][1]];
    if (a->x <= b->x) continue;
    const struct point swap = *a;
    *a = *b;
    *b = swap;
  }
}

/** A triangle whose column density falls linearly from `highest` at its apex to zero at the side
 * from a to b. */
static HOST_DEVICE inline void deposit_triangle(const struct pixel_map *t, struct point apex,
                                                struct point a, struct point b, double highest) {
  const double area = cross(minus(a, apex), minus(b, apex)), scale = highest / area;
  if (!(highest * fabs(area) > UNITS_MIN)) return;
  const struct linear f = {.origin = a, .gradient = {(a.y - b.y) * scale, (b.x - a.x) * scale}};
  struct point p[3] = {apex, a, b};
  sort_by_x(p);
  const bool middle_is_high = cross(minus(p[1], p[0]), minus(p[2], p[0])) < 0.0;
  const struct side across = side_from(p[0], p[2]);
  for (int k = 0; k < 2; k++) {
    if (!(p[k + 1].x > p[k].x)) continue;
    const struct side part = side_from(p[k], p[k + 1]);
    deposit_between(t, &f, middle_is_high ? across : part, middle_is_high ? part : across, p[k].x,
                    p[k + 1].x);
  }
}

static HOST_DEVICE inline void deposit_at(const struct pixel_map *t, double x, double y,
                                          double mass) {
  uint64_t *column = t->map + wrap(pixel_of(x), t->pixels) * t->pixels;
  column_add_tail(column, t->pixels, (long)wrap(pixel_of(y), t->pixels), units(mass), 0, 0);
}

static HOST_DEVICE inline bool in_one_pixel(const struct vertex v[4]) {
  const long x = pixel_of(v[0].x), y = pixel_of(v[0].y);
  for (int k = 1; k < 4; k++)
    if (pixel_of(v[k].x) != x || pixel_of(v[k].y) != y) return false;
  return true;
}

/**
 * All of a tetrahedron. Four points of a plane have numbers c with sum c = 0 and sum c p = 0. The
 * points with c > 0 and the others span two figures, which meet in Radon's point. There the line of
 * sight goes through two opposite edges, or through a vertex and the opposite face, and is longest
 * inside. The outline has the edges between points of different sign if there are two of each, else
 * those between the three of one sign. The mass is a third of the outline's area times the largest
 * column density.
 */
static HOST_DEVICE inline void deposit_whole(const struct pixel_map *t, const struct vertex v[4],
                                             double mass) {
  if (in_one_pixel(v)) {
    deposit_at(t, v[0].x, v[0].y, mass);
    return;
  }
  struct point p[4];
  for (int k = 0; k < 4; k++) p[k] = (struct point){v[k].x, v[k].y};
  const struct point a = minus(p[0], p[3]), b = minus(p[1], p[3]), d = minus(p[2], p[3]);
  double c[4] = {cross(b, d), cross(d, a), cross(a, b)}, sum = 0.0;
  c[3] = -(c[0] + c[1] + c[2]);
  struct point radon = {0.0, 0.0};
  int above = 0;
  for (int k = 0; k < 4; k++) {
    if (!(c[k] > 0.0)) continue;
    above++;
    sum += c[k];
    radon.x += c[k] * (p[k].x - p[3].x);
    radon.y += c[k] * (p[k].y - p[3].y);
  }
  if (sum < AREA_MIN) {
    deposit_at(t, 0.25 * (v[0].x + v[1].x + v[2].x + v[3].x),
               0.25 * (v[0].y + v[1].y + v[2].y + v[3].y), mass);
    return;
  }
  radon = (struct point){p[3].x + radon.x / sum, p[3].y + radon.y / sum};
  int edge[4][2], edges = 0;
  double area = 0.0; /* twice that of the outline */
  for (int i = 0; i < 4; i++)
    for (int j = i + 1; j < 4; j++)
      if (((c[i] > 0.0) == (c[j] > 0.0)) == (above % 2 == 1)) {
        edge[edges][0] = i;
        edge[edges++][1] = j;
        area += fabs(cross(minus(p[i], radon), minus(p[j], radon)));
      }
  for (int e = 0; e < edges; e++)
    deposit_triangle(t, radon, p[edge[e][0]], p[edge[e][1]], 6.0 * mass / area);
}

/** A tetrahedron and its mass. */
struct piece {
  struct vertex v[4];
  double mass;
};

/* Three cuts one after the other leave no edge that crosses a plane. */
enum { PIECES_MOST = 1 + 2 * 3 };

/** Cut an edge that crosses one of the planes at this plane: the parts of a uniform tetrahedron
 * have mass in proportion to the parts of the edge.
 * @param[in,out] piece  becomes one of the parts
 * @param[out] other     the other part
 * @return false where no edge crosses a plane */
static HOST_DEVICE inline bool cut_piece(struct piece *piece, const double planes[2],
                                         struct piece *other) {
  for (int plane = 0; plane < 2; plane++)
    for (int i = 0; i < 4; i++)
      for (int j = i + 1; j < 4; j++) {
        const struct vertex a = piece->v[i], b = piece->v[j];
        const double da = a.z - planes[plane], db = b.z - planes[plane];
        if (!(da * db < 0.0)) continue;
        const double share = da / (da - db);
        const struct vertex cut = {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y),
                                   planes[plane]};
        *other = *piece;
        other->v[i] = cut;
        other->mass = piece->mass - share * piece->mass;
        piece->v[j] = cut;
        piece->mass *= share;
        return true;
      }
  return false;
}

/** A tetrahedron that is cut along two planes. */
struct cutting {
  double planes[2];
  struct piece stack[PIECES_MOST];
  int left; /* on the stack */
};

/** @param mass  of the tetrahedron
 * @param low, high  z of the planes */
static HOST_DEVICE inline void cutting_begin(struct cutting *c, const struct vertex v[4],
                                             double mass, double low, double high) {
  c->planes[0] = low;
  c->planes[1] = high;
  for (int k = 0; k < 4; k++) c->stack[0].v[k] = v[k];
  c->stack[0].mass = mass;
  c->left = 1;
}

/** @return the next piece between the planes; it is valid until the next call; NULL: there is none
 */
static HOST_DEVICE inline const struct piece *cutting_next(struct cutting *c) {
  while (c->left > 0) {
    while (cut_piece(&c->stack[c->left - 1], c->planes, &c->stack[c->left])) c->left++;
    const struct piece *p = &c->stack[--c->left];
    const double middle = 0.25 * (p->v[0].z + p->v[1].z + p->v[2].z + p->v[3].z);
    if (middle > c->planes[0] && middle < c->planes[1]) return p;
  }
  return NULL;
}

/**
 * Add to each pixel the mass of the tetrahedron in the column of the pixel between z = low and
 * z = high. The masses of all pixels sum up to the mass between the two planes, but for rounding to
 * whole units. Local.
 * @param mass    of the tetrahedron, in units of the map
 * @param pixels  a side of the map
 * @param map     [x][y], second differences along y (column.h)
 */
static HOST_DEVICE inline void tetrahedron_deposit(const struct vertex v[4], double mass,
                                                   double low, double high, size_t pixels,
                                                   uint64_t *map) {
  struct pixel_map t;
  struct cutting cutting;
  t.pixels = pixels;
  t.map = map;
  cutting_begin(&cutting, v, mass, low, high);
  for (const struct piece *p; (p = cutting_next(&cutting)) != NULL;)
    deposit_whole(&t, p->v, p->mass);
}

#endif
