/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of gas: what is written is read back bit for bit, the tables of patches are those of a mesh
 * made by hand, and files that are damaged or of other parameters are refused.
 * On several ranks each one reads back its own groups.
 * With arguments, PATH.hdf5 and 4 or 8: write the mesh to a file, for other readers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/gas/gas_file.h"
#include "photons/pm/particles.h"
#include "src/io/hdf5_checksum.h"
#include "src/io/hdf5_util.h"

#include <cmocka.h> /* after error.h, whose fail() its macro would hide */

#include "support/failure.h"
#include "support/flip_bits.h"

enum { LEVELS = 4, GROUPS = 2, SCALARS = 2 };

static const enum gas_boundary boundary[3][2] = {
    {GAS_PERIODIC, GAS_PERIODIC}, {GAS_OUTFLOW, GAS_OUTFLOW}, {GAS_REFLECTING, GAS_OUTFLOW}};

static void set_parameters(struct parameters *p) {
  parameters_default(p);
  p->gas.scalars = SCALARS;
}

/** Give a level groups at these places, in Morton order. */
static void refine(struct gas_file *f, int level, uint32_t count, const uint32_t (*place)[3]) {
  uint64_t *keys = allocate(count, sizeof *keys, "keys");
  for (uint32_t i = 0; i < count; i++) keys[i] = morton_key(place[i]);
  topology_replace(&f->topology, level, keys, comm_rank() == 0 ? count : 0);
}

static struct group_span share(const void *context, int level, uint32_t count, int rank) {
  (void)context;
  (void)level;
  return (struct group_span){(uint32_t)comm_first(count, rank),
                             (uint32_t)comm_first(count, rank + 1)};
}

/** A box of two groups, 32 x 16 x 16 cells. The patches at (1, 1, 0) and (2, 1, 0) are refined, on
 * both sides of the middle, and one patch of the latter once more. */
static struct gas_file make_file(size_t real) {
  struct gas_file f = {.cell = 1.0 / 16.0,
                       .physics = {.solver = GAS_MUSCL, .gamma = 1.4, .scalars = SCALARS},
                       .real = real,
                       .level = {{0.1 + 0.2, 1e-3 / 3.0, 5}, {0.3, 5e-4, 12}, {0.3, 0.2, 7}},
                       .moment = {1.0 / 3.0, 0.1, 0.2, 1e-7, INT64_C(1) << 40, 3}};
  topology_init_divided(&f.topology, (const uint32_t[]){2, 1, 1}, boundary, LEVELS - 1, share,
                        NULL);
  refine(&f, 1, 2, (const uint32_t[][3]){{1, 1, 0}, {2, 1, 0}});
  refine(&f, 2, 1, (const uint32_t[][3]){{5, 3, 1}});
  return f;
}

/** Numbers of this rank's groups. */
struct held {
  const struct gas_file *file;
  void *numbers[LEVELS][GROUPS];
};

static void *find_group(void *context, int level, uint32_t group) {
  const struct held *gas = context;
  return gas->numbers[level][group];
}

/** Of a gas that is linear in x, y and z, and another on each level. @param cell  of the level */
static double value_of(const struct gas_file *f, size_t variable, int level, const size_t cell[3]) {
  const double size = f->cell / (double)(1 << level);
  const double density = 1.0 + 100.0 * level + ((double)cell[0] + 0.5) * size +
                         3.0 * ((double)cell[1] + 0.5) * size +
                         7.0 * ((double)cell[2] + 0.5) * size;
  return density * (double[]){1.0, 0.1, -0.2, 0.3, 2.0 / 3.0, 0.4, 0.25, 0.75}[variable];
}

static void set(void *numbers, size_t real, size_t i, double value) {
  if (real == sizeof(float))
    ((float *)numbers)[i] = (float)value;
  else
    ((double *)numbers)[i] = value;
}

