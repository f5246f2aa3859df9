/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the members of a halo that are near its density peak. Each term is rounded to a multiple of a power of two
 * so large that no sum of the terms is rounded (Rump, Ogita & Oishi 2008, SIAM J. Sci. Comput. 31, 189, sect. 3): the sums
 * have the same bits for members in any order, and with any instruction set. */
#include "photons/analysis/kernels.h"
#include "photons/domain/geometry.h"

/** The multiple that is nearest to a term: halo_grid(). */
static inline double snap(double term, double grid) { return (term + grid) - grid; }

static inline double apart(uint32_t x, uint32_t centre) {
  return (double)position_difference(x, centre);
}

/** 1 for a member in the sphere, else 0. */
static inline double is_inner(double x, double y, double z, double radius2) {
  return x * x + y * y + z * z <= radius2 ? 1.0 : 0.0;
}

void KERNEL(halo_momenta)(size_t n, float *const momentum[3], double grid, double sum[3]) {
  for (int c = 0; c < 3; c++) {
    const float *p = momentum[c];
    double s = 0.0;
#pragma omp simd reduction(+ : s)
    for (size_t i = 0; i < n; i++) s += snap((double)p[i], grid);
    sum[c] = s;
  }
}

float KERNEL(halo_fastest)(size_t n, const float *x, const float *y, const float *z) {
  const float *const momentum[3] = {x, y, z};
  float most = 0.0f;
  for (int c = 0; c < 3; c++) {
    const float *p = momentum[c];
#pragma omp simd reduction(max : most)
    for (size_t i = 0; i < n; i++) {
      const float size = p[i] < 0.0f ? -p[i] : p[i];
      most = size > most ? size : most;
    }
  }
  return most;
}

static void sum_positions(size_t n, uint32_t *const position[3], const struct halo_frame *f,
                          struct halo_sums *out) {
  const uint32_t *x = position[0], *y = position[1], *z = position[2];
  const double radius2 = f->radius2, grid = f->grid_x, grid2 = f->grid_xx;
  double count = 0.0, x0 = 0.0, x1 = 0.0, x2 = 0.0, xx = 0.0, yx = 0.0, yy = 0.0, zx = 0.0,
         zy = 0.0, zz = 0.0;
#pragma omp simd reduction(+ : count, x0, x1, x2, xx, yx, yy, zx, zy, zz)
  for (size_t i = 0; i < n; i++) {
    const double rx = apart(x[i], f->centre[0]), ry = apart(y[i], f->centre[1]),
                 rz = apart(z[i], f->centre[2]), in = is_inner(rx, ry, rz, radius2), dx = in * rx,
                 dy = in * ry, dz = in * rz;
    count += in;
    x0 += snap(dx, grid), x1 += snap(dy, grid), x2 += snap(dz, grid);
    xx += snap(dx * dx, grid2), yx += snap(dy * dx, grid2), yy += snap(dy * dy, grid2);
    zx += snap(dz * dx, grid2), zy += snap(dz * dy, grid2), zz += snap(dz * dz, grid2);
  }
  out->count = count;
  out->x[0] = x0, out->x[1] = x1, out->x[2] = x2;
  out->xx[0] = xx, out->xx[1] = yx, out->xx[2] = yy;
  out->xx[3] = zx, out->xx[4] = zy, out->xx[5] = zz;
}

static void sum_momenta(size_t n, uint32_t *const position[3], const float *px, const float *py,
                        const float *pz, const struct halo_frame *f, struct halo_sums *out) {
  const uint32_t *x = position[0], *y = position[1], *z = position[2];
  const double radius2 = f->radius2, grid = f->grid_p, grid2 = f->grid_pp, mixed = f->grid_xp;
  double p0 = 0.0, p1 = 0.0, p2 = 0.0, pp = 0.0, xp = 0.0, l0 = 0.0, l1 = 0.0, l2 = 0.0;
#pragma omp simd reduction(+ : p0, p1, p2, pp, xp, l0, l1, l2)
  for (size_t i = 0; i < n; i++) {
    const double rx = apart(x[i], f->centre[0]), ry = apart(y[i], f->centre[1]),
                 rz = apart(z[i], f->centre[2]), in = is_inner(rx, ry, rz, radius2),
                 qx = in * ((double)px[i] - f->momentum[0]),
                 qy = in * ((double)py[i] - f->momentum[1]),
                 qz = in * ((double)pz[i] - f->momentum[2]);
    p0 += snap(qx, grid), p1 += snap(qy, grid), p2 += snap(qz, grid);
    pp += snap(qx * qx + qy * qy + qz * qz, grid2);
    xp += snap(rx * qx + ry * qy + rz * qz, mixed);
    l0 += snap(ry * qz - rz * qy, mixed), l1 += snap(rz * qx - rx * qz, mixed);
    l2 += snap(rx * qy - ry * qx, mixed);
  }
  out->p[0] = p0, out->p[1] = p1, out->p[2] = p2;
  out->pp = pp, out->xp = xp;
  out->cross[0] = l0, out->cross[1] = l1, out->cross[2] = l2;
}

void KERNEL(halo_sums)(size_t n, uint32_t *const position[3], float *const momentum[3],
                       const struct halo_frame *f, struct halo_sums *out) {
  sum_positions(n, position, f, out);
  sum_momenta(n, position, momentum[0], momentum[1], momentum[2], f, out);
}
