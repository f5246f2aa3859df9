/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles on the adaptive mesh: their mass is all there, in any order and any batches; forces are
 * Newton's across levels, which they are not without the sheets of pseudo-mass, and conserve
 * momentum on one level. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/pm/clouds.h"
#include "photons/amr/matter.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/gas/create.h"
#include "photons/gas/evolve.h"
#include "photons/pm/cloud_reach.h"
#include "photons/pm/particles.h"
#include "photons/potential/gravity.h"
#include "photons/runtime/handle.h"
#include "photons/runtime/message.h"
#include "photons/runtime/task_graph.h"

#include <cmocka.h>

#include "support/starpu_fixture.h"

/** What a mesh is made with. */
struct setup {
  const char *boundary, *flag_density;
  int levels, corrections, batch;
};

/** A box of 32^3 root cells of side 1 with these particles, refined where they are dense. */
static struct gas *make_mesh(const struct setup *s, const struct gas_particle *particle,
                             size_t count) {
  static struct parameters p;
  const char *b = s->boundary;
  char text[600];
  snprintf(
      text, sizeof text,
      "[run]\nsystem = gas\n[ic]\nsource = point_masses\n[time]\nend = 1\n[gas]\nsolver = none\n"
      "root = 32, 32, 32\nlength = 32\nlevels = %d\nflag_density = %s\nbuffer = 4\nbatch = %d\n"
      "gravity = self\nsibling_relaxations = 2\nsheet_corrections = %d\nx_low = %s\nx_high = "
      "%s\ny_low = %s\n"
      "y_high = %s\nz_low = %s\nz_high = %s\n",
      s->levels, s->flag_density, s->batch, s->corrections, b, b, b, b, b, b);
  parameters_from_text(&p, text, NULL, 0);
  struct gas *g = gas_create(&p);
  gas_particles_add(g, particle, count);
  gas_begin(g, NULL);
  gravity_solve(g, 0, 1.0);
  message_wait();
  return g;
}

enum { CLUMP = 1500, FIELD = 1000, ALL = CLUMP + FIELD };

static double normal(void) {
  double sum = -6.0;
  for (int i = 0; i < 12; i++) sum += uniform();
  return sum;
}

/** A dense clump in a thin field, in a box of side 32. @param reverse  the last one first */
static void make_clump(struct gas_particle particle[ALL], bool reverse) {
  static const double middle[3] = {13.3, 30.7, 17.2};
  seed = 7;
  for (uint64_t i = 0; i < ALL; i++) {
    struct gas_particle *p = &particle[reverse ? ALL - 1 - i : i];
    *p = (struct gas_particle){
        .mass = (0.5 + uniform()) / ALL, .number = i, .type = (uint8_t)(i % PARTICLE_TYPES)};
    for (int c = 0; c < 3; c++) {
      p->position[c] = i < CLUMP ? fmod(middle[c] + 1.5 * normal() + 32.0, 32.0) : 32.0 * uniform();
      p->velocity[c] = normal();
    }
  }
}

/** Densities of a group. */
static const struct gas_matter *hold_matter(const struct gas *g, int level, uint32_t group,
                                            starpu_data_handle_t *handle) {
  const struct gas_batch *b = gas_batch_with(g, level, group);
  *handle = b->matter;
  handle_acquire(*handle, STARPU_R);
  return (const struct gas_matter *)starpu_vector_get_local_ptr(*handle) + group - b->first;
}

/** Masses that a mesh has. */
struct masses {
  double root;   /**< on the root level */
  double leaves; /**< in the cells that are not refined */
  double own;    /**< in these, without what coarser levels give */
};

