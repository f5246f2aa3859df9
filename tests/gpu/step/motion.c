/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kicks and drifts. */
#include "tests/gpu/step/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/step/gpu_step.h"
#include "photons/base/error.h"
#include "photons/step/external.h"

/** The sums of a group's momenta, in double precision. */
static void check_momentum_sum(const struct bench *b, const struct group *g,
                               const float *momentum) {
  const struct particle_block p = particles_block(&b->s->domain.particles, g->index);
  struct momentum_sum gpu, cpu = {0};
  gpu_momentum_sum(b->gpu, g->count, momentum, b->mass ? b->mass + p.first : NULL, &gpu);
  CUDA(cudaDeviceSynchronize());
  for (uint32_t i = 0; i < g->count; i++) {
    const double m = b->mass ? (double)p.relative_mass[i] : 1.0;
    double square = 0.0;
    for (int c = 0; c < 3; c++) {
      const double v = (double)p.p[c][i];
      cpu.vector[c] += m * v;
      square += v * v;
    }
    cpu.magnitude += m * sqrt(square);
    cpu.square += m * square;
  }
  const double limit = 1e-12 * cpu.magnitude;
  bool good = fabs(gpu.magnitude - cpu.magnitude) <= limit &&
              fabs(gpu.square - cpu.square) <= 1e-12 * cpu.square;
  for (int c = 0; c < 3; c++) good = good && fabs(gpu.vector[c] - cpu.vector[c]) <= limit;
  if (!good) printf("  group %u: the sums of its momenta DIFFER\n", g->index);
  failures += !good;
}

static void add_moments(struct moments *s, const struct moment_arrays *a, size_t i) {
  const size_t n = a->count;
  const double m = a->mass ? (double)a->mass[i] : 1.0;
  double r[3], v[3];
  s->mass += m;
  for (size_t c = 0; c < 3; c++) {
    r[c] = a->unit * (double)(int32_t)(a->x[c * n + i] - FRAME_MIDDLE);
    v[c] = (double)a->momentum[c * n + i];
    s->square += m * v[c] * v[c];
    s->position[c] += m * r[c];
  }
  s->angular[0] += m * (r[1] * v[2] - r[2] * v[1]);
  s->angular[1] += m * (r[2] * v[0] - r[0] * v[2]);
  s->angular[2] += m * (r[0] * v[1] - r[1] * v[0]);
}

/** Sums of each type, with particles of all types in turn. */
static void check_moments(const struct bench *b, const struct group *g, const float *momentum) {
  const struct particle_block p = particles_block(&b->s->domain.particles, g->index);
  struct moments gpu[PARTICLE_TYPES], cpu[PARTICLE_TYPES] = {{0}};
  uint8_t *type = allocate(g->count, 1, "types");
  for (uint32_t i = 0; i < g->count; i++) type[i] = (uint8_t)(i % PARTICLE_TYPES);
  struct moment_arrays a = {.count = g->count,
                            .unit = 1.0 / POSITION_TURN,
                            .x = p.x[0],
                            .momentum = p.p[0],
                            .mass = b->mass ? p.relative_mass : NULL,
                            .type = type};
  for (uint32_t i = 0; i < g->count; i++) add_moments(&cpu[type[i]], &a, i);
  uint32_t *x_out = to_device(a.x, 3 * (size_t)g->count * sizeof *x_out);
  uint8_t *type_out = to_device(type, g->count);
  a.x = x_out;
  a.momentum = momentum;
  a.mass = b->mass ? b->mass + p.first : NULL;
  a.type = type_out;
  gpu_moments(b->gpu, &a, gpu);
  CUDA(cudaDeviceSynchronize());
  bool good = true;
  for (int t = 0; t < PARTICLE_TYPES; t++) {
    const double speed = sqrt(cpu[t].square * cpu[t].mass), limit = 1e-12 * (cpu[t].mass + speed);
    good = good && fabs(gpu[t].mass - cpu[t].mass) <= limit &&
           fabs(gpu[t].square - cpu[t].square) <= 1e-12 * cpu[t].square;
    for (int c = 0; c < 3; c++)
      good = good && fabs(gpu[t].position[c] - cpu[t].position[c]) <= limit &&
             fabs(gpu[t].angular[c] - cpu[t].angular[c]) <= limit;
  }
  if (!good) printf("  group %u: the moments of its types DIFFER\n", g->index);
  failures += !good;
  free(type);
  CUDA(cudaFree(x_out));
  CUDA(cudaFree(type_out));
}

