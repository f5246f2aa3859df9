/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damage to snapshots and checkpoints: a reader gets the data as written, or an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "photons/base/comm.h"
#include "photons/ic/ic.h"
#include "photons/io/snapshot.h"
#include "src/io/hdf5_checksum.h"
#include "src/io/hdf5_util.h"

#include <cmocka.h> /* after error.h, whose fail() its macro would hide */

#include "support/failure.h"
#include "support/flip_bits.h"
#include "support/saved_run.h"

enum { COUNT = 300, BLOCK = 512 };

/** The definition in hdf5_checksum.h, computed by Python's xxhash. */
static void test_known_sums(void **state) {
  (void)state;
  uint32_t squares[10];
  double halves[10][3];
  for (uint32_t i = 0; i < 10; i++) {
    squares[i] = i * i;
    for (uint32_t c = 0; c < 3; c++) halves[i][c] = 0.5 * (3 * i + c);
  }
  assert_true(checksum_rows(squares, 4, 0, 10) == UINT64_C(0x4b23c4b7f375d8ee));
  assert_true(checksum_rows(halves, 24, 0, 10) == UINT64_C(0xcb0dbff1a85542c3));
}

/** Pieces in any order have the same sum; a changed bit, an exchange and a row of zeros change the
 * sum. */
static void test_rows(void **state) {
  (void)state;
  enum { ROWS = 37, MOST = 48 };
  static const size_t widths[] = {4, 7, 8, 12, 24, MOST};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    const size_t width = widths[w];
    unsigned char rows[ROWS * MOST], kept[MOST];
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof rows; i++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      rows[i] = (unsigned char)(random >> 56);
    }
    const uint64_t whole = checksum_rows(rows, width, 0, ROWS);
    for (size_t cut = 0; cut <= ROWS; cut++)
      assert_true(checksum_rows(rows + cut * width, width, cut, ROWS - cut) +
                      checksum_rows(rows, width, 0, cut) ==
                  whole);
    for (size_t bit = 0; bit < 8 * width * ROWS; bit++) {
      rows[bit / 8] ^= (unsigned char)(1 << bit % 8);
      assert_true(checksum_rows(rows, width, 0, ROWS) != whole);
      rows[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t i = 1; i < ROWS; i++) {
      unsigned char *row = rows + i * width;
      memcpy(kept, row, width);
      memcpy(row, rows, width);
      memcpy(rows, kept, width);
      assert_true(checksum_rows(rows, width, 0, ROWS) != whole);
      memcpy(rows, row, width);
      memset(row, 0, width);
      assert_true(checksum_rows(rows, width, 0, ROWS) != whole);
      memcpy(row, kept, width);
    }
    assert_true(checksum_rows(rows, width, 0, ROWS) == whole);
  }
}

/** Many rows are summed in parts. */
static void parts_make_the_whole(void **state) {
  (void)state;
  enum { ROWS = 300001, CUT = 100000 };
  uint64_t *rows = malloc(ROWS * sizeof *rows);
  assert_non_null(rows);
  for (uint64_t i = 0; i < ROWS; i++) rows[i] = i * i;
  uint64_t sum = 0;
  for (size_t i = 0; i < ROWS; i += CUT)
    sum += checksum_rows(rows + i, sizeof *rows, i, ROWS - i < CUT ? ROWS - i : CUT);
  assert_true(checksum_rows(rows, sizeof *rows, 0, ROWS) == sum);
  free(rows);
}

/** A file, and the result of reading it undamaged. */
struct subject {
  const char *path;
  struct parameters parameters; /* for reading the file */
  struct parameters read_parameters;
  struct particles particles; /* as read */
  char *config;
  bool checkpoint;
};

static char *read_config(const struct subject *f) {
  const hid_t file = hdf5_open(f->path);
  const hid_t group = hdf5_check(H5Gopen2(file, f->checkpoint ? "/" : "Config", H5P_DEFAULT),
                                 EXIT_BAD_INPUT, f->path, "open a group");
  char *text = hdf5_read_config(group, f->path);
  H5Gclose(group);
  H5Fclose(file);
  return text;
}

static struct particles read_file(const struct subject *f, struct parameters *p,
                                  struct checkpoint_state *state) {
  *p = f->parameters;
  *state = there;
  return f->checkpoint ? checkpoint_read(f->path, p, state) : ic_read_gadget(p);
}

static void read_any(void *subject) {
  struct parameters p;
  struct checkpoint_state state;
  struct particles s = read_file(subject, &p, &state);
  particles_free(&s);
  free(read_config(subject));
}