static struct masses find_masses(const struct gas *g) {
  struct masses m = {0};
  for (int l = 0; l < topology_levels(&g->topology); l++)
    for (uint32_t i = 0; i < g->topology.level[l].count; i++) {
      starpu_data_handle_t handle;
      const struct gas_matter *matter = hold_matter(g, l, i, &handle);
      const double volume = pow(gas_cell(g, l), 3.0);
      for (size_t k = 0; k < GAS_GROUP_CELLS; k++) {
        const int patch = (int)(k / 8 % 2 + 2 * (k / 128 % 2) + 4 * (k / 2048));
        const bool leaf = g->topology.level[l].group[i].son[patch] == NO_GROUP;
        if (l == 0) m.root += volume * matter_density(matter, k);
        if (!leaf) continue;
        m.leaves += volume * matter_density(matter, k);
        m.own += volume * matter->own[k];
      }
      starpu_data_release(handle);
    }
  return m;
}

/** All mass is on the root level and in the leaves, also that of clouds that reach over the edge of a
 * level. Particles of a level have their clouds in it. */
static void mass_is_conserved(void **state) {
  (void)state;
  static struct gas_particle particle[ALL];
  double mass = 0.0;
  make_clump(particle, false);
  for (int i = 0; i < ALL; i++) mass += particle[i].mass;
  struct gas *g = make_mesh(&(struct setup){"periodic", "0.003, 0.006", 2, 1, 4}, particle, ALL);
  assert_int_equal(topology_levels(&g->topology), 3);
  assert_int_equal(g->particles->count, ALL);
  for (int l = 0; l < 3; l++) {
    print_message("level %d: %u groups, %zu particles\n", l, g->topology.level[l].count,
                  g->particles->level[l].count);
    assert_true(g->particles->level[l].count > 100);
  }
  const struct masses m = find_masses(g);
  print_message("mass less that of particles: root %g, leaves %g; without shares %g\n",
                m.root - mass, m.leaves - mass, m.own - mass);
  assert_true(fabs(m.root - mass) < 1e-13 && fabs(m.leaves - mass) < 1e-13);
  assert_true(fabs(m.own - mass) > 1e-6); /* clouds do reach over edges */
  gas_free(g);
}

/** All columns have the same bits. */
static void assert_same_particles(const struct particle_level *one,
                                  const struct particle_level *other) {
  assert_int_equal(one->count, other->count);
  for (int k = 0; k < GAS_PARTICLE_COLUMN_COUNT; k++) {
    const struct particle_column *c = &gas_particle_columns[k].column;
    for (size_t i = 0; i < one->count; i++)
      assert_memory_equal((const char *)&one->particle[i] + c->member,
                          (const char *)&other->particle[i] + c->member, particle_column_bytes(c));
  }
}

/** Densities and accelerations have the same bits in any batches, whatever the order in which the
 * particles were given. */
static void order_does_not_matter(void **state) {
  (void)state;
  static struct gas_particle particle[ALL];
  struct gas *g[2];
  for (int i = 0; i < 2; i++) {
    make_clump(particle, i == 1);
    g[i] = make_mesh(&(struct setup){"periodic", "0.003, 0.006", 2, 1, i == 0 ? 4 : 3}, particle,
                     ALL);
    gravity_send_around(g[i], 2, 1.0);
    gas_particles_open(g[i], 2, 0.01, 1.0, false);
    message_wait();
  }
  for (int l = 0; l < 3; l++) {
    const struct particle_level *one = &g[0]->particles->level[l],
                                *other = &g[1]->particles->level[l];
    assert_same_particles(one, other);
    for (uint32_t i = 0; i < g[0]->topology.level[l].count; i++) {
      starpu_data_handle_t handle[2];
      const struct gas_matter *m[2];
      for (int k = 0; k < 2; k++) m[k] = hold_matter(g[k], l, i, &handle[k]);
      assert_memory_equal(m[0], m[1], sizeof *m[0]);
      for (int k = 0; k < 2; k++) starpu_data_release(handle[k]);
    }
  }
  for (int i = 0; i < 2; i++) gas_free(g[i]);
}

/** Whether patches of 32^3 root cells are to be refined, by place [z][y][x]. */
struct wanted {
  bool refined[4][4][4];
  int count;
};

/** Where a cell has more than `most` of the lightest particles' masses, its patch and those at most
 * 4 cells away are refined. @param g  the root level alone */
