/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots and checkpoints are read back; nothing half-written stays; what is broken is refused. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "src/io/hdf5_util.h"
#include "photons/base/comm.h"
#include "photons/cosmology/cosmology.h"
#include "photons/base/error.h"
#include "photons/ic/ic.h"
#include "photons/base/output_file.h"
#include "photons/io/snapshot.h"

#include <cmocka.h> /* after error.h, whose fail() its macro would hide */

#include "support/assert_near.h"
#include "support/failure.h"

#define COUNT ((size_t)200001) /* more than is converted at a time */
static const double box = 75.0, a_snapshot = 0.4;

static void set_parameters(struct parameters *p) {
  parameters_default(p);
  p->cosmology.omega_m = 0.31;
  p->cosmology.omega_lambda = 0.69;
  p->cosmology.h = 0.68;
  p->box.size = box;
  p->ic.source = IC_GENERATE;
  p->ic.z_init = 49.0;
}

/** All particles, on every process. */
static struct particles make_particles(size_t count, size_t blocks) {
  const struct cosmology c = {.omega_m = 0.31};
  struct particles s = particles_create(count, box, cosmology_particle_mass(&c, box, (double)count));
  s.blocks = s.all_blocks = blocks;
  uint64_t random = 1;
  for (size_t i = 0; i < 3 * count; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    s.position[i] = (uint32_t)(random >> 32);
    s.momentum[i] = (float)((double)(random >> 40) / 16777216.0 - 0.5) * 400.0F;
    s.acceleration[i] = (float)((double)(random >> 30 & 0xffffff) / 16777216.0 - 0.5) * 1e6F;
  }
  s.position[0] = UINT32_MAX; /* nearest to the box's end */
  for (size_t i = 0; i < count; i++) s.id[i] = count - i;
  return s;
}

/** Those of this process. */
static struct particles take_share(const struct particles *all) {
  struct particles s = particles_create_blocks(all->count, all->blocks, all->box, all->mass);
  const size_t first = particles_first(&s);
  memcpy(s.position, all->position + 3 * first, 3 * s.count * sizeof *s.position);
  memcpy(s.momentum, all->momentum + 3 * first, 3 * s.count * sizeof *s.momentum);
  memcpy(s.acceleration, all->acceleration + 3 * first, 3 * s.count * sizeof *s.acceleration);
  memcpy(s.id, all->id + first, s.count * sizeof *s.id);
  return s;
}

static void read_particle(const struct particles *s, size_t i, uint32_t x[3], float p[3], float acc[3]) {
  size_t g = 0;
  while (block_first(s->count, s->blocks, g + 1) <= i) g++;
  const struct particle_block b = particles_block(s, g);
  for (size_t c = 0; c < 3; c++) {
    x[c] = b.x[c][i - b.first];
    p[c] = b.p[c][i - b.first];
    acc[c] = b.acc[c][i - b.first];
  }
}

/** A dataset's values as doubles (malloc'ed), and one attribute of it. */
static double *read_dataset(const char *path, const char *name, size_t count, size_t columns, const char *attribute,
                            double *value) {
  const hid_t file = hdf5_open(path), dataset = H5Dopen2(file, name, H5P_DEFAULT);
  double *values = allocate(count * columns, sizeof *values, name);
  hdf5_read_rows(dataset, path, name, H5T_NATIVE_DOUBLE, 0, count, columns, values);
  assert_int_equal(hdf5_read_attribute(dataset, path, attribute, H5T_NATIVE_DOUBLE, 1, value), 1);
  H5Dclose(dataset);
  H5Fclose(file);
  return values;
}

