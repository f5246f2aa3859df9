/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generated initial conditions: the particles of a grid or glass, displaced. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ic_check.h"
#include "ic_displacement.h"
#include "ic_lattice.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/ic/ic.h"
#include "photons/runtime/loop.h"
#include "src/base/index_order.h"

enum { PART = 1 << 16 }; /* particles of a task */

static size_t choose_mesh(const struct parameters *p) {
  if (p->ic.mesh) {
    if (p->ic.mesh % 2) fail(EXIT_BAD_USAGE, "ic.mesh = %lld must be even", (long long)p->ic.mesh);
    return (size_t)p->ic.mesh;
  }
  const size_t n = (size_t)p->box.npart_side;
  return n % 2 ? 2 * n : n; /* even, and such that grid points are mesh points */
}

double ic_generate_memory(const struct parameters *p) {
  const size_t n = choose_mesh(p);
  const struct fft_mesh mesh = {.cells = {n, n, n}};
  return (double)displacement_meshes(p) * fft_bytes_of_all(&mesh) +
         fft_exchange_bytes_of_all(&mesh);
}

/* The particles over this rank's planes, one component at a time. */
struct displaced {
  const struct lattice *lattice;
  const struct displacement *displacement;
  const struct growth *growth;
  const struct third_growth *third;
  const struct parameters *parameters;
  double box, a, velocity; /* velocity: a^2 H */
  unsigned axis;
  uint32_t *position;
  float *momentum;
  uint64_t *index;
};

static void for_parts(size_t count, void (*function)(void *context, uint32_t part), void *context) {
  loop_run(&initial_conditions_stage, (uint32_t)((count + PART - 1) / PART), function, context);
}

static size_t part_end(size_t count, size_t part) {
  return (part + 1) * PART < count ? (part + 1) * PART : count;
}

static void index_part(void *context, uint32_t part) {
  const struct displaced *d = context;
  double q[3];
  for (size_t i = (size_t)part * PART; i < part_end(d->lattice->count, part); i++)
    d->index[i] = lattice_particle(d->lattice, i, q);
}

/** End the program: such a displacement means that the power spectrum is wrong. Bad input if the
 * spectrum is from a table. */
_Noreturn static void fail_displacement(const struct displaced *d, uint64_t id, double psi,
                                        double momentum) {
  const struct parameters *p = d->parameters;
  const bool table = p->ic.power_spectrum == POWER_FILE;
  char what[128], spectrum[PARAMETER_PATH_MAX + 32];
  if (fabs(psi) <= d->box / 2.0)
    snprintf(what, sizeof what, "velocity %g km/s, expected less than the speed of light",
             momentum / d->a);
  else
    snprintf(what, sizeof what,
             "displacement %g Mpc/h, expected no more than half the box of %g Mpc/h", psi, d->box);
  if (table)
    snprintf(spectrum, sizeof spectrum, "the P(k) of %s", p->ic.power_spectrum_file);
  else
    snprintf(spectrum, sizeof spectrum, "sigma8 = %g", p->cosmology.sigma8);
  fail(table ? EXIT_BAD_INPUT : EXIT_RUN_FAILED,
       "generated initial conditions: the particle with id %llu has the %c %s; too much: %s at z = "
       "%g",
       (unsigned long long)id, "xyz"[d->axis], what, spectrum, p -> ic.z_init);
}

/* x = q + Psi1 + Psi2 + Psi3, dx/dt = H (f1 Psi1 + f2 Psi2 + f3 Psi3), p = a^2 dx/dt; with a table of
 * species f1 depends on k. */
static void displace_part(void *context, uint32_t part) {
  const struct displaced *d = context;
  const double cell = d->box / (double)d->displacement->fft.size[0];
  for (size_t i = (size_t)part * PART; i < part_end(d->lattice->count, part); i++) {
    double q[3], psi[DISPLACEMENT_FIELDS];
    const uint64_t number = lattice_particle(d->lattice, i, q);
    displacement_read(d->displacement, q, psi);
    const double rate = psi[d->displacement->modes[FIRST_RATE] ? FIRST_RATE : FIRST_ORDER];
    const double shift = psi[FIRST_ORDER] + psi[SECOND_ORDER] + psi[THIRD_ORDER];
    const double momentum = d->velocity *
                            (d->growth->f1 * rate + d->growth->f2 * psi[SECOND_ORDER] +
                             d->third->f3 * psi[THIRD_ORDER]);
    /* The condition is true for NaN, too. */
    if (!(fabs(shift) <= d->box / 2.0 && fabs(momentum) < SPEED_OF_LIGHT * d->a))
      fail_displacement(d, number + 1, shift, momentum);
    d->position[i] = position_to_integer(
        q[d->axis] * cell + psi[FIRST_ORDER] + psi[SECOND_ORDER] + psi[THIRD_ORDER], d->box);
    d->momentum[i] = (float)momentum;
  }
}

