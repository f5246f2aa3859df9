/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/gas/gas_ic.h"

#include <math.h>
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/comoving.h"
#include "photons/gas/create.h"
#include "photons/gas/gas_array.h"
#include "photons/gas/gas_waves.h"

#define PI 3.14159265358979323846

struct pancake pancake_make(const struct parameters *p) {
  const struct cosmology c = cosmology_from(p);
  const double a = 1.0 / (1.0 + p->ic.z_init);
  const struct growth now = cosmology_growth(&c, a),
                      caustic = cosmology_growth(&c, 1.0 / (1.0 + p->ic.z_caustic));
  const double size = now.d1 / caustic.d1;
  return (struct pancake){.size = size,
                          .density = comoving_mean_density(&c) * comoving_gas_share(p),
                          .velocity = -a * a * cosmology_hubble(&c, a) * now.f1 * size,
                          .heat = comoving_initial_heat(p)};
}

struct gas_ic gas_ic_make(const struct parameters *p) {
  struct gas_ic ic = {.source = p->ic.source,
                      .direction = p->ic.direction,
                      .gamma = p->gas.gamma,
                      .scalars = (unsigned)p->gas.scalars,
                      .energy = p->ic.energy,
                      .amplitude = p->ic.amplitude,
                      .newton_constant = p->gas.newton_constant};
  for (int c = 0; c < 3; c++) ic.side[c] = gas_length(p) * p->gas.root[c] / p->gas.root[0];
  if (ic.source == IC_PANCAKE) ic.pancake = pancake_make(p);
  if (ic.source == IC_GENERATE && p->gas.solver != GAS_NONE) ic.waves = gas_waves_make(p);
  if (ic.source == IC_ARRAY) {
    const struct gas_physics physics = gas_physics_of(p);
    ic.array = gas_array_open(p->ic.file, p->gas.root, &physics, p->gas.precision == GAS_DOUBLE);
  }
  return ic;
}

void gas_ic_free(struct gas_ic *ic) {
  gas_array_close(ic->array);
  gas_waves_free(ic->waves);
  ic->waves = NULL;
  ic->array = NULL;
}

void gas_ic_share(const struct gas_ic *ic, const struct gas *g) {
  if (ic->waves) gas_waves_share(ic->waves, g);
}

bool gas_ic_reaches(const struct gas_ic *ic, int level) {
  if (ic->waves) return level == 0;
  return !ic->array || level <= gas_array_level(ic->array);
}

/** Distance from the middle of the box along the direction of the problem, over the side of the box
 * along it; along the diagonal the sum of all three. */
static double along(const struct gas_ic *ic, const double place[3]) {
  double sum = 0.0;
  for (int c = 0; c < 3; c++)
    if (ic->direction == GAS_DIAGONAL || (int)ic->direction == c)
      sum += place[c] / ic->side[c] - 0.5;
  return sum;
}

/** Sod (1978), J. Comput. Phys. 27, 1. */
static struct gas_primitive sod(const struct gas_ic *ic, const double place[3]) {
  if (along(ic, place) < 0.0) return (struct gas_primitive){.density = 1.0, .pressure = 1.0};
  return (struct gas_primitive){.density = 0.125, .pressure = 0.1};
}

/** Whether a place is in the eight cells around the middle of the box. */
static bool in_middle(const struct gas_ic *ic, const double place[3], double cell) {
  bool middle = true;
  for (int c = 0; c < 3; c++) middle = middle && fabs(place[c] - 0.5 * ic->side[c]) < cell;
  return middle;
}

/** Whether a place is in a ball around the middle of the box. @param radius  over the side along x */
static bool in_ball(const struct gas_ic *ic, const double place[3], double radius) {
  double square = 0.0;
  for (int c = 0; c < 3; c++) square += pow(place[c] - 0.5 * ic->side[c], 2.0);
  return square < pow(radius * ic->side[0], 2.0);
}

/** An energy in the eight cells around the middle of the box, and little elsewhere (Schive et al.
 * 2010, section 4.2). */
static struct gas_primitive sedov(const struct gas_ic *ic, const double place[3], double cell) {
  static const double elsewhere = 1e-5; /* energy per volume */
  const bool middle = in_middle(ic, place, cell);
  const double energy = middle ? ic->energy / (8.0 * cell * cell * cell) : elsewhere;
  return (struct gas_primitive){.density = 1.0, .pressure = (ic->gamma - 1.0) * energy};
}

/** A standing sound wave at the moment when all gas is at rest; the speed of sound is 1 with gamma
 * = 5/3 (Schive et al. 2010, section 4.1). */
static struct gas_primitive acoustic(const struct gas_ic *ic, const double place[3]) {
  const double wave = ic->amplitude * cos(2.0 * PI * along(ic, place));
  return (struct gas_primitive){.density = 1.0 + wave, .pressure = 0.6 * (1.0 + ic->gamma * wave)};
}

/** A value that changes smoothly from `outer` to `inner` at a quarter of the box and back at three
 * quarters. */
