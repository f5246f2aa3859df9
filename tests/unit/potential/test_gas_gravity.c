/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Self-gravity of gas: kernels on a patch group, the root level, and forces of point masses across
 * levels of refinement, which are wrong without the sheets of pseudo-mass. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "photons/amr/gas.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/hydro/codelets.h"
#include "photons/potential/codelets.h"
#include "photons/potential/gravity.h"
#include "photons/potential/potential_blocks.h"
#include "photons/potential/stress.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"

#include <cmocka.h>

#include "support/starpu_fixture.h"

enum { SIDE = POISSON_SIDE, INNER = GAS_GROUP_SIDE };

/** A potential that is no polynomial, and its Laplacian. */
static double wave(const double x[3]) {
  return sin(1.3 * x[0]) * cos(0.9 * x[1]) * exp(0.7 * x[2]);
}
static double wave_laplacian(const double x[3]) { return (0.49 - 1.69 - 0.81) * wave(x); }

/** The middle of cell (x, y, z) of a cube of n cells a side and length 1, which `ghosts`
 * surround. */
static void middle(int n, int ghosts, int x, int y, int z, double place[3]) {
  const int cell[3] = {x, y, z};
  for (int c = 0; c < 3; c++) place[c] = (cell[c] - ghosts + 0.5) / n;
}

/** A relaxed block has the residual that was asked for, and the potential that its source has but
 * for the error of the scheme. */
static void relaxation_converges(void **state) {
  (void)state;
  const struct poisson_kernels *k = poisson_kernels_select();
  static double block[POISSON_CELLS], source[GAS_GROUP_CELLS];
  double x[3], sum = 0.0, worst = 0.0;
  for (int i = 0; i < POISSON_CELLS; i++) {
    const int c[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    bool ghost = false;
    for (int a = 0; a < 3; a++) ghost = ghost || c[a] == 0 || c[a] == SIDE - 1;
    middle(INNER, 1, c[0], c[1], c[2], x);
    block[i] = ghost ? wave(x) : 0.0;
  }
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    middle(INNER, 0, i % INNER, i / INNER % INNER, i / INNER / INNER, x);
    source[i] = wave_laplacian(x) / (INNER * INNER);
    sum += fabs(source[i]);
  }
  const double before = k->residual(source, block);
  const struct poisson_result r = k->solve(source, 1e-10 * sum, POISSON_SWEEPS_MAX, block);
  print_message("%d sweeps: residual %g of the source\n", r.sweeps, r.residual / sum);
  assert_true(r.sweeps > 10 && r.sweeps < 100);
  assert_true(r.residual <= 1e-10 * sum);
  assert_true(k->residual(source, block) <= 1.1e-10 * sum && before > 1e-2 * sum);
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const int c[3] = {i % INNER, i / INNER % INNER, i / INNER / INNER};
    middle(INNER, 0, c[0], c[1], c[2], x);
    worst = fmax(worst, fabs(block[((c[2] + 1) * SIDE + c[1] + 1) * SIDE + c[0] + 1] - wave(x)));
  }
  print_message("error of the potential: %g\n", worst);
  assert_true(worst < 1e-4); /* cells of 1/16; the potential is up to 2 */

  /* What cannot be reached ends, too. */
  const struct poisson_result best = k->solve(source, 0.0, POISSON_SWEEPS_MAX, block);
  assert_true(best.sweeps < POISSON_SWEEPS_MAX && best.residual < 1e-11 * sum);
}

/** The direct solution obeys the discrete equation, whatever the source and the ghost cells are. It
 * reads no other cells of the block. */
static void direct_solution_is_exact(void **state) {
  (void)state;
  const struct poisson_kernels *k = poisson_kernels_select();
  static struct poisson_waves waves;
  static double block[POISSON_CELLS], source[GAS_GROUP_CELLS], cube[GAS_GROUP_CELLS];
  double largest = 0.0;
  poisson_waves_make(&waves);
  seed = 7;
  for (int i = 0; i < GAS_GROUP_CELLS; i++) source[i] = uniform() - 0.5;
  for (int i = 0; i < POISSON_CELLS; i++) {
    const int c[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    int outside = 0;
    for (int a = 0; a < 3; a++) outside += c[a] == 0 || c[a] == SIDE - 1;
    block[i] = outside == 1 ? 10.0 * uniform() : 1e100;
  }
  k->solve_directly(&waves, source, block, cube);
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const int c[3] = {i % INNER + 1, i / INNER % INNER + 1, i / INNER / INNER + 1};
    block[(c[2] * SIDE + c[1]) * SIDE + c[0]] = cube[i];
    largest = fmax(largest, fabs(cube[i]));
  }
  const double residual = k->residual(source, block) / GAS_GROUP_CELLS;
  print_message("potentials up to %g, mean residual %g\n", largest, residual);
  assert_true(largest > 1.0 && largest < 20.0);
  assert_true(residual < 1e-13);

  /* The control: a potential that is wrong in one cell. */
  block[(9 * SIDE + 9) * SIDE + 9] += 1e-9;
  assert_true(k->residual(source, block) / GAS_GROUP_CELLS > 1e-13);
}

