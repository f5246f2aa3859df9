/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads config.ini and --set. libinih parses sections, keys and values. The function that feeds it
 * lines counts them and finds what libinih would ignore silently. */
#include "photons/config/parameters.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "dark_energy_file.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/config/parameter_table.h"

struct ini_source {
  struct parameters *p;
  struct parameter_problems *problems;
  FILE *file;
  char *line;      /* as read */
  size_t capacity; /* of line */
  char *text;      /* the line without comment and without leading and trailing blanks */
  int number;      /* line number, from 1 */
  bool open;       /* libinih has not reported a key or section for the line yet */
  bool binary;
};

/* Assign a value to the parameter of a row. An empty text stands for the default. */
static void assign(struct parameters *p, struct parameter_problems *problems,
                   const struct parameter *row, const char *text) {
  char reason[128];
  p->given[row - parameter_table] = *text != 0;
  if (!*text)
    parameter_reset(row, row->initial ? row->initial : "", p);
  else if (!parameter_parse(row, text, p, reason, sizeof reason))
    problem_unreadable(problems, row, text, reason);
}

/** Report an unknown key, and the key that may have been meant. */
static void unknown_key(struct parameter_problems *problems, const char *where, const char *section,
                        const char *key) {
  const struct parameter *near = parameter_suggest(section, key);
  if (near)
    problem_add(problems, "%s: [%s] %s: unknown key; did you mean [%s] %s?", where, section, key,
                near->section, near->key);
  else
    problem_add(problems, "%s: [%s] %s: unknown key; --defaults lists them all", where, section,
                key);
}

static void unknown_section(struct parameter_problems *problems, const char *where,
                            const char *section) {
  const char *near = section_suggest(section);
  if (near)
    problem_add(problems, "%s: [%s]: unknown section; did you mean [%s]?", where, section, near);
  else
    problem_add(problems, "%s: [%s]: unknown section; --defaults lists them all", where, section);
}

/* Remove leading and trailing blanks, in place. */
static char *trim(char *text) {
  while (isspace((unsigned char)*text)) text++;
  for (size_t n = strlen(text); n && isspace((unsigned char)text[n - 1]);) text[--n] = 0;
  return text;
}

/* A comment begins with # or ; at the start of the line or after a blank, so that file#1 stays a
 * name. */
static void cut_comment(char *text) {
  for (char *c = text; *c; c++)
    if ((*c == '#' || *c == ';') && (c == text || isspace((unsigned char)c[-1]))) *c = 0;
}

/* Check a line that begins with [. Returns the line for libinih: [?] stands for a section whose
 * keys are skipped. */
static const char *check_section_line(struct parameter_problems *problems, const char *where,
                                      char *text) {
  char *end = strchr(text, ']');
  if (!end) {
    problem_add(problems, "%s: %s: the section's ] is missing", where, text);
    return "[?]";
  }
  if (end[1]) problem_add(problems, "%s: %s: a section stands on a line of its own", where, text);
  *end = 0;
  const bool known = section_known(text + 1);
  if (!known) unknown_section(problems, where, text + 1);
  end[0] = ']';
  end[1] = 0;
  return known ? text : "[?]";
}

/* The next line for libinih. libinih's usual builds have no line numbers, take an indented line as
 * a continuation of the value above, skip lines that they do not understand, and cut lines at 199
 * characters. Therefore leading blanks are removed here, a line for which libinih reported nothing
 * becomes a problem, and take_value() uses s->text. */
static char *next_line(char *buffer, int size, void *source) {
  static const char byte_order_mark[] = "\xEF\xBB\xBF";
  struct ini_source *s = source;
  char where[PARAMETER_PATH_MAX + 16];
  snprintf(where, sizeof where, "%s:%d", s->problems->path, s->number);
  if (s->open)
    problem_add(s->problems, "%s: %s: neither key = value nor [section] nor # comment", where,
                s->text);
  s->open = false;

  ssize_t length = getline(&s->line, &s->capacity, s->file);
  if (length < 0) return NULL;
  s->binary = memchr(s->line, 0, (size_t)length) != NULL;
  if (s->binary) return NULL;
  snprintf(where, sizeof where, "%s:%d", s->problems->path, ++s->number);
  s->text = s->line;
  if (s->number == 1 && strncmp(s->text, byte_order_mark, 3) == 0) s->text += 3;
  cut_comment(s->text);
  s->text = trim(s->text);
  const char *line = *s->text == '[' ? check_section_line(s->problems, where, s->text) : s->text;
  s->open = *line && *line != '[';
  snprintf(buffer, (size_t)size, "%.*s\n", size - 2, line);
  return buffer;
}