static struct wanted find_wanted(const struct gas *g, double most) {
  struct wanted wanted = {0};
  for (uint32_t i = 0; i < g->topology.level[0].count; i++) {
    const uint32_t *place = g->topology.level[0].group[i].place;
    starpu_data_handle_t handle;
    const struct gas_matter *m = hold_matter(g, 0, i, &handle);
    for (unsigned k = 0; k < GAS_GROUP_CELLS; k++) {
      const unsigned x = 16 * place[0] + k % 16, y = 16 * place[1] + k / 16 % 16,
                     z = 16 * place[2] + k / 256;
      if (!(matter_density(m, k) > most * g->refinement.lightest)) continue;
      for (unsigned n = 0; n < 8; n++) /* a patch has 8 cells: the corners of 9^3 cells suffice */
        wanted.refined[(z + 28 + 8 * (n >> 2)) / 8 % 4][(y + 28 + 8 * (n >> 1 & 1)) / 8 % 4]
                      [(x + 28 + 8 * (n & 1)) / 8 % 4] = true;
    }
    starpu_data_release(handle);
  }
  for (int i = 0; i < 64; i++) wanted.count += wanted.refined[i / 16][i / 4 % 4][i % 4];
  return wanted;
}

/** gas.flag_particles refines where a cell has many particles, and only there. */
static void many_particles_are_refined(void **state) {
  (void)state;
  static struct gas_particle particle[ALL];
  make_clump(particle, false);
  struct gas *g = make_mesh(&(struct setup){"periodic", "1", 0, 1, 4}, particle, ALL);
  const struct wanted few = find_wanted(g, 10.0), many = find_wanted(g, 2.0);
  gas_free(g);
  print_message("patches with more than 10 particles in a cell: %d, with more than 2: %d of 64\n",
                few.count, many.count);
  assert_true(few.count > 0 && many.count > few.count && many.count < 64);
  for (int i = 0; i < 2; i++) {
    const struct wanted *wanted = i == 0 ? &few : &many;
    const char *flags = i == 0 ? "1\nflag_particles = 10" : "1\nflag_particles = 2";
    g = make_mesh(&(struct setup){"periodic", flags, 1, 1, 4}, particle, ALL);
    for (uint32_t k = 0; k < 64; k++) {
      const struct gas_group *group = &g->topology.level[0].group[k / 8];
      const uint32_t x = 2 * group->place[0] + (k & 1), y = 2 * group->place[1] + (k >> 1 & 1),
                     z = 2 * group->place[2] + (k >> 2 & 1);
      assert_int_equal(group->son[k % 8] != NO_GROUP, wanted->refined[z][y][x]);
    }
    gas_free(g);
  }
}

/** The host looks at the particles that leave their groups, and at no others. Wherever particles
 * go, what results is what a new start gives. */
static void only_leavers_are_seen(void **state) {
  (void)state;
  static struct gas_particle particle[ALL];
  const struct setup setup = {"periodic", "0.003, 0.006", 2, 1, 4};
  make_clump(particle, false);
  struct gas *g = make_mesh(&setup, particle, ALL);
  gas_particles_settle(g, 0, 2);
  print_message("%zu of %d particles were seen\n", g->particles->seen, ALL);
  assert_int_equal(g->particles->seen, 0); /* patches at the edge of a level are refined, too */
  gas_particles_acquire(g, 0);
  for (int l = 0; l < 3; l++)
    for (size_t i = 0; i < g->particles->level[l].count; i++) {
      struct gas_particle *p = &g->particles->level[l].particle[i];
      if (p->number % 10 != 0) continue;
      p->position[0] = fmod(p->position[0] + 0.4 * (double)p->number, 32.0);
      p->position[1] = fmod(p->position[1] + 0.1 * (double)p->number, 32.0);
      particle[p->number].position[0] = p->position[0];
      particle[p->number].position[1] = p->position[1];
    }
  gas_particles_release(g, 0);
  gas_particles_settle(g, 0, 2);
  print_message("%zu of %d particles were seen when %d had moved\n", g->particles->seen, ALL,
                ALL / 10);
  assert_true(g->particles->seen >= ALL / 20 && g->particles->seen <= ALL / 10);
  gas_particles_acquire(g, 0);
  struct gas_particles *settled = g->particles, *fresh = allocate(1, sizeof *fresh, "particles");
  g->particles = fresh;
  gas_particles_add(g, particle, ALL);
  gas_particles_settle(g, 0, 2);
  gas_particles_acquire(g, 0);
  for (int l = 0; l < 3; l++) {
    const struct particle_level *a = &settled->level[l], *b = &fresh->level[l];
    assert_same_particles(a, b);
    assert_memory_equal(a->first, b->first, (particle_listed(a) + 1) * sizeof *a->first);
  }
  gas_particles_release(g, 0);
  g->particles = settled;
  gas_particles_release(g, 0);
  gas_particles_free(settled);
  g->particles = fresh;
  gas_free(g);
}