static struct held make_gas(const struct gas_file *f, bool filled) {
  struct held gas = {.file = f};
  for (int l = 0; l < LEVELS; l++)
    for (uint32_t g = f->topology.level[l].own.first; g < f->topology.level[l].own.end; g++) {
      uint32_t place[3];
      morton_place(topology_key(&f->topology, l, g), place);
      gas.numbers[l][g] = allocate(gas_variables(&f->physics) * GAS_GROUP_CELLS, f->real, "gas");
      for (size_t i = 0; filled && i < gas_variables(&f->physics) * GAS_GROUP_CELLS; i++) {
        const size_t in_patch[3] = {i % 8, i / 8 % 8, i / 64 % 8}, patch = i / 512 % 8;
        size_t cell[3];
        for (size_t c = 0; c < 3; c++)
          cell[c] = 16 * (size_t)place[c] + 8 * (patch >> c & 1) + in_patch[c];
        set(gas.numbers[l][g], f->real, i, value_of(f, i / GAS_GROUP_CELLS, l, cell));
      }
    }
  return gas;
}

/** The potential of a group: minus its entropy. */
static void put_potential(void *context, int level, uint32_t group, void *cells) {
  const struct held *gas = context;
  const void *numbers = gas->numbers[level][group];
  for (size_t i = 0; i < GAS_GROUP_CELLS; i++) {
    const size_t from = GAS_ENTROPY * (size_t)GAS_GROUP_CELLS + i;
    set(cells, gas->file->real, i,
        gas->file->real == sizeof(float) ? -(double)((const float *)numbers)[from]
                                         : -((const double *)numbers)[from]);
  }
}

static void free_gas(struct held *gas) {
  for (int l = 0; l < LEVELS; l++)
    for (uint32_t g = 0; g < gas->file->topology.level[l].count; g++) free(gas->numbers[l][g]);
}

enum { PARTICLES = 40 };

/** Particles all over the box, half of them in the middle, where it is refined. */
static void make_particles(struct gas_particle particle[PARTICLES]) {
  for (int i = 0; i < PARTICLES; i++) {
    struct gas_particle *p = &particle[i];
    *p = (struct gas_particle){
        .mass = 1.0 + i / 3.0, .number = (uint64_t)(PARTICLES - i), .type = (uint8_t)(i % 6)};
    for (int c = 0; c < 3; c++) {
      const double part = fmod((i + 1) * (0.618034 + 0.1 * c), 1.0), side = c == 0 ? 2.0 : 1.0;
      p->position[c] = i % 2 ? side * part : side * (0.4 + 0.2 * part);
      p->velocity[c] = (c + 1) * p->position[c];
    }
  }
}

static void write_mesh(const char *path, size_t real) {
  struct gas_particle particle[PARTICLES];
  const size_t first = comm_first(PARTICLES, comm_rank()),
               count = comm_first(PARTICLES, comm_rank() + 1) - first;
  const struct gas_particles particles = {
      .count = PARTICLES, .level = {{.count = count, .particle = particle + first}}};
  struct gas_file f = make_file(real);
  make_particles(particle);
  f.particles = &particles;
  f.gravity = true;
  f.potential = put_potential;
  struct parameters p;
  set_parameters(&p);
  struct held gas = make_gas(&f, true);
  gas_file_write(path, &p, &f, find_group, &gas);
  free_gas(&gas);
  topology_free(&f.topology);
}

static void check_same(const struct gas_file *f, const struct gas_file *back) {
  const struct topology *t = &f->topology, *u = &back->topology;
  assert_memory_equal(t->root, u->root, sizeof t->root);
  assert_memory_equal(t->boundary, u->boundary, sizeof t->boundary);
  assert_int_equal(t->finest, u->finest);
  assert_true(f->cell == back->cell && f->physics.gamma == back->physics.gamma &&
              f->physics.solver == back->physics.solver);
  assert_int_equal(gas_variables(&f->physics), gas_variables(&back->physics));
  assert_true(f->real == back->real);
  assert_memory_equal(f->level, back->level, sizeof f->level);
  assert_memory_equal(&f->moment, &back->moment, sizeof f->moment);
  for (int l = 0; l < LEVELS; l++) {
    const struct gas_tree_level *a = &t->level[l], *b = &u->level[l];
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->own.first, b->own.first);
    assert_int_equal(a->own.end, b->own.end);
    if (a->own.end == a->own.first) continue;
    assert_memory_equal(a->key, b->key, (a->own.end - a->own.first) * sizeof *a->key);
  }
}

