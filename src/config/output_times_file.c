/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output_times_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"

/** What a list is of, by its heading, and what is allowed in it. */
static const struct {
  const char *heading, *name, *allowed;
  double low, high;
} kinds[] = {[LIST_OF_REDSHIFTS] = {"redshift", "redshift", "0 .. 9999", 0.0, 9999.0},
             [LIST_OF_SCALE_FACTORS] = {"scale factor", "scale factor", "1e-4 .. 1", 1e-4, 1.0},
             [LIST_OF_TIMES] = {"time", "time", "0 .. 1e5", 0.0, 1e5}};

static const struct parameter *row(void) { return parameter_find("output", "times_file"); }

enum line { TIME, NO_TIME, WRONG };

static const char *skip_blanks(const char *text) {
  while (isspace((unsigned char)*text)) text++;
  return text;
}

static bool line_ends(const char *text) { return !*text || *text == '#'; }

/**
 * The end of the second column that lists of other programs have: behind blanks a flag 0, 1 or 2 (Gadget-4), behind
 * a comma the name of a kind of output (SWIFT). A decimal comma is neither.
 * @return NULL if it is something else
 */
static const char *skip_second_column(const char *text) {
  const bool comma = *(text = skip_blanks(text)) == ',';
  if (!comma) return *text >= '0' && *text <= '2' ? skip_blanks(text + 1) : NULL;
  text = skip_blanks(text + 1);
  if (!isalpha((unsigned char)*text)) return NULL;
  while (isalnum((unsigned char)*text) || *text == '_') text++;
  return skip_blanks(text);
}

/** What a line is: a number, nothing but a comment, or something else. @p second becomes true where a second column
 * stands behind a number. */
static enum line read_line(const char *line, double *value, bool *second) {
  char *end;
  line = skip_blanks(line);
  if (line_ends(line)) return NO_TIME;
  *value = strtod(line, &end);
  if (end == line) return WRONG;
  if (line_ends(skip_blanks(end))) return TIME;
  const char *rest = skip_second_column(end);
  *second = rest && line_ends(rest);
  return *second ? TIME : WRONG;
}

/** The list that a comment is the heading of: its name, or names, with nothing behind them but a unit. */
static enum list_kind heading(const char *line) {
  line += strspn(line, "# \t");
  for (enum list_kind k = LIST_OF_REDSHIFTS; k <= LIST_OF_TIMES; k++) {
    const size_t length = strlen(kinds[k].heading);
    if (strncasecmp(line, kinds[k].heading, length) != 0) continue;
    const char *end = line + length;
    if (tolower((unsigned char)*end) == 's') end++;
    end += strspn(end, " \t\r\n");
    if (!*end || strchr("[(,:", *end)) return k;
  }
  return LIST_NOT_NAMED;
}

/** Add a number, of which the file has no heading yet where @p kind is LIST_NOT_NAMED. */
static bool add(const struct parameters *p, struct parameter_problems *problems,
                struct times_file *file, double value) {
  if (file->count == PARAMETER_LIST_MAX) {
    problem_with(problems, row(), p, NULL, "more than %d output times", PARAMETER_LIST_MAX);
    return false;
  }
  file->value[file->count++] = value;
  return true;
}

/** Whether a line is as it should be. What has no heading is a list of redshifts, or of times. */
static bool take_line(const struct parameters *p, struct parameter_problems *problems,
                      struct times_file *file, int number, char *line) {
  double value = 0.0;
  const enum line what = read_line(line, &value, &file->second_column);
  if (what == NO_TIME && file->count == 0 && file->kind == LIST_NOT_NAMED)
    file->kind = heading(line);
  if (what == NO_TIME) return true;
  enum list_kind kind = file->kind;
  if (kind == LIST_NOT_NAMED) kind = run_has_redshifts(p) ? LIST_OF_REDSHIFTS : LIST_OF_TIMES;
  if (what == TIME && value >= kinds[kind].low && value <= kinds[kind].high)
    return add(p, problems, file, value);
  line[strcspn(line, "\r\n")] = 0;
  problem_with(problems, row(), p, NULL, "line %d, \"%.60s\", is not a %s; allowed: %s", number,
               line, kinds[kind].name, kinds[kind].allowed);
  return false;
}

static bool take_lines(const struct parameters *p, struct parameter_problems *problems,
                       struct times_file *file, FILE *stream) {
  static const char byte_order_mark[] = "\xEF\xBB\xBF";
  char *line = NULL;
  size_t capacity = 0;
  bool sound = true;
  for (int number = 1; sound && getline(&line, &capacity, stream) >= 0; number++) {
    const bool mark = number == 1 && strncmp(line, byte_order_mark, 3) == 0;
    sound = take_line(p, problems, file, number, mark ? line + 3 : line);
  }
  if (sound && ferror(stream)) {
    problem_with(problems, row(), p, NULL, "cannot read it: %s", strerror(errno));
    sound = false;
  }
  free(line);
  return sound;
}

/** Whether the list is of the clock of the run. Numbers of at most 1 may be redshifts or scale factors. */
static bool settle_kind(const struct parameters *p, struct parameter_problems *problems,
                        struct times_file *file) {
  const bool redshifts = run_has_redshifts(p);
  bool small = file->count > 0;
  for (size_t i = 0; i < file->count; i++) small = small && file->value[i] <= 1.0;
  if (file->kind == LIST_NOT_NAMED && redshifts && small) {
    problem_with(problems, row(), p, NULL,
                 "no number is above 1, and no heading says whether these are redshifts or scale "
                 "factors: begin the file with the line \"# Redshift\" or \"# Scale factor\"");
    return false;
  }
  if (file->kind == LIST_NOT_NAMED) file->kind = redshifts ? LIST_OF_REDSHIFTS : LIST_OF_TIMES;
  if (redshifts != (file->kind == LIST_OF_TIMES)) return true;
  problem_with(problems, row(), p, NULL, "the heading says that it has %ss, but this run has %s",
               kinds[file->kind].name,
               redshifts ? "redshifts; allowed: \"# Redshift\" or \"# Scale factor\""
                         : "times; allowed: \"# Time\"");
  return false;
}

bool times_file_read(const struct parameters *p, struct parameter_problems *problems,
                     struct times_file *file) {
  const char *reason;
  FILE *stream = input_open(p->output.times_file, &reason);
  *file = (struct times_file){0};
  if (!stream) {
    problem_with(problems, row(), p, NULL, "cannot open it: %s", reason);
    return false;
  }
  const bool sound = take_lines(p, problems, file, stream);
  fclose(stream);
  if (sound && file->second_column && comm_rank() == 0)
    warn("output.times_file = %s has a second column, which is not used: each time of the first "
         "column is an output",
         p->output.times_file);
  return sound && settle_kind(p, problems, file);
}
