/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records in HDF5 files. */
#include "hdf5_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_checksum.h"
#include "hdf5_stored.h"
#include "hdf5_util.h"

/** The type of a member; H5Tclose() it. */
static hid_t member_type(hid_t number, size_t count) {
  const hsize_t size = count;
  return count ? H5Tarray_create2(number, 1, &size) : H5Tcopy(number);
}

static void add(struct record *r, const char *name, hid_t type, const void *value) {
  if (type < 0 || r->members == RECORD_MEMBERS_MOST)
    fail(EXIT_RUN_FAILED, "cannot make the member %s of a record", name);
  struct record_member *m = &r->member[r->members++];
  *m = (struct record_member){.type = type, .offset = r->size};
  snprintf(m->name, sizeof m->name, "%s", name);
  const size_t size = H5Tget_size(type);
  r->bytes = reallocate(r->bytes, r->size + size, 1, "a record");
  memcpy(r->bytes + r->size, value, size);
  r->size += size;
}

void record_int(struct record *r, const char *name, size_t count, const int32_t *values) {
  add(r, name, member_type(H5T_NATIVE_INT32, count), values);
}

void record_int64(struct record *r, const char *name, size_t count, const int64_t *values) {
  add(r, name, member_type(H5T_NATIVE_INT64, count), values);
}

void record_double(struct record *r, const char *name, size_t count, const double *values) {
  add(r, name, member_type(H5T_NATIVE_DOUBLE, count), values);
}

void record_text(struct record *r, const char *name, const char *text) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) + 1);
  add(r, name, type, text);
}

static int64_t writing(int64_t result, const char *path, const char *name) {
  char what[64];
  snprintf(what, sizeof what, "write %s", name);
  return hdf5_check(result, EXIT_RUN_FAILED, path, what);
}

void record_write(hid_t group, const char *path, const char *name, struct record *r) {
  const hid_t type = writing(H5Tcreate(H5T_COMPOUND, r->size), path, name);
  for (const struct record_member *m = r->member; m < r->member + r->members; m++) {
    writing(H5Tinsert(type, m->name, m->offset, m->type), path, name);
    H5Tclose(m->type);
  }
  const hid_t dataset = hdf5_create_array(group, path, name, type, 0, NULL, H5P_DEFAULT);
  hdf5_write_rows(dataset, path, name, type, 0, 1, 1, r->bytes);
  writing(H5Dclose(dataset), path, name);
  H5Tclose(type);
  free(r->bytes);
  *r = (struct record){0};
}

/** The length of a member, 0 where it is a number, or -1 where the record has no such member. */
static int64_t stored_count(hid_t dataset, const char *member) {
  const hid_t type = H5Dget_type(dataset);
  const bool compound = type >= 0 && H5Tget_class(type) == H5T_COMPOUND;
  const int index = compound ? H5Tget_member_index(type, member) : -1;
  int64_t count = -1;
  if (index >= 0) {
    const hid_t stored = H5Tget_member_type(type, (unsigned)index);
    hsize_t size = 0;
    if (H5Tget_class(stored) != H5T_ARRAY)
      count = 0;
    else if (H5Tget_array_ndims(stored) == 1 && H5Tget_array_dims2(stored, &size) >= 0)
      count = (int64_t)size;
    H5Tclose(stored);
  }
  if (type >= 0) H5Tclose(type);
  return count;
}

void record_read(hid_t group, const char *path, const char *name, const char *member, hid_t type,
                 size_t count, void *values) {
  const hid_t dataset = hdf5_check(H5Dopen2(group, name, H5P_DEFAULT), EXIT_BAD_INPUT, path,
                                   "read a record");
  hdf5_check_stored(dataset, path, name);
  if (stored_count(dataset, member) != (int64_t)count)
    fail(EXIT_BAD_INPUT, "%s: %s has no member %s of %zu numbers", path, name, member,
         count ? count : 1);
  const hid_t numbers = member_type(type, count),
              wanted = H5Tcreate(H5T_COMPOUND, H5Tget_size(numbers));
  H5Tinsert(wanted, member, 0, numbers);
  hdf5_check(hdf5_try_rows(dataset, wanted, 0, 1, 1, values), EXIT_BAD_INPUT, path,
             "read a record");
  H5Tclose(wanted);
  H5Tclose(numbers);
  H5Dclose(dataset);
}