static void number_part(void *context, uint32_t part) {
  const struct particles *s = context;
  for (size_t i = (size_t)part * PART; i < part_end(s->count, part); i++)
    s->id[i] = particles_first(s) + i + 1;
}

/* With one rank the particles are already in the order of the lattice; several ranks exchange
 * them. */
static void displace_particles(struct displaced *work, struct displacement *field,
                               struct particles *s) {
  const bool alone = comm_size() == 1;
  const size_t count = work->lattice->count;
  struct index_order order = {0};
  if (!alone) {
    work->index = allocate(count, sizeof *work->index, "the order of particles");
    for_parts(count, index_part, work);
    order = index_order_create(s->all, count, work->index);
    free(work->index);
    work->position = allocate(count, sizeof *work->position, "positions on their way");
    work->momentum = allocate(count, sizeof *work->momentum, "momenta on their way");
  }
  for (work->axis = 0; work->axis < 3; work->axis++) {
    displacement_transform(field, work->axis);
    uint32_t *position = s->position + work->axis * s->count;
    float *momentum = s->momentum + work->axis * s->count;
    if (alone) {
      work->position = position;
      work->momentum = momentum;
    }
    for_parts(count, displace_part, work);
    if (alone) continue;
    index_order_apply(&order, work->position, sizeof *position, position);
    index_order_apply(&order, work->momentum, sizeof *momentum, momentum);
  }
  if (alone) return;
  free(work->position);
  free(work->momentum);
  index_order_free(&order);
}

/** Waves on a grid come to linear theory within the run. */
static void require_growth(const struct parameters *p, const struct cosmology *c, double d1) {
  const double growth = cosmology_growth(c, 1.0 / (1.0 + p->time.z_end)).d1 / d1;
  const double rounding = 1.0 + 1e-4;
  if (p->ic.lattice_growth > 1.0 && p->ic.lattice_growth > growth * rounding)
    fail(EXIT_BAD_USAGE,
         "ic.lattice_growth = %g: expected no more than the growth from ic.z_init = %g to "
         "time.z_end = %g, which is %.3g",
         p->ic.lattice_growth, p->ic.z_init, p->time.z_end, growth);
}

static struct particles generate(const struct parameters *p, const struct cosmology *c,
                                 const struct linear_power *power, struct wave_growth waves) {
  struct lattice lattice = lattice_create(p);
  const size_t side = (size_t)p->box.npart_side, count = side * side * side, mesh = choose_mesh(p);
  const double box = p->box.size, a = 1.0 / (1.0 + p->ic.z_init);
  const struct growth g = cosmology_growth(c, a);
  struct third_growth third = {0};
  require_growth(p, c, g.d1);
  waves.a = a;
  waves.d1 = g.d1;
  waves.f1 = g.f1;
  struct displacement field = displacement_create(p, power, &waves, &g, mesh,
                                                  p->ic.glass[0] || mesh % side != 0);
  if (p->ic.order == 3) {
    third = cosmology_third_growth(c, a);
    third_order_modes(&field, &g, &third);
  }
  lattice_distribute(&lattice, &field.fft);
  struct particles s = particles_create_share(count, box,
                                              cosmology_particle_mass(c, box, (double)count));
  displace_particles(&(struct displaced){.lattice = &lattice,
                                         .displacement = &field,
                                         .growth = &g,
                                         .third = &third,
                                         .parameters = p,
                                         .box = box,
                                         .a = a,
                                         .velocity = a * a * cosmology_hubble(c, a)},
                     &field, &s);
  for_parts(s.count, number_part, &s);
  displacement_free(&field);
  lattice_free(&lattice);
  ic_warn(&s, c->omega_k, "generated initial conditions");
  return s;
}

struct particles ic_generate(const struct parameters *p, const struct cosmology *c,
                             const struct linear_power *power, const struct species *species) {
  return generate(p, c, power, (struct wave_growth){.species = species});
}

struct particles ic_generate_cold(const struct parameters *p, const struct cosmology *c,
                                  const struct linear_power *power, const struct fluids *fluids) {
  return generate(p, c, power, (struct wave_growth){.fluids = fluids, .fluid = FLUID_COLD});
}
