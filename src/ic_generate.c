/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generated initial conditions: particles of a grid or glass, displaced. */
#include <complex.h> /* first: makes fftw_complex a C complex number */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ic_displacement.h"
#include "photons/error.h"
#include "photons/ic.h"
#include "photons/parameters.h"

/* Where the particles stand before they are displaced: a grid, or copies of a glass, `tiles` along each side. */
struct lattice {
  size_t side; /* of the grid */
  size_t tiles;
  struct particles glass; /* count 0: grid */
};

static struct lattice lattice_create(const struct parameters *p) {
  struct lattice l = {.side = (size_t)p->box.npart_side, .tiles = 1};
  if (!p->ic.glass[0]) return l;
  l.glass = ic_read_glass(p->ic.glass);
  const size_t count = l.side * l.side * l.side;
  l.tiles = (size_t)llround(cbrt((double)count / (double)l.glass.count));
  if (l.tiles * l.tiles * l.tiles * l.glass.count != count)
    fail(EXIT_BAD_INPUT,
         "glass %s has %zu particles; box.npart_side^3 = %zu is not that number times a cube (1, 8, 27 ...)",
         p->ic.glass, l.glass.count, count);
  return l;
}

/* Place of particle `index` in units of `unit` a box side. */
static void lattice_position(const struct lattice *l, size_t index, double unit, double q[3]) {
  const size_t n = l->glass.count ? l->tiles : l->side;
  const size_t cell = l->glass.count ? index / l->glass.count : index;
  const size_t tile[3] = {cell / (n * n), cell / n % n, cell % n};
  for (size_t c = 0; c < 3; c++) {
    double inside = 0.0;
    if (l->glass.count)
      inside = position_from_integer(l->glass.position[c * l->glass.count + index % l->glass.count], 1.0);
    q[c] = ((double)tile[c] + inside) * unit / (double)n;
  }
}

static size_t choose_mesh(const struct parameters *p) {
  if (p->ic.mesh) {
    if (p->ic.mesh % 2) fail(EXIT_BAD_USAGE, "ic.mesh = %lld must be even", (long long)p->ic.mesh);
    return (size_t)p->ic.mesh;
  }
  const size_t n = (size_t)p->box.npart_side;
  return n % 2 ? 2 * n : n; /* even, and with the grid on its points */
}

struct particles ic_generate(const struct parameters *p, const struct cosmology *c, const struct linear_power *power) {
  struct lattice lattice = lattice_create(p);
  const size_t count = lattice.side * lattice.side * lattice.side, mesh = choose_mesh(p);
  const double box = p->box.size, a = 1.0 / (1.0 + p->ic.z_init);
  const struct growth g = cosmology_growth(c, a);
  struct displacement d = displacement_create(p, power, &g, mesh, lattice.glass.count > 0 || mesh % lattice.side != 0);

  struct particles s = particles_create(count, box, cosmology_particle_mass(c, box, (double)count));
  /* x = q + Psi1 + Psi2, dx/dt = H (f1 Psi1 + f2 Psi2), p = a^2 dx/dt */
  const double velocity = a * a * cosmology_hubble(c, a);
  for (unsigned axis = 0; axis < 3; axis++) {
    displacement_transform(&d, axis);
    uint32_t *x = s.position + axis * count;
    float *momentum = s.momentum + axis * count;
    for (size_t i = 0; i < count; i++) {
      double q[3], psi[2];
      lattice_position(&lattice, i, (double)mesh, q);
      displacement_read(&d, q, psi);
      x[i] = position_to_integer(q[axis] * (box / (double)mesh) + psi[0] + psi[1], box);
      momentum[i] = (float)(velocity * (g.f1 * psi[0] + g.f2 * psi[1]));
    }
  }
  for (size_t i = 0; i < count; i++) s.id[i] = i + 1;
  displacement_free(&d);
  particles_free(&lattice.glass);
  return s;
}