/** What the main thread does in a settling of all levels is recorded. @param[out] made, waited  tasks of new particles, and what
 * the thread waits for or frees after the first of them */
static void record_settling(struct gas *g, int *made, int *waited) {
  char line[4096], kind[16], stage[64];
  FILE *record = tmpfile();
  assert_non_null(record);
  task_graph_record(record);
  gas_particles_settle(g, 0, 2);
  task_graph_record(NULL);
  rewind(record);
  *made = *waited = 0;
  while (fgets(line, sizeof line, record)) {
    const bool named = sscanf(line, "%*[^,],%15[^,],%63[^,]", kind, stage) == 2;
    if (named && strcmp(stage, "gas_arrive") == 0)
      ++*made;
    else if (*made > 0 && strcmp(kind, "task") != 0)
      ++*waited;
  }
  fclose(record);
}

/** Tasks make new particles while the main thread submits what comes after them. */
static void nothing_waits_for_new_particles(void **state) {
  (void)state;
  static struct gas_particle particle[ALL];
  int made, waited;
  make_clump(particle, false);
  struct gas *g = make_mesh(&(struct setup){"periodic", "0.003, 0.006", 2, 1, 4}, particle, ALL);
  record_settling(g, &made, &waited);
  print_message("%d tasks make particles, and the main thread waits for %d things\n", made, waited);
  assert_true(made > 3);
  assert_int_equal(waited, 0);
  gas_free(g);
}

/** A cloud that reaches into a neighbour is never taken to be away, also where a particle has left its group, and on the
 * other side of a periodic box. Most of the others are. */
static void no_cloud_is_missed(void **state) {
  (void)state;
  static struct gas_particle particle[ALL];
  long reached = 0, away = 0, others = 0;
  make_clump(particle, false);
  struct gas *g = make_mesh(&(struct setup){"periodic", "0.003, 0.006", 2, 1, 4}, particle, ALL);
  for (int k = 0; k < 100000; k++) {
    const int level = k % 3;
    const double cell = gas_cell(g, level), stray = k % 7 == 0 ? 6.0 : 0.0;
    const uint32_t i = (uint32_t)(uniform() * g->topology.level[level].count);
    const struct gas_group *group = &g->topology.level[level].group[i];
    int place[3];
    double position[3];
    for (int c = 0; c < 3; c++) {
      const double at = -stray + (16.0 + 2.0 * stray) * uniform();
      place[c] = (int)group->place[c];
      position[c] = fmod((16.0 * place[c] + at) * cell + 32.0, 32.0);
    }
    const uint32_t touched = gas_particles_touched(g, level, i, position);
    for (int n = 0; n < NEIGHBOURS;
         n++) { /* the group is in the opposite direction from a neighbour */
      const int direction[3] = {1 - n % 3, 1 - n / 3 % 3, 1 - n / 9};
      const struct cloud_reach reach = cloud_reach_of(cell, place, direction);
      const bool is_away = cloud_is_away(&reach, position);
      if (group->near[n] == NO_GROUP || n == MYSELF) continue;
      reached += touched >> n & 1;
      others += !(touched >> n & 1);
      away += is_away;
      assert_false(is_away && touched >> n & 1);
    }
  }
  print_message("%ld neighbours are reached; %ld of %ld others are seen to be away\n", reached,
                away, others);
  assert_true(reached > 10000 && away > others / 10 * 9);
  gas_free(g);
}

