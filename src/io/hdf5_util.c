/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 with every call checked. */
#include "hdf5_util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_checksum.h"
#include "hdf5_finite.h"
#include "hdf5_virtual.h"
#include "photons/base/input_file.h"
#include "photons/base/output_file.h"
#include "photons/base/version.h"

/** Keep the innermost message of HDF5's error stack, of a failed system call only strerror()'s
 * part. */
static herr_t innermost_reason(unsigned depth, const H5E_error2_t *entry, void *reason_256) {
  static const char system_reason[] = "error message = '";
  if (depth > 0 || !entry->desc) return 0;
  const char *start = strstr(entry->desc, system_reason);
  start = start ? start + sizeof system_reason - 1 : entry->desc;
  const int length = start == entry->desc ? (int)strlen(start) : (int)strcspn(start, "'");
  snprintf(reason_256, 256, "%.*s", length, start);
  return 0;
}

void hdf5_reason(char reason_256[256]) {
  snprintf(reason_256, 256, "no reason given");
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost_reason, reason_256);
}

int64_t hdf5_check(int64_t result, enum exit_code code, const char *path, const char *what) {
  if (result >= 0) return result;
  char reason[256];
  hdf5_reason(reason);
  fail(code, "%s: cannot %s: %s", path, what, reason);
}

static int64_t writing(int64_t result, const char *path, const char *action, const char *name) {
  char what[256];
  if (result >= 0) return result;
  snprintf(what, sizeof what, "%s %s", action, name);
  return hdf5_check(result, EXIT_RUN_FAILED, path, what);
}

int64_t hdf5_reading(int64_t result, const char *path, const char *name) {
  if (result >= 0) return result;
  char reason[256], newer[160] = "";
  unsigned major = 0, minor = 0, release = 0;
  hdf5_reason(reason);
  if (strstr(reason, "bad version number") && H5get_libversion(&major, &minor, &release) >= 0)
    snprintf(newer, sizeof newer,
             "; a file of a newer HDF5 than %u.%u.%u? Write it with h5py's "
             "libver=(\"earliest\", \"v110\")",
             major, minor, release);
  fail(EXIT_BAD_INPUT, "%s: cannot read %s: %s%s", path, name, reason, newer);
}

/** HDF5 prints its error stack itself unless told not to; ours is the only message. */
static void silence(void) { H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }

static hid_t file_access(const char *path) {
  silence();
  const hid_t access = writing(H5Pcreate(H5P_FILE_ACCESS), path, "create", "the file");
  /* Objects have the oldest format that can hold them; virtual datasets came with 1.10. */
  writing(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110), path, "create",
          "the file");
  return access;
}

hid_t hdf5_create(const char *temporary, const char *path) {
  const hid_t access = file_access(path);
  output_clear(temporary);
  output_creating();
  const hid_t file = H5Fcreate(temporary, H5F_ACC_EXCL, H5P_DEFAULT, access);
  output_created();
  writing(file, path, "create", "the file");
  H5Pclose(access);
  return file;
}

hid_t hdf5_continue(const char *temporary, const char *path) {
  const hid_t access = file_access(path);
  const hid_t file = writing(H5Fopen(temporary, H5F_ACC_RDWR, access), path, "continue",
                             "the file");
  H5Pclose(access);
  return file;
}

void hdf5_close_written(hid_t file, const char *path) {
  writing(H5Fflush(file, H5F_SCOPE_LOCAL), path, "write", "the file");
  writing(H5Fclose(file), path, "write", "the file");
}

hid_t hdf5_create_group(hid_t file, const char *path, const char *name) {
  enum {
    BESIDE = 64
  }; /* attributes: more than groups have; of more than 8, HDF5 would make a tree */
  const hid_t layout = writing(H5Pcreate(H5P_GROUP_CREATE), path, "write", name);
  writing(H5Pset_attr_phase_change(layout, BESIDE, BESIDE - 1), path, "write", name);
  const hid_t group = writing(H5Gcreate2(file, name, H5P_DEFAULT, layout, H5P_DEFAULT), path,
                              "write", name);
  H5Pclose(layout);
  return group;
}

void hdf5_close_group(hid_t group, const char *path) {
  hdf5_checksum_attributes(group, path);
  writing(H5Gclose(group), path, "write", "a group");
}

hid_t hdf5_create_dataset(hid_t group, const char *path, const char *name, hid_t type, size_t rows,
                          size_t columns, hid_t layout) {
  return hdf5_create_array(group, path, name, type, columns > 1 ? 2 : 1,
                           (const hsize_t[]){rows, columns}, layout);
}

hid_t hdf5_create_array(hid_t group, const char *path, const char *name, hid_t type, int dimensions,
                        const hsize_t *size, hid_t layout) {
  const hid_t space = writing(H5Screate_simple(dimensions, size, NULL), path, "make", name);
  const hid_t dataset = writing(
      H5Dcreate2(group, name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT), path, "make", name);
  H5Sclose(space);
  hdf5_checksum_begin(dataset, path);
  return dataset;
}

