/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two generations of checkpoints: if one is damaged or missing, a run continues from the other. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/io/snapshot.h"
#include "src/io/hdf5_checksum.h"
#include "src/io/hdf5_finite.h"
#include "src/io/hdf5_util.h"

#include <cmocka.h> /* after error.h, whose fail() its macro would hide */

#include "support/failure.h"
#include "support/flip_bits.h"
#include "support/saved_run.h"

enum { COUNT = 300 };

static char newest[300], previous[300];

static int make_folder(void **state) {
  const int status = scratch_make(state);
  snprintf(newest, sizeof newest, "%s/checkpoint.hdf5", scratch_path);
  snprintf(previous, sizeof previous, "%s/checkpoint-previous.hdf5", scratch_path);
  return status;
}

/** Write a checkpoint after the given number of steps. */
static void write_step(int64_t step) {
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(COUNT, 3);
  struct checkpoint_state state = there;
  state.step = step;
  checkpoint_write(newest, &p, &s, &state);
  particles_free(&s);
}

/** The step from which a run continues. */
static int64_t read_step(void) {
  struct parameters p;
  struct checkpoint_state state;
  set_parameters(&p);
  struct particles s = checkpoint_read(newest, &p, &state), expected = make_particles(COUNT, 3);
  assert_true(same_particles(&s, &expected));
  particles_free(&s);
  particles_free(&expected);
  return state.step;
}

static void read_any(void *unused) {
  (void)unused;
  read_step();
}

static long size_of(const char *path) {
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  return (long)status.st_size;
}

/** The newer checkpoint is read; if it is damaged or missing, the older one; if both are damaged,
 * an error gives the reasons. */
static void test_generations(void **state) {
  (void)state;
  expect_failure(read_any, NULL, EXIT_BAD_INPUT,
                 "checkpoint.hdf5: cannot open the HDF5 file: No such file");
  for (int64_t step = 1; step <= 3; step++) write_step(step);
  assert_int_equal(scratch_count_files(), 2);
  assert_int_equal(read_step(), 3);

  const long place = size_of(newest) / 2;
  flip_bits(newest, place, 4);
  assert_int_equal(read_step(), 2);
  assert_int_equal(access(scratch("checkpoint-damaged.hdf5"), R_OK), 0);
  /* The next checkpoint leaves the good previous one in its place. */
  write_step(4);
  assert_int_equal(read_step(), 4);
  assert_int_equal(remove(newest), 0);
  assert_int_equal(read_step(), 2);
  write_step(5);
  write_step(6);
  assert_int_equal(read_step(), 6);
  flip_bits(newest, place, 1);
  flip_bits(previous, place, 1);
  expect_failure(read_any, NULL, EXIT_BAD_INPUT, "checkpoint.hdf5: dataset");
  expect_failure(read_any, NULL, EXIT_BAD_INPUT, "checkpoint-previous.hdf5: dataset");
  flip_bits(previous, place, 1);
  assert_int_equal(read_step(), 5);
  assert_int_equal(truncate(previous, 5000), 0);
  expect_failure(read_any, NULL, EXIT_BAD_INPUT,
                 "checkpoint-previous.hdf5: cannot open the HDF5 file: truncated");
}

/** The files of a run killed between two changes of names. */
static void test_left_names(void **state) {
  (void)state;
  char reason[512], temporary[320];
  write_step(1);
  snprintf(temporary, sizeof temporary, "%s.tmp", newest);
  assert_int_equal(link(newest, temporary), 0);
  write_step(2);
  assert_int_equal(remove(previous), 0);
  assert_int_equal(link(newest, previous), 0); /* two names of one file */
  snprintf(temporary, sizeof temporary, "%s.tmp", previous);
  assert_int_equal(link(newest, temporary), 0);
  write_step(3);
  assert_int_equal(scratch_count_files(), 2);
  assert_int_equal(read_step(), 3);
  assert_true(checkpoint_check(previous, reason, sizeof reason));
  assert_int_equal(remove(newest), 0);
  assert_int_equal(read_step(), 2);
}

/** Write one checkpoint after another until killed; a byte in the pipe tells of each. */
static void write_for_ever(int64_t step, int told) {
  for (;; step++) {
    write_step(step);
    if (write(told, "", 1) != 1) _exit(1);
  }
}

/** A run killed at any moment continues from its last checkpoint. Each run is killed between its
 * first checkpoint and its fourth or so, however fast the machine writes. */