/** Within the rounding of sums whose terms have sizes that add up to `size`. */
static bool same_sums(const double *a, const double *b, int count, double size) {
  bool same = true;
  for (int k = 0; k < count; k++) same = same && fabs(a[k] - b[k]) <= 1e-12 * size;
  return same;
}

/** Net forces of a group, and accelerations without them. The frame is taken for 128 kpc. */
static void check_net_force(const struct bench *b, const struct group *g, struct difference *d) {
  const struct particle_block p = particles_block(&b->s->domain.particles, g->index);
  const size_t n = 3 * (size_t)g->count;
  uint32_t *x_out = to_device(p.x[0], n * sizeof *x_out);
  float *out = to_device(p.acc[0], n * sizeof *out);
  float *cpu = allocate(n, sizeof *cpu, "accelerations"),
        *back = allocate(n, sizeof *back, "accelerations");
  memcpy(cpu, p.acc[0], n * sizeof *cpu);
  struct net_force_arrays arrays = {.count = g->count,
                                    .unit = 0.128 / POSITION_TURN,
                                    .position = p.x[0],
                                    .mass = b->mass ? p.relative_mass : NULL,
                                    .acceleration = cpu},
                          device = arrays;
  device.position = x_out;
  device.mass = b->mass ? b->mass + p.first : NULL;
  device.acceleration = out;
  struct net_force_sums sums = {0}, found;
  for (size_t i = 0; i < g->count; i++) net_force_add(&arrays, i, &sums);
  gpu_net_force(b->gpu, &device, &found);
  CUDA(cudaDeviceSynchronize());
  const bool good = same_sums(&sums.weight, &found.weight, 10, sums.weight) &&
                    same_sums(sums.force, found.force, 3, sums.force_size) &&
                    same_sums(sums.torque, found.torque, 3, sums.torque_size) &&
                    same_sums(&sums.force_size, &found.force_size, 1, sums.force_size) &&
                    same_sums(&sums.torque_size, &found.torque_size, 1, sums.torque_size);
  if (!good) printf("  group %u: the sums of its accelerations DIFFER\n", g->index);
  failures += !good;
  const struct net_force_change change = net_force_change_of(&sums);
  for (size_t i = 0; i < g->count; i++) net_force_remove_from(&arrays, i, &change);
  gpu_net_force_remove(b->gpu, &device, &change);
  to_host(b, back, out, n * sizeof *back);
  compare(d, cpu, back, n);
  free(cpu);
  free(back);
  CUDA(cudaFree(x_out));
  CUDA(cudaFree(out));
}

/** Every kind of potential, and a table of a mass that grows as the radius. */
static struct external_field all_potentials(double **values) {
  static const char *const texts[] = {"point mass=1e9 softening=1",
                                      "logarithmic speed=220 core=1 flattening=0.8",
                                      "miyamoto_nagai mass=5e10 a=3 b=0.3",
                                      "nfw mass=2e11 scale=10",
                                      "hernquist mass=5e10 scale=2",
                                      "bar mass=1e10 a=3 b=0.5 c=0.5 pattern_speed=40 angle=30",
                                      "table"};
  const double radius[] = {0.1, 50.0}, mass[] = {0.1, 50.0};
  struct external_field f = {.terms = sizeof texts / sizeof *texts};
  char reason[256];
  for (uint32_t i = 0; i < f.terms; i++)
    if (!external_parse(texts[i], &f.term[i], reason, sizeof reason))
      fail(EXIT_RUN_FAILED, "%s", reason);
  *values = external_tabulate(&f.table, 2, radius, mass);
  external_turn(&f, 0.05);
  return f;
}