/** The file holds particles first .. first + count - 1 of s. */
static void check_datasets(const char *path, const struct particles *s, double length, size_t first, size_t count) {
  double scaling;
  double *x = read_dataset(path, "/PartType1/Coordinates", count, 3, "h_scaling", &scaling);
  assert_near(scaling, -1.0, 0.0);
  double *u = read_dataset(path, "/PartType1/Velocities", count, 3, "to_cgs", &scaling);
  assert_near(scaling, 1e5, 0.0);
  double *acc = read_dataset(path, "/PartType1/Acceleration", count, 3, "to_cgs", &scaling);
  assert_near(scaling, 1e10 / (3.085678e24 / length), 1e-12 * scaling);
  double *m = read_dataset(path, "/PartType1/Masses", count, 1, "mass_scaling", &scaling);
  assert_near(scaling, 1.0, 0.0);
  const double float_rounding = 6e-8; /* 2^-24 */
  for (size_t i = 0; i < count; i++) {
    uint32_t integer[3];
    float p[3], g[3];
    read_particle(s, first + i, integer, p, g);
    assert_near(m[i], s->mass, float_rounding * s->mass);
    for (size_t c = 0; c < 3; c++) {
      assert_true(x[3 * i + c] >= 0.0 && x[3 * i + c] < box * length);
      assert_near(x[3 * i + c], integer[c] / 4294967296.0 * box * length,
                  1e-15 * box * length); /* two double roundings */
      const double velocity = (double)p[c] / pow(a_snapshot, 1.5), acceleration = (double)g[c] / length;
      assert_near(u[3 * i + c], velocity, float_rounding * fabs(velocity));
      assert_near(acc[3 * i + c], acceleration, float_rounding * fabs(acceleration));
    }
  }
  free(x);
  free(u);
  free(acc);
  free(m);
}

/** @return the number of particles in the file */
static size_t check_header(const char *path, const struct parameters *p, double length, uint64_t files) {
  const hid_t file = hdf5_open(path), header = H5Gopen2(file, "Header", H5P_DEFAULT);
  uint64_t count[6], in_file[6], found;
  assert_int_equal(hdf5_read_attribute(header, path, "NumPart_ThisFile", H5T_NATIVE_UINT64, 6, in_file), 6);
  assert_int_equal(hdf5_read_attribute(header, path, "NumFilesPerSnapshot", H5T_NATIVE_UINT64, 1, &found), 1);
  assert_int_equal(found, files);
  assert_int_equal(hdf5_read_attribute(header, path, "NumPart_Total", H5T_NATIVE_UINT64, 6, count), 6);
  assert_int_equal(count[1], COUNT);
  double value;
  hdf5_read_attribute(header, path, "BoxSize", H5T_NATIVE_DOUBLE, 1, &value);
  assert_near(value, box * length, 0.0);
  hdf5_read_attribute(header, path, "Redshift", H5T_NATIVE_DOUBLE, 1, &value);
  assert_near(value, 1.5, 1e-15);
  const hid_t config = H5Gopen2(file, "Config", H5P_DEFAULT);
  char *stored = hdf5_read_config(config, path), *expected = hdf5_config_text(p);
  assert_string_equal(stored, expected);
  assert_non_null(strstr(stored, "\nz_init = 49\n"));
  free(stored);
  free(expected);
  H5Gclose(config);
  H5Gclose(header);
  H5Fclose(file);
  return in_file[1];
}

/** Read back, by all processes: each has some of the particles. */
static void check_reading(struct parameters *p, const struct particles *s, const char *path) {
  snprintf(p->ic.file, sizeof p->ic.file, "%s", path);
  struct particles back = ic_read_gadget(p);
  const size_t first = particles_first(&back);
  assert_near(p->ic.z_init, 1.5, 1e-15);
  assert_near(back.box, box, 0.0);
  assert_near(back.mass, s->mass, 0.0);
  assert_int_equal(back.all, COUNT);
  assert_memory_equal(back.id, s->id + first, back.count * sizeof *s->id);
  for (size_t i = 0; i < back.count; i++) {
    uint32_t x[3];
    float m[3], acc[3];
    read_particle(s, first + i, x, m, acc);
    for (size_t c = 0; c < 3; c++) {
      assert_int_equal(back.position[c * back.count + i], x[c]);
      assert_near(back.momentum[c * back.count + i], m[c], 1.2e-7 * fabs((double)m[c])); /* two float roundings */
    }
  }
  particles_free(&back);
}

