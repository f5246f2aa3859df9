/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The potential of patch groups. */
#include "photons/potential/poisson.h"

#include <math.h>
#include <string.h>

#include "direct.h"
#include "photons/potential/stress.h"

#define PI 3.14159265358979323846

enum {
  SIDE = POISSON_SIDE,
  PLANE = SIDE * SIDE,
  INNER = GAS_GROUP_SIDE,
  HALF = INNER / 2,
  COARSE = POISSON_COARSE_SIDE,
  CHECK = 8 /* sweeps after which a residual that rounding holds up is noticed */
};

/* Cells of one colour: those of row (z, y) that have x + y + z even, or odd, side by side. Cell x
 * is number x/2 of its colour. */
typedef double colour[SIDE][SIDE][SIDE / 2];

static void split_colours(const double *block, colour *colours) {
  for (int z = 0; z < SIDE; z++)
    for (int y = 0; y < SIDE; y++)
      for (int x = 0; x < SIDE; x++)
        colours[(x + y + z) & 1][z][y][x / 2] = block[(z * SIDE + y) * SIDE + x];
}

static void join_colours(const colour *colours, double *block) {
  for (int z = 1; z <= INNER; z++)
    for (int y = 1; y <= INNER; y++)
      for (int x = 1; x <= INNER; x++)
        block[(z * SIDE + y) * SIDE + x] = colours[(x + y + z) & 1][z][y][x / 2];
}

/* Relax the inner cells of one colour. @return the sum of their residuals before */
static double relax_colour(const double *source, double omega, int which, colour *colours) {
  const colour *other = &colours[1 - which];
  double sum = 0.0;
  for (int z = 1; z <= INNER; z++)
    for (int y = 1; y <= INNER; y++) {
      const int odd = (y + z + which) & 1; /* of the cells' x */
      const int first = 1 - odd;           /* number of the first inner cell in its row */
      double *me = colours[which][z][y] + first;
      const double *same = (*other)[z][y] + first, *next = same + (odd ? 1 : -1);
      const double *below = (*other)[z][y - 1] + first, *above = (*other)[z][y + 1] + first;
      const double *front = (*other)[z - 1][y] + first, *back = (*other)[z + 1][y] + first;
      const double *s = source + ((z - 1) * INNER + y - 1) * INNER + first;
#pragma omp simd reduction(+ : sum)
      for (int i = 0; i < HALF; i++) {
        const double residual = ((same[i] + next[i]) + (below[i] + above[i])) +
                                (front[i] + back[i]) - 6.0 * me[i] - s[2 * i];
        me[i] += omega * residual;
        sum += fabs(residual);
      }
    }
  return sum;
}

/* Chebyshev acceleration: Press et al., Numerical Recipes, section 20.5. The spectral radius is
 * that of Jacobi's iteration on 16 inner cells a side. */
static double next_omega(double omega, double square_radius, int half_sweep) {
  if (half_sweep == 0) return 1.0;
  return 1.0 / (1.0 - square_radius * omega * (half_sweep == 1 ? 0.5 : 0.25));
}

static struct poisson_result solve(const double *source, double target, int sweeps, double *block) {
  static _Thread_local colour colours[2];
  const double radius = cos(PI / (INNER + 1.0));
  struct poisson_result r = {0, INFINITY};
  double omega = 1.0, checked = HUGE_VAL;
  split_colours(block, colours);
  while (r.sweeps < sweeps) {
    r.residual = 0.0;
    for (int which = 0; which < 2; which++) {
      omega = next_omega(omega, radius * radius, 2 * r.sweeps + which);
      r.residual += relax_colour(source, omega / 6.0, which, colours);
    }
    r.sweeps++;
    if (r.residual <= target) break;
    if (r.sweeps % CHECK != 0) continue;
    if (r.residual > 0.5 * checked) break;
    checked = r.residual;
  }
  join_colours((const colour *)colours, block);
  return r;
}

static double residual(const double *source, const double *block) {
  double sum = 0.0;
  for (int z = 0; z < INNER; z++)
    for (int y = 0; y < INNER; y++)
      for (int x = 0; x < INNER; x++) {
        const double *p = block + ((z + 1) * SIDE + y + 1) * SIDE + x + 1;
        sum += fabs(p[-1] + p[1] + p[-SIDE] + p[SIDE] + p[-PLANE] + p[PLANE] - 6.0 * p[0] -
                    source[(z * INNER + y) * INNER + x]);
      }
  return sum;
}

/* Interpolate lines of `stride` from 12 coarse to `side` fine cells, 18 or 20. Of 18, cell i is in
 * coarse cell (i + 3) / 2, a quarter of it above its middle if i is even, else below. Of 20, it has
 * what cell i - 1 of 18 would have. */