/** Exit code of reading the file in a child process; 0 only if every bit of the data that a run
 * takes from the file is right. */
static int read_damaged(const struct subject *f) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    struct parameters p;
    struct checkpoint_state state;
    const struct particles s = read_file(f, &p, &state);
    const struct parameters *expected = &f->read_parameters;
    const bool same = same_particles(&s, &f->particles) && same_state(&state) &&
                      strcmp(read_config(f), f->config) == 0 &&
                      p.ic.z_init == expected->ic.z_init && p.box.size == expected->box.size &&
                      p.cosmology.h == expected->cosmology.h &&
                      p.cosmology.omega_m == expected->cosmology.omega_m &&
                      p.cosmology.omega_lambda == expected->cosmology.omega_lambda;
    _exit(same ? 0 : 99);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static struct subject make_subject(bool checkpoint, int64_t compression) {
  struct subject f = {.path = scratch(checkpoint ? "checkpoint.hdf5" : "snap.hdf5"),
                      .checkpoint = checkpoint};
  set_parameters(&f.parameters);
  f.parameters.output.accelerations = true;
  f.parameters.output.compression = compression;
  struct particles s = make_particles(COUNT, 3);
  if (checkpoint) {
    write_checkpoint(f.path, &f.parameters, &s);
  } else {
    snapshot_write(f.path, &f.parameters, &s, a_snapshot);
    f.parameters.ic.source = IC_GADGET;
    snprintf(f.parameters.ic.file, sizeof f.parameters.ic.file, "%s", f.path);
  }
  particles_free(&s);
  struct checkpoint_state state;
  f.particles = read_file(&f, &f.read_parameters, &state);
  f.config = read_config(&f);
  assert_int_equal(read_damaged(&f), 0);
  return f;
}

static void free_subject(struct subject *f) {
  particles_free(&f->particles);
  free(f->config);
}

struct counts {
  int tried, refused;
};

static void note(struct counts *c, int code) {
  if (code != 0) assert_int_equal(code, EXIT_BAD_INPUT); /* 99: read, but wrong */
  c->tried++;
  c->refused += code != 0;
}

static void print(const struct subject *f, const char *damage, const struct counts *c) {
  print_message("%s: %s: %d of %d refused, the others read as they were written\n",
                strrchr(f->path, '/') + 1, damage, c->refused, c->tried);
}

/** Flip one bit, at places all over the file; then overwrite pieces with zeros; then cut off the
 * end.
 * @param used  bytes of datasets that are read: all damage to them must be refused */
static void damage(const struct subject *f, int used) {
  struct stat status;
  assert_int_equal(stat(f->path, &status), 0);
  /* prime, to reach all places in words and structures */
  const long size = (long)status.st_size, step = 53;
  struct counts flips = {0}, blocks = {0};
  for (long offset = 0; offset < size; offset += step) {
    const int bit = 1 << offset % 8;
    flip_bits(f->path, offset, bit);
    note(&flips, read_damaged(f));
    flip_bits(f->path, offset, bit);
  }
  print(f, "one bit", &flips);
  assert_in_range(flips.refused, used / step, flips.tried);
  for (long offset = 0; offset < size; offset += BLOCK) {
    unsigned char bytes[BLOCK] = {0};
    exchange_bytes(f->path, offset, bytes, sizeof bytes);
    note(&blocks, read_damaged(f));
    exchange_bytes(f->path, offset, bytes, sizeof bytes);
  }
  print(f, "a block of zeros", &blocks);
  assert_in_range(blocks.refused, used / BLOCK, blocks.tried);
  assert_int_equal(read_damaged(f), 0);
  for (long length = size - 1; length > 0; length -= size / 7) {
    assert_int_equal(truncate(f->path, length), 0);
    assert_int_equal(read_damaged(f), EXIT_BAD_INPUT);
  }
}

static void test_snapshot_damage(void **state) {
  (void)state;
  for (int64_t compression = 0; compression < 3; compression += 2) {
    struct subject f = make_subject(false, compression);
    damage(&f, compression == 0 ? COUNT * (24 + 12 + 8) : 0);
    free_subject(&f);
  }
}

static void test_checkpoint_damage(void **state) {
  (void)state;
  struct subject f = make_subject(true, 0);
  damage(&f, COUNT * 44);
  expect_failure(read_any, &f, EXIT_BAD_INPUT, "checkpoint.hdf5: cannot open the HDF5 file");
  struct particles s = make_particles(COUNT, 3);
  snapshot_write(f.path, &f.parameters, &s, a_snapshot);
  expect_failure(read_any, &f, EXIT_BAD_INPUT, "checkpoint.hdf5: not a complete");
  particles_free(&s);
  free_subject(&f);
}