static void test_snapshot(void **state) {
  (void)state;
  static const struct {
    enum length_unit unit;
    int64_t compression, files;
    size_t blocks;
  } cases[] = {{LENGTH_KPC_H, 0, 1, 7}, {LENGTH_MPC_H, 3, 1, 1}, {LENGTH_KPC_H, 1, 2, 64}, {LENGTH_KPC_H, 0, 0, 2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct parameters p;
    set_parameters(&p);
    p.output.unit_length = cases[k].unit;
    p.output.compression = cases[k].compression;
    p.output.files = cases[k].files;
    p.output.accelerations = true;
    struct particles s = make_particles(COUNT, cases[k].blocks), share = take_share(&s);
    snapshot_write(scratch("snap.hdf5"), &p, &share, a_snapshot);
    const int64_t ranks = comm_size(), files = cases[k].files == 0 || cases[k].files > ranks ? ranks : cases[k].files;
    assert_int_equal(scratch_count_files(), files);
    const double length = cases[k].unit == LENGTH_KPC_H ? 1000.0 : 1.0;
    size_t first = 0;
    for (int64_t f = 0; f < files; f++) {
      char name[64] = "snap.hdf5";
      if (files > 1) snprintf(name, sizeof name, "snap.%d.hdf5", (int)f);
      const size_t count = check_header(scratch(name), &p, length, (uint64_t)files);
      if (count > 0) check_datasets(scratch(name), &s, length, first, count);
      first += count;
    }
    assert_int_equal(first, COUNT);
    check_reading(&p, &s, scratch(files > 1 ? "snap.0.hdf5" : "snap.hdf5"));
    particles_free(&share);
    particles_free(&s);
    comm_barrier();
    if (comm_rank() == 0) assert_int_equal(scratch_empty(NULL), 0);
    comm_barrier();
  }
}

/** One for tests/runs/same_files_on_any_ranks.sh, a file for each process. */
static void keep_snapshot(const struct particles *share) {
  const char *folder = getenv("PHOTONS_RANKS_OUTPUT");
  if (!folder) return;
  struct parameters p;
  set_parameters(&p);
  p.output.files = 0;
  char path[1024];
  snprintf(path, sizeof path, "%s/set.hdf5", folder);
  snapshot_write(path, &p, share, a_snapshot);
}

static const struct checkpoint_state there = {.a = 0.1 + 0.2,
                                              .start_a = 0.02,
                                              .step = INT64_C(1) << 40,
                                              .outputs_done = 3,
                                              .last_output = 1.0 / 7.0,
                                              .policy.steps_since_sort = 3,
                                              .policy.steps_since_rebuild = 5,
                                              .policy.sort_debt = 1.0 / 3.0,
                                              .policy.loosening = -1e-3,
                                              .policy.spread = 2.0 / 7.0,
                                              .policy.fresh_spread = 1e-30,
                                              .policy.fresh_work = 1e30,
                                              .wall_seconds = 1e-7};

static bool same_particles(const struct particles *a, const struct particles *b) {
  return a->all == b->all && a->all_blocks == b->all_blocks && a->count == b->count && a->blocks == b->blocks &&
         a->first_block == b->first_block && a->box == b->box && a->mass == b->mass &&
         memcmp(a->position, b->position, 3 * a->count * sizeof *a->position) == 0 &&
         memcmp(a->momentum, b->momentum, 3 * a->count * sizeof *a->momentum) == 0 &&
         memcmp(a->acceleration, b->acceleration, 3 * a->count * sizeof *a->acceleration) == 0 &&
         memcmp(a->id, b->id, a->count * sizeof *a->id) == 0;
}

static bool same_state(const struct checkpoint_state *s) {
  return s->a == there.a && s->start_a == there.start_a && s->step == there.step &&
         s->outputs_done == there.outputs_done && s->last_output == there.last_output &&
         s->policy.steps_since_sort == there.policy.steps_since_sort &&
         s->policy.steps_since_rebuild == there.policy.steps_since_rebuild && s->policy.sort_debt == there.policy.sort_debt &&
         s->policy.loosening == there.policy.loosening && s->policy.spread == there.policy.spread && s->policy.fresh_spread == there.policy.fresh_spread &&
         s->policy.fresh_work == there.policy.fresh_work && s->wall_seconds == there.wall_seconds;
}

/** tests/runs/same_files_on_any_ranks.sh names a folder: what one number of processes has written there the next one reads. */
static void test_checkpoint(void **state) {
  (void)state;
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(COUNT, 7);
  s.momentum[5] = NAN; /* not our business: bits are bits */
  struct particles share = take_share(&s);
  char kept[1024];
  const char *folder = getenv("PHOTONS_RANKS_OUTPUT"), *path = folder ? kept : scratch("checkpoint.hdf5");
  if (folder) snprintf(kept, sizeof kept, "%s/checkpoint.hdf5", folder);
  for (int turn = !folder || access(kept, R_OK) != 0; turn < 2; turn++) {
    comm_barrier(); /* all have looked */
    if (turn == 1) checkpoint_write(path, &p, &share, &there);
    struct parameters other = p;
    other.output.images = !p.output.images; /* what does not change the particles may change */
    other.runtime.workers = 13;
    struct checkpoint_state found;
    struct particles back = checkpoint_read(path, &other, &found);
    assert_true(same_particles(&back, &share));
    assert_true(same_state(&found));
    particles_free(&back);
  }
  if (!folder) assert_int_equal(scratch_count_files(), 1);
  keep_snapshot(&share);
  particles_free(&share);
  particles_free(&s);
}

static void read_checkpoint(void *parameters) {
  struct checkpoint_state found;
  struct particles s = checkpoint_read(scratch("checkpoint.hdf5"), parameters, &found);
  particles_free(&s);
}

static void test_checkpoint_parameters(void **state) {
  (void)state;
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(100, 2);
  checkpoint_write(scratch("checkpoint.hdf5"), &p, &s, &there);
  p.cosmology.omega_m = 0.3;
  p.gravity.theta = 0.123;
  p.runtime.leaf_size = 17;
  expect_failure(read_checkpoint, &p, EXIT_BAD_INPUT, "cosmology.Omega_m was '0.31' and is '0.3', gravity.theta was");
  expect_failure(read_checkpoint, &p, EXIT_BAD_INPUT, "and is '0.123', runtime.leaf_size was '0' and is '17'");

  /* What the program had chosen stays as it was chosen. */
  set_parameters(&p);
  p.gravity.softening = 12.5;
  checkpoint_write(scratch("checkpoint.hdf5"), &p, &s, &there);
  p.gravity.softening = -1.0;
  read_checkpoint(&p);
  assert_near(p.gravity.softening, 12.5, 0.0);
  p.gravity.softening = 13.0;
  expect_failure(read_checkpoint, &p, EXIT_BAD_INPUT, "gravity.softening was '12.5' and is '13'");

  /* Box and cosmology of a run from a file are not in config.ini: they come from the checkpoint. */
  set_parameters(&p);
  p.ic.source = IC_GADGET;
  checkpoint_write(scratch("checkpoint.hdf5"), &p, &s, &there);
  p.box.size = 0.0;
  p.cosmology.omega_m = 0.1;
  p.ic.z_init = 1.0;
  read_checkpoint(&p);
  assert_near(p.box.size, box, 0.0);
  assert_near(p.cosmology.omega_m, 0.31, 0.0);
  assert_near(p.ic.z_init, 49.0, 0.0);
  particles_free(&s);
}

/** Exit code of reading the checkpoint in another process; 0 only if every bit of it is right. */
static int read_damaged(struct parameters *p, const struct particles *s) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    struct checkpoint_state found;
    const struct particles back = checkpoint_read(scratch("checkpoint.hdf5"), p, &found);
    _exit(same_particles(&back, s) && same_state(&found) ? 0 : 99);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/** One byte changed anywhere, or the end cut off: refused, or (a byte without a meaning) read as it was. */
static void test_checkpoint_damage(void **state) {
  (void)state;
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(300, 3);
  const char *path = scratch("checkpoint.hdf5");
  checkpoint_write(path, &p, &s, &there);
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  const long size = (long)status.st_size, step = 193; /* prime: all places in words and structures */
  int refused = 0, tried = 0;
  for (long offset = 0; offset < size; offset += step, tried++) {
    FILE *file = fopen(path, "r+b");
    fseek(file, offset, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, offset, SEEK_SET);
    fputc(byte ^ 0x10, file);
    fclose(file);
    const int code = read_damaged(&p, &s);
    if (code != 0) assert_int_equal(code, EXIT_BAD_INPUT);
    refused += code != 0;
    file = fopen(path, "r+b");
    fseek(file, offset, SEEK_SET);
    fputc(byte, file);
    fclose(file);
  }
  assert_int_equal(read_damaged(&p, &s), 0);
  /* The particles alone, which must be refused, are 44 bytes each. */
  assert_in_range(refused, 300 * 44 / step, tried);
  for (long length = size - 1; length > 0; length -= size / 7) {
    assert_int_equal(truncate(path, length), 0);
    expect_failure(read_checkpoint, &p, EXIT_BAD_INPUT, "cannot open the HDF5 file");
  }
  snapshot_write(path, &p, &s, a_snapshot);
  expect_failure(read_checkpoint, &p, EXIT_BAD_INPUT, "not a complete checkpoint");
  particles_free(&s);
}

static void limit_file_size(size_t bytes) {
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

static void write_large_snapshot(void *compression) {
  struct parameters p;
  set_parameters(&p);
  p.output.compression = *(int *)compression;
  struct particles s = make_particles(COUNT, 7);
  limit_file_size(3000000);
  snapshot_write(scratch("snap.hdf5"), &p, &s, a_snapshot);
}

static void write_large_checkpoint(void *bytes) {
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(COUNT, 7);
  limit_file_size(*(size_t *)bytes);
  checkpoint_write(scratch("checkpoint.hdf5"), &p, &s, &there);
}

static void write_large_text(void *unused) {
  (void)unused;
  limit_file_size(10000);
  char *temporary = output_begin(scratch("table.txt"));
  FILE *file = output_open(temporary);
  for (int i = 0; i < 10000; i++) fprintf(file, "%d\n", i);
  output_close(file, scratch("table.txt"));
  output_commit(temporary, scratch("table.txt"));
}

/** A file-size limit stands for a full disk: the write fails, with another reason. */
static void test_full_disk(void **state) {
  (void)state;
  expect_failure(write_large_snapshot, &(int){0}, EXIT_RUN_FAILED,
                 "snap.hdf5: cannot write Coordinates: File too large");
  expect_failure(write_large_snapshot, &(int){2}, EXIT_RUN_FAILED, "snap.hdf5: cannot write");
  for (size_t bytes = 0; bytes < COUNT * 44; bytes += COUNT * 10)
    expect_failure(write_large_checkpoint, &bytes, EXIT_RUN_FAILED, "File too large");
  expect_failure(write_large_text, NULL, EXIT_RUN_FAILED, "table.txt: File too large");
  assert_int_equal(scratch_count_files(), 0);
}

static char nowhere[] = "/proc/nothing";

static void make_folder(void *path) { output_folder(path); }

static void *fail_in_thread(void *barrier) {
  pthread_barrier_wait(barrier);
  fail(EXIT_BAD_USAGE, "one of %d", 4);
}

static void fail_in_threads(void *unused) {
  (void)unused;
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 4);
  output_close(output_open(output_begin(scratch("unfinished"))), "unfinished");
  pthread_t threads[4];
  for (size_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, fail_in_thread, &barrier);
  for (size_t i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

__attribute__((unused)) static void allocate_much(void *unused) {
  (void)unused;
  free(allocate(SIZE_MAX / 8, 4, "a test"));
}

/** The disk of the last process is full: for tests/runs/same_files_on_any_ranks.sh, which expects the end of all and an empty folder. */
static void fill_one_disk(const char *folder) {
  struct parameters p;
  set_parameters(&p);
  p.output.files = 2;
  struct particles s = make_particles(COUNT, 64), share = take_share(&s);
  char path[1024];
  snprintf(path, sizeof path, "%s/snap.hdf5", folder);
  if (comm_rank() == comm_size() - 1) limit_file_size(3000000);
  snapshot_write(path, &p, &share, a_snapshot);
}

static void test_output_files(void **state) {
  (void)state;
  output_folder(scratch("a//b/"));
  output_folder(scratch("a/b")); /* there already */
  const char *path = scratch("a/b/file");
  char *temporary = output_begin(path), *other = output_begin(scratch("other"));
  FILE *file = output_open(temporary);
  fputs("text", file);
  assert_int_not_equal(access(path, F_OK), 0);
  output_close(file, path);
  output_commit(temporary, path);
  assert_int_equal(access(path, R_OK), 0);
  output_close(output_open(other), "other");
  output_discard_all();
  assert_int_not_equal(access(other, F_OK), 0);
  free(other);
  expect_failure(make_folder, scratch("a/b/file"), EXIT_RUN_FAILED, "a file of that name exists");
  expect_failure(make_folder, nowhere, EXIT_RUN_FAILED, "cannot make the folder /proc/nothing: No such file");
  assert_int_equal(remove(path), 0);
  assert_int_equal(remove(scratch("a/b")), 0);

  expect_failure(fail_in_threads, NULL, EXIT_BAD_USAGE, "one of 4");
  assert_int_equal(scratch_count_files(), 1); /* the folder a */
#ifndef __SANITIZE_ADDRESS__                  /* which ends the program itself */
  expect_failure(allocate_much, NULL, EXIT_RUN_FAILED, "not enough memory for a test (8796093022208.0 MiB)");
#endif
}

/** One folder for all processes. */
static int make_common_folder(void **state) {
  int status = comm_rank() == 0 ? scratch_make(state) : 0;
  comm_broadcast(&status, sizeof status, 0);
  comm_broadcast(scratch_path, sizeof scratch_path, 0);
  return status;
}

static int empty_common_folder(void **state) {
  comm_barrier();
  const int status = comm_rank() == 0 ? scratch_empty(state) : 0;
  comm_barrier();
  return status;
}

static int remove_common_folder(void **state) {
  return empty_common_folder(state) != 0 || (comm_rank() == 0 && rmdir(scratch_path) != 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_snapshot, empty_common_folder),
      cmocka_unit_test_teardown(test_checkpoint, empty_common_folder),
  };
  const struct CMUnitTest local_tests[] = {
      cmocka_unit_test_teardown(test_checkpoint_parameters, scratch_empty),
      cmocka_unit_test_teardown(test_checkpoint_damage, scratch_empty),
      cmocka_unit_test_teardown(test_full_disk, scratch_empty),
      cmocka_unit_test_teardown(test_output_files, scratch_empty),
  };
  comm_start(&argc, &argv);
  if (argc > 1) fill_one_disk(argv[1]);
  int failed = cmocka_run_group_tests(tests, make_common_folder, remove_common_folder);
  if (comm_size() == 1) failed += cmocka_run_group_tests(local_tests, scratch_make, scratch_remove);
  comm_end();
  return failed;
}