void hdf5_write_attribute(hid_t object, const char *path, const char *name, hid_t type,
                          size_t count, const void *value) {
  const hsize_t length = count;
  hdf5_require_finite(path, name, type, 0, count ? count : 1, 1, value);
  const hid_t space = writing(count ? H5Screate_simple(1, &length, NULL) : H5Screate(H5S_SCALAR),
                              path, "write", name);
  const hid_t attribute = writing(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT),
                                  path, "write", name);
  writing(H5Awrite(attribute, type, value), path, "write", name);
  writing(H5Aclose(attribute), path, "write", name);
  H5Sclose(space);
}

void hdf5_write_double(hid_t object, const char *path, const char *name, double value) {
  hdf5_write_attribute(object, path, name, H5T_NATIVE_DOUBLE, 0, &value);
}

void hdf5_write_text(hid_t object, const char *path, const char *name, const char *text) {
  const hid_t type = writing(H5Tcopy(H5T_C_S1), path, "write", name);
  writing(H5Tset_size(type, strlen(text) + 1), path, "write", name);
  hdf5_write_attribute(object, path, name, type, 0, text);
  H5Tclose(type);
}

char *hdf5_config_text(const struct parameters *p) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (stream) parameters_print(p, stream);
  if (!stream || fclose(stream) != 0)
    fail(EXIT_RUN_FAILED, "not enough memory for the parameters: %s", strerror(errno));
  return text;
}

void hdf5_write_config(hid_t object, const char *path, const struct parameters *p) {
  char *text = hdf5_config_text(p);
  hdf5_write_text(object, path, "program", program_version());
  hdf5_write_text(object, path, "config.ini", text);
  free(text);
}

hid_t hdf5_try_open(const char *path) {
  silence();
  hdf5_links_stay_beside();
  return H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
}

hid_t hdf5_open(const char *path) {
  const char *refusal = input_refusal(path);
  if (refusal) fail(EXIT_BAD_INPUT, "cannot read %s: %s", path, refusal);
  return hdf5_check(hdf5_try_open(path), EXIT_BAD_INPUT, path, "open the HDF5 file");
}

hid_t hdf5_open_group(hid_t file, const char *path, const char *name) {
  if (hdf5_check(H5Lexists(file, name, H5P_DEFAULT), EXIT_BAD_INPUT, path, "look for a group") == 0)
    return -1;
  const hid_t group = hdf5_check(H5Gopen2(file, name, H5P_DEFAULT), EXIT_BAD_INPUT, path,
                                 "open a group");
  hdf5_check_attributes(group, path);
  return group;
}

bool hdf5_is_signed(hid_t type) {
  return H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
}

void hdf5_keep_bits(hid_t stored, size_t count, uint64_t *values) {
  const size_t width = H5Tget_size(stored);
  if (width >= sizeof *values) return;
  for (size_t i = 0; i < count; i++) values[i] &= (UINT64_C(1) << (8 * width)) - 1;
}

size_t hdf5_read_attribute(hid_t object, const char *path, const char *name, hid_t type,
                           size_t room, void *values) {
  if (!hdf5_reading(H5Aexists(object, name), path, name)) return 0;
  const hid_t attribute = hdf5_reading(H5Aopen(object, name, H5P_DEFAULT), path, name);
  const hid_t space = hdf5_reading(H5Aget_space(attribute), path, name),
              stored = hdf5_reading(H5Aget_type(attribute), path, name);
  const H5T_class_t class = H5Tget_class(stored);
  if (class != H5T_INTEGER && class != H5T_FLOAT)
    fail(EXIT_BAD_INPUT, "%s: attribute %s is not a number", path, name);
  const int64_t count = hdf5_reading(H5Sget_simple_extent_npoints(space), path, name);
  if (count < 1 || (uint64_t)count > room)
    fail(EXIT_BAD_INPUT, "%s: attribute %s has %lld numbers, at most %zu are expected", path, name,
         (long long)count, room);
  const bool keep = H5Tequal(type, H5T_NATIVE_UINT64) > 0 && hdf5_is_signed(stored);
  hdf5_reading(H5Aread(attribute, keep ? H5T_NATIVE_INT64 : type, values), path, name);
  if (keep) hdf5_keep_bits(stored, (size_t)count, values);
  H5Tclose(stored);
  H5Sclose(space);
  H5Aclose(attribute);
  return (size_t)count;
}