static double layer(double y, double outer, double inner) {
  static const double width = 0.025;
  const double middle = 0.5 * (outer - inner), low = y - 0.25, high = y - 0.75;
  if (y < 0.25) return outer - middle * exp(low / width);
  if (y < 0.5) return inner + middle * exp(-low / width);
  if (y < 0.75) return inner + middle * exp(high / width);
  return outer - middle * exp(-high / width);
}

/** McNally, Lyra & Passy (2012), ApJS 201, 18, equations 1 to 4. */
static struct gas_primitive kelvin_helmholtz(const struct gas_ic *ic, const double place[3]) {
  const double x = place[0] / ic->side[0], y = place[1] / ic->side[1];
  return (struct gas_primitive){.density = layer(y, 1.0, 2.0),
                                .velocity = {layer(y, 0.5, -0.5), 0.01 * sin(4.0 * PI * x), 0.0},
                                .pressure = 2.5};
}

/** A ball of high pressure, as wide as a fifth of the box. */
static struct gas_primitive blast(const struct gas_ic *ic, const double place[3]) {
  return (struct gas_primitive){.density = 1.0, .pressure = in_ball(ic, place, 0.1) ? 10.0 : 0.1};
}

/** The wave vector of one wave in the box along the direction of the problem. @return its square */
static double wave_vector(const struct gas_ic *ic, double wave[3]) {
  double square = 0.0;
  for (int c = 0; c < 3; c++) {
    wave[c] = ic->direction == GAS_DIAGONAL || (int)ic->direction == c ? 2.0 * PI / ic->side[c]
                                                                       : 0.0;
    square += wave[c] * wave[c];
  }
  return square;
}

/** The growing mode of a wave of small density in gas of density 1 and pressure 3/5, whose own
 * gravity overcomes its pressure (Schive et al. 2010, section 4.5). A wave too short to grow
 * oscillates. */
static struct gas_primitive jeans(const struct gas_ic *ic, const double place[3]) {
  static const double pressure = 0.6;
  const double phase = 2.0 * PI * along(ic, place);
  struct gas_primitive w = {.density = 1.0 + ic->amplitude * sin(phase),
                            .pressure = pressure * (1.0 + ic->gamma * ic->amplitude * sin(phase))};
  double wave[3];
  const double square = wave_vector(ic, wave);
  const double rate = sqrt(
      fmax(0.0, 4.0 * PI * ic->newton_constant - ic->gamma * pressure * square));
  for (int c = 0; c < 3; c++) w.velocity[c] = rate * ic->amplitude * cos(phase) * wave[c] / square;
  return w;
}

/** A ball of density 1 at rest, as wide as half the box, in gas of little density. The pressure is
 * the same everywhere; the ball's thermal energy is 0.3 % of the energy in its potential. */
static struct gas_primitive collapse(const struct gas_ic *ic, const double place[3]) {
  const double radius = 0.25 * ic->side[0];
  const double pressure = 0.003 * (ic->gamma - 1.0) * 0.8 * PI * ic->newton_constant * radius *
                          radius;
  return (struct gas_primitive){.density = in_ball(ic, place, 0.25) ? 1.0 : 1e-3,
                                .pressure = pressure};
}

/** The q of phase = q - size sin(q), size < 1, by Newton's method. The function is convex from 0 to
 * pi, so that it comes from pi without going too far. */
static double undisplaced(double phase, double size) {
  const double wanted = fabs(remainder(phase, 2.0 * PI));
  double q = PI;
  for (int i = 0; i < 64; i++) q -= (q - size * sin(q) - wanted) / (1.0 - size * cos(q));
  return copysign(q, remainder(phase, 2.0 * PI));
}

/** Zel'dovich's (1970, A&A 5, 84) exact solution of a plane wave before it crosses itself, in gas
 * whose pressure does not count yet (Bryan et al. 1995, Comput. Phys. Commun. 89, 149). */
static struct gas_primitive pancake(const struct gas_ic *ic, const double place[3]) {
  const struct pancake *k = &ic->pancake;
  const double q = undisplaced(2.0 * PI * along(ic, place), k->size);
  struct gas_primitive w = {.density = k->density / (1.0 - k->size * cos(q))};
  double wave[3];
  const double square = wave_vector(ic, wave);
  for (int c = 0; c < 3; c++) w.velocity[c] = k->velocity * sin(q) * wave[c] / square;
  w.pressure = w.density * k->heat;
  return w;
}

struct gas_primitive gas_ic_at(const struct gas_ic *ic, const double place[3], double cell) {
  switch (ic->source) {
  case IC_SOD: return sod(ic, place);
  case IC_SEDOV: return sedov(ic, place, cell);
  case IC_ACOUSTIC: return acoustic(ic, place);
  case IC_KELVIN_HELMHOLTZ: return kelvin_helmholtz(ic, place);
  case IC_JEANS: return jeans(ic, place);
  case IC_COLLAPSE: return collapse(ic, place);
  case IC_PANCAKE: return pancake(ic, place);
  default: return blast(ic, place);
  }
}

/** Whether a place is in the part of the box that the problem is about: what explodes or collapses, the
 * layer that shears, or the lower half of a tube or wave. */
