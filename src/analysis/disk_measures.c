/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "disk_measures.h"

#include <math.h>
#include <string.h>

#define HALF_MASS 1.67834699 /* of an exponential disk, in scale lengths */
#define BAR_REACH 2.0        /* scale lengths */
#define HEAT_FROM 1.5        /* scale lengths between which velocities are measured */
#define HEAT_TO 2.5
enum { LEAST_IN_BAR = 100, LEAST_IN_RING = 2 }; /* particles */

/** Particles of a disk at some distances. */
struct zone {
  const struct body_frame *frame;
  body_distance distance;
  double from, to;    /* [from, to) */
  double velocity[3]; /* about which motions are measured */
};

/** Whether a particle is in a zone. Distances are floats as those of radii_of_shares(). */
static bool in_zone(const struct zone *z, const struct body *b) {
  const double distance = (double)(float)z->distance(z->frame, b);
  return distance >= z->from && distance < z->to;
}

static double radius_of_share(const struct members *m, const struct body_frame *frame,
                              body_distance distance, double share) {
  double radius;
  radii_of_shares(m, frame, distance, 1, &share, &radius);
  return radius;
}

/** All that is within the radius of a share of the mass. */
static struct zone inner_zone(const struct members *m, const struct body_frame *frame,
                              double share) {
  const double radius = radius_of_share(m, frame, distance_from_centre, share);
  return (struct zone){.frame = frame,
                       .distance = distance_from_centre,
                       .to = (double)nextafterf((float)radius, HUGE_VALF)};
}

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int c = 0; c < 3; c++)
    out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Sums over a zone. */
struct momenta {
  double mass, position[3], velocity[3], angular[3]; /* of m, m x, m v, m x cross v */
};

static void add_momenta(const void *context, const struct body *b, double *sum) {
  const struct zone *z = context;
  struct momenta *s = (struct momenta *)sum;
  if (!in_zone(z, b)) return;
  double x[3], angular[3];
  for (int c = 0; c < 3; c++) x[c] = b->x[c] - z->frame->centre[c];
  cross(x, b->v, angular);
  s->mass += b->mass;
  for (int c = 0; c < 3; c++) {
    s->position[c] += b->mass * x[c];
    s->velocity[c] += b->mass * b->v[c];
    s->angular[c] += b->mass * angular[c];
  }
}

/** Momenta by mass. */
static struct momenta mean_momenta(const struct members *m, const struct zone *zone) {
  struct momenta s;
  members_sum(m, add_momenta, zone, sizeof s / sizeof(double), (double *)&s);
  for (int c = 0; c < 3; c++) {
    s.position[c] /= s.mass;
    s.velocity[c] /= s.mass;
    s.angular[c] /= s.mass;
  }
  return s;
}

/** Turn the axes so that the third one is along the angular momentum of the inner half, about its mean. They
 * stay where there is none. */
static void find_axes(const struct members *m, struct body_frame *frame) {
  const struct zone zone = inner_zone(m, frame, 0.5);
  const struct momenta s = mean_momenta(m, &zone);
  double of_mean[3], *x = frame->axis[0], *z = frame->axis[2];
  cross(s.position, s.velocity, of_mean);
  for (int c = 0; c < 3; c++) z[c] = s.angular[c] - of_mean[c];
  const double size = sqrt(dot(z, z));
  for (int c = 0; c < 3; c++) z[c] = size > 0.0 ? z[c] / size : (double)(c == 2);
  const int old = fabs(z[0]) < 0.9 ? 0 : 1; /* x, or y of a disk across it */
  for (int c = 0; c < 3; c++) x[c] = (double)(c == old) - z[old] * z[c];
  const double length = sqrt(dot(x, x));
  for (int c = 0; c < 3; c++) x[c] /= length;
  cross(z, x, frame->axis[1]);
}

/** Sums of a zone: its number, m, m cos(2 phi), m sin(2 phi). */
static void add_bar(const void *context, const struct body *b, double *sum) {
  const struct zone *zone = context;
  double x[3];
  if (!in_zone(zone, b)) return;
  position_in(zone->frame, b, x);
  const double square = x[0] * x[0] + x[1] * x[1];
  sum[0]++;
  sum[1] += b->mass;
  sum[2] += square > 0.0 ? b->mass * (x[0] * x[0] - x[1] * x[1]) / square : b->mass;
  sum[3] += square > 0.0 ? b->mass * 2.0 * x[0] * x[1] / square : 0.0;
}