static void test_same_bits(void **state) {
  (void)state;
  for (size_t real = 4; real <= 8; real += 4) {
    struct gas_file f = make_file(real);
    struct parameters p;
    set_parameters(&p);
    const char *path = scratch("gas_000.hdf5");
    write_mesh(path, real);
    struct gas_file back = gas_file_open(path, &p);
    check_same(&f, &back);
    struct held expected = make_gas(&f, true), found = make_gas(&back, false);
    gas_file_read(path, &back, find_group, &found);
    for (int l = 0; l < LEVELS; l++)
      for (uint32_t g = f.topology.level[l].own.first; g < f.topology.level[l].own.end; g++)
        assert_memory_equal(expected.numbers[l][g], found.numbers[l][g],
                            gas_variables(&f.physics) * GAS_GROUP_CELLS * real);
    free_gas(&expected);
    free_gas(&found);
    topology_free(&f.topology);
    topology_free(&back.topology);
  }
}

/** Row @p row of a table of the file. */
static void read_table(const char *path, const char *name, size_t row, size_t columns,
                       int32_t *values) {
  const hid_t file = hdf5_open(path), dataset = H5Dopen2(file, name, H5P_DEFAULT);
  hdf5_read_rows(dataset, path, name, H5T_NATIVE_INT32, row, 1, columns, values, NULL);
  H5Dclose(dataset);
  H5Fclose(file);
}

static void check_number(const char *path, const char *name, size_t row, int32_t expected) {
  int32_t found;
  read_table(path, name, row, 1, &found);
  assert_int_equal(found, expected);
}

/** Patches 0-7, 8-15: level 0; 16-23, 24-31: level 1; 32-39: level 2. GAMER's order in a group is
 * (0,0,0), (1,0,0), (0,1,0), (0,0,1), (1,1,0), (0,1,1), (1,0,1), (1,1,1). */
static void test_tables(void **state) {
  (void)state;
  const char *path = scratch("gas_000.hdf5");
  write_mesh(path, 4);
  int32_t corner[3], sibling[26];
  read_table(path, "Tree/Corner", 4, 3, corner); /* 8 cells of level 0 are 64 of level 3 */
  assert_memory_equal(corner, ((int32_t[]){64, 64, 0}), sizeof corner);
  read_table(path, "Tree/Corner", 37, 3, corner); /* (5, 3, 1) times 32 and (0, 16, 16) */
  assert_memory_equal(corner, ((int32_t[]){160, 112, 48}), sizeof corner);
  check_number(path, "Tree/Son", 4, 16);  /* (1, 1, 0) */
  check_number(path, "Tree/Son", 10, 24); /* (2, 1, 0) is patch (0, 1, 0) of the second group */
  check_number(path, "Tree/Son", 0, -1);
  check_number(path, "Tree/Son", 31,
               32); /* (5, 3, 1) is patch (1, 1, 1) of the group at (2, 1, 0) */
  check_number(path, "Tree/Father", 0, -1);
  for (size_t i = 16; i < 24; i++) check_number(path, "Tree/Father", i, 4);
  for (size_t i = 24; i < 32; i++) check_number(path, "Tree/Father", i, 10);
  for (size_t i = 32; i < 40; i++) check_number(path, "Tree/Father", i, 31);

  read_table(path, "Tree/Sibling", 0, 26, sibling); /* the patch at the origin */
  assert_int_equal(sibling[0], 9);                  /* -x: (3, 0, 0) through the periodic side */
  assert_int_equal(sibling[1], 1);                  /* +x */
  assert_int_equal(sibling[2], -102);               /* -y: outflow */
  assert_int_equal(sibling[3], 2);                  /* +y */
  assert_int_equal(sibling[6], -102);               /* -x, -y: crosses -y only */
  assert_int_equal(sibling[10], -110);              /* -y, -z: an edge of the box */
  assert_int_equal(sibling[18], -110);
  assert_int_equal(sibling[9], 4);  /* +x, +y */
  assert_int_equal(sibling[13], 5); /* +y, +z */
  assert_int_equal(sibling[17], 6); /* +x, +z */
  assert_int_equal(sibling[25], 7);
  read_table(path, "Tree/Sibling", 17, 26, sibling); /* level 1, (3, 2, 0) */
  assert_int_equal(sibling[1], 24);                  /* in the next group */
  assert_int_equal(sibling[3], 20);
  assert_int_equal(sibling[2], -1); /* not refined */
  assert_int_equal(sibling[4], -104);
}

