/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects all problems of a configuration and reports them together. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "photons/config/parameter_table.h"

void problems_begin(struct parameter_problems *problems, const char *path) {
  *problems = (struct parameter_problems){.path = path};
  problems->stream = open_memstream(&problems->text, &problems->length);
  if (!problems->stream)
    fail(EXIT_RUN_FAILED, "no memory for the problems of %s: %s", path, strerror(errno));
}

/** Print the first problems; who has more of them has probably taken a file for another. */
static void print_first(struct parameter_problems *problems) {
  char *end = problems->text;
  for (size_t i = 0; i < problems->count && i < PROBLEMS_PRINTED; i++) end = strchr(end, '\n') + 1;
  *end = 0;
  fputs(problems->text, stderr);
  if (problems->count > PROBLEMS_PRINTED)
    fprintf(stderr, "... and %zu more\n", problems->count - PROBLEMS_PRINTED);
}

void problems_end(struct parameter_problems *problems) {
  if (fclose(problems->stream) != 0)
    fail(EXIT_RUN_FAILED, "no memory for the problems of %s: %s", problems->path, strerror(errno));
  if (problems->count) {
    print_first(problems);
    fail(EXIT_BAD_USAGE, "%s: %zu problem%s, nothing was run", problems->path, problems->count,
         problems->count > 1 ? "s" : "");
  }
  free(problems->text);
}

void problem_add(struct parameter_problems *problems, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(problems->stream, format, arguments);
  va_end(arguments);
  fputc('\n', problems->stream);
  problems->count++;
}

/* Where the value was given, and the value. */
static void begin_line(struct parameter_problems *problems, const struct parameter *row,
                       const struct parameters *p, const char *found) {
  const size_t i = (size_t)(row - parameter_table);
  const bool given = problems->origin[i].set || problems->origin[i].line;
  if (problems->origin[i].set)
    fprintf(problems->stream, "--set %s: ", problems->origin[i].set);
  else if (problems->origin[i].line)
    fprintf(problems->stream, "%s:%d: ", problems->path, problems->origin[i].line);
  else
    fprintf(problems->stream, "%s: ", problems->path);
  fprintf(problems->stream, "[%s] %s", row->section, row->key);
  if (!found || *found) {
    fputs(" = ", problems->stream);
    if (found)
      fputs(found, problems->stream);
    else
      parameter_print(row, p, problems->stream);
    if (!given) fputs(" (default)", problems->stream);
  }
  fputs(": ", problems->stream);
  problems->count++;
  problems->origin[i].bad = true;
}

void problem_with(struct parameter_problems *problems, const struct parameter *row,
                  const struct parameters *p, const char *found, const char *format, ...) {
  begin_line(problems, row, p, found);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(problems->stream, format, arguments);
  va_end(arguments);
  fputc('\n', problems->stream);
}

void problem_unreadable(struct parameter_problems *problems, const struct parameter *row,
                        const char *found, const char *reason) {
  begin_line(problems, row, NULL, found);
  fputs(reason, problems->stream);
  if (row->type != PARAMETER_TEXT) {
    fputs("; allowed: ", problems->stream);
    parameter_print_allowed(row, " | ", problems->stream);
  }
  fputc('\n', problems->stream);
}