static void measure_bar(const struct members *m, const struct body_frame *frame,
                        struct disk_measures *disk) {
  const struct zone zone = {
      .frame = frame, .distance = distance_from_axis, .to = BAR_REACH * disk->scale_length};
  double sum[4];
  members_sum(m, add_bar, &zone, 4, sum);
  if (sum[0] < LEAST_IN_BAR) return;
  disk->bar_strength = hypot(sum[2], sum[3]) / sum[1];
  disk->bar_angle = 0.5 * atan2(sum[3], sum[2]);
}

/** Sums of m, m z and m z^2. */
static void add_height(const void *context, const struct body *b, double *sum) {
  double x[3];
  position_in(context, b, x);
  sum[0] += b->mass;
  sum[1] += b->mass * x[2];
  sum[2] += b->mass * x[2] * x[2];
}

static double measure_height(const struct members *m, const struct body_frame *frame) {
  double sum[3];
  members_sum(m, add_height, frame, 3, sum);
  const double mean = sum[1] / sum[0];
  return sqrt(fmax(sum[2] / sum[0] - mean * mean, 0.0));
}

/** Sums over a ring of the number, m, m v and m v^2 along R, phi and z. */
static void add_heat(const void *context, const struct body *b, double *sum) {
  const struct zone *zone = context;
  if (!in_zone(zone, b)) return;
  double x[3], v[3], relative[3];
  for (int c = 0; c < 3; c++) relative[c] = b->v[c] - zone->velocity[c];
  position_in(zone->frame, b, x);
  along_axes(zone->frame, relative, v);
  const double R = hypot(x[0], x[1]);
  const double along[3] = {(x[0] * v[0] + x[1] * v[1]) / R, (x[0] * v[1] - x[1] * v[0]) / R, v[2]};
  sum[0]++;
  sum[1] += b->mass;
  for (int k = 0; k < 3; k++) {
    sum[2 + k] += b->mass * along[k];
    sum[5 + k] += b->mass * along[k] * along[k];
  }
}

/** Dispersions in a ring. Velocities are relative to the mean of the inner quarter of the disk. */
static void measure_heat(const struct members *m, const struct body_frame *frame,
                         struct disk_measures *disk) {
  const struct zone inner = inner_zone(m, frame, 0.25);
  const struct momenta quarter = mean_momenta(m, &inner);
  struct zone ring = {.frame = frame,
                      .distance = distance_from_axis,
                      .from = HEAT_FROM * disk->scale_length,
                      .to = HEAT_TO * disk->scale_length};
  memcpy(ring.velocity, quarter.velocity, sizeof ring.velocity);
  double sum[8];
  members_sum(m, add_heat, &ring, 8, sum);
  if (sum[0] < LEAST_IN_RING) return;
  for (int k = 0; k < 3; k++) {
    const double mean = sum[2 + k] / sum[1];
    disk->sigma[k] = sqrt(fmax(sum[5 + k] / sum[1] - mean * mean, 0.0));
  }
}

/** Angular momentum by mass about the centre and the mean velocity, along the axes of the system. */
static void measure_spin(const struct members *m, const struct body_frame *frame,
                         struct disk_measures *disk) {
  const struct zone all = {.frame = frame, .distance = distance_from_centre, .to = HUGE_VAL};
  const struct momenta s = mean_momenta(m, &all);
  double of_mean[3];
  cross(s.position, s.velocity, of_mean);
  for (int c = 0; c < 3; c++) disk->spin[c] = s.angular[c] - of_mean[c];
}

void disk_measure(const struct members *m, const double centre[3], struct disk_measures *disk) {
  struct body_frame frame = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  memcpy(frame.centre, centre, sizeof frame.centre);
  if (!(radius_of_share(m, &frame, distance_from_centre, 0.5) > 0.0)) return;
  find_axes(m, &frame);
  disk->scale_length = radius_of_share(m, &frame, distance_from_axis, 0.5) / HALF_MASS;
  disk->height = measure_height(m, &frame);
  measure_bar(m, &frame, disk);
  measure_heat(m, &frame, disk);
  measure_spin(m, &frame, disk);
}
