/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints parameters: config.ini with defaults (--defaults) or resolved values (--dry-run), and the
 * reference page (--reference). */
#include <string.h>

#include "photons/config/parameter_table.h"

static bool section_begins(const struct parameter *row) {
  return row == parameter_table || strcmp(row->section, row[-1].section) != 0;
}

void parameters_print(const struct parameters *p, FILE *out) {
  const char *section = NULL;
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (!parameter_applies(row, p)) continue;
    if (!section || strcmp(section, row->section) != 0)
      fprintf(out, "%s[%s]\n", section ? "\n" : "", row->section);
    section = row->section;
    fprintf(out, "%s = ", row->key);
    parameter_print(row, p, out);
    fputc('\n', out);
  }
}

void parameters_print_defaults(FILE *out) {
  static const int comment_column = 32;
  struct parameters p;
  parameters_default(&p);
  fputs("# All parameters of photons-starpu with their defaults. A key that is left out or left "
        "empty has its default.\n"
        "# Relative paths begin at the current directory; input files are also looked for beside "
        "this file.\n",
        out);
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (section_begins(row)) fprintf(out, "\n[%s]\n", row->section);
    const int key = fprintf(out, "%s%s = ", preset_find(row) ? "# " : "", row->key);
    const int gap = comment_column - key - (row->computed ? 0 : parameter_print(row, &p, out));
    fprintf(out, "%*s# %s", gap > 1 ? gap : 1, "", row->help);
    if (row->unit) fprintf(out, " [%s]", row->unit);
    if (row->type != PARAMETER_TEXT) {
      fputs("; ", out);
      parameter_print_allowed(row, " | ", out);
    }
    fputc('\n', out);
  }
}

/* A table cell with the default. If the presets differ, all three are printed. */
static void print_default_cell(const struct parameter *row, FILE *out) {
  const struct preset *preset = preset_find(row);
  const char *initial = parameter_initial(row, ACCURACY_DEFAULT, BOUNDARY_PERIODIC);
  if (row->computed)
    fprintf(out, "%s", row->computed);
  else if (preset && (strcmp(preset->value[ACCURACY_PAPER], initial) != 0 ||
                      strcmp(preset->value[ACCURACY_HIGH], initial) != 0))
    fprintf(out, "`%s` (paper: `%s`, high: `%s`)", initial, preset->value[ACCURACY_PAPER],
            preset->value[ACCURACY_HIGH]);
  else if (*initial)
    fprintf(out, "`%s`", initial);
  if (preset && preset->isolated[ACCURACY_DEFAULT])
    fprintf(out, "; with `box.boundary = isolated` `%s` (paper: `%s`, high: `%s`)",
            preset->isolated[ACCURACY_DEFAULT], preset->isolated[ACCURACY_PAPER],
            preset->isolated[ACCURACY_HIGH]);
}

void parameters_print_reference(FILE *out) {
  fputs("# Parameters\n\n"
        "A run is described by a file of sections, `key = value` lines and comments that begin "
        "with `#` or `;`:\n"
        "`photons-starpu config.ini`. `--set section.key=value` overrides the file, `--defaults` "
        "prints a complete one.\n"
        "A key that is left out or left empty has its default. Relative paths begin at the current "
        "directory;\ninput files that are not there are looked for beside the configuration. "
        "Integers may be written as "
        "`2e5`.\n",
        out);
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (section_begins(row))
      fprintf(out,
              "\n## [%s]\n\n| key | meaning | unit | allowed | default |\n| --- | --- | --- | --- "
              "| --- |\n",
              row->section);
    fprintf(out, "| `%s`", row->key);
    for (size_t i = 0; i < sizeof row->aliases / sizeof *row->aliases && row->aliases[i]; i++)
      fprintf(out, " (also `%s`)", row->aliases[i]);
    fputs(" | ", out);
    for (const char *c = row->help; *c; c++) fprintf(out, *c == '|' ? "\\%c" : "%c", *c);
    fprintf(out, " | %s | ", row->unit ? row->unit : "");
    parameter_print_allowed(row, ", ", out);
    fputs(" | ", out);
    print_default_cell(row, out);
    fputs(" |\n", out);
  }
}