/** Let all particles be at rest and give them their accelerations as velocities. */
static void accelerate_all(struct gas *g) {
  const int levels = topology_levels(&g->topology);
  gas_particles_acquire(g, 0);
  for (int l = 0; l < levels; l++)
    for (size_t i = 0; i < g->particles->level[l].count; i++) {
      struct gas_particle *p = &g->particles->level[l].particle[i];
      memset(p->velocity, 0, sizeof p->velocity);
      p->owed = 1.0;
    }
  gas_particles_release(g, 0);
  for (int l = 0; l < levels; l++) {
    gravity_send_around(g, l, 1.0);
    gas_particles_close(g, l, (struct gravity_step){.end = 1.0});
  }
  message_wait();
}

/** On one level forces are equal and opposite, and a particle does not attract itself. */
static void momentum_is_conserved(void **state) {
  (void)state;
  static struct gas_particle particle[ALL];
  make_clump(particle, false);
  struct gas *g = make_mesh(&(struct setup){"periodic", "1", 0, 1, 4}, particle, ALL);
  double sum[3] = {0.0}, size = 0.0;
  accelerate_all(g);
  for (size_t i = 0; i < ALL; i++)
    for (int c = 0; c < 3; c++) {
      const struct gas_particle *p = &g->particles->level[0].particle[i];
      sum[c] += p->mass * p->velocity[c];
      size += p->mass * fabs(p->velocity[c]);
    }
  print_message("sum of forces %g %g %g of %g\n", sum[0], sum[1], sum[2], size);
  for (int c = 0; c < 3; c++) assert_true(fabs(sum[c]) < 1e-13 * size);
  assert_true(size > 1e-3);
  gas_free(g);
}

/** Particles that a wave displaces from a lattice: the acceleration is 4 pi G density times the
 * displacement, but for the error of the scheme, of second order in cells over the wave. */
static void wave_attracts(void **state) {
  (void)state;
  enum { SIDE = 32, COUNT = SIDE * SIDE * SIDE };
  const double amplitude = 0.05, k = 2.0 * M_PI / SIDE, rate = 4.0 * M_PI;
  struct gas_particle *particle = allocate(COUNT, sizeof *particle, "particles");
  double worst = 0.0;
  for (uint64_t i = 0; i < COUNT; i++) {
    const double lattice[3] = {(double)(i % SIDE), (double)(i / SIDE % SIDE),
                               (double)(i / (SIDE * SIDE))};
    particle[i] = (struct gas_particle){.mass = 1.0, .number = i};
    memcpy(particle[i].position, lattice, sizeof lattice);
    particle[i].position[1] += amplitude * sin(k * lattice[1]);
  }
  struct gas *g = make_mesh(&(struct setup){"periodic", "1", 0, 1, 4}, particle, COUNT);
  accelerate_all(g);
  for (size_t i = 0; i < COUNT; i++) {
    const struct gas_particle *p = &g->particles->level[0].particle[i];
    const double at = (double)(p->number / SIDE % SIDE);
    worst = fmax(worst, fabs(p->velocity[1] / (rate * amplitude) - sin(k * at)));
    assert_true(fabs(p->velocity[0]) + fabs(p->velocity[2]) < 1e-9);
  }
  print_message("largest error of the acceleration %g\n", worst);
  assert_true(worst < 0.02);
  free(particle);
  gas_free(g);
}

enum { PROBES = 200 };

/** A unit mass and light probes around it, 8 cells of the finest level to 8 of the root level away,
 * in empty space. @return root mean square difference of accelerations from Newton's, over these */
