/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/gas_waves.h"

#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "photons/gas/comoving.h"
#include "photons/gas/gas_ic.h"
#include "src/ic/ic_displacement.h"

enum { CONTRAST, DISPLACEMENT_X, DISPLACEMENT_Y, DISPLACEMENT_Z, FIELDS };

struct gas_waves {
  size_t side;
  double *field[FIELDS];                 /* [x][y][z] */
  double density, velocity, heat, gamma; /* velocity: v~ over displacement; heat: as of pancakes */
};

/** Let all ranks have what each has in its planes. */
static double *gather_field(const struct displacement *d) {
  const size_t n = d->fft.size[0], row = d->fft.values.step[1], ranks = (size_t)comm_size();
  double *own = allocate(d->fft.values.count[0] * n * n, sizeof *own, "waves of gas");
  for (size_t i = 0; i < d->fft.values.count[0] * n; i++)
    memcpy(own + i * n, d->field[0] + i * row, n * sizeof *own);
  if (ranks == 1) return own;
  double *all = allocate(n * n * n, sizeof *all, "waves of gas");
  size_t *bytes = allocate(ranks, sizeof *bytes, "message sizes");
  for (size_t r = 0; r < ranks; r++)
    bytes[r] = (comm_first(n, (int)r + 1) - comm_first(n, (int)r)) * n * n * sizeof *own;
  comm_gather_all_sizes(own, bytes, all);
  free(bytes);
  free(own);
  return all;
}

static void require_density(const struct gas_waves *w, double z) {
  for (size_t i = 0; i < w->side * w->side * w->side; i++)
    if (!(w->field[CONTRAST][i] > -1.0))
      fail(
          EXIT_BAD_USAGE,
          "initial conditions of gas: the density contrast of linear theory is %g in a cell at z = "
          "%g, and must be above -1: take an earlier ic.z_init",
          w->field[CONTRAST][i], z);
}

struct gas_waves *gas_waves_make(const struct parameters *p) {
  struct parameters first_order = *p;
  first_order.ic.order = 1;
  first_order.box.npart_side = (int64_t)p->gas.root[0];
  const struct cosmology c = cosmology_from(p);
  const double a = 1.0 / (1.0 + p->ic.z_init);
  const struct growth g = cosmology_growth(&c, a);
  struct linear_power *power = linear_power_create(p);
  struct displacement d = displacement_create(&first_order, power, &g, (size_t)p->gas.root[0],
                                              false);
  struct gas_waves *w = allocate(1, sizeof *w, "waves of gas");
  *w = (struct gas_waves){.side = d.fft.size[0],
                          .density = comoving_mean_density(&c) * comoving_gas_share(p),
                          .velocity = a * a * cosmology_hubble(&c, a) * g.f1,
                          .heat = comoving_initial_heat(p),
                          .gamma = p->gas.gamma};
  displacement_average(&d);
  displacement_contrast(&d);
  w->field[CONTRAST] = gather_field(&d);
  for (unsigned axis = 0; axis < 3; axis++) {
    displacement_transform(&d, axis);
    w->field[DISPLACEMENT_X + axis] = gather_field(&d);
  }
  displacement_free(&d);
  linear_power_free(power);
  require_density(w, p->ic.z_init);
  return w;
}

void gas_waves_free(struct gas_waves *w) {
  for (int i = 0; w && i < FIELDS; i++) free(w->field[i]);
  free(w);
}

void gas_waves_read(const struct gas_waves *w, const uint32_t place[3], double *conserved) {
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++) {
    const size_t x = GAS_GROUP_SIDE * place[0] + i % 16,
                 y = GAS_GROUP_SIDE * place[1] + i / 16 % 16,
                 z = GAS_GROUP_SIDE * place[2] + i / 256;
    const size_t at = (x * w->side + y) * w->side + z;
    struct gas_primitive cell = {.density = w->density * (1.0 + w->field[CONTRAST][at])};
    for (int axis = 0; axis < 3; axis++)
      cell.velocity[axis] = w->velocity * w->field[DISPLACEMENT_X + axis][at];
    cell.pressure = cell.density * w->heat;
    gas_conserve(&cell, w->gamma, conserved + i * GAS_VARIABLES_MAX);
  }
}
