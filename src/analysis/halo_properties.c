/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties that follow from positions and velocities of a halo's members. */
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "halo_body.h"
#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "rising.h"

#define PEAK_OF_NFW 2.1625815870646097  /* v_max of an NFW profile is at so many scale radii, */
#define MASS_OF_PEAK 0.4675860282501475 /* ln(1 + x) - x/(1 + x) there */
#define MOST_CONCENTRATED 1e4
enum { LEAST_INSIDE = 6 }; /* the circular velocity of fewer particles is noise */

double body_distance(const double x[3], const double y[3]) {
  double sum = 0.0;
  for (int c = 0; c < 3; c++) sum += (x[c] - y[c]) * (x[c] - y[c]);
  return sqrt(sum);
}

static void add_angular_momentum(const double x[3], const double v[3], double sum[3]) {
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    sum[c] += x[d] * v[e] - x[e] * v[d];
  }
}

struct body_means body_means(size_t n, const struct halo_body *b, const struct halo_background *g) {
  struct body_means m = {.dispersion = 0.0};
  for (size_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) {
      m.x[c] += b[i].x[c];
      m.v[c] += b[i].v[c];
    }
  for (int c = 0; c < 3; c++) m.x[c] /= (double)n, m.v[c] /= (double)n;
  double square = 0.0;
  for (size_t i = 0; i < n; i++) {
    double x[3], v[3];
    for (int c = 0; c < 3; c++) {
      x[c] = g->a * (b[i].x[c] - m.x[c]);
      v[c] = b[i].v[c] - m.v[c] + g->hubble * x[c];
      square += v[c] * v[c];
    }
    add_angular_momentum(x, v, m.spin);
  }
  m.dispersion = sqrt(square / (3.0 * (double)n));
  for (int c = 0; c < 3; c++) m.spin[c] /= (double)n;
  return m;
}

double *body_distances(size_t n, const struct halo_body *b, const double point[3]) {
  double *distance = allocate(n, sizeof *distance, "halo members");
  for (size_t i = 0; i < n; i++) distance[i] = body_distance(b[i].x, point);
  sort_rising(n, distance);
  return distance;
}

double body_v_max(size_t n, const double *distance, double mass, double a, double *r_max) {
  double most = 0.0; /* particles over distance */
  *r_max = 0.0;
  for (size_t i = LEAST_INSIDE - 1; i < n; i++)
    if (distance[i] > 0.0 && (double)(i + 1) > most * distance[i]) {
      most = (double)(i + 1) / distance[i];
      *r_max = distance[i];
    }
  return sqrt(GRAVITY * mass * most / a);
}

/** Roots of the eigenvalues of sum x_i x_j over the largest one. */
static void measure_shape(size_t n, const struct halo_body *b, double axis_ratio[2]) {
  double tensor[9] = {0.0}, eigenvalue[3]; /* gsl reads the lower triangle */
  for (size_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++)
      for (int d = 0; d <= c; d++) tensor[3 * c + d] += b[i].x[c] * b[i].x[d];
  gsl_matrix_view matrix = gsl_matrix_view_array(tensor, 3, 3);
  gsl_vector_view values = gsl_vector_view_array(eigenvalue, 3);
  gsl_eigen_symm_workspace *workspace = gsl_eigen_symm_alloc(3);
  if (!workspace || gsl_eigen_symm(&matrix.matrix, &values.vector, workspace) != GSL_SUCCESS)
    fail(EXIT_RUN_FAILED, "the axis ratios of a halo of %zu members cannot be computed", n);
  gsl_eigen_symm_free(workspace);
  gsl_sort(eigenvalue, 1, 3);
  for (int k = 0; k < 2; k++)
    axis_ratio[k] = eigenvalue[2] > 0.0 ? sqrt(fmax(eigenvalue[1 - k], 0.0) / eigenvalue[2]) : 0.0;
}

/** (v_max/V_200)^2 of an NFW profile, less the value in @p wanted (Prada et al. 2012, eq. 9). */
static double excess_of_peak(double concentration, void *wanted) {
  const double c = concentration;
  return c * (MASS_OF_PEAK / PEAK_OF_NFW) / (log1p(c) - c / (1.0 + c)) - *(double *)wanted;
}

static double concentration_of(double velocity_ratio) {
  double square = velocity_ratio * velocity_ratio;
  if (!(square > 1.0)) return 0.0;
  if (excess_of_peak(MOST_CONCENTRATED, &square) <= 0.0) return MOST_CONCENTRATED;
  gsl_function f = {excess_of_peak, &square};
  gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
  if (!solver || gsl_root_fsolver_set(solver, &f, PEAK_OF_NFW, MOST_CONCENTRATED) != GSL_SUCCESS)
    fail(EXIT_RUN_FAILED, "not enough memory for the concentration of halos");
  do {
    gsl_root_fsolver_iterate(solver);
  } while (gsl_root_test_interval(gsl_root_fsolver_x_lower(solver),
                                  gsl_root_fsolver_x_upper(solver), 0.0, 1e-9) == GSL_CONTINUE);
  const double concentration = gsl_root_fsolver_root(solver);
  gsl_root_fsolver_free(solver);
  return concentration;
}

static double length2(const double x[3]) { return x[0] * x[0] + x[1] * x[1] + x[2] * x[2]; }

/** Keep the members inside a radius about the peak, in their order. @return their number */
static size_t keep_inner(size_t n, struct halo_body *b, double radius) {
  const double limit2 = radius > 0.0 ? radius * radius : HUGE_VAL;
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    if (length2(b[i].x) <= limit2) b[count++] = b[i];
  return count;
}

/** How far the mean of positions is from the peak. */
static double offset_of(size_t n, const struct halo_body *b) {
  double sum[3] = {0.0};
  for (size_t i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) sum[c] += b[i].x[c];
  return sqrt(length2(sum)) / (double)n;
}

static void describe_sphere(struct halo *h, double mass, const struct body_means *m, double a) {
  const struct halo_sphere *s = &h->sphere[CRIT_200];
  if (s->count == 0) return;
  const double velocity = sqrt(GRAVITY * mass * (double)s->count / (a * s->radius));
  h->spin = sqrt(length2(m->spin)) / (M_SQRT2 * velocity * a * s->radius);
  h->concentration = concentration_of(h->v_max / velocity);
}

void halo_describe(struct halo *h, struct halo_body *b, double mass,
                   const struct halo_background *g) {
  static const double peak[3] = {0.0};
  h->offset = offset_of(h->count, b);
  const size_t count = keep_inner(h->count, b, h->sphere[CRIT_200].radius);
  if (count == 0) return;
  const struct body_means m = body_means(count, b, g);
  double *distance = body_distances(count, b, peak);
  h->v_max = body_v_max(count, distance, mass, g->a, &h->r_max);
  free(distance);
  h->dispersion = m.dispersion;
  measure_shape(count, b, h->axis_ratio);
  describe_sphere(h, mass, &m, g->a);
}
