/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged HDF5 files that announce more than they hold: they are refused before memory is
 * allocated, with exit code 3. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/base/error.h"
#include "photons/cosmology/cosmology.h"
#include "photons/ic/ic.h"
#include "photons/io/snapshot.h"
#include "src/io/hdf5_checksum.h"
#include "src/io/hdf5_util.h"

#include <cmocka.h> /* after error.h, whose fail() its macro would hide */

#include "support/failure.h"

enum { COUNT = 512, BLOCKS = 4 };

static void set_parameters(struct parameters *p) {
  parameters_default(p);
  p->box.size = 50.0;
}

static struct particles make_particles(const struct parameters *p) {
  const struct cosmology c = {.omega_m = p->cosmology.omega_m};
  struct particles s = particles_create(COUNT, p->box.size,
                                        cosmology_particle_mass(&c, p->box.size, COUNT));
  for (size_t i = 0; i < COUNT; i++) s.id[i] = i + 1;
  for (size_t i = 0; i < (size_t)3 * COUNT; i++) s.position[i] = (uint32_t)i * 2654435761U;
  s.blocks = s.all_blocks = BLOCKS;
  return s;
}

/** @return a valid checkpoint, open for changes */
static hid_t make_checkpoint(void) {
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(&p);
  const struct checkpoint_state state = {
      .a = 0.1, .start_a = 0.02, .step = 3, .mesh_cells = 8, .next_mesh_cells = 8};
  checkpoint_write(scratch("checkpoint.hdf5"), &p, &s, &state);
  particles_free(&s);
  return H5Fopen(scratch("checkpoint.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT);
}

/** @return a valid snapshot, open for changes */
static hid_t make_snapshot(int compression) {
  struct parameters p;
  set_parameters(&p);
  p.output.compression = compression;
  struct particles s = make_particles(&p);
  snapshot_write(scratch("snapshot.hdf5"), &p, &s, 0.1);
  particles_free(&s);
  return H5Fopen(scratch("snapshot.hdf5"), H5F_ACC_RDWR, H5P_DEFAULT);
}

static void read_checkpoint(void *unused) {
  (void)unused;
  struct parameters p;
  struct checkpoint_state state;
  set_parameters(&p);
  checkpoint_read(scratch("checkpoint.hdf5"), &p, &state);
}

static void read_conditions(const char *name) {
  struct parameters p;
  parameters_default(&p);
  p.ic.source = IC_GADGET;
  snprintf(p.ic.file, sizeof p.ic.file, "%s", scratch(name));
  ic_read_gadget(&p);
}

static void read_snapshot(void *unused) {
  (void)unused;
  read_conditions("snapshot.hdf5");
}

static void read_first(void *unused) {
  (void)unused;
  read_conditions("snapshot.0.hdf5");
}

/** The same name, but no values. @p chunk in the first dimension; 0: one piece */
static void replace_dataset(hid_t file, const char *name, hid_t type, int rank, const hsize_t *size,
                            hsize_t chunk) {
  const hsize_t pieces[5] = {chunk, chunk < 3 ? chunk : 3, 1, 1, 1};
  const hid_t space = H5Screate_simple(rank, size, NULL), layout = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk > 0) H5Pset_chunk(layout, rank, pieces);
  assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
  assert_true(dataset >= 0);
  H5Dclose(dataset);
  H5Pclose(layout);
  H5Sclose(space);
}

static void set_number(hid_t file, const char *name, uint64_t value) {
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_UINT64, &value) >= 0);
  H5Aclose(attribute);
}

/** The checksum of a group's attributes as they are now: what is announced must be refused even
 * then. */
static void renew_checksum(hid_t group) {
  assert_true(H5Adelete(group, "xxh3_attributes") >= 0);
  hdf5_checksum_attributes(group, "the test's file");
}

