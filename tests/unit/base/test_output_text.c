/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is not finite reaches no file: neither a table nor an HDF5 file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "photons/base/error.h"
#include "photons/base/output_file.h"
#include "photons/base/output_text.h"
#include "src/io/hdf5_util.h"

#include <cmocka.h> /* after error.h, whose fail() its macro would hide */

#include "support/failure.h"

static const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
enum { BADS = sizeof bad / sizeof *bad };

/** Append a row of three numbers to a table whose columns are step, kinetic and potential. */
static void append_row(void *number) {
  struct output_text row;
  FILE *file = fopen(scratch("energy.csv"), "a");
  if (ftell(file) == 0) fprintf(file, "step,kinetic,potential\n");
  fprintf(output_text_begin(&row), "7,,%.9g\n", *(const double *)number);
  output_text_append(&row, file, scratch("energy.csv"));
  fclose(file);
}

static size_t length_of(const char *path) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  const long length = ftell(file);
  fclose(file);
  return (size_t)length;
}

static void test_rows_of_tables(void **state) {
  (void)state;
  double good = -1e300;
  append_row(&good);
  const size_t length = strlen("step,kinetic,potential\n7,,-1e+300\n");
  assert_int_equal(length_of(scratch("energy.csv")), length);
  for (int i = 0; i < BADS; i++) {
    double number = bad[i];
    expect_failure(append_row, &number, EXIT_RUN_FAILED, "energy.csv: potential would be ");
    assert_int_equal(length_of(scratch("energy.csv")), length);
  }
}

/** Names with "nan" or "inf" in them, and provenance, are no numbers. */
static void save_table(void *number) {
  struct output_text table;
  FILE *out = output_text_begin(&table);
  fprintf(out, "# provenance particles: read from nan\n# information for nancy, a = 1\n");
  fprintf(out, "# k[h/Mpc] P[(Mpc/h)^3] Nmodes\n0.1 %g 6.0\n", *(const double *)number);
  output_text_save(&table, scratch("power.txt"));
}

static void save_heading(void *number) {
  struct output_text table;
  fprintf(output_text_begin(&table), "# a = %g, z = 0\n", *(const double *)number);
  output_text_save(&table, scratch("power.txt"));
}

static void test_whole_tables(void **state) {
  (void)state;
  for (int i = 0; i < BADS; i++) {
    double number = bad[i];
    expect_failure(save_table, &number, EXIT_RUN_FAILED, "power.txt: P[(Mpc/h)^3] would be ");
    expect_failure(save_heading, &number, EXIT_RUN_FAILED, "power.txt: a number would be ");
    assert_int_equal(scratch_count_files(), 0);
  }
  double good = 2.5;
  save_table(&good);
  assert_int_equal(scratch_count_files(), 1);
}

static bool exists(const char *name) { return access(scratch(name), F_OK) == 0; }

static void save_text(const char *name) {
  struct output_text text;
  fprintf(output_text_begin(&text), "1\n");
  output_text_save(&text, scratch(name));
}

static void save_batch_that_fails(void *number) {
  output_batch_begin();
  save_text("first.txt");
  save_table(number);
}

/* Texts of a batch get their names at its end, or if the program fails before, those that are complete. */
static void test_batch(void **state) {
  (void)state;
  output_batch_begin();
  save_text("first.txt");
  save_text("second.txt");
  assert_true(exists("first.txt.tmp") && exists("second.txt.tmp"));
  assert_false(exists("first.txt") || exists("second.txt"));
  output_batch_end();
  output_settle();
  assert_true(exists("first.txt") && exists("second.txt"));
  save_text("third.txt"); /* not in a batch */
  assert_true(exists("third.txt"));
  assert_int_equal(scratch_empty(NULL), 0);
  double number = NAN;
  expect_failure(save_batch_that_fails, &number, EXIT_RUN_FAILED, "would be nan");
  assert_true(exists("first.txt"));
  assert_int_equal(scratch_count_files(), 1);
}

enum { ROWS = 5, COLUMNS = 3 };
/** A number of a dataset and where it stands, and whether it is a float; without rows of an
 * attribute. */
struct placed {
  double number;
  bool is_float;
  size_t rows, at;
};

static void write_file(void *context) {
  const struct placed *p = context;
  const char *path = scratch("file.hdf5");
  double wide[ROWS * COLUMNS] = {0};
  float narrow[ROWS * COLUMNS] = {0};
  wide[p->at] = p->number;
  narrow[p->at] = (float)p->number;
  char *temporary = output_begin(path);
  const hid_t file = hdf5_create(temporary, path),
              type = p->is_float ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  const void *values = p->is_float ? (const void *)narrow : (const void *)wide;
  if (p->rows > 0) {
    const hid_t dataset = hdf5_create_dataset(file, path, "values", type, 2 * ROWS, COLUMNS,
                                              H5P_DEFAULT);
    hdf5_write_rows(dataset, path, "values", type, ROWS, p->rows, COLUMNS, values);
    H5Dclose(dataset);
  } else {
    hdf5_write_attribute(file, path, "values", type, COLUMNS, values);
  }
  hdf5_close_written(file, path);
  output_commit(temporary, path);
}

static void test_hdf5(void **state) {
  (void)state;
  for (int i = 0; i < 2 * BADS; i++) {
    struct placed p = {.number = bad[i / 2], .is_float = i % 2, .at = 2};
    expect_failure(write_file, &p, EXIT_RUN_FAILED, "number 0 of row 2 of values would be ");
    p.rows = ROWS;
    p.at = ROWS * COLUMNS - 1;
    expect_failure(write_file, &p, EXIT_RUN_FAILED, "number 2 of row 9 of values would be ");
    assert_int_equal(scratch_count_files(), 0);
  }
  struct placed good = {.number = 1e38, .is_float = true, .rows = ROWS};
  write_file(&good);
  assert_int_equal(scratch_count_files(), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_rows_of_tables, scratch_empty),
      cmocka_unit_test_teardown(test_whole_tables, scratch_empty),
      cmocka_unit_test_teardown(test_batch, scratch_empty),
      cmocka_unit_test_teardown(test_hdf5, scratch_empty),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