static bool is_marked(const struct gas_ic *ic, const double place[3], double cell) {
  const double y = place[1] / ic->side[1];
  switch (ic->source) {
  case IC_SEDOV: return in_middle(ic, place, cell);
  case IC_BLAST: return in_ball(ic, place, 0.1);
  case IC_COLLAPSE: return in_ball(ic, place, 0.25);
  case IC_KELVIN_HELMHOLTZ: return y >= 0.25 && y < 0.75;
  default: return along(ic, place) < 0.0;
  }
}

double gas_ic_scalar(const struct gas_ic *ic, unsigned scalar, const double place[3], double cell) {
  if (scalar >= 2) return 1.0 / scalar;
  return is_marked(ic, place, cell) == (scalar == 0) ? 1.0 : 0.0;
}

/** End the program where a problem of chosen units is out of reach of the precision. Comoving gas has
 * units of its own. */
static void check_precision(const struct gas_ic *ic, const struct gas_primitive *w, bool wide) {
  const char *lack = ic->source == IC_PANCAKE ? NULL : gas_precision_lacks(w, ic->gamma, wide);
  if (lack)
    fail(EXIT_BAD_USAGE,
         "initial conditions with density %g, velocity (%g, %g, %g) and pressure %g: %s %s",
         w->density, w->velocity[0], w->velocity[1], w->velocity[2], w->pressure, lack,
         gas_precision_remedy(wide));
}

/** The middle of cell i of a group in the order of gas_array_read(). */
static void place_of(double cell, const uint32_t corner[3], unsigned i, double place[3]) {
  const unsigned at[3] = {i % GAS_GROUP_SIDE, i / GAS_GROUP_SIDE % GAS_GROUP_SIDE,
                          i / (GAS_GROUP_SIDE * GAS_GROUP_SIDE)};
  for (int c = 0; c < 3; c++) place[c] = cell * (0.5 + GAS_GROUP_SIDE * corner[c] + at[c]);
}

/** The conserved variables of a problem with a name, without scalars. @param conserved as of
 * gas_array_read() */
static void fill_problem(const struct gas_ic *ic, double cell, const uint32_t corner[3], bool wide,
                         double *conserved) {
  for (unsigned i = 0; i < GAS_GROUP_CELLS; i++) {
    double place[3];
    place_of(cell, corner, i, place);
    const struct gas_primitive w = gas_ic_at(ic, place, cell);
    check_precision(ic, &w, wide);
    gas_conserve(&w, ic->gamma, conserved + (size_t)i * GAS_VARIABLES_MAX);
  }
}

/** Scalars of other gas than that of arrays. */
static void fill_scalars(const struct gas_ic *ic, double cell, const uint32_t corner[3],
                         double *conserved) {
  for (unsigned i = 0; i < GAS_GROUP_CELLS && ic->scalars > 0; i++) {
    double place[3], *own = conserved + (size_t)i * GAS_VARIABLES_MAX;
    place_of(cell, corner, i, place);
    for (unsigned k = 0; k < ic->scalars; k++)
      own[GAS_SCALAR + k] = own[GAS_DENSITY] * gas_ic_scalar(ic, k, place, cell);
  }
}

/** Put cells into the order of a group. @param conserved as of gas_array_read() */
static void store(const struct gas *g, const double *conserved, void *cells) {
  for (unsigned v = 0; v < g->scheme.variables; v++) {
    const unsigned number = gas_variable_at(&g->scheme.physics, v);
    for (unsigned p = 0; p < GAS_PATCHES; p++)
      for (unsigned i = 0; i < GAS_PATCH_CELLS; i++) {
        size_t from[3];
        for (unsigned c = 0; c < 3; c++) from[c] = GAS_PATCH_SIDE * (p >> c & 1) + (i >> 3 * c & 7);
        const size_t cell = (from[2] * GAS_GROUP_SIDE + from[1]) * GAS_GROUP_SIDE + from[0];
        const size_t to = (v * GAS_PATCHES + p) * (size_t)GAS_PATCH_CELLS + i;
        const double value = conserved[cell * GAS_VARIABLES_MAX + number];
        if (g->scheme.kernels->real_size == sizeof(double))
          ((double *)cells)[to] = value;
        else
          ((float *)cells)[to] = (float)value;
      }
  }
}

void gas_ic_fill(const struct gas_ic *ic, const struct gas *g, int level, uint32_t group,
                 void *cells) {
  const uint32_t *place = topology_group(&g->topology, level, group)->place;
  double *conserved = allocate(GAS_GROUP_CELLS * GAS_VARIABLES_MAX, sizeof *conserved,
                               "initial conditions of a group");
  if (ic->array)
    gas_array_read(ic->array, level, place, ic->gamma, conserved);
  else if (ic->waves)
    gas_waves_read(ic->waves, group, conserved);
  else
    fill_problem(ic, gas_cell(g, level), place, g->scheme.kernels->real_size == sizeof(double),
                 conserved);
  if (!ic->array) fill_scalars(ic, gas_cell(g, level), place, conserved);
  store(g, conserved, cells);
  free(conserved);
}
