/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/gas_waves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "photons/amr/root_exchange.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/fluids.h"
#include "photons/cosmology/linear_power.h"
#include "photons/gas/comoving.h"
#include "photons/gas/gas_ic.h"
#include "src/ic/ic_displacement.h"

/* The displacement whose change is the velocity, over f1: the displacement itself where all k grow alike. */
enum { CONTRAST, DISPLACEMENT_X, DISPLACEMENT_Y, DISPLACEMENT_Z, FIELDS };

struct gas_waves {
  struct fft_mesh mesh;
  double
      *plane[FIELDS]; /* this rank's values of the mesh, along x, y, z; NULL once they are shared */
  uint32_t first;     /* own group */
  double *cube[FIELDS];                  /* [own group][x][y][z]; NULL until they are shared */
  double density, velocity, heat, gamma; /* velocity: v~ over displacement; heat: as of pancakes */
};

static struct fft_mesh mesh_of(const struct parameters *p) {
  const size_t n = (size_t)p->gas.root[0];
  return (struct fft_mesh){.cells = {n, n, n}};
}

static double *copy_field(const struct displacement *d, enum displacement_field field) {
  const struct fft_box *b = &d->fft.values;
  double *copy = allocate(b->count[0] * b->step[0], sizeof *copy, "waves of gas");
  memcpy(copy, d->field[field], b->count[0] * b->step[0] * sizeof *copy);
  return copy;
}

/** End the program on all ranks alike. */
static void require_density(const struct gas_waves *w, double z) {
  const struct fft_box b = fft_values_of(&w->mesh, fft_grid_of(&w->mesh), comm_rank());
  double depth = 0.0; /* of the emptiest cell: minus its contrast */
  for (size_t i = 0; i < b.count[0]; i++)
    for (size_t j = 0; j < b.count[1]; j++)
      for (size_t k = 0; k < b.count[2]; k++) {
        const double contrast = w->plane[CONTRAST][fft_at(&b, i, j, k)];
        depth = fmax(depth, isnan(contrast) ? INFINITY : -contrast);
      }
  comm_max_double(&depth, 1);
  if (depth >= 1.0)
    fail(EXIT_BAD_USAGE,
         "initial conditions of gas: the density contrast of linear theory is %g in a cell at z = "
         "%g, and must be above -1: take an earlier ic.z_init",
         -depth, z);
}

struct gas_waves *gas_waves_make(const struct parameters *p) {
  struct parameters first_order = *p;
  first_order.ic.order = 1;
  first_order.box.npart_side = (int64_t)p->gas.root[0];
  const struct cosmology c = cosmology_from(p);
  const double a = 1.0 / (1.0 + p->ic.z_init);
  const struct growth g = cosmology_growth(&c, a);
  struct linear_power *power = linear_power_create(p);
  struct fluids *fluids = fluids_create(p);
  const struct wave_growth waves = {
      .a = a, .d1 = g.d1, .f1 = g.f1, .fluids = fluids, .fluid = FLUID_BARYONS};
  struct displacement d = displacement_create(&first_order, power, &waves, &g,
                                              (size_t)p->gas.root[0], false);
  struct gas_waves *w = allocate(1, sizeof *w, "waves of gas");
  *w = (struct gas_waves){.mesh = mesh_of(p),
                          .density = comoving_mean_density(&c) * comoving_gas_share(p),
                          .velocity = a * a * cosmology_hubble(&c, a) * g.f1,
                          .heat = comoving_initial_heat(p),
                          .gamma = p->gas.gamma};
  displacement_average(&d);
  displacement_contrast(&d);
  w->plane[CONTRAST] = copy_field(&d, FIRST_ORDER);
  const enum displacement_field flow = fluids ? FIRST_RATE : FIRST_ORDER;
  for (unsigned axis = 0; axis < 3; axis++) {
    displacement_transform(&d, axis);
    w->plane[DISPLACEMENT_X + axis] = copy_field(&d, flow);
  }
  displacement_free(&d);
  fluids_free(fluids);
  linear_power_free(power);
  require_density(w, p->ic.z_init);
  return w;
}

void gas_waves_check(const struct parameters *p) {
  linear_power_free(linear_power_create(p));
  fluids_free(fluids_create(p));
}

void gas_waves_free(struct gas_waves *w) {
  for (int i = 0; w && i < FIELDS; i++) {
    free(w->plane[i]);
    free(w->cube[i]);
  }
  free(w);
}

/** One field of the waves. */
struct field {
  const struct gas_waves *waves;
  double *cube;
};

static void take_cube(void *context, uint32_t group, const double *cube) {
  const struct field *f = context;
  memcpy(f->cube + (size_t)(group - f->waves->first) * GAS_GROUP_CELLS, cube,
         GAS_GROUP_CELLS * sizeof *cube);
}

void gas_waves_share(struct gas_waves *w, const struct gas *g) {
  static const unsigned axis[3] = {0, 1, 2};
  if (w->cube[CONTRAST]) return;
  struct root_exchange *e = root_exchange_make(g, &w->mesh, axis, &initial_conditions_stage);
  w->first = gas_first_group(g, 0, comm_rank());
  const size_t own = gas_first_group(g, 0, comm_rank() + 1) - w->first;
  for (int i = 0; i < FIELDS; i++) {
    w->cube[i] = allocate(own * GAS_GROUP_CELLS, sizeof *w->cube[i], "waves of gas");
    root_exchange_to_groups(e, w->plane[i], take_cube, &(struct field){w, w->cube[i]});
    free(w->plane[i]);
    w->plane[i] = NULL;
  }
  root_exchange_free(e);
}

void gas_waves_read(const struct gas_waves *w, uint32_t group, double *conserved) {
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++) {
    const size_t x = i % GAS_GROUP_SIDE, y = i / GAS_GROUP_SIDE % GAS_GROUP_SIDE,
                 z = i / (GAS_GROUP_SIDE * GAS_GROUP_SIDE);
    const size_t at = (size_t)(group - w->first) * GAS_GROUP_CELLS +
                      (x * GAS_GROUP_SIDE + y) * GAS_GROUP_SIDE + z;
    struct gas_primitive cell = {.density = w->density * (1.0 + w->cube[CONTRAST][at])};
    for (int axis = 0; axis < 3; axis++)
      cell.velocity[axis] = w->velocity * w->cube[DISPLACEMENT_X + axis][at];
    cell.pressure = cell.density * w->heat;
    gas_conserve(&cell, w->gamma, conserved + i * GAS_VARIABLES_MAX);
  }
}

static double cells(const struct parameters *p) { return pow(p->gas.root[0], 3.0); }

double gas_waves_held_memory(const struct parameters *p) {
  return FIELDS * cells(p) * sizeof(double);
}

double gas_waves_memory(const struct parameters *p) {
  const struct fft_mesh mesh = mesh_of(p);
  const double field = fft_bytes_of_all(&mesh), rate = p->ic.transfer_file[0] ? 2.0 * field : 0.0;
  /* All fields but one, and the modes, a component and an exchange of the last one; or a field twice,
   * and the messages. */
  const double made = rate + (FIELDS + 1) * field + fmax(field, fft_exchange_bytes_of_all(&mesh)),
               shared = (FIELDS + 1) * field + root_exchange_bytes_of_all(cells(p));
  return fmax(made, shared);
}
