/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The manual page: the text of --help and the table of parameters in the language of man(1). */
#include "photons/app/manual.h"

#include <string.h>

#include "build_config.h"
#include "photons/config/parameter_table.h"

/** Text in which nothing has a meaning to man(1): neither a backslash nor a hyphen, nor a dot or a
 * quote at the start of a line. */
static void print_text(const char *text, size_t length, FILE *out) {
  if (length > 0 && (*text == '.' || *text == '\'')) fputs("\\&", out);
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\\')
      fputs("\\e", out);
    else if (text[i] == '-')
      fputs("\\-", out);
    else
      fputc(text[i], out);
  }
}

static void print_line(const char *text, FILE *out) {
  print_text(text, strlen(text), out);
  fputc('\n', out);
}

/** "  -x, --name VALUE   what it does": two blanks or more end the option. */
static void print_option(const char *line, size_t length, FILE *out) {
  const size_t lead = strspn(line, " ");
  const char *begin = line + lead, *gap = strstr(begin, "  ");
  const size_t option = gap ? (size_t)(gap - begin) : length - lead;
  const size_t rest = lead + option + (gap ? strspn(gap, " ") : 0);
  fputs(".TP\n.B ", out);
  print_text(begin, option, out);
  fputc('\n', out);
  print_text(line + rest, length - rest, out);
  fputc('\n', out);
}

/** Lines of options become entries, empty lines paragraphs; "usage:" is the synopsis. */
static void print_help(const char *help, FILE *out) {
  bool options = false;
  for (const char *line = help; *line;) {
    const size_t length = strcspn(line, "\n");
    if (strncmp(line, "usage: ", 7) == 0 || strncmp(line, "       ", 7) == 0) {
      fputs(line == help ? ".SH SYNOPSIS\n" : ".br\n", out);
      print_text(line + 7, length - 7, out);
      fputc('\n', out);
    } else if (strncmp(line, "  ", 2) == 0) {
      if (!options) fputs(".SH OPTIONS\n", out);
      options = true;
      print_option(line, length, out);
    } else if (length == 0) {
      if (options) fputs(".PP\n", out);
    } else {
      if (!options) fputs(".SH DESCRIPTION\n", out);
      print_text(line, length, out);
      fputc('\n', out);
    }
    line += length + (line[length] != 0);
  }
}

static void print_parameter(const struct parameter *row, FILE *out) {
  const char *initial = parameter_initial(row, ACCURACY_DEFAULT, BOUNDARY_PERIODIC),
             *isolated = parameter_initial(row, ACCURACY_DEFAULT, BOUNDARY_ISOLATED);
  fputs(".TP\n.B ", out);
  print_line(row->key, out);
  print_line(row->help, out);
  if (row->unit) fprintf(out, "Unit: %s.\n", row->unit);
  if (row->type != PARAMETER_TEXT) {
    fputs("Allowed: ", out);
    parameter_print_allowed(row, ", ", out);
    fputs(".\n", out);
  }
  fputs("Of: ", out);
  parameter_print_systems(row, out);
  fputs(".\n", out);
  if (*initial) {
    fputs("Default: ", out);
    print_text(initial, strlen(initial), out);
    if (isolated != initial) {
      fputs(", for isolated systems ", out);
      print_text(isolated, strlen(isolated), out);
    }
    if (preset_find(row)) fprintf(out, ", by %s.accuracy", row->section);
    fputs(".\n", out);
  }
}

void manual_print(const char *help, FILE *out) {
  fprintf(out,
          ".TH PHOTONS\\-STARPU 1 \"\" \"photons\\-starpu %s\" \"User Commands\"\n"
          ".SH NAME\nphotons\\-starpu \\- simulation of structure formation on cores, GPUs and "
          "clusters\n",
          PACKAGE_VERSION);
  print_help(help, out);
  fputs(
      ".SH PARAMETERS\nconfig.ini has sections, and lines key = value. A key that is left out has "
      "its default.\n",
      out);
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (row == parameter_table || strcmp(row->section, row[-1].section) != 0)
      fprintf(out, ".SS [%s]\n", row->section);
    print_parameter(row, out);
  }
}
