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

void parameter_print_systems(const struct parameter *row, FILE *out) {
  static const struct {
    enum system_kind kind;
    const char *name;
  } names[] = {{KIND_BOX, "periodic boxes"},
               {KIND_ISOLATED, "isolated systems"},
               {KIND_GAS_AT_REST, "gas at rest"},
               {KIND_COMOVING_GAS, "comoving gas"}};
  unsigned left = parameter_systems(row);
  if (left == KINDS_ALL) {
    fputs("all systems", out);
    return;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!(left & names[i].kind)) continue;
    left &= ~(unsigned)names[i].kind;
    fprintf(out, "%s%s", names[i].name, left == 0 ? "" : (left & (left - 1)) == 0 ? " and " : ", ");
  }
}

void parameter_print_sources(const struct parameter *row, FILE *out) {
  const char *const *words = parameter_find("ic", "source")->words;
  unsigned left = row->sources;
  for (unsigned i = 0; left; i++) {
    if (!(left >> i & 1)) continue;
    left &= ~(1u << i);
    fprintf(out, "%s%s", words[i], left == 0 ? "" : (left & (left - 1)) == 0 ? " or " : ", ");
  }
}

/** "(paper: 4, high: 5)" */
static void print_other_presets(const struct preset *preset, const char *const value[3],
                                const char *quote, FILE *out) {
  fprintf(out, " (%2$s: %1$s%3$s%1$s, %4$s: %1$s%5$s%1$s)", quote, preset_words(preset)[0],
          value[0], preset_words(preset)[ACCURACY_HIGH], value[ACCURACY_HIGH]);
}

/* The default. If the presets differ, all three are printed. */
static void print_default(const struct parameter *row, const char *quote, FILE *out) {
  const struct preset *preset = preset_find(row);
  const char *initial = parameter_initial(row, ACCURACY_DEFAULT, BOUNDARY_PERIODIC);
  if (row->computed)
    fprintf(out, "%s", row->computed);
  else if (*initial)
    fprintf(out, "%1$s%2$s%1$s", quote, initial);
  if (preset && (strcmp(preset->value[ACCURACY_PAPER], initial) != 0 ||
                 strcmp(preset->value[ACCURACY_HIGH], initial) != 0))
    print_other_presets(preset, preset->value, quote, out);
  if (preset && preset->isolated[ACCURACY_DEFAULT]) {
    fprintf(out, "; with %1$sbox.boundary = isolated%1$s %1$s%2$s%1$s", quote,
            preset->isolated[ACCURACY_DEFAULT]);
    print_other_presets(preset, preset->isolated, quote, out);
  }
}

/** Whether a name is that of the row's section, or its key with or without the section. */
static bool row_is_named(const struct parameter *row, const char *name) {
  const char *dot = strchr(name, '.');
  if (!dot) return strcmp(name, row->section) == 0 || parameter_find(row->section, name) == row;
  return strlen(row->section) == (size_t)(dot - name) &&
         strncmp(name, row->section, strlen(row->section)) == 0 &&
         parameter_find(row->section, dot + 1) == row;
}

static void explain(const struct parameter *row, FILE *out) {
  fprintf(out, "[%s] %s\n  %s\n", row->section, row->key, row->help);
  if (row->unit) fprintf(out, "  unit: %s\n", row->unit);
  if (row->type != PARAMETER_TEXT) {
    fputs("  allowed: ", out);
    parameter_print_allowed(row, ", ", out);
    fputc('\n', out);
  }
  fputs("  default: ", out);
  print_default(row, "", out);
  fputs(!row->computed && row->initial && !*row->initial ? "none\n  of: " : "\n  of: ", out);
  parameter_print_systems(row, out);
  if (row->sources) {
    fputs(", with ic.source = ", out);
    parameter_print_sources(row, out);
  }
  fputc('\n', out);
}

bool parameters_explain(const char *name, FILE *out) {
  bool found = false;
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (!row_is_named(row, name)) continue;
    found = true;
    explain(row, out);
  }
  return found;
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
        "`2e5`.\n\n"
        "The last column says which systems a key is of: periodic boxes of particles, isolated "
        "systems of particles\n(`box.boundary = isolated`), gas at rest (`run.system = gas`), and "
        "comoving gas (with `gas.comoving = yes`). A key of other\nsystems than the chosen one is "
        "refused if its value is not the default. Files and reports list the keys of the chosen "
        "system alone.\n",
        out);
  for (const struct parameter *row = parameter_table; row < parameter_table + parameter_count;
       row++) {
    if (section_begins(row))
      fprintf(out,
              "\n## [%s]\n\n| key | meaning | unit | allowed | default | of |\n| --- | --- | --- | "
              "--- | --- | --- |\n",
              row->section);
    fprintf(out, "| `%s`", row->key);
    for (size_t i = 0; i < sizeof row->aliases / sizeof *row->aliases && row->aliases[i]; i++)
      fprintf(out, " (also `%s`)", row->aliases[i]);
    fputs(" | ", out);
    for (const char *c = row->help; *c; c++) fprintf(out, *c == '|' ? "\\%c" : "%c", *c);
    fprintf(out, " | %s | ", row->unit ? row->unit : "");
    parameter_print_allowed(row, ", ", out);
    fputs(" | ", out);
    print_default(row, "`", out);
    fputs(" | ", out);
    parameter_print_systems(row, out);
    fputs(" |\n", out);
  }
}
