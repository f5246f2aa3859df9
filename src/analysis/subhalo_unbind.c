/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which particles are bound to each other: those of positive energy in the rest frame of all are removed
 * until there are none. */
#include <stdlib.h>
#include <string.h>

#include "halo_tree.h"
#include "photons/base/error.h"
#include "rising.h"
#include "subhalo.h"

#define MOST_REMOVED 0.25 /* at a time: the rest frame changes with those that leave */
enum { PART = 4096 };     /* particles of a part of a loop */
#define NONE UINT32_MAX

/** Sums over a part of the particles, and the rest frame of all. */
struct frame {
  double x[3], v[3];
};

struct measuring {
  const struct unbinding *unbinding;
  const struct potentials *potentials;
  double *energy;    /* in a unit mass, (km/s)^2 */
  struct frame *sum; /* [part] */
  struct frame mean;
};

static uint32_t parts_of(const struct potentials *p) { return (p->count + PART - 1) / PART; }

static uint32_t end_of(const struct potentials *p, uint32_t part) {
  return p->count - part * PART > PART ? (part + 1) * PART : p->count;
}

/** Sums along each axis by one addition for two of them. */
typedef double doubles2 __attribute__((vector_size(16), aligned(8), may_alias));
_Static_assert(sizeof(struct halo_body) == 3 * sizeof(doubles2) &&
                   sizeof(struct frame) == sizeof(struct halo_body),
               "a body and a frame are six numbers, positions first");

static void add_part(void *context, uint32_t part) {
  const struct measuring *m = context;
  const uint32_t end = end_of(m->potentials, part), *number = m->potentials->number;
  const struct halo_body *body = m->unbinding->body;
  doubles2 a = {0.0}, b = {0.0}, c = {0.0};
  for (uint32_t k = part * PART; k < end; k++) {
    const doubles2 *numbers = (const void *)&body[number[k]];
    a += numbers[0], b += numbers[1], c += numbers[2];
  }
  doubles2 *sum = (void *)&m->sum[part];
  sum[0] = a, sum[1] = b, sum[2] = c;
}

static inline double square_of(double x) { return x * x; }

/** Energies in the rest frame of all, with the Hubble flow about their centre. */
static void set_part(void *context, uint32_t part) {
  const struct measuring *m = context;
  const double flow = m->unbinding->background->hubble * m->unbinding->background->a;
  const uint32_t end = end_of(m->potentials, part), *number = m->potentials->number;
  const struct halo_body *body = m->unbinding->body;
  const double *potential = m->potentials->potential;
  double *energy = m->energy, rest[3]; /* speed of the frame, less the flow at the origin */
  for (int c = 0; c < 3; c++) rest[c] = m->mean.v[c] + flow * m->mean.x[c];
  for (uint32_t k = part * PART; k < end; k++) {
    const struct halo_body *b = &body[number[k]];
    energy[k] = potential[k] + 0.5 * (square_of(b->v[0] + flow * b->x[0] - rest[0]) +
                                      square_of(b->v[1] + flow * b->x[1] - rest[1]) +
                                      square_of(b->v[2] + flow * b->x[2] - rest[2]));
  }
}

/** Energies of particles; free(). */
static double *energies_of(const struct unbinding *u, const struct potentials *p) {
  const uint32_t parts = parts_of(p);
  const double n = (double)p->count;
  struct measuring m = {.unbinding = u, .potentials = p};
  m.energy = reallocate(NULL, p->count, sizeof *m.energy, "bound particles");
  m.sum = allocate(parts, sizeof *m.sum, "bound particles");
  halo_loop(parts, add_part, &m);
  for (uint32_t part = 0; part < parts; part++)
    for (int c = 0; c < 3; c++)
      m.mean.x[c] += m.sum[part].x[c] / n, m.mean.v[c] += m.sum[part].v[c] / n;
  halo_loop(parts, set_part, &m);
  free(m.sum);
  return m.energy;
}

/** The least energy that is removed, among positive ones: 0, or more where too many would be. */
static double energy_limit(uint32_t n, const double *energy) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < n; k++) count += energy[k] > 0.0;
  const uint32_t most = (uint32_t)(MOST_REMOVED * (double)n) + 1;
  if (count <= most) return 0.0;
  uint32_t *order = reallocate(NULL, n, sizeof *order, "bound particles");
  order_rising(n, energy, order);
  const double limit = energy[order[n - 1 - most]];
  free(order);
  return limit;
}

/** Remove particles of positive energy. @param[out] removed  their numbers. @return how many these are */
static uint32_t remove_unbound(struct potentials *p, const double *energy, uint32_t *removed) {
  const double limit = energy_limit(p->count, energy);
  uint32_t stay = 0, leave = 0;
  for (uint32_t k = 0; k < p->count; k++)
    if (energy[k] > 0.0 && energy[k] >= limit) {
      removed[leave++] = p->number[k];
    } else {
      p->number[stay] = p->number[k];
      p->potential[stay++] = p->potential[k];
    }
  p->count = stay;
  return leave;
}

/** Number of the particle of the least energy. */
static uint32_t most_bound(const struct potentials *p, const double *energy) {
  uint32_t least = 0;
  for (uint32_t k = 1; k < p->count; k++)
    if (energy[k] < energy[least]) least = k;
  return p->number[least];
}

/** Remove particles of positive energy, and bring the potentials of the others to what they are then.
 * @return the most bound particle, if none has been removed; else NONE */
static uint32_t unbind_once(const struct unbinding *u, struct potentials *p) {
  double *energy = energies_of(u, p);
  uint32_t *removed = reallocate(NULL, p->count, sizeof *removed, "bound particles");
  const uint32_t count = remove_unbound(p, energy, removed);
  if (count > 0 && p->count >= u->least) potentials_without(u, p, count, removed);
  const uint32_t centre = count > 0 ? NONE : most_bound(p, energy);
  free(removed);
  free(energy);
  return centre;
}

uint32_t subhalo_unbind(const struct unbinding *u, struct potentials *p) {
  while (p->count > 0 && p->count >= u->least) {
    const uint32_t centre = unbind_once(u, p);
    if (centre != NONE) return centre;
  }
  potentials_free(p);
  return NONE;
}

void subhalo_by_energy(const struct unbinding *u, const struct potentials *p, uint32_t *number) {
  double *energy = energies_of(u, p);
  order_rising(p->count, energy, number);
  for (uint32_t k = 0; k < p->count; k++) number[k] = p->number[number[k]];
  free(energy);
}