static void refine_lines(const double *from, int stride, int side, double *to) {
  static const double near = 5.0 / 32.0, far = -3.0 / 32.0, middle = 15.0 / 16.0;
  for (int i = 0; i < side; i++) {
    const int of_block = i - (side - SIDE) / 2;
    const double *c = from + (of_block + 3) / 2 * stride;
    const double low = of_block % 2 == 0 ? far : near, high = of_block % 2 == 0 ? near : far;
    double *t = to + i * stride;
#pragma omp simd
    for (int k = 0; k < stride; k++)
      t[k] = middle * c[k] + low * c[k - stride] + high * c[k + stride];
  }
}

static void refine(const double *coarse, int side, double *fine) {
  double along_z[WIDE_SIDE * COARSE * COARSE], along_y[WIDE_SIDE * WIDE_SIDE * COARSE];
  refine_lines(coarse, COARSE * COARSE, side, along_z);
  for (int z = 0; z < side; z++)
    refine_lines(along_z + z * COARSE * COARSE, COARSE, side, along_y + z * side * COARSE);
  for (int row = 0; row < side * side; row++)
    refine_lines(along_y + row * COARSE, 1, side, fine + row * side);
}

static void interpolate(const double *coarse, double *block) { refine(coarse, SIDE, block); }

static void interpolate_wide(const double *coarse, double *wide) {
  refine(coarse, WIDE_SIDE, wide);
}

/* A fine cell i of a line from coarse ones, as refine_lines() does. @param from  coarse cell 0 */
static inline double refined(const double *from, int i) {
  static const double near = 5.0 / 32.0, far = -3.0 / 32.0, middle = 15.0 / 16.0;
  const double *c = from + (i + 3) / 2;
  return middle * c[0] + (i % 2 == 0 ? far : near) * c[-1] + (i % 2 == 0 ? near : far) * c[1];
}

/* The axes of a face's two indices, the faster first. */
static void axes_of_face(int face, int *fast, int *slow) {
  *fast = face / 2 == 0 ? 1 : 0;
  *slow = face / 2 == 2 ? 1 : 2;
}

static const int step_of[3] = {1, SIDE, PLANE};

/* A layer of coarse cells beside a face, interpolated across it to the ghost cells' middles. */
static void coarse_layer(const double *coarse, int face, double layer[COARSE][COARSE]) {
  static const int step[3] = {1, COARSE, COARSE * COARSE};
  int fast, slow;
  axes_of_face(face, &fast, &slow);
  const double *from = coarse + (face & 1 ? COARSE - 2 : 1) * step[face / 2];
  const int out = face & 1 ? step[face / 2] : -step[face / 2];
  for (int j = 0; j < COARSE; j++)
    for (int i = 0; i < COARSE; i++) {
      const double *c = from + i * step[fast] + j * step[slow];
      layer[j][i] = 15.0 / 16.0 * c[0] - 3.0 / 32.0 * c[out] + 5.0 / 32.0 * c[-out];
    }
}

static void interpolate_ghosts(const double *coarse, unsigned faces, double *block) {
  for (int face = 0; face < GAS_FACES; face++) {
    double layer[COARSE][COARSE], rows[SIDE][COARSE];
    int fast, slow;
    if (!(faces >> face & 1)) continue;
    axes_of_face(face, &fast, &slow);
    coarse_layer(coarse, face, layer);
    refine_lines(&layer[0][0], COARSE, SIDE, &rows[0][0]);
    double *ghosts = block + (face & 1 ? SIDE - 1 : 0) * step_of[face / 2];
    for (int j = 1; j <= INNER; j++)
      for (int i = 1; i <= INNER; i++)
        ghosts[i * step_of[fast] + j * step_of[slow]] = refined(rows[j], i);
  }
}

static void find_slopes(const double *block, double *slopes) {
  for (int face = 0; face < GAS_FACES; face++) {
    int fast, slow;
    axes_of_face(face, &fast, &slow);
    const int f = step_of[fast], s = step_of[slow], n = step_of[face / 2];
    const double *inside = block + f + s + (face & 1 ? INNER : 1) * n;
    const double *ghost = inside + (face & 1 ? n : -n);
    for (int j = 0; j < GAS_PATCH_SIDE; j++)
      for (int i = 0; i < GAS_PATCH_SIDE; i++) {
        const int at = 2 * (i * f + j * s);
        double sum = 0.0;
        for (int k = 0; k < 4; k++) {
          const int cell = at + (k & 1 ? f : 0) + (k & 2 ? s : 0);
          sum += ghost[cell] - inside[cell];
        }
        slopes[face * GAS_FACE_CELLS + GAS_PATCH_SIDE * j + i] = 0.25 * sum;
      }
  }
}

