/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/app/csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "photons/base/error.h"
#include "photons/base/input_file.h"

static size_t count(const char *text, char c, size_t length) {
  size_t found = 0;
  for (size_t i = 0; i < length; i++) found += text[i] == c;
  return found;
}

/** Cut a line into fields, in place. */
static void cut_line(char *line, size_t length, char **fields) {
  line[length] = '\0';
  *fields = line;
  for (char *c = line; *c; c++) {
    if (*c != ',') continue;
    *c = '\0';
    *++fields = c + 1;
  }
}

bool csv_read(struct csv *t, const char *path, size_t most) {
  *t = (struct csv){.text = input_lines(path, 2, most)};
  if (!t->text || !*t->text) {
    csv_free(t);
    return false;
  }
  const size_t lines = count(t->text, '\n', strlen(t->text));
  t->columns = 1 + count(t->text, ',', strcspn(t->text, "\n"));
  t->cells = allocate(lines * t->columns, sizeof *t->cells, "a table");
  size_t filled = 0;
  for (char *line = t->text, *next; *line; line = next) {
    const size_t length = strcspn(line, "\n");
    next = line + length + 1;
    if (1 + count(line, ',', length) != t->columns) continue;
    cut_line(line, length, t->cells + filled * t->columns);
    filled++;
  }
  t->rows = filled - 1;
  return true;
}

/** A run that goes on takes the steps after its checkpoint again. */
static void cut(const char *path, int64_t last) {
  FILE *file = fopen(path, "r+");
  if (!file) return;
  char *line = NULL;
  size_t size = 0;
  long end = 0;
  for (ssize_t n; (n = getline(&line, &size, file)) > 0; end += n)
    if (line[n - 1] != '\n' || strtoll(line, NULL, 10) > last) break;
  free(line);
  if (ftruncate(fileno(file), end) != 0 || fclose(file) != 0)
    fail(EXIT_RUN_FAILED, "cannot write %s: %s", path, strerror(errno));
}

FILE *csv_continue(const char *path, int64_t last) {
  cut(path, last);
  FILE *file = fopen(path, "a"); /* the file grows row by row: it has no temporary name */
  if (!file) fail(EXIT_RUN_FAILED, "cannot write %s: %s", path, strerror(errno));
  return file;
}

void csv_free(struct csv *t) {
  free(t->text);
  free(t->cells);
  *t = (struct csv){0};
}

const char *csv_text(const struct csv *t, size_t row, const char *name) {
  for (size_t i = 0; row < t->rows && i < t->columns; i++)
    if (strcmp(t->cells[i], name) == 0) return t->cells[(row + 1) * t->columns + i];
  return "";
}

double csv_number(const struct csv *t, size_t row, const char *name) {
  const char *text = csv_text(t, row, name);
  return *text ? strtod(text, NULL) : NAN;
}