static void test_kills(void **state) {
  (void)state;
  enum { KILLS = 40 };
  int64_t last = 1;
  uint64_t random = 1;
  write_step(last);
  for (int k = 0; k < KILLS; k++) {
    int told[2];
    char byte;
    assert_int_equal(pipe(told), 0);
    const double start = wall_clock();
    const pid_t child = fork();
    if (child == 0) write_for_ever(last + 1, told[1]);
    close(told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    const double writing = wall_clock() - start; /* seconds */
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    usleep((useconds_t)(1e6 * fmin(writing, 0.3) * 3.0 * (double)(random >> 11) * 0x1p-53));
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(told[0]);
    assert_true(WIFSIGNALED(status));
    char reason[512];
    assert_true(checkpoint_check(newest, reason, sizeof reason));
    const int64_t step = read_step();
    assert_true(step > last);
    last = step;
  }
}

/** Write a checkpoint with a value that no run writes, and with right checksums. */
static void write_wrong(void (*change)(struct particles *, struct checkpoint_state *)) {
  struct parameters p;
  set_parameters(&p);
  struct particles s = make_particles(COUNT, 3);
  struct checkpoint_state state = there;
  change(&s, &state);
  checkpoint_write(newest, &p, &s, &state);
  particles_free(&s);
}

/* Component y of the fourth particle of the second group of 100; ids count down from COUNT. */
enum { FIRST = 100, WRONG = 3 * FIRST + FIRST + 3 };
static void fast_momentum(struct particles *s, struct checkpoint_state *c) {
  s->momentum[WRONG] = (float)(-300000.0 * c->a);
}
static void no_relative_mass(struct particles *s, struct checkpoint_state *c) {
  (void)c, particles_add_column(s, COLUMN_relative_mass);
  for (size_t i = 0; i < s->count; i++) s->relative_mass[i] = i == FIRST + 3 ? 0.0F : 1.0F;
}
static void seventh_type(struct particles *s, struct checkpoint_state *c) {
  (void)c, particles_add_column(s, COLUMN_type);
  s->type[FIRST + 3] = 6;
}
static void no_box(struct particles *s, struct checkpoint_state *c) { (void)c, s->box = 0.0; }
static void other_mass(struct particles *s, struct checkpoint_state *c) { (void)c, s->mass *= 2.0; }
static void late_a(struct particles *s, struct checkpoint_state *c) { (void)s, c->a = 1.5; }
static void late_start(struct particles *s, struct checkpoint_state *c) {
  (void)s, c->start_a = 0.31;
}
static void negative_step(struct particles *s, struct checkpoint_state *c) {
  (void)s, c->step = -1;
}
static void negative_outputs(struct particles *s, struct checkpoint_state *c) {
  (void)s, c->outputs_done = -3;
}
static void later_output(struct particles *s, struct checkpoint_state *c) {
  (void)s, c->last_output = 0.4;
}

static void no_mesh(struct particles *s, struct checkpoint_state *c) { (void)s, c->mesh_cells = 0; }
static void coarser_mesh(struct particles *s, struct checkpoint_state *c) {
  (void)s, c->next_mesh_cells = c->mesh_cells - 2;
}

static void no_rungs(struct particles *s, struct checkpoint_state *c) {
  (void)s, c->steps.dlna = 0.1;
}

static void test_values(void **state) {
  (void)state;
  static const struct {
    void (*change)(struct particles *, struct checkpoint_state *);
    const char *message;
  } cases[] = {{fast_momentum, "momentum of particle 197 is -90000"},
               {no_relative_mass, "relative_mass of particle 197 is 0"},
               {seventh_type, "type of particle 197 is 6"},
               {no_box, "box is 0, expected"},
               {other_mass, "mass is "},
               {late_a, ": a is 1.5, expected a number from 0.02 to 1"},
               {late_start, ": a is 0.3, expected a number from 0.31"},
               {negative_step, "step is -1"},
               {negative_outputs, "outputs_done is -3"},
               {later_output, "last_output is 0.4"},
               {no_mesh, ": mesh_cells is 0"},
               {coarser_mesh, "next_mesh_cells is 6, expected a number from 8"},
               {no_rungs, "has no dataset 'rung'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_wrong(cases[i].change);
    expect_failure(read_any, NULL, EXIT_BAD_INPUT, cases[i].message);
  }
}

/** Put a number that is not finite, which is never written, into an attribute of a checkpoint. */
static void put_attribute(hid_t file, const char *name, double value) {
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
  H5Aclose(attribute);
  H5Adelete(file, "xxh3_attributes");
  hdf5_checksum_attributes(file, newest);
}

/** The same in component y of the particle of fast_momentum(): a group's rows have x, y and z of all of
 * its particles, one after the other. */
static void put_value(hid_t file, const char *name, double value) {
  float values[COUNT][3];
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(hdf5_try_rows(dataset, H5T_NATIVE_FLOAT, 0, COUNT, 3, values) >= 0);
  (&values[0][0])[WRONG] = (float)value;
  assert_true(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Adelete(dataset, "xxh3_rows");
  hdf5_checksum_begin(dataset, newest);
  hdf5_checksum_add(dataset, newest, checksum_rows(values, sizeof *values, 0, COUNT));
  H5Dclose(dataset);
}

static void test_not_finite(void **state) {
  (void)state;
  static const struct {
    const char *name, *message;
    void (*put)(hid_t file, const char *name, double value);
    double value;
  } cases[] = {{"momentum", "momentum of particle 197 is nan", put_value, NAN},
               {"acceleration", "acceleration of particle 197 is -inf", put_value, -INFINITY},
               {"mass", "mass is nan, expected", put_attribute, NAN},
               {"a", ": a is nan", put_attribute, NAN},
               {"fresh_work", "fresh_work is inf", put_attribute, INFINITY},
               {"spread", ": spread is nan", put_attribute, NAN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_step(1);
    const hid_t file = H5Fopen(newest, H5F_ACC_RDWR, H5P_DEFAULT);
    cases[i].put(file, cases[i].name, cases[i].value);
    H5Fclose(file);
    expect_failure(read_any, NULL, EXIT_BAD_INPUT, cases[i].message);
  }
}

/** Numbers of which one is not finite. */
struct numbers {
  hid_t type;
  size_t count;
  const void *value;
};

static void require_finite(void *context) {
  const struct numbers *n = context;
  hdf5_require_finite("file", "numbers", n->type, 0, n->count, 1, n->value);
}

/** A number that is not finite is found wherever it is, and others are let pass. */
static void test_finite(void **state) {
  (void)state;
  enum { MOST = 11 };
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  for (size_t count = 1; count <= MOST; count++)
    for (size_t at = 0; at <= count; at++) {
      float narrow[MOST] = {0.0F, -1.0F, FLT_MAX, -FLT_MAX, FLT_MIN, 1e-45F};
      double wide[MOST] = {0.0, -1.0, DBL_MAX, -DBL_MAX, DBL_MIN, 5e-324};
      if (at < count) {
        wide[at] = bad[at % 3];
        narrow[at] = (float)bad[at % 3];
      }
      struct numbers n[] = {{H5T_NATIVE_FLOAT, count, narrow}, {H5T_NATIVE_DOUBLE, count, wide}};
      char message[64];
      snprintf(message, sizeof message, "number 0 of row %zu of numbers would be", at);
      for (int i = 0; i < 2; i++)
        if (at < count)
          expect_failure(require_finite, &n[i], EXIT_RUN_FAILED, message);
        else
          require_finite(&n[i]);
    }
}

/** Of an isolated system: a time, and the exponential of one in a checkpoint of an earlier version. */
static void test_times(void **state) {
  (void)state;
  static const struct {
    double start, a, output, a_read, output_read;
  } cases[] = {{0.0, 0.03, 0.02, 0.03, 0.02},
               {0.0, 0.03, -1.0, 0.03, -1.0},
               {0.0, 0.0, 0.0, 0.0, 0.0},
               {1.0, 1.0202013400267558, 1.01005016708416806, 0.02, 0.01},
               {1.0, 1.0202013400267558, 1.0, 0.02, 0.0},
               {1.0, 1.0202013400267558, 0.0, 0.02, -1.0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct parameters p;
    set_parameters(&p);
    p.box.boundary = BOUNDARY_ISOLATED;
    struct particles s = make_particles(COUNT, 3);
    struct checkpoint_state c = there;
    c.mesh_cells = c.next_mesh_cells = 0;
    c.start_a = cases[i].start;
    c.a = cases[i].a;
    c.last_output = cases[i].output;
    checkpoint_write(newest, &p, &s, &c);
    particles_free(&s);
    s = checkpoint_read(newest, &p, &c);
    particles_free(&s);
    assert_true(c.start_a == 0.0);
    assert_true(fabs(c.a - cases[i].a_read) < 1e-15);
    assert_true(fabs(c.last_output - cases[i].output_read) < 1e-15);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_generations, scratch_empty),
      cmocka_unit_test_teardown(test_left_names, scratch_empty),
      cmocka_unit_test_teardown(test_kills, scratch_empty),
      cmocka_unit_test_teardown(test_values, scratch_empty),
      cmocka_unit_test_teardown(test_not_finite, scratch_empty),
      cmocka_unit_test(test_finite),
      cmocka_unit_test_teardown(test_times, scratch_empty),
  };
  return cmocka_run_group_tests(tests, make_folder, scratch_remove);
}