static void sheet(const double *block, int patch, int face, const double *slope, double factor,
                  double *cube) {
  static const int step_in_cube[3] = {1, INNER, INNER * INNER};
  int fast, slow, first[3];
  axes_of_face(face, &fast, &slow);
  for (int a = 0; a < 3; a++) first[a] = GAS_PATCH_SIDE * (patch >> a & 1);
  if (face & 1) first[face / 2] += GAS_PATCH_SIDE - 1;
  const int n = step_of[face / 2] * (face & 1 ? 1 : -1);
  for (int j = 0; j < GAS_PATCH_SIDE; j++)
    for (int i = 0; i < GAS_PATCH_SIDE; i++) {
      int at = 0, in_cube = 0;
      for (int a = 0; a < 3; a++) {
        const int cell = first[a] + (a == fast ? i : 0) + (a == slow ? j : 0);
        at += (cell + 1) * step_of[a];
        in_cube += cell * step_in_cube[a];
      }
      cube[in_cube] -= factor * (block[at] - block[at + n] - 2.0 * slope[GAS_PATCH_SIDE * j + i]);
    }
}

/* sum of the neighbours - 6 potential */
static inline double laplacian(const double *p) {
  return ((p[-1] + p[1]) + (p[-SIDE] + p[SIDE])) + (p[-PLANE] + p[PLANE]) - 6.0 * p[0];
}

static void share(const double *block, const double *source, struct poisson_share *share) {
  find_slopes(block, &share->slope[0][0]);
  for (int z = 0; z < GAS_PATCH_SIDE; z++)
    for (int y = 0; y < GAS_PATCH_SIDE; y++)
      for (int x = 0; x < GAS_PATCH_SIDE; x++) {
        double mean = 0.0, defect = 0.0;
        for (int k = 0; k < 8; k++) {
          const int place[3] = {2 * x + (k & 1), 2 * y + (k >> 1 & 1), 2 * z + (k >> 2)};
          const double *p = block + ((place[2] + 1) * SIDE + place[1] + 1) * SIDE + place[0] + 1;
          mean += *p;
          defect += source[(place[2] * INNER + place[1]) * INNER + place[0]] - laplacian(p);
        }
        const int at = (z * GAS_PATCH_SIDE + y) * GAS_PATCH_SIDE + x;
        share->mean[at] = 0.125 * mean;
        share->defect[at] = 0.125 * defect;
      }
}

/* The mean of the stresses on the 2^2 faces of a coarse one. */
static void mean_stress(const double *wide, int face, int i, int j, double background,
                        double mean[3]) {
  const struct stress_face f = stress_face_of(face);
  int cell[3];
  cell[f.axis] = f.upper ? INNER - 1 : 0;
  for (int c = 0; c < 3; c++) mean[c] = 0.0;
  for (int k = 0; k < 4; k++) {
    double stress[3];
    cell[f.along[0]] = 2 * i + (k & 1);
    cell[f.along[1]] = 2 * j + (k >> 1);
    gravity_stress(wide + stress_place(cell), &f, background, stress);
    for (int c = 0; c < 3; c++) mean[c] += 0.25 * stress[c];
  }
}

static void stress(const double *wide, double background, struct poisson_share *share) {
  for (int face = 0; face < GAS_FACES; face++)
    for (int j = 0; j < GAS_PATCH_SIDE; j++)
      for (int i = 0; i < GAS_PATCH_SIDE; i++) {
        double mean[3];
        mean_stress(wide, face, i, j, background, mean);
        for (int c = 0; c < 3; c++) share->stress[face][c][GAS_PATCH_SIDE * j + i] = mean[c];
      }
}

static void sum_stress(struct stress_kick kick, struct poisson_share *share,
                       struct stress_sum *sums) {
  const double *stress = share->stress[0][0];
  double *closing = share->closing[0][0], *sum = sums->sum[0][0];
  for (int i = 0; i < GAS_FACES * 3 * GAS_FACE_CELLS; i++)
    stress_add(kick, stress[i], &sum[i], &closing[i]);
}

static void cover(const double *block, const double *source, const struct poisson_share *share,
                  int patch, double factor, double *cube) {
  const int corner[3] = {GAS_PATCH_SIDE * (patch & 1), GAS_PATCH_SIDE * (patch >> 1 & 1),
                         GAS_PATCH_SIDE * (patch >> 2)};
  for (int i = 0; i < GAS_PATCH_CELLS; i++) {
    const int x = corner[0] + i % 8, y = corner[1] + i / 8 % 8, z = corner[2] + i / 64;
    const double *p = block + ((z + 1) * SIDE + y + 1) * SIDE + x + 1;
    const int at = (z * INNER + y) * INNER + x;
    cube[at] = factor * (laplacian(p) + 4.0 * share->defect[i] - source[at]);
  }
}

extern const struct poisson_kernels KERNEL(poisson_kernels);
const struct poisson_kernels KERNEL(poisson_kernels) = {
    interpolate, interpolate_ghosts, solve_directly, solve, residual,        share,
    stress,      sum_stress,         sheet,          cover, interpolate_wide};
