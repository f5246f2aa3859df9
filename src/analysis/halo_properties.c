/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties that follow from positions and velocities of a halo's members. */
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "halo_body.h"
#include "halo_members.h"
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

double halo_grid(size_t n, double most) {
  int exponent;
  (void)frexp((double)n * most, &exponent);
  return ldexp(1.5, exponent + 1);
}

/** Roots of the eigenvalues of sum x_i x_j over the largest one. @param sum  as in halo_sums */
static void measure_shape(const double sum[6], double axis_ratio[2]) {
  double tensor[9] = {sum[0], 0.0,    0.0,    sum[1], sum[2],
                      0.0,    sum[3], sum[4], sum[5]}, /* gsl reads the lower triangle */
      eigenvalue[3];
  gsl_matrix_view matrix = gsl_matrix_view_array(tensor, 3, 3);
  gsl_vector_view values = gsl_vector_view_array(eigenvalue, 3);
  gsl_eigen_symm_workspace *workspace = gsl_eigen_symm_alloc(3);
  if (!workspace || gsl_eigen_symm(&matrix.matrix, &values.vector, workspace) != GSL_SUCCESS)
    fail(EXIT_RUN_FAILED, "the axis ratios of a halo cannot be computed");
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

/** What sums over the members inside R_Crit200, or over all members, are about. */
static struct halo_frame frame_of(const struct halo *h, const struct halo_columns *m, double unit) {
  const double radius = h->sphere[CRIT_200].radius > 0.0 ? h->sphere[CRIT_200].radius / unit
                                                         : POSITION_TURN,
               fastest = 2.0 * (double)m->kernels->fastest(m->count, m->p[0], m->p[1], m->p[2]);
  struct halo_frame f = {.radius2 = radius * radius,
                         .grid_x = halo_grid(m->count, radius),
                         .grid_xx = halo_grid(m->count, radius * radius),
                         .grid_p = halo_grid(m->count, fastest),
                         .grid_pp = halo_grid(m->count, 3.0 * fastest * fastest),
                         .grid_xp = halo_grid(m->count, 2.0 * radius * fastest)};
  for (int c = 0; c < 3; c++) f.centre[c] = m->peak[c], f.momentum[c] = h->momentum[c];
  return f;
}

/** The dispersion along one axis, with the Hubble flow about the mean position. Positions and momenta are about those of
 * the frame: sums about the means follow from them. */
static double dispersion_of(const struct halo_sums *s, double unit,
                            const struct halo_background *g) {
  const double n = s->count, flow = g->hubble * g->a * unit; /* velocity per position unit */
  double xp = s->xp / n, pp = s->pp / n, xx = (s->xx[0] + s->xx[2] + s->xx[5]) / n;
  for (int c = 0; c < 3; c++) {
    const double x = s->x[c] / n, p = s->p[c] / n;
    xp -= x * p, pp -= p * p, xx -= x * x;
  }
  return sqrt(fmax(pp / (g->a * g->a) + 2.0 * flow * xp / g->a + flow * flow * xx, 0.0) / 3.0);
}

/** The size of the angular momentum over mass about the means, physical Mpc/h km/s. The Hubble flow has none. */
static double spin_of(const struct halo_sums *s, double unit) {
  double spin[3];
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    spin[c] = (s->cross[c] - (s->x[d] * s->p[e] - s->x[e] * s->p[d]) / s->count) / s->count;
  }
  return unit * sqrt(length2(spin)); /* a x times p/a */
}

static void describe_sphere(struct halo *h, double mass, double spin, double a) {
  const struct halo_sphere *s = &h->sphere[CRIT_200];
  if (s->count == 0) return;
  const double velocity = sqrt(GRAVITY * mass * (double)s->count / (a * s->radius));
  h->spin = spin / (M_SQRT2 * velocity * a * s->radius);
  h->concentration = concentration_of(h->v_max / velocity);
}

void halo_describe(struct halo *h, const struct halo_columns *m, double box, double mass,
                   const struct halo_background *g, double *room) {
  const double unit = box / POSITION_TURN;
  const struct halo_frame f = frame_of(h, m, unit);
  struct halo_sums sums;
  m->kernels->sums(m->count, m->x, m->p, &f, &sums);
  if (!(sums.count > 0.0)) return;
  const bool several = sums.count > 1.0; /* of one, rounding alone would be left */
  const size_t inner = m->kernels->distances((uint32_t)m->count, m->x[0], m->x[1], m->x[2], m->peak,
                                             f.radius2, room);
  sort_rising(inner, room);
  h->v_max = body_v_max(inner, room, mass / unit, g->a, &h->r_max);
  h->r_max *= unit;
  h->dispersion = several ? dispersion_of(&sums, unit, g) : 0.0;
  measure_shape(sums.xx, h->axis_ratio);
  describe_sphere(h, mass, several ? spin_of(&sums, unit) : 0.0, g->a);
}