static bool same_particle(const struct gas_particle *a, const struct gas_particle *b) {
  bool same = a->mass == b->mass && a->owed == b->owed && a->number == b->number &&
              a->type == b->type;
  for (int c = 0; c < 3; c++)
    same = same && a->position[c] == b->position[c] && a->velocity[c] == b->velocity[c];
  return same;
}

static void test_particles(void **state) {
  (void)state;
  char *path = scratch("gas_000.hdf5");
  struct gas_particle particle[PARTICLES];
  size_t count, found = 0;
  make_particles(particle);
  write_mesh(path, 4);
  struct gas_particle *back = gas_file_read_particles(path, &count);
  assert_int_equal(count, PARTICLES);
  for (int i = 0; i < PARTICLES; i++)
    for (int k = 0; k < PARTICLES; k++) found += same_particle(&particle[i], &back[k]);
  assert_int_equal(found, PARTICLES);
  free(back);
}

/** With no group beyond level 0 all other levels are empty. */
static void test_one_level(void **state) {
  (void)state;
  struct gas_file f = make_file(8);
  refine(&f, 2, 0, NULL);
  refine(&f, 1, 0, NULL);
  struct parameters p;
  set_parameters(&p);
  struct held gas = make_gas(&f, true);
  gas_file_write(scratch("gas_001.hdf5"), &p, &f, find_group, &gas);
  free_gas(&gas);
  struct gas_file back = gas_file_open(scratch("gas_001.hdf5"), &p);
  check_same(&f, &back);
  topology_free(&f.topology);
  topology_free(&back.topology);
}

static void open_file(void *path) {
  struct parameters p;
  set_parameters(&p);
  struct gas_file f = gas_file_open(path, &p);
  topology_free(&f.topology);
}

static void open_other_parameters(void *path) {
  struct parameters p;
  set_parameters(&p);
  p.cosmology.h = 0.5;
  struct gas_file f = gas_file_open(path, &p);
  topology_free(&f.topology);
}

/** Change a number of the table of corners, and its checksum, as another program would. */
static void change_corner(const char *path, size_t row, int32_t x) {
  const hid_t file = hdf5_continue(path, path),
              corners = H5Dopen2(file, "Tree/Corner", H5P_DEFAULT);
  int32_t corner[3];
  hdf5_read_rows(corners, path, "Corner", H5T_NATIVE_INT32, row, 1, 3, corner, NULL);
  hdf5_checksum_add(corners, path, -checksum_rows(corner, sizeof corner, row, 1));
  corner[0] = x;
  hdf5_write_rows(corners, path, "Corner", H5T_NATIVE_INT32, row, 1, 3, corner);
  H5Dclose(corners);
  hdf5_close_written(file, path);
}