static void write_number(const char *path, const char *group, const char *name, double number) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
              object = H5Gopen2(file, group, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &number) >= 0);
  H5Aclose(attribute);
  H5Gclose(object);
  H5Fclose(file);
}

static void remove_attribute(const char *path, const char *object, const char *name) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(H5Adelete_by_name(file, object, name, H5P_DEFAULT) >= 0);
  H5Fclose(file);
}

/** Exchange two numbers of a dataset, or two rows. */
static void exchange_rows(const char *path, const char *name, hsize_t columns) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
              dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  const hsize_t start[2] = {COUNT / 2, 0}, count[2] = {2, columns};
  const size_t row = columns * H5Tget_size(type);
  unsigned char rows[64], other[64];
  const hid_t memory = H5Screate_simple(columns > 1 ? 2 : 1, count, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  assert_true(H5Dread(dataset, type, memory, space, H5P_DEFAULT, rows) >= 0);
  memcpy(other, rows + row, row);
  memcpy(other + row, rows, row);
  assert_true(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, other) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(dataset);
  H5Fclose(file);
}

/** Changes made through HDF5 itself, so that HDF5's own checksums are right. */
static void test_snapshot_changes(void **state) {
  (void)state;
  static const struct {
    const char *name;
    hsize_t columns;
  } blocks[] = {{"Coordinates", 3}, {"Velocities", 3}, {"ParticleIDs", 1}};
  for (size_t b = 0; b < 3; b++) {
    struct subject f = make_subject(false, (int64_t)b);
    char name[64], message[128];
    snprintf(name, sizeof name, "/PartType1/%s", blocks[b].name);
    snprintf(message, sizeof message, "snap.hdf5: block %s is not what was written",
             blocks[b].name);
    exchange_rows(f.path, name, blocks[b].columns);
    expect_failure(read_any, &f, EXIT_BAD_INPUT, message);
    free_subject(&f);
  }
  static const char *const names[] = {"Time",   "Redshift",    "BoxSize",
                                      "Omega0", "OmegaLambda", "HubbleParam"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct subject f = make_subject(false, 0);
    write_number(f.path, "/Header", names[i], 0.5);
    expect_failure(read_any, &f, EXIT_BAD_INPUT, "snap.hdf5: the attributes of /Header");
    free_subject(&f);
  }
  struct subject f = make_subject(false, 0);
  remove_attribute(f.path, "/Header", "Omega0");
  expect_failure(read_any, &f, EXIT_BAD_INPUT, "snap.hdf5: the attributes of /Header");
  free_subject(&f);

  f = make_subject(false, 0);
  remove_attribute(f.path, "/PartType1/Velocities", "xxh3_rows");
  expect_failure(read_any, &f, EXIT_BAD_INPUT,
                 "only one of block Velocities and Header has a checksum");
  remove_attribute(f.path, "/PartType1/Coordinates", "xxh3_rows");
  remove_attribute(f.path, "/PartType1/ParticleIDs", "xxh3_rows");
  remove_attribute(f.path, "/Header", "xxh3_attributes");
  assert_int_equal(read_damaged(&f), 0); /* like a file of another program */
  free_subject(&f);
}

static void test_checkpoint_changes(void **state) {
  (void)state;
  static const char *const datasets[] = {"position", "momentum", "acceleration", "id"};
  for (size_t d = 0; d < sizeof datasets / sizeof *datasets; d++) {
    struct subject f = make_subject(true, 0);
    char message[64];
    snprintf(message, sizeof message, "dataset %s is not what was written", datasets[d]);
    exchange_rows(f.path, datasets[d], d < 3 ? 3 : 1);
    expect_failure(read_any, &f, EXIT_BAD_INPUT, message);
    free_subject(&f);
    assert_int_equal(scratch_empty(NULL), 0);
  }
  struct subject f = make_subject(true, 0);
  write_number(f.path, "/", "a", 0.5);
  expect_failure(read_any, &f, EXIT_BAD_INPUT,
                 "the attributes of the file are not those that were written");
  free_subject(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_make_the_whole),
      cmocka_unit_test(test_known_sums),
      cmocka_unit_test(test_rows),
      cmocka_unit_test_teardown(test_snapshot_damage, scratch_empty),
      cmocka_unit_test_teardown(test_checkpoint_damage, scratch_empty),
      cmocka_unit_test_teardown(test_snapshot_changes, scratch_empty),
      cmocka_unit_test_teardown(test_checkpoint_changes, scratch_empty),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