/** Interpolation is exact for parabolas, at all cells of a block. */
static void interpolation_is_of_third_order(void **state) {
  (void)state;
  static double coarse[POISSON_COARSE_CELLS], block[POISSON_CELLS];
  double x[3];
  for (int i = 0; i < POISSON_COARSE_CELLS; i++) {
    middle(8, 2, i % 12, i / 12 % 12, i / 144, x);
    coarse[i] = (1.0 + x[0] - 2.0 * x[0] * x[0]) * (3.0 - x[1] * x[1]) * (x[2] + x[2] * x[2]);
  }
  poisson_kernels_select()->interpolate(coarse, block);
  for (int i = 0; i < POISSON_CELLS; i++) {
    middle(16, 1, i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE, x);
    const double exact = (1.0 + x[0] - 2.0 * x[0] * x[0]) * (3.0 - x[1] * x[1]) *
                         (x[2] + x[2] * x[2]);
    assert_true(fabs(block[i] - exact) < 1e-13);
  }

  /* The ghost cells beyond faces are the same alone. */
  for (int face = 0; face < GAS_FACES; face++) {
    static double ghosts[POISSON_CELLS];
    for (int i = 0; i < POISSON_CELLS; i++) ghosts[i] = 1e100;
    poisson_kernels_select()->interpolate_ghosts(coarse, 1u << face, ghosts);
    for (int i = 0; i < POISSON_CELLS; i++) {
      const int c[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
      bool beyond = c[face / 2] == (face & 1 ? SIDE - 1 : 0);
      for (int a = 0; a < 3; a++)
        beyond = beyond && (a == face / 2 || (c[a] > 0 && c[a] < SIDE - 1));
      assert_true(beyond ? fabs(ghosts[i] - block[i]) < 1e-13 : ghosts[i] == 1e100);
    }
  }
}

/** A kick adds momentum and kinetic energy, and no thermal energy. */
static void kicks_are_cold(void **state) {
  (void)state;
  static double block[POISSON_CELLS], cells[5 * GAS_GROUP_CELLS];
  const double slope[3] = {0.3, -0.2, 0.7}, factor = 0.5, density = 2.0;
  for (int i = 0; i < POISSON_CELLS; i++)
    block[i] = slope[0] * (i % SIDE) + slope[1] * (i / SIDE % SIDE) + slope[2] * (i / SIDE / SIDE);
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    cells[i] = density;
    for (int c = 0; c < 3; c++) cells[(1 + c) * GAS_GROUP_CELLS + i] = 0.1 * (c + 1);
    cells[4 * GAS_GROUP_CELLS + i] = 1.0 + (0.01 + 0.04 + 0.09) / (2.0 * density);
  }
  gravity_kernels_select(true)->kick(block, factor, cells);
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    double square = 0.0;
    for (int c = 0; c < 3; c++) {
      const double p = cells[(1 + c) * GAS_GROUP_CELLS + i];
      assert_true(fabs(p - (0.1 * (c + 1) - density * 2.0 * factor * slope[c])) < 1e-14);
      square += p * p;
    }
    assert_true(fabs(cells[4 * GAS_GROUP_CELLS + i] - square / (2.0 * density) - 1.0) < 1e-13);
  }
}

/** Whose cells are never cold. */
static const struct gas_physics no_limits = {.solver = GAS_RTVD};

/** Cells of one density and momentum, with a thermal energy of 1. */
static void fill_cells(double density, double momentum, double *cells) {
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    cells[i] = density;
    for (int c = 0; c < 3; c++) cells[(1 + c) * GAS_GROUP_CELLS + i] = momentum;
    cells[4 * GAS_GROUP_CELLS + i] = 1.0 + 3.0 * momentum * momentum / (2.0 * density);
  }
}