static int take_value(void *source, const char *section, const char *key, const char *value_cut) {
  (void)value_cut;
  struct ini_source *s = source;
  struct parameter_problems *problems = s->problems;
  char where[PARAMETER_PATH_MAX + 16];
  snprintf(where, sizeof where, "%s:%d", problems->path, s->number);
  s->open = false;
  if (!*section) problem_add(problems, "%s: %s: a key before the first [section]", where, key);
  if (!section_known(section)) return 1; /* reported where the section began */
  const struct parameter *row = parameter_find(section, key);
  if (!row) {
    unknown_key(problems, where, section, key);
    return 1;
  }
  const size_t i = (size_t)(row - parameter_table);
  if (problems->origin[i].line) {
    problem_add(problems, "%s: [%s] %s: given twice, first in line %d", where, section, key,
                problems->origin[i].line);
    return 1;
  }
  problems->origin[i].line = s->number;
  assign(s->p, problems, row, trim(strpbrk(s->text, "=:") + 1));
  return 1;
}

static void read_file(struct parameters *p, struct parameter_problems *problems) {
  const char *reason;
  struct ini_source s = {.p = p, .problems = problems, .file = input_open(problems->path, &reason)};
  if (!s.file)
    fail(EXIT_BAD_USAGE, "%s: cannot open the configuration: %s", problems->path, reason);
  errno = 0;
  int status = ini_parse_stream(next_line, &s, take_value, &s);
  if (ferror(s.file))
    fail(EXIT_BAD_USAGE, "%s: cannot read the configuration: %s", problems->path, strerror(errno));
  if (s.binary)
    fail(EXIT_BAD_USAGE,
         "%s: not a text file; --defaults prints what is expected, and --analyse %s analyses a "
         "snapshot",
         problems->path, problems->path);
  if (status < 0) fail(EXIT_RUN_FAILED, "%s: no memory to read it", problems->path);
  free(s.line);
  fclose(s.file);
}

/* Read one --set SECTION.KEY=VALUE. */
static void read_override(struct parameters *p, struct parameter_problems *problems,
                          const char *override) {
  const char *dot = strchr(override, '.'), *equals = strchr(override, '=');
  char section[64], key[64], where[PARAMETER_PATH_MAX];
  snprintf(where, sizeof where, "--set %s", override);
  if (!dot || !equals || dot > equals || dot - override >= (ptrdiff_t)sizeof section ||
      equals - dot > (ptrdiff_t)sizeof key) {
    problem_add(problems, "%s: expected SECTION.KEY=VALUE", where);
    return;
  }
  snprintf(section, sizeof section, "%.*s", (int)(dot - override), override);
  snprintf(key, sizeof key, "%.*s", (int)(equals - dot - 1), dot + 1);
  const struct parameter *row = parameter_find(trim(section), trim(key));
  if (!section_known(trim(section)))
    unknown_section(problems, where, trim(section));
  else if (!row)
    unknown_key(problems, where, trim(section), trim(key));
  else {
    const size_t length = strlen(equals);
    char *value = memcpy(allocate(length, 1, "a value of --set"), equals + 1, length);
    problems->origin[row - parameter_table].set = override;
    assign(p, problems, row, trim(value));
    free(value);
  }
}

static void keep_origins(struct parameters *p, const struct parameter_problems *problems) {
  snprintf(p->origin.config, sizeof p->origin.config, "%s", problems->path);
  for (size_t i = 0; i < parameter_count; i++)
    p->origin.line[i] = problems->origin[i].set ? -1 : problems->origin[i].line;
}

struct parameter_origin parameter_origin(const struct parameters *p, const char *section,
                                         const char *key) {
  const struct parameter *row = parameter_find(section, key);
  struct parameter_origin origin;
  assert(row);
  const int line = p->origin.line[row - parameter_table];
  if (line > 0)
    snprintf(origin.text, sizeof origin.text, "%s:%d: [%s] %s", p->origin.config, line, section,
             key);
  else
    snprintf(origin.text, sizeof origin.text, "%s%s.%s", line < 0 ? "--set " : "", section, key);
  return origin;
}

void parameters_read(struct parameters *p, const char *path, const char *const *overrides,
                     size_t count) {
  struct parameter_problems problems;
  /* All ranks find the same problems. Rank 0 reports them and ends the run; the others wait, so
   * that they are stopped before they print. */
  if (comm_rank() > 0) comm_barrier();
  problems_begin(&problems, path ? path : "--set");
  parameters_default(p);
  if (path) read_file(p, &problems);
  for (size_t i = 0; i < count; i++) read_override(p, &problems, overrides[i]);
  parameters_complete(p);
  input_paths_find(p, &problems);
  dark_energy_collect(p, &problems);
  output_times_collect(p, &problems);
  parameters_check(p, &problems);
  parameters_check_meaning(p, &problems);
  keep_origins(p, &problems);
  problems_end(&problems);
  if (comm_rank() == 0) parameters_warn(p);
  if (comm_rank() == 0) comm_barrier();
}