char *hdf5_read_text(hid_t object, const char *path, const char *name) {
  hdf5_check_attributes(object, path);
  if (!hdf5_reading(H5Aexists(object, name), path, name)) return NULL;
  const hid_t attribute = hdf5_reading(H5Aopen(object, name, H5P_DEFAULT), path, name);
  const hid_t type = hdf5_reading(H5Aget_type(attribute), path, name);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type))
    fail(EXIT_BAD_INPUT, "%s: attribute %s is not a string of fixed length", path, name);
  const hid_t space = hdf5_reading(H5Aget_space(attribute), path, name);
  if (H5Sget_simple_extent_npoints(space) != 1) /* H5Aread() would write them all */
    fail(EXIT_BAD_INPUT, "%s: attribute %s is not one string", path, name);
  H5Sclose(space);
  char *text = allocate(H5Tget_size(type) + 1, 1, name);
  hdf5_reading(H5Aread(attribute, type, text), path, name);
  H5Tclose(type);
  H5Aclose(attribute);
  return text;
}

bool hdf5_try_text(hid_t object, const char *name, char *text, size_t size) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  const hid_t space = H5Aget_space(attribute);
  /* H5Aread() would write every string of an array of strings. */
  const bool read = H5Sget_simple_extent_npoints(space) == 1 && H5Tget_class(type) == H5T_STRING &&
                    H5Tis_variable_str(type) == 0 && H5Tget_size(type) <= size &&
                    H5Aread(attribute, type, text) >= 0;
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (attribute >= 0) H5Aclose(attribute);
  if (read) text[size - 1] = '\0';
  return read;
}

char *hdf5_read_config(hid_t object, const char *path) {
  char *text = hdf5_read_text(object, path, "config.ini");
  if (!text) fail(EXIT_BAD_INPUT, "%s: there is no config.ini in it", path);
  return text;
}

struct selection {
  hid_t memory, file;
};

static struct selection select_rows(hid_t dataset, size_t first, size_t count, size_t columns) {
  const hsize_t start[HDF5_DIMENSIONS_MOST] = {first}, numbers = count * columns;
  hsize_t size[HDF5_DIMENSIONS_MOST] = {count, columns};
  struct selection s = {-1, H5Dget_space(dataset)};
  const int rank = s.file < 0 ? -1 : H5Sget_simple_extent_ndims(s.file);
  if (rank == 1 || rank == 2) {
    s.memory = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL);
  } else if (rank >= 0 && rank <= HDF5_DIMENSIONS_MOST) { /* HDF5 refuses unequal counts */
    s.memory = H5Screate_simple(1, &numbers, NULL);
    H5Sget_simple_extent_dims(s.file, size, NULL);
    size[0] = count;
  }
  if (rank > 0 && H5Sselect_hyperslab(s.file, H5S_SELECT_SET, start, NULL, size, NULL) < 0) {
    H5Sclose(s.file);
    s.file = -1;
  }
  return s;
}

void hdf5_write_rows(hid_t dataset, const char *path, const char *name, hid_t type, size_t first,
                     size_t count, size_t columns, const void *rows) {
  if (count == 0) return;
  hdf5_require_finite(path, name, type, first, count, columns, rows);
  const struct selection s = select_rows(dataset, first, count, columns);
  writing(s.memory < 0 ? s.memory : s.file, path, "write", name);
  writing(H5Dwrite(dataset, type, s.memory, s.file, H5P_DEFAULT, rows), path, "write", name);
  hdf5_checksum_add(dataset, path, checksum_rows(rows, columns * H5Tget_size(type), first, count));
  H5Sclose(s.memory);
  H5Sclose(s.file);
}

herr_t hdf5_try_rows(hid_t dataset, hid_t type, size_t first, size_t count, size_t columns,
                     void *rows) {
  const struct selection s = select_rows(dataset, first, count, columns);
  const herr_t status = s.memory < 0 || s.file < 0
                            ? -1
                            : H5Dread(dataset, type, s.memory, s.file, H5P_DEFAULT, rows);
  const hid_t reasons = H5Eget_current_stack(); /* the next call would forget them */
  if (s.memory >= 0) H5Sclose(s.memory);
  if (s.file >= 0) H5Sclose(s.file);
  H5Eset_current_stack(reasons);
  return status;
}

void hdf5_read_rows(hid_t dataset, const char *path, const char *name, hid_t type, size_t first,
                    size_t count, size_t columns, void *rows, uint64_t *sum) {
  if (count == 0) return;
  if (!sum) {
    hdf5_reading(hdf5_try_rows(dataset, type, first, count, columns, rows), path, name);
    return;
  }
  /* As stored, which the checksum is of; then converted in place, as H5Dread() would have done. */
  const hid_t stored = hdf5_reading(H5Dget_type(dataset), path, name);
  const size_t stored_size = H5Tget_size(stored), size = H5Tget_size(type),
               numbers = count * columns;
  void *bytes = stored_size > size ? allocate(numbers, stored_size, "reading a dataset") : rows;
  hdf5_reading(hdf5_try_rows(dataset, stored, first, count, columns, bytes), path, name);
  *sum += checksum_rows(bytes, columns * stored_size, first, count);
  hdf5_reading(H5Tconvert(stored, type, numbers, bytes, NULL, H5P_DEFAULT), path, name);
  if (bytes != rows) {
    memcpy(rows, bytes, numbers * size);
    free(bytes);
  }
  H5Tclose(stored);
}
