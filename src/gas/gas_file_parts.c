/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all parts of a file of gas share. */
#include "gas_file_parts.h"

#include "gas_file_tree.h"
#include "photons/base/error.h"

size_t file_variables(const struct gas_file *f) { return gas_variables(&f->physics); }

size_t file_fields(const struct gas_file *f) { return file_variables(f) + (f->potential ? 1 : 0); }

struct gas_variable_text file_field_name(const struct gas_file *f, size_t field) {
  return field < file_variables(f)
             ? gas_variable_label(gas_variable_at(&f->physics, (unsigned)field))
             : (struct gas_variable_text){"Pote"};
}

hid_t file_real_type(const struct gas_file *f) {
  return f->real == sizeof(float) ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

size_t file_levels(const struct gas_file *f) { return (size_t)f->topology.finest + 1; }

size_t file_patches(const struct gas_file *f) {
  return tree_first(&f->topology, f->topology.finest + 1);
}

int32_t file_cell_scale(const struct gas_file *f, int level) {
  return 1 << (f->topology.finest - level);
}

int32_t file_root_cells(const struct gas_file *f, int c) {
  return (int32_t)(GAS_GROUP_SIDE * f->topology.root[c]);
}

_Noreturn void file_corrupt(const char *path, const char *reason) {
  fail(EXIT_BAD_INPUT, "%s: no file of this program: %s", path, reason);
}