static double newton_error(int corrections) {
  static struct gas_particle particle[1 + PROBES];
  const double middle[3] = {15.3, 16.1, 16.8};
  double sum = 0.0, own = INFINITY;
  seed = 42;
  for (uint64_t i = 0; i <= PROBES; i++) {
    const double r = 2.0 * pow(4.0, uniform()), z = 2.0 * uniform() - 1.0;
    const double angle = 2.0 * M_PI * uniform(), side = sqrt(1.0 - z * z);
    const double way[3] = {r * side * cos(angle), r * side * sin(angle), r * z};
    particle[i] = (struct gas_particle){.mass = i == 0 ? 1.0 : 1e-9, .number = i};
    for (int c = 0; c < 3; c++) particle[i].position[c] = middle[c] + (i == 0 ? 0.0 : way[c]);
  }
  struct gas *g = make_mesh(&(struct setup){"outflow", "0.01, 0.1", 2, corrections, 4}, particle,
                            1 + PROBES);
  assert_int_equal(topology_levels(&g->topology), 3);
  accelerate_all(g);
  for (int l = 0; l < 3; l++)
    for (size_t i = 0; i < g->particles->level[l].count; i++) {
      const struct gas_particle *p = &g->particles->level[l].particle[i];
      double r = 0.0, difference = 0.0, size = 0.0;
      for (int c = 0; c < 3; c++) r += pow(p->position[c] - middle[c], 2.0);
      r = sqrt(r);
      for (int c = 0; c < 3; c++) {
        const double newton = r > 0.0 ? (middle[c] - p->position[c]) / pow(r, 3.0) : 0.0;
        difference += pow(p->velocity[c] - newton, 2.0);
        size += pow(p->velocity[c], 2.0);
      }
      if (p->number > 0)
        sum += difference * pow(r, 4.0);
      else
        own = sqrt(size);
    }
  print_message("acceleration of the mass by itself: %g\n", own);
  assert_true(corrections < 2 || own < 0.01); /* a cell away the attraction is 16 */
  gas_free(g);
  return sqrt(sum / PROBES);
}

static void masses_attract(void **state) {
  (void)state;
  const double without = newton_error(0), one = newton_error(1), two = newton_error(2);
  print_message("differences from Newton: %.4f without sheets, %.4f, %.4f\n", without, one, two);
  assert_true(one < 0.03 && two < 0.02 && without > 0.05);
}

enum { DATA = POTENTIALS + 5 };

/** Which data of a batch have memory. */
static unsigned memory_of(const struct gas_batch *b) {
  starpu_data_handle_t data[DATA] = {b->fluxes, b->sides, b->mass, b->sheets, b->matter};
  unsigned has = 0;
  for (int i = 0; i < POTENTIALS; i++) data[DATA - POTENTIALS + i] = b->potential[i];
  for (int i = 0; i < DATA; i++) {
    int allocated, valid, requested;
    starpu_data_query_status(data[i], STARPU_MAIN_RAM, &allocated, &valid, &requested);
    has |= (unsigned)(allocated && valid) << i;
  }
  return has;
}

/** Whether a handle is that of the present cells of a batch. */
static bool is_among(starpu_data_handle_t cells, const starpu_data_handle_t *all, uint32_t count) {
  uint32_t i = 0;
  while (i < count && all[i] != cells) i++;
  return i < count;
}

enum { BATCHES_MOST = 64 };

/** The present cells of a level's batches. @return the number of batches */
static uint32_t present_cells(const struct gas_level *l, starpu_data_handle_t cells[BATCHES_MOST]) {
  assert_in_range(l->own, 2, BATCHES_MOST);
  for (uint32_t i = 0; i < l->own; i++) cells[i] = l->batch[i].handle[l->now];
  return l->own;
}

/** Where a level has got other groups, its new batches have the memory of those that were in their places, also that of
 * potentials and of the densities of particles, unless these batches have it still. Other memory comes when tasks write
 * it. */