/** A file of another program, which has no checksums. */
static void forget_checksums(hid_t file) {
  static const char *const names[] = {"Coordinates", "Velocities", "ParticleIDs", "Masses"};
  const hid_t header = H5Gopen2(file, "Header", H5P_DEFAULT);
  const hid_t group = H5Gopen2(file, "PartType1", H5P_DEFAULT);
  assert_true(H5Adelete(header, "xxh3_attributes") >= 0);
  for (int i = 0; i < 4; i++) {
    if (H5Lexists(group, names[i], H5P_DEFAULT) <= 0) continue;
    const hid_t dataset = H5Dopen2(group, names[i], H5P_DEFAULT);
    if (H5Aexists(dataset, "xxh3_rows") > 0) H5Adelete(dataset, "xxh3_rows");
    H5Dclose(dataset);
  }
  H5Gclose(group);
  H5Gclose(header);
}

static void expect_refusal(hid_t file, void (*read)(void *), const char *message) {
  H5Fclose(file);
  expect_failure(read, NULL, EXIT_BAD_INPUT, message);
}

static void test_whole_files(void **state) {
  (void)state;
  H5Fclose(make_checkpoint());
  read_checkpoint(NULL);
  for (int compression = 0; compression < 10; compression += 9) {
    H5Fclose(make_snapshot(compression));
    read_snapshot(NULL);
  }
}

static void test_checkpoint_counts(void **state) {
  (void)state;
  hid_t file = make_checkpoint();
  set_number(file, "particles", UINT64_C(1) << 40);
  renew_checksum(file);
  expect_refusal(file, read_checkpoint, "mass is 2130.41, expected a number from");
  file = make_checkpoint();
  set_number(file, "particles", UINT64_MAX / 3 + 1 + COUNT); /* three times this is above 2^64 */
  renew_checksum(file);
  expect_refusal(file, read_checkpoint, "checkpoint.hdf5: ");
  file = make_checkpoint();
  set_number(file, "blocks", COUNT + 1);
  renew_checksum(file);
  expect_refusal(file, read_checkpoint, "513");
}

static void test_checkpoint_datasets(void **state) {
  (void)state;
  const hsize_t right = 3 * COUNT, boxes[5] = {3, 8, 4, 2, 8};
  hid_t file = make_checkpoint();
  replace_dataset(file, "momentum", H5T_NATIVE_FLOAT, 1, &right, 64);
  expect_refusal(file, read_checkpoint, "dataset momentum has no checksum");
  file = make_checkpoint();
  replace_dataset(file, "position", H5T_NATIVE_UINT32, 5, boxes, 0);
  expect_refusal(file, read_checkpoint, "dataset position has no checksum");
}

/**
 * A string attribute may be an array of strings: reading it into the room of one would write beyond
 * that.
 */
static void test_checkpoint_text(void **state) {
  (void)state;
  const hid_t file = make_checkpoint(), type = H5Tcopy(H5T_C_S1);
  const hsize_t count = 2000;
  static const char texts[2000][28] = {"photons-starpu checkpoint 2"};
  H5Tset_size(type, sizeof texts[0]);
  const hid_t space = H5Screate_simple(1, &count, NULL);
  assert_true(H5Adelete(file, "format") >= 0);
  const hid_t attribute = H5Acreate2(file, "format", type, space, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, type, texts) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  expect_refusal(file, read_checkpoint, "format");
}

