/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generated initial conditions: particles of a grid or glass, displaced. */
#include <math.h>
#include <stdlib.h>

#include "ic_displacement.h"
#include "ic_lattice.h"
#include "src/base/index_order.h"
#include "photons/runtime/loop.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/ic/ic.h"
#include "photons/config/parameters.h"

LOOP_STAGE(initial_conditions, 0x999933, .untimed = true);

enum { PART = 1 << 16 }; /* particles of a task */

static size_t choose_mesh(const struct parameters *p) {
  if (p->ic.mesh) {
    if (p->ic.mesh % 2) fail(EXIT_BAD_USAGE, "ic.mesh = %lld must be even", (long long)p->ic.mesh);
    return (size_t)p->ic.mesh;
  }
  const size_t n = (size_t)p->box.npart_side;
  return n % 2 ? 2 * n : n; /* even, and with the grid on its points */
}

/* The particles over this process's planes, one component at a time. */
struct displaced {
  const struct lattice *lattice;
  const struct displacement *displacement;
  const struct growth *growth;
  double box, velocity; /* a^2 H */
  unsigned axis;
  uint32_t *position;
  float *momentum;
  uint64_t *index;
};

static void for_parts(size_t count, void (*function)(void *context, uint32_t part), void *context) {
  loop_run(&initial_conditions_stage, (uint32_t)((count + PART - 1) / PART), function, context);
}

static size_t part_end(size_t count, size_t part) { return (part + 1) * PART < count ? (part + 1) * PART : count; }

static void index_part(void *context, uint32_t part) {
  const struct displaced *d = context;
  double q[3];
  for (size_t i = (size_t)part * PART; i < part_end(d->lattice->count, part); i++)
    d->index[i] = lattice_particle(d->lattice, i, q);
}

/* x = q + Psi1 + Psi2, dx/dt = H (f1 Psi1 + f2 Psi2), p = a^2 dx/dt */
static void displace_part(void *context, uint32_t part) {
  const struct displaced *d = context;
  const double cell = d->box / (double)d->displacement->fft.n;
  for (size_t i = (size_t)part * PART; i < part_end(d->lattice->count, part); i++) {
    double q[3], psi[2];
    lattice_particle(d->lattice, i, q);
    displacement_read(d->displacement, q, psi);
    d->position[i] = position_to_integer(q[d->axis] * cell + psi[0] + psi[1], d->box);
    d->momentum[i] = (float)(d->velocity * (d->growth->f1 * psi[0] + d->growth->f2 * psi[1]));
  }
}

static void number_part(void *context, uint32_t part) {
  const struct particles *s = context;
  for (size_t i = (size_t)part * PART; i < part_end(s->count, part); i++) s->id[i] = particles_first(s) + i + 1;
}

/* One process has its particles in the order of the lattice already; many exchange them. */
static void displace_particles(struct displaced *work, struct displacement *field, struct particles *s) {
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

struct particles ic_generate(const struct parameters *p, const struct cosmology *c, const struct linear_power *power) {
  struct lattice lattice = lattice_create(p);
  const size_t side = (size_t)p->box.npart_side, count = side * side * side, mesh = choose_mesh(p);
  const double box = p->box.size, a = 1.0 / (1.0 + p->ic.z_init);
  const struct growth g = cosmology_growth(c, a);
  struct displacement field = displacement_create(p, power, &g, mesh, p->ic.glass[0] || mesh % side != 0);
  lattice_distribute(&lattice, &field.fft);
  struct particles s = particles_create_share(count, box, cosmology_particle_mass(c, box, (double)count));
  displace_particles(&(struct displaced){.lattice = &lattice,
                                         .displacement = &field,
                                         .growth = &g,
                                         .box = box,
                                         .velocity = a * a * cosmology_hubble(c, a)},
                     &field, &s);
  for_parts(s.count, number_part, &s);
  displacement_free(&field);
  lattice_free(&lattice);
  return s;
}