/** Other parameters; a mesh that cannot be. The groups of level 1 are at 64 and 128. */
static void test_refused(void **state) {
  (void)state;
  char *path = scratch("gas_000.hdf5");
  write_mesh(path, 8);
  expect_warning(open_file, path, "");
  expect_failure(open_other_parameters, path, EXIT_BAD_INPUT, "cosmology.h was");
  const struct {
    size_t row;
    int32_t x;
    const char *message;
  } bad[] = {{24, 64, "patches are not in order"},
             {24, 1 << 10, "a patch is outside the box"},
             {24, -64, "a patch is outside the box"},
             {32, 0, "a patch has no father"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_mesh(path, 8);
    change_corner(path, bad[i].row, bad[i].x);
    expect_failure(open_file, path, EXIT_BAD_INPUT, bad[i].message);
  }
}

static void test_damage(void **state) {
  (void)state;
  char *path = scratch("gas_000.hdf5");
  static const char *const datasets[] = {"GridData/Dens", "GridData/Dual",   "Tree/Corner",
                                         "Tree/Sibling",  "Info/KeyInfo",    "Info/InputPara",
                                         "Tree/NPar",     "Particle/ParPosX"};
  for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++) {
    write_mesh(path, 8);
    expect_warning(open_file, path, "");
    const hid_t file = hdf5_open(path), dataset = H5Dopen2(file, datasets[i], H5P_DEFAULT);
    const long where = (long)H5Dget_offset(dataset) + (long)H5Dget_storage_size(dataset) - 1;
    H5Dclose(dataset);
    H5Fclose(file);
    flip_bits(path, where, 1);
    expect_failure(open_file, path, EXIT_BAD_INPUT, "checksum");
  }
}

static void read_checkpoint(void *path) {
  struct parameters p;
  set_parameters(&p);
  char *found;
  struct gas_file f = gas_checkpoint_open(path, &p, false, &found);
  if (f.moment.step != 1) _exit(1);
  topology_free(&f.topology);
  free(found);
}

/** Where the newest checkpoint is damaged, the one before is read. */
static void test_checkpoints(void **state) {
  (void)state;
  char *path = scratch("checkpoint.hdf5");
  struct parameters p;
  set_parameters(&p);
  struct gas_file f = make_file(4);
  struct held gas = make_gas(&f, true);
  for (f.moment.step = 1; f.moment.step <= 2; f.moment.step++)
    gas_checkpoint_write(path, &p, &f, find_group, &gas);
  free_gas(&gas);
  topology_free(&f.topology);
  char *found;
  struct gas_file back = gas_checkpoint_open(path, &p, false, &found);
  assert_string_equal(found, path);
  assert_int_equal(back.moment.step, 2);
  topology_free(&back.topology);
  free(found);
  assert_int_equal(truncate(path, 5000), 0);
  expect_warning(read_checkpoint, path, "going on from the one before");
  assert_int_equal(access(scratch("checkpoint-damaged.hdf5"), F_OK), 0);
}

/** One scratch folder of all ranks. */
static int make_scratch(void **state) {
  int failed = comm_rank() == 0 ? scratch_make(state) : 0;
  comm_broadcast(&failed, sizeof failed, 0);
  comm_broadcast(scratch_path, sizeof scratch_path, 0);
  return failed;
}

static int on_one_rank(int (*function)(void **), void **state) {
  int failed = 0;
  comm_barrier();
  if (comm_rank() == 0) failed = function(state);
  comm_broadcast(&failed, sizeof failed, 0);
  return failed;
}

static int empty_scratch(void **state) { return on_one_rank(scratch_empty, state); }
static int remove_scratch(void **state) { return on_one_rank(scratch_remove, state); }

int main(int argc, char **argv) {
  comm_start(&argc, &argv);
  comm_started();
  if (argc > 1) {
    write_mesh(argv[1], argc > 2 ? strtoul(argv[2], NULL, 10) : 8);
    comm_end();
    return 0;
  }
  const struct CMUnitTest on_ranks[] = {
      cmocka_unit_test_teardown(test_same_bits, empty_scratch),
      cmocka_unit_test_teardown(test_one_level, empty_scratch),
  };
  if (comm_size() > 1) {
    const int failed = cmocka_run_group_tests(on_ranks, make_scratch, remove_scratch);
    comm_end();
    return failed;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_same_bits, scratch_empty),
      cmocka_unit_test_teardown(test_tables, scratch_empty),
      cmocka_unit_test_teardown(test_particles, scratch_empty),
      cmocka_unit_test_teardown(test_one_level, scratch_empty),
      cmocka_unit_test_teardown(test_refused, scratch_empty),
      cmocka_unit_test_teardown(test_damage, scratch_empty),
      cmocka_unit_test_teardown(test_checkpoints, scratch_empty),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
