/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/amr/variables.h"

#include <stdio.h>

#include "photons/amr/kernels.h"

/** A row of the table. */
struct row {
  const char *name, *label, *unit;
  enum gas_variable first;
  unsigned most;
};

#define ROW(number, name, label, unit, most, there, motion) {name, label, unit, GAS_##number, most},
static const struct row rows[] = {GAS_VARIABLES(ROW)};
enum { ROWS = sizeof rows / sizeof *rows };

enum gas_variable gas_variable_at(const struct gas_physics *physics, unsigned v) {
#define THERE(number, name, label, unit, most, there, motion) (unsigned)(there),
  const unsigned count[ROWS] = {GAS_VARIABLES(THERE)};
  unsigned row = 0;
  while (v >= count[row]) v -= count[row++];
  return (enum gas_variable)(rows[row].first + v);
}

static const struct row *row_of(enum gas_variable number) {
  const struct row *row = &rows[ROWS - 1];
  while (number < row->first) row--;
  return row;
}

struct gas_variable_text gas_variable_name(enum gas_variable number) {
  const struct row *row = row_of(number);
  struct gas_variable_text name;
  if (row->most > 1)
    snprintf(name.text, sizeof name.text, "%s_%u", row->name, (unsigned)(number - row->first));
  else
    snprintf(name.text, sizeof name.text, "%s", row->name);
  return name;
}

struct gas_variable_text gas_variable_label(enum gas_variable number) {
  const struct row *row = row_of(number);
  struct gas_variable_text label;
  if (row->most > 1)
    snprintf(label.text, sizeof label.text, "%s_%02u", row->label,
             (unsigned)(number - row->first) % 100);
  else
    snprintf(label.text, sizeof label.text, "%s", row->label);
  return label;
}

const char *gas_variable_unit(enum gas_variable number) { return row_of(number)->unit; }