/** Values that were never written are read as fill values, but no more of them than memory holds. */
static void test_snapshot_values(void **state) {
  (void)state;
  const hsize_t large[2] = {UINT64_C(1) << 40, 3};
  static const char *const names[] = {"PartType1/Coordinates", "PartType1/Velocities",
                                      "PartType1/ParticleIDs", "PartType1/Masses"};
  const hid_t file = make_snapshot(0);
  forget_checksums(file);
  for (int i = 0; i < 4; i++)
    replace_dataset(file, names[i], i == 2 ? H5T_NATIVE_UINT64 : H5T_NATIVE_FLOAT, i < 2 ? 2 : 1,
                    large, 1 << 16);
  const uint64_t counts[6] = {0, large[0]};
  const hsize_t types = 6;
  const hid_t header = H5Gopen2(file, "Header", H5P_DEFAULT),
              space = H5Screate_simple(1, &types, NULL);
  static const char *const totals[] = {"NumPart_ThisFile", "NumPart_Total",
                                       "NumPart_Total_HighWord"};
  for (int i = 0; i < 3; i++) {
    if (H5Aexists(header, totals[i]) > 0) H5Adelete(header, totals[i]);
    if (i == 2) continue; /* then the total counts modulo 2^32, as the count does here: 0 */
    const hid_t attribute = H5Acreate2(header, totals[i], H5T_STD_U64LE, space, H5P_DEFAULT,
                                       H5P_DEFAULT);
    const uint64_t none[6] = {0};
    assert_true(H5Awrite(attribute, H5T_NATIVE_UINT64, i == 0 ? counts : none) >= 0);
    H5Aclose(attribute);
  }
  H5Sclose(space);
  H5Gclose(header);
  expect_refusal(file, read_snapshot,
                 "GB of values, of which not all are stored: more than the memory");
}

/** With a checksum that fits no values: reading them must not even begin. */
static void replace_with_checksum(hid_t file, const hsize_t *size, hsize_t chunk) {
  replace_dataset(file, "momentum", H5T_NATIVE_FLOAT, 2, size, chunk);
  const hid_t dataset = H5Dopen2(file, "momentum", H5P_DEFAULT);
  hdf5_checksum_begin(dataset, "the test's file");
  H5Dclose(dataset);
}

static void test_checkpoint_sizes(void **state) {
  (void)state;
  const hsize_t long_one[2] = {UINT64_C(1) << 40, 3}, wide[2] = {2, UINT64_C(1) << 60};
  const hsize_t empty[2] = {0, UINT64_C(1) << 62}; /* a row of 2^64 bytes */
  hid_t file = make_checkpoint();
  replace_with_checksum(file, long_one, 1 << 16);
  expect_refusal(file, read_checkpoint, "momentum should have 13194139533312 bytes of values");
  file = make_checkpoint();
  replace_with_checksum(file, wide, 1);
  expect_refusal(file, read_checkpoint, "momentum should have 9223372036854775808 bytes of values");
  file = make_checkpoint();
  replace_with_checksum(file, empty, 1);
  expect_refusal(file, read_checkpoint, "momentum has 0 numbers, expected 1536");
}

/** A group may be a member of itself. */
static void test_checkpoint_cycle(void **state) {
  (void)state;
  const hid_t file = make_checkpoint();
  H5Gclose(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  assert_true(H5Lcreate_hard(file, "group", file, "group/group", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  expect_refusal(file, read_checkpoint, "holds more than 1000 groups and datasets");
}

/** No memory for the headers of files that are not there. */
static void test_snapshot_files(void **state) {
  (void)state;
  const hid_t file = make_snapshot(0), header = H5Gopen2(file, "Header", H5P_DEFAULT);
  set_number(header, "NumFilesPerSnapshot", 1000000);
  renew_checksum(header);
  H5Gclose(header);
  H5Fclose(file);
  assert_int_equal(rename(scratch("snapshot.hdf5"), scratch("snapshot.0.hdf5")), 0);
  expect_failure(read_first, NULL, EXIT_BAD_INPUT, "file 1000000 of 1000000 of a set");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_whole_files, scratch_empty),
      cmocka_unit_test_teardown(test_checkpoint_counts, scratch_empty),
      cmocka_unit_test_teardown(test_checkpoint_datasets, scratch_empty),
      cmocka_unit_test_teardown(test_checkpoint_text, scratch_empty),
      cmocka_unit_test_teardown(test_checkpoint_sizes, scratch_empty),
      cmocka_unit_test_teardown(test_checkpoint_cycle, scratch_empty),
      cmocka_unit_test_teardown(test_snapshot_values, scratch_empty),
      cmocka_unit_test_teardown(test_snapshot_files, scratch_empty),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