/** The mass fluxes of a group, of which none goes through its sides. */
static void fill_fluxes(double *mass) {
  for (int i = 0; i < GAS_MASS_FLUXES; i++) {
    const int face = i % (GAS_MASS_FLUXES / 3) / (INNER * INNER);
    mass[i] = face % INNER == 0 ? 0.0 : sin(3.0 * i);
  }
}

/** The mass that a cell gets in dt/dh. @param c  of the cell, x, y, z */
static double mass_gained(const double *mass, double dt_dh, const int c[3]) {
  double gained = 0.0;
  for (int a = 0; a < 3; a++) {
    const int slow = a == 2 ? c[1] : c[2], fast = a == 0 ? c[1] : c[0];
    const double *lower = mass + a * (GAS_MASS_FLUXES / 3) + (c[a] * INNER + slow) * INNER + fast;
    gained += dt_dh * (lower[0] - lower[INNER * INNER]);
  }
  return gained;
}

/** What the gas gains where none flows through the sides is what it loses in the mean potential. */
static void work_is_what_the_potential_loses(void **state) {
  (void)state;
  static double begin[POISSON_CELLS], end[POISSON_CELLS], cells[5 * GAS_GROUP_CELLS],
      mass[GAS_MASS_FLUXES];
  const double dt_dh = 0.01;
  for (int i = 0; i < POISSON_CELLS; i++) {
    begin[i] = cos(i);
    end[i] = cos(2.0 * i);
  }
  fill_cells(1e-9, 0.0, cells); /* kicks give nothing */
  fill_fluxes(mass);
  gravity_kernels_select(true)->work(&no_limits, dt_dh, begin, end, mass, cells, cells);
  double gained = 0.0, lost = 0.0;
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const int c[3] = {i % INNER, i / INNER % INNER, i / INNER / INNER};
    const int at = ((c[2] + 1) * SIDE + c[1] + 1) * SIDE + c[0] + 1;
    gained += cells[4 * GAS_GROUP_CELLS + i] - 1.0;
    lost -= 0.5 * (begin[at] + end[at]) * mass_gained(mass, dt_dh, c);
  }
  assert_true(fabs(gained) > 0.01);
  assert_true(fabs(gained - lost) < 1e-9);
}

/** Where the mass that flows is the momentum, kicks do all the work. Where gravity takes more energy than there is,
 * half of the heat stays. The second kick follows in both. */
static void work_leaves_heat(void **state) {
  (void)state;
  static double block[POISSON_CELLS], cells[5 * GAS_GROUP_CELLS], kicked[5 * GAS_GROUP_CELLS],
      mass[GAS_MASS_FLUXES];
  const struct gravity_kernels *k = gravity_kernels_select(true);
  const double dt_dh = 0.5, flux[2] = {0.1, 100.0}, heat_lost[2] = {0.0, 0.5};
  for (int i = 0; i < POISSON_CELLS; i++)
    block[i] = 0.3 * (i % SIDE) - 0.2 * (i / SIDE % SIDE) + 0.7 * (i / SIDE / SIDE);
  fill_cells(2.0, 0.1, kicked);
  k->kick(block, 0.25 * dt_dh, kicked);
  for (int n = 0; n < 2; n++) {
    fill_cells(2.0, 0.1, cells);
    for (int i = 0; i < GAS_MASS_FLUXES; i++) mass[i] = flux[n];
    k->work(&no_limits, dt_dh, block, block, mass, cells, cells);
    for (int i = 0; i < GAS_ENERGY * GAS_GROUP_CELLS; i++) assert_true(cells[i] == kicked[i]);
    for (int i = GAS_ENERGY * GAS_GROUP_CELLS; i < 5 * GAS_GROUP_CELLS; i++)
      assert_true(fabs(cells[i] - (kicked[i] - heat_lost[n])) < 1e-14);
  }
}

/** The three-point force of any potential on the density that Poisson's equation has for it is what the stresses on the faces of
 * a cell differ by. */
