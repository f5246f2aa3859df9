/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/base/output_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/base/output_file.h"

static const char between[] = " ,\n"; /* the items of a line */

FILE *output_text_begin(struct output_text *t) {
  *t = (struct output_text){0};
  t->stream = open_memstream(&t->text, &t->size);
  if (!t->stream) fail(EXIT_RUN_FAILED, "not enough memory for lines of a table");
  return t->stream;
}

static void finish(struct output_text *t) {
  if (fclose(t->stream) != 0) fail(EXIT_RUN_FAILED, "not enough memory for lines of a table");
}

/** Whether an item is what printf() makes of numbers that are not finite. */
static bool is_not_finite(const char *item, size_t length) {
  const size_t sign = length > 0 && *item == '-';
  return length == sign + 3 &&
         (strncasecmp(item + sign, "nan", 3) == 0 || strncasecmp(item + sign, "inf", 3) == 0);
}

/** The first item of a line that is not finite, or NULL. @param[out] column  how many precede it */
static const char *find_in_line(const char *line, size_t *column) {
  *column = 0;
  for (const char *item = line;; (*column)++) {
    const size_t length = strcspn(item, between);
    if (is_not_finite(item, length)) return item;
    item += length;
    if (*item == '\n' || !*item) return NULL;
    item++;
  }
}

/** The name of a column. @param names  a line with the names of all; NULL: they have none */
static const char *name_in(const char *names, size_t column, int *length) {
  for (; names && column > 0 && *names && *names != '\n'; column--) {
    names += strcspn(names, between);
    names += strspn(names, ", ");
  }
  const bool known = names && *names && *names != '\n';
  *length = known ? (int)strcspn(names, between) : 8;
  return known ? names : "a number";
}

/** @param names  the line with the names of the columns; NULL: the last one with '#' */
static void require_finite(const char *text, const char *names, const char *path) {
  const char *heading = names;
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    size_t column;
    int length;
    const bool comment = *line == '#';
    if (strncmp(line, "# provenance ", 13) == 0) continue; /* texts, of files and hosts */
    const char *bad = find_in_line(line, &column);
    if (comment && !names) heading = line + 1 + strspn(line + 1, " ");
    if (!bad) continue;
    const char *name = name_in(comment ? NULL : heading, column, &length);
    fail(EXIT_RUN_FAILED,
         "%s: %.*s would be %.*s in the line that begins with \"%.*s\"; only finite numbers are "
         "written; "
         "what was written before is good",
         path, length, name, (int)strcspn(bad, between), bad,
         (int)fmin(24.0, (double)strcspn(line, "\n")), line);
  }
}

void output_text_append(struct output_text *t, FILE *file, const char *path) {
  finish(t);
  fflush(file); /* the names may have been written just now */
  char *names = input_lines(path, 1, 0);
  require_finite(t->text, names, path);
  free(names);
  fputs(t->text, file);
  free(t->text);
}

void output_text_save(struct output_text *t, const char *path) {
  finish(t);
  require_finite(t->text, NULL, path);
  char *temporary = output_begin(path);
  FILE *file = output_open(temporary);
  fputs(t->text, file);
  free(t->text);
  output_close(file, path);
  output_commit(temporary, path);
}