/** Accelerations in potentials, added to others. The frame is taken for 128 kpc. */
static void check_external(const struct bench *b, const struct group *g, struct difference *d) {
  const struct particle_block p = particles_block(&b->s->domain.particles, g->index);
  const size_t n = 3 * (size_t)g->count;
  double *values;
  const struct external_field field = all_potentials(&values);
  double *values_out = to_device(values, 2 * field.table.nodes * sizeof *values);
  uint32_t *x_out = to_device(p.x[0], n * sizeof *x_out);
  float *out = to_device(p.acc[0], n * sizeof *out);
  float *cpu = allocate(n, sizeof *cpu, "accelerations"),
        *back = allocate(n, sizeof *back, "accelerations");
  memcpy(cpu, p.acc[0], n * sizeof *cpu);
  struct external_arrays arrays = {g->count, p.x[0], cpu, 128.0 / POSITION_TURN, true};
  b->s->kernels->external(&field, values, &arrays);
  arrays.position = x_out;
  arrays.acceleration = out;
  gpu_external(b->gpu, &field, values_out, &arrays);
  to_host(b, back, out, n * sizeof *back);
  compare(d, cpu, back, n);
  free(values);
  free(cpu);
  free(back);
  CUDA(cudaFree(values_out));
  CUDA(cudaFree(x_out));
  CUDA(cudaFree(out));
}

void check_motion(const struct bench *b, struct group *g, struct difference *kick,
                  struct difference *drift) {
  const struct nbody *s = b->s;
  const struct particle_block p = particles_block(&s->domain.particles, g->index);
  const size_t n = 3 * (size_t)g->count;
  float *momentum = allocate(n, sizeof *momentum, "momenta"),
        *back = allocate(n, sizeof *back, "momenta");
  struct kick_largest largest[2] = {{0}};
  uint32_t *x = allocate(n, sizeof *x, "positions"),
           *x_back = allocate(n, sizeof *x_back, "positions");
  memcpy(momentum, p.p[0], n * sizeof *momentum);
  memcpy(x, p.x[0], n * sizeof *x);
  float *momentum_out = to_device(momentum, n * sizeof *momentum);
  check_momentum_sum(b, g, momentum_out);
  check_moments(b, g, momentum_out);
  check_external(b, g, kick);
  check_net_force(b, g, kick);
  uint32_t *x_out = to_device(x, n * sizeof *x);
  const struct kick half = {.push = 1e-3f, .loss = 0.2f};
  largest[0] = s->kernels->kick(g->count, half, p.acc[0], momentum);
  const float factor = 0x1p26f /
                       largest[0].momentum; /* at most a 64th of the box: farther than half
                                                         of it is not defined */
  gpu_kick(b->gpu, g->count, half, b->acceleration + 3 * first_of(b, g->index), momentum_out,
           &largest[1]);
  to_host(b, back, momentum_out, n * sizeof *back);
  compare(kick, momentum, back, n);
  compare(kick, &largest[0].acceleration, &largest[1].acceleration, 1);
  compare(kick, &largest[0].momentum, &largest[1].momentum, 1);
  s->kernels->drift(g->count, 0, g->count, factor, back, x);
  gpu_drift(b->gpu, g->count, factor, momentum_out, x_out);
  to_host(b, x_back, x_out, n * sizeof *x_back);
  for (size_t i = 0; i < n; i++) {
    const float moved = (float)(int32_t)(x[i] - p.x[0][i]),
                moved_gpu = (float)(int32_t)(x_back[i] - p.x[0][i]);
    compare(drift, &moved, &moved_gpu, 1);
  }
  free(momentum);
  free(back);
  free(x);
  free(x_back);
  CUDA(cudaFree(momentum_out));
  CUDA(cudaFree(x_out));
}