static void stress_makes_the_force(void **state) {
  (void)state;
  static double wide[WIDE_CELLS];
  const double background = 0.7;
  const int step[3] = {1, WIDE_SIDE, WIDE_SIDE * WIDE_SIDE};
  for (int i = 0; i < WIDE_CELLS; i++) wide[i] = sin(i * i);
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const int cell[3] = {i % INNER, i / INNER % INNER, i / INNER / INNER};
    const double *p = wide + stress_place(cell);
    double source = 0.5 * background - 6.0 * p[0], force[3] = {0.0, 0.0, 0.0};
    for (int face = 0; face < GAS_FACES; face++) {
      const struct stress_face f = stress_face_of(face);
      double stress[3];
      gravity_stress(p, &f, background, stress);
      source += p[stress_across(&f)];
      force[f.axis] += f.upper ? -stress[0] : stress[0];
      for (int t = 0; t < 2; t++) force[f.along[t]] += f.upper ? -stress[1 + t] : stress[1 + t];
    }
    for (int c = 0; c < 3; c++)
      assert_true(fabs(force[c] + source * (p[step[c]] - p[-step[c]])) < 1e-13);
  }
}

/** The two kicks of a coarser level's step, of length 1, do what the kicks of two steps of the finer level do together. */
static void stresses_are_summed(void **state) {
  (void)state;
  const struct poisson_kernels *k = poisson_kernels_select();
  static struct poisson_share share;
  static struct stress_sum sums;
  const double stresses[] = {3.0, 5.0, 11.0};
  const struct stress_kick kicks[] = {
      {STRESS_FIRST, 0.25 - 0.5, 0.0}, {STRESS_BETWEEN, 0.5, 0.0}, {STRESS_LAST, 0.25, 1.0 / 0.5}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < GAS_FACE_CELLS; j++) share.stress[5][2][j] = j * stresses[i];
    k->sum_stress(kicks[i], &share, &sums);
  }
  for (int j = 0; j < GAS_FACE_CELLS; j++)
    assert_true(fabs(0.5 * j * stresses[0] + 0.5 * share.closing[5][2][j] -
                     j * (0.25 * 3.0 + 0.5 * 5.0 + 0.25 * 11.0)) < 1e-12);
}

/** With the pseudo-mass of cover(), a coarse patch whose potential is the finer one's mean has the
 * defect of the finer one, and no other. */
static void covered_cells_agree(void **state) {
  (void)state;
  const struct poisson_kernels *k = poisson_kernels_select();
  static double block[POISSON_CELLS], source[GAS_GROUP_CELLS], cube[GAS_GROUP_CELLS];
  struct poisson_share share;
  double x[3];
  for (int i = 0; i < POISSON_CELLS; i++) {
    middle(INNER, 1, i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE, x);
    block[i] = wave(x);
  }
  for (int i = 0; i < GAS_GROUP_CELLS; i++) source[i] = sin(i);
  k->share(block, source, &share);
  double means = 0.0, potentials = 0.0, sides = 0.0, sources = 0.0, defects = 0.0;
  for (int i = 0; i < GAS_PATCH_CELLS; i++) {
    means += share.mean[i];
    defects += share.defect[i];
  }
  for (int f = 0; f < GAS_FACES; f++)
    for (int i = 0; i < GAS_FACE_CELLS; i++) sides += share.slope[f][i];
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const int c[3] = {i % INNER + 1, i / INNER % INNER + 1, i / INNER / INNER + 1};
    sources += source[i];
    potentials += block[(c[2] * SIDE + c[1]) * SIDE + c[0]];
  }
  assert_true(fabs(8.0 * means - potentials) < 1e-9);
  /* Gauss: what flows out through the sides is what is inside. */
  assert_true(fabs(4.0 * sides + 8.0 * defects - sources) < 1e-9);

  const double factor = 0.3, pseudo = 1.0 / factor;
  memset(cube, 0, sizeof cube);
  k->cover(block, source, &share, 5, pseudo, cube);
  double without = 0.0;
  for (int i = 0; i < GAS_GROUP_CELLS; i++) {
    const int c[3] = {i % INNER, i / INNER % INNER, i / INNER / INNER};
    const bool inside = c[0] >= 8 && c[1] < 8 && c[2] >= 8;
    assert_true(inside || cube[i] == 0.0);
    if (!inside) continue;
    const double *p = block + ((c[2] + 1) * SIDE + c[1] + 1) * SIDE + c[0] + 1;
    const double laplacian = p[-1] + p[1] + p[-SIDE] + p[SIDE] + p[-SIDE * SIDE] + p[SIDE * SIDE] -
                             6.0 * p[0];
    const int at = ((c[2] - 8) * 8 + c[1]) * 8 + c[0] - 8;
    without = fmax(without, fabs(source[i] - laplacian));
    assert_true(fabs(source[i] + factor * cube[i] - laplacian - 4.0 * share.defect[at]) < 1e-12);
  }
  assert_true(without > 0.1);
}

