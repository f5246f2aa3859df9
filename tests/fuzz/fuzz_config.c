/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzing: config.ini. Every value that is accepted is printed and read again, and must be the
 * same. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "photons/config/parameter_table.h"

static char *print_value(const struct parameter *row, const struct parameters *p) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  fuzz_require(stream, "no memory");
  parameter_print(row, p, stream);
  fclose(stream);
  return text;
}

static void check_value(const struct parameter *row, const struct parameters *p) {
  struct parameters again = *p;
  char reason[256], *text = print_value(row, p);
  fuzz_require(!*text || parameter_parse(row, text, &again, reason, sizeof reason),
               "a printed value is refused");
  char *text_again = print_value(row, &again);
  fuzz_require(strcmp(text, text_again) == 0, "a printed value is read as another one");
  free(text);
  free(text_again);
}

static void read_config(const char *path) {
  struct parameters p;
  parameters_read(&p, path, NULL, 0);
  for (size_t i = 0; i < parameter_count; i++) check_value(&parameter_table[i], &p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const struct fuzz_reader config = {read_config, EXIT_BAD_USAGE, true, NULL};
  fuzz_input(&config, bytes, size);
  return 0;
}