static void new_batches_have_memory_of_old_ones(void **state) {
  (void)state;
  enum { LEVEL = 1 };
  static const struct setup s = {"periodic", "0.005", LEVEL, 1, 2};
  static struct gas_particle particle[ALL];
  starpu_data_handle_t old[BATCHES_MOST], new[BATCHES_MOST];
  unsigned before[BATCHES_MOST], number = 0;
  make_clump(particle, false);
  struct gas *g = make_mesh(&s, particle, ALL);
  const struct gas_level *l = &g->level[LEVEL];
  const uint32_t olds = present_cells(l, old), groups = l->groups;
  for (uint32_t i = 0; i < olds; i++) assert_true((before[i] = memory_of(&l->batch[i])) != 0);
  g->refinement.buffer = 8;
  message_begin();
  assert_true(gas_regrid(g, LEVEL - 1, 1.0, NULL));
  message_wait();
  const uint32_t news = present_cells(l, new);
  for (uint32_t i = 0; i < news && i + 1 < olds; i++) { /* the last one may have been smaller */
    if (is_among(new[i], old, olds) || is_among(old[i], new, news)) continue;
    assert_int_equal(memory_of(&l->batch[i]), before[i]);
    number++;
  }
  print_message("%u of %u batches are new: from %u to %u groups\n", number, news, groups,
                l->groups);
  assert_true(l->groups > groups && number > 0);
  gas_free(g);
}

/** Particles of finer levels below a group of a level. */
static size_t particles_below(const struct gas *g, int level, uint32_t group) {
  size_t count = 0;
  for (int finer = level + 1; finer < topology_levels(&g->topology); finer++)
    for (uint32_t i = 0; i < g->topology.level[finer].count; i++)
      if (topology_ancestor(&g->topology, finer, i, level) == group)
        count += particle_first(&g->particles->level[finer], i + 1) -
                 particle_first(&g->particles->level[finer], i);
  return count;
}

/** Compare the tables of a batch with the particles below the groups near it. @return these */
static size_t compare_tables(const struct gas *g, const struct batch_argument *a,
                             const struct cloud_tables *t) {
  const struct batch_list *near = &batch_of(a)->near;
  const uint32_t *first = t->clouds.first;
  size_t all = 0;
  for (uint32_t k = 0; k < near->count; k++) {
    const struct group_span groups = gas_batch_span(&g->level[a->level], near->batch[k]);
    for (uint32_t i = 0; i <= near->groups; i++, first++) {
      size_t count = 0;
      for (uint32_t range = first[0]; range < first[1]; range++)
        count += t->clouds.range[range].count;
      assert_int_equal(count, i < groups.end - groups.first
                                  ? particles_below(g, a->level, groups.first + i)
                                  : 0);
      all += count;
    }
  }
  return all;
}

/** The main thread finds batches alone: the tables of the groups of a level are made in its tasks, and have the particles
 * of all finer levels. */
static void tables_of_finer_particles_are_made_in_tasks(void **state) {
  (void)state;
  static const struct setup s = {"periodic", "0.003, 0.008", 2, 1, 4};
  static struct gas_particle particle[ALL];
  size_t all = 0;
  make_clump(particle, false);
  struct gas *g = make_mesh(&s, particle, ALL);
  assert_int_equal(topology_levels(&g->topology), 3);
  for (int level = 0; level < 2; level++)
    for (uint32_t i = 0; i < g->level[level].own; i++) {
      const struct batch_argument a = {g, level, i};
      struct cloud_tables t = clouds_below(&a, NULL);
      assert_null(t.first);
      assert_null(t.range);
      clouds_find_below(&t, &a, NULL);
      all += compare_tables(g, &a, &t);
      cloud_tables_free(&t);
    }
  assert_true(all > CLUMP);
  gas_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mass_is_conserved),
      cmocka_unit_test(order_does_not_matter),
      cmocka_unit_test(momentum_is_conserved),
      cmocka_unit_test(wave_attracts),
      cmocka_unit_test(masses_attract),
      cmocka_unit_test(many_particles_are_refined),
      cmocka_unit_test(only_leavers_are_seen),
      cmocka_unit_test(nothing_waits_for_new_particles),
      cmocka_unit_test(no_cloud_is_missed),
      cmocka_unit_test(new_batches_have_memory_of_old_ones),
      cmocka_unit_test(tables_of_finer_particles_are_made_in_tasks),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