/** A mesh of gas with gravity, without a flow. */
struct box {
  struct parameters p;
  struct gas *g;
};

static struct box make_box(const char *boundary, int root, int levels, int corrections) {
  struct box b;
  char text[600];
  snprintf(text, sizeof text,
           "[run]\nsystem = gas\n[ic]\nsource = jeans\n[time]\nend = 1\n[gas]\nroot = %d, %d, %d\n"
           "length = %d\nprecision = double\nlevels = %d\nflag_density = 1\ngravity = self\n"
           "sheet_corrections = %d\nx_low = %s\nx_high = %s\ny_low = %s\ny_high = %s\n"
           "z_low = %s\nz_high = %s\n",
           root, root, root, root, levels, corrections, boundary, boundary, boundary, boundary,
           boundary, boundary);
  parameters_from_text(&b.p, text, NULL, 0);
  b.g = gas_create(&b.p);
  return b;
}

/** Add a patch around a place to the flags of a level, with all patches that are within some
 * cells. */
static void flag_place(const struct gas *g, int level, const double place[3], double within,
                       uint32_t (*flags)[8]) {
  const double patch = GAS_PATCH_SIDE * gas_cell(g, level);
  for (int n = 0; n < NEIGHBOURS; n++) {
    const int direction[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    int64_t at[3], group_at[3];
    for (int c = 0; c < 3; c++) {
      at[c] = (int64_t)floor((place[c] + within * direction[c] * gas_cell(g, level)) / patch);
      group_at[c] = at[c] >> 1;
    }
    const uint32_t group = topology_find(&g->topology, level, group_at);
    assert_true(group != NO_GROUP);
    flags[group][(at[0] & 1) + 2 * (at[1] & 1) + 4 * (at[2] & 1)] |= 1u << MYSELF;
  }
}

/** Refine around a place, at each level as far as `within` of its cells. */
static void refine_around(struct gas *g, const double place[3], double within) {
  for (int level = 0; level < g->topology.finest; level++) {
    uint32_t count = g->topology.level[level].count, (*flags)[8];
    flags = allocate(count, sizeof *flags, "flags");
    flag_place(g, level, place, within, flags);
    const struct new_groups new = topology_refined(&g->topology, level,
                                                   (const uint32_t(*)[8])flags);
    free(flags);
    gas_restore_level(g, level + 1, new.key, new.count, 0);
  }
  gas_link(g, 0, g->topology.finest);
}

static double *cells_at(const struct gas *g, int level, uint32_t group) {
  return gas_cells(g, level, group);
}

/** Set the densities of all levels. */
static void fill(struct gas *g,
                 double (*density)(const struct gas *g, const double place[3], double cell,
                                   const void *context),
                 const void *context) {
  gas_acquire(g, STARPU_W);
  for (int l = 0; l < topology_levels(&g->topology); l++)
    for (uint32_t i = 0; i < g->topology.level[l].count; i++) {
      memset(cells_at(g, l, i), 0, gas_group_bytes(g));
      for (int k = 0; k < GAS_GROUP_CELLS; k++) {
        double place[3];
        for (int c = 0; c < 3; c++)
          place[c] = gas_cell(g, l) * (0.5 + INNER * g->topology.level[l].group[i].place[c] +
                                       GAS_PATCH_SIDE * (unsigned)(k / GAS_PATCH_CELLS >> c & 1) +
                                       (unsigned)(k % GAS_PATCH_CELLS >> 3 * c & 7));
        cells_at(g, l, i)[k] = density(g, place, gas_cell(g, l), context);
      }
    }
  gas_release(g);
  for (int l = topology_levels(&g->topology) - 2; l >= 0; l--)
    for (uint32_t i = 0; i < g->level[l].batch_count; i++)
      if (g->level[l].batch[i].fine.count > 0) gas_restrict_submit(g, l, i);
}

/** The potential of a cell. */
static double potential_at(const struct gas *g, int level, const int64_t cell[3]) {
  const struct gas_level *l = &g->level[level];
  const int64_t side = (int64_t)INNER * g->topology.root[0] << level;
  int64_t inside[3], place[3];
  for (int c = 0; c < 3; c++) inside[c] = (cell[c] + side) % side;
  for (int c = 0; c < 3; c++) place[c] = inside[c] / INNER;
  const uint32_t group = topology_find(&g->topology, level, place);
  assert_true(group != NO_GROUP);
  const struct gas_batch *b = gas_batch_with(g, level, group);
  const starpu_data_handle_t h = b->potential[l->potential[POTENTIAL_END]];
  handle_acquire(h, STARPU_R);
  const double value = ((const double *)starpu_vector_get_local_ptr(
      h))[(group - b->first) * GAS_GROUP_CELLS +
          (size_t)((inside[2] % INNER * INNER + inside[1] % INNER) * INNER + inside[0] % INNER)];
  starpu_data_release(h);
  return value;
}

/** A wave along the diagonal. */
static double diagonal(const struct gas *g, const double place[3], double cell,
                       const void *context) {
  (void)cell;
  (void)context;
  const double k = 2.0 * M_PI / (g->cell * INNER * g->topology.root[0]);
  return 1.0 + 0.5 * sin(k * (place[0] + place[1] + place[2]));
}

/** Mean error of a wave's potential at the finest level, over its amplitude. */
static double wave_error(int root, int levels) {
  struct box b = make_box("periodic", root, levels, 1);
  struct gas *g = b.g;
  const double length = root, k = 2.0 * M_PI / length;
  double sum = 0.0;
  if (levels > 0) {
    uint32_t count = g->topology.level[0].count, (*flags)[8];
    flags = allocate(count, sizeof *flags, "flags");
    for (uint32_t i = 0; i < count; i++)
      for (int p = 0; p < 8; p++) flags[i][p] = 1u << MYSELF;
    const struct new_groups new = topology_refined(&g->topology, 0, (const uint32_t(*)[8])flags);
    free(flags);
    gas_restore_level(g, 1, new.key, new.count, 0);
    gas_link(g, 0, g->topology.finest);
  }
  fill(g, diagonal, NULL);
  gravity_solve(g, 0, 1.0);
  message_wait();
  const int cells = root << levels;
  const double amplitude = 4.0 * M_PI * 0.5 / (3.0 * k * k);
  for (int i = 0; i < cells; i++) {
    const double phase = k * 3.0 * (i + 0.5) * length / cells;
    sum += fabs(potential_at(g, levels, (const int64_t[]){i, i, i}) + amplitude * sin(phase));
  }
  gas_free(g);
  return sum / cells / amplitude;
}

static void potential_is_of_second_order(void **state) {
  (void)state;
  const double coarse = wave_error(16, 0), fine = wave_error(32, 0), refined = wave_error(16, 1);
  print_message("errors: 16^3 %.3e, 32^3 %.3e, 16^3 refined once %.3e\n", coarse, fine, refined);
  assert_true(fine < coarse / 3.8 && coarse < 0.05);
  assert_true(refined < coarse / 3.0);
}

/** A mass, in the cloud of one cell. */

static double cloud(const struct gas *g, const double place[3], double cell, const void *context) {
  const double *mass = context;
  double density = 1.0 / (cell * cell * cell);
  (void)g;
  for (int c = 0; c < 3; c++) density *= fmax(0.0, 1.0 - fabs(place[c] - mass[c]) / cell);
  return density;
}

/** Whether a cell exists at a level. */
static bool exists(const struct gas *g, int level, const int64_t cell[3]) {
  const int64_t place[3] = {cell[0] / INNER, cell[1] / INNER, cell[2] / INNER};
  return topology_find(&g->topology, level, place) != NO_GROUP;
}

/** The acceleration at the middle of the finest cell around a place, over Newton's attraction of a
 * mass at `mass`: the radial part, and the size of the difference. */
static void compare_field(const struct gas *g, const double place[3], const double mass[3],
                          double *radial, double *difference) {
  int level = topology_levels(&g->topology) - 1;
  int64_t cell[3];
  double to[3], a[3], r = 0.0;
  for (bool found = false; !found; level--) {
    found = true;
    for (int c = 0; c < 3; c++) cell[c] = (int64_t)(place[c] / gas_cell(g, level));
    for (int c = 0; c < 6; c++) {
      int64_t beside[3] = {cell[0], cell[1], cell[2]};
      beside[c / 2] += c % 2 ? 1 : -1;
      found = found && exists(g, level, beside);
    }
    if (found) break;
  }
  const double h = gas_cell(g, level);
  for (int c = 0; c < 3; c++) {
    int64_t up[3] = {cell[0], cell[1], cell[2]}, down[3] = {cell[0], cell[1], cell[2]};
    up[c]++;
    down[c]--;
    a[c] = -(potential_at(g, level, up) - potential_at(g, level, down)) / (2.0 * h);
    to[c] = mass[c] - ((double)cell[c] + 0.5) * h;
    r += to[c] * to[c];
  }
  r = sqrt(r);
  *radial = *difference = 0.0;
  for (int c = 0; c < 3; c++) {
    *radial += a[c] * to[c] * r;
    *difference += pow(a[c] * r * r - to[c] / r, 2.0);
  }
  *difference = sqrt(*difference);
}

/** In an empty space, the exact potential of a mass at the root level; its Green function is that
 * of the lattice. */
static void isolated_mass(void **state) {
  (void)state;
  struct box b = make_box("outflow", 32, 0, 1);
  const struct root_poisson *r = b.g->gravity->root;
  /* Watson's integral */
  assert_true(fabs(lattice_green(r, (const uint32_t[]){0, 0, 0}) + 0.2527310098586630) < 1e-6);
  const double mass[3] = {16.5, 16.5, 16.5};
  fill(b.g, cloud, mass);
  gravity_solve(b.g, 0, 1.0);
  message_wait();
  for (int d = 4; d < 15; d++) {
    const double found = potential_at(b.g, 0, (const int64_t[]){16 + d, 16, 16});
    assert_true(fabs(found * d + 1.0) < 0.5 / (d * d));
    double radial, difference;
    compare_field(b.g, (const double[]){16.5 + d, 16.5 + d, 16.5}, mass, &radial, &difference);
    assert_true(fabs(radial - 1.0) < 1.5 / (d * d) && difference < 1.5 / (d * d));
  }
  gas_free(b.g);
}

/** How accelerations compare with Newton's. */
struct comparison {
  double mean, rms; /**< of the radial part; of the difference */
};

/** Add what is found on cells `low` to `high` root cells from a mass. */
static void probe(const struct gas *g, const double mass[3], double low, double high,
                  struct comparison *sum) {
  enum { PROBES = 40 };
  for (int k = 0; k < PROBES; k++) {
    const double r = low * pow(high / low, uniform()), z = 2.0 * uniform() - 1.0;
    const double angle = 2.0 * M_PI * uniform(), side = sqrt(1.0 - z * z);
    const double place[3] = {mass[0] + r * side * cos(angle), mass[1] + r * side * sin(angle),
                             mass[2] + r * z};
    double radial, difference;
    compare_field(g, place, mass, &radial, &difference);
    sum->mean += radial / PROBES;
    sum->rms += difference * difference / PROBES;
  }
}

/** The attraction of single masses in the middle of so many levels, on cells at that distance. */
static struct comparison compare_forces(int levels, int corrections) {
  enum { MASSES = 2 };
  struct comparison c = {0};
  seed = 42;
  for (int i = 0; i < MASSES; i++) {
    struct box b = make_box("outflow", 32, levels, corrections);
    double mass[3];
    for (int k = 0; k < 3; k++) mass[k] = 16.0 + 8.0 * (uniform() - 0.5);
    refine_around(b.g, mass, 8.0);
    assert_int_equal(topology_levels(&b.g->topology), levels + 1);
    fill(b.g, cloud, mass);
    gravity_solve(b.g, 0, 1.0);
    message_wait();
    probe(b.g, mass, 8.0 / (1 << levels), 8.0, &c);
    gas_free(b.g);
  }
  return (struct comparison){c.mean / MASSES, sqrt(c.rms / MASSES)};
}

/** A mass attracts as Newton says, across levels. Without the sheets it does not. Were all
 * groups of a level solved at once, or were levels not solved before they tell coarser ones, the
 * differences with three levels would be 0.009 or more. */
static void point_masses(void **state) {
  (void)state;
  const struct comparison without = compare_forces(2, 0), one = compare_forces(2, 1),
                          two = compare_forces(2, 2), three_levels = compare_forces(3, 1);
  print_message("without sheets: radial %.4f, differences %.4f\n", without.mean, without.rms);
  print_message("one correction: radial %.4f, differences %.4f\n", one.mean, one.rms);
  print_message("two corrections: radial %.4f, differences %.4f\n", two.mean, two.rms);
  print_message("one correction, three levels: radial %.4f, differences %.4f\n", three_levels.mean,
                three_levels.rms);
  assert_true(fabs(one.mean - 1.0) < 0.005 && one.rms < 0.008);
  assert_true(two.rms < one.rms && two.rms < 0.005);
  assert_true(fabs(three_levels.mean - 1.0) < 0.005 && three_levels.rms < 0.008);
  assert_true(without.rms > 2.0 * one.rms);
}

/** How far a cell of empty space is from the equation. 0 where it has not six neighbours. */
static double defect_at(const struct gas *g, int level, const int64_t cell[3]) {
  double sum = -6.0 * potential_at(g, level, cell);
  for (int k = 0; k < GAS_FACES; k++) {
    int64_t beside[3] = {cell[0], cell[1], cell[2]};
    beside[k / 2] += k & 1 ? 1 : -1;
    if (!exists(g, level, beside)) return 0.0;
    sum += potential_at(g, level, beside);
  }
  return fabs(sum);
}

/** The largest of some cells beside a face of a group. */
static double defect_beside(const struct gas *g, int level, uint32_t group, int face) {
  const uint32_t *place = g->topology.level[level].group[group].place;
  const int axis = face / 2, fast = (axis + 1) % 3, slow = (axis + 2) % 3;
  double defect = 0.0;
  for (int i = 1; i < INNER * INNER; i += 5) {
    int64_t cell[3];
    for (int c = 0; c < 3; c++) cell[c] = INNER * (int64_t)place[c];
    cell[axis] += face & 1 ? INNER - 1 : 0;
    cell[fast] += i % INNER;
    cell[slow] += i / INNER;
    defect = fmax(defect, defect_at(g, level, cell));
  }
  return defect;
}

/** The odd groups of a level are solved last, from the values of the even ones beside them, and
 * agree with them. The even ones were solved from other values of the odd ones. */
static void halves_follow_each_other(void **state) {
  (void)state;
  static const double middle[3] = {16.2, 16.4, 17.3}, mass[3] = {4.0, 4.0, 4.0};
  struct box b = make_box("outflow", 32, 1, 0);
  const struct gas_tree_level *fine = &b.g->topology.level[1];
  double defect[2] = {0.0};
  refine_around(b.g, middle, 8.0); /* not where the mass is */
  fill(b.g, cloud, mass);
  gravity_solve(b.g, 0, 1.0);
  message_wait();
  for (uint32_t i = 0; i < fine->count; i++)
    for (int face = 0; face < GAS_FACES; face++) {
      const uint32_t near = fine->group[i].near[topology_across(face)];
      const bool odd = topology_is_odd(fine->key[i]);
      if (near == NO_GROUP) continue;
      assert_true(topology_is_odd(fine->key[near]) != odd);
      defect[odd] = fmax(defect[odd], defect_beside(b.g, 1, i, face));
    }
  print_message("defects: even groups %g, odd ones %g\n", defect[0], defect[1]);
  assert_true(defect[1] < 1e-14 && defect[0] > 1e-7); /* of potentials up to 0.07 */
  gas_free(b.g);
}

/** Corrections converge where refined patches of several levels are at the edge of empty space. */
static void corrections_converge_at_the_edge(void **state) {
  (void)state;
  static const double mass[3] = {4.5, 4.5, 4.5};
  for (int corrections = 1; corrections <= 3; corrections += 2) {
    struct box b = make_box("outflow", 32, 2, corrections);
    refine_around(b.g, mass, 4.0);
    assert_int_not_equal(topology_find(&b.g->topology, 2, (const int64_t[]){0, 0, 0}), NO_GROUP);
    fill(b.g, cloud, mass);
    gravity_solve(b.g, 0, 1.0);
    message_wait();
    for (int d = 4; d <= 16; d += 4) {
      const double found = potential_at(b.g, 0, (const int64_t[]){4 + d, 4, 4});
      print_message("%d corrections, %d cells away: %.4f of the exact potential\n", corrections, d,
                    -found * d);
      assert_true(fabs(found * d + 1.0) < 0.03);
    }
    gas_free(b.g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(relaxation_converges),
      cmocka_unit_test(direct_solution_is_exact),
      cmocka_unit_test(interpolation_is_of_third_order),
      cmocka_unit_test(kicks_are_cold),
      cmocka_unit_test(work_is_what_the_potential_loses),
      cmocka_unit_test(work_leaves_heat),
      cmocka_unit_test(stress_makes_the_force),
      cmocka_unit_test(stresses_are_summed),
      cmocka_unit_test(covered_cells_agree),
      cmocka_unit_test(potential_is_of_second_order),
      cmocka_unit_test(isolated_mass),
      cmocka_unit_test(halves_follow_each_other),
      cmocka_unit_test(point_masses),
      cmocka_unit_test(corrections_converge_at_the_edge),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
