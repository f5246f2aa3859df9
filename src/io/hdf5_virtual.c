/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Virtual datasets, external links and fill values of other programs' files. */
#include "hdf5_virtual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_stored.h"
#include "hdf5_util.h"
#include "photons/base/error.h"
#include "photons/base/input_file.h"
#include "photons/base/installed_memory.h"

enum { NAME_SIZE = 1024, LINKS_MOST = 16 };

/** Whether a name of a file stays in the folder that it is relative to. */
static bool stays_below(const char *name) {
  if (!*name || *name == '/') return false;
  for (const char *part = name; part; part = strchr(part, '/')) {
    part += *part == '/';
    if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return false;
  }
  return true;
}

hid_t hdf5_open_beside(hid_t object, const char *name, char reason_256[256]) {
  char of_object[NAME_SIZE], path[2 * NAME_SIZE];
  if (!stays_below(name)) {
    snprintf(reason_256, 256, "only files beside the one that names them are opened");
    return -1;
  }
  const ssize_t length = H5Fget_name(object, of_object, sizeof of_object);
  if (length <= 0 || length >= NAME_SIZE || strlen(name) >= NAME_SIZE) {
    snprintf(reason_256, 256, "its name is too long");
    return -1;
  }
  const char *slash = strrchr(of_object, '/');
  snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - of_object) : 0, of_object, name);
  const char *refusal = input_refusal(path);
  if (refusal) {
    snprintf(reason_256, 256, "%s", refusal);
    return -1;
  }
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) hdf5_reason(reason_256);
  return file;
}

static hid_t refuse_link(const char *reason) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_LINK, H5E_CANTOPENFILE, "%s",
           reason);
  return -1;
}

/** Follow an external link; what HDF5 calls in the place of its own function. */
static hid_t follow(const char *link, hid_t group, const void *value, size_t size, hid_t access,
                    hid_t transfer) {
  unsigned flags;
  const char *name, *object;
  char reason[256];
  (void)link;
  (void)transfer;
  static _Thread_local int depth; /* links may lead to links, and in a circle */
  if (H5Lunpack_elink_val(value, size, &flags, &name, &object) < 0) return -1;
  if (depth == LINKS_MOST) return refuse_link("too many external links lead to links");
  const hid_t file = hdf5_open_beside(group, name, reason);
  if (file < 0) {
    char text[512];
    snprintf(text, sizeof text, "an external link leads to the file %s: %s", name, reason);
    return refuse_link(text);
  }
  depth++;
  const hid_t target = H5Oopen(file, object, access);
  depth--;
  if (target < 0) hdf5_reason(reason);
  H5Fclose(file); /* the target keeps it open; the call forgets reasons */
  if (target < 0) return refuse_link(reason);
  return target;
}

void hdf5_links_stay_beside(void) {
  static const H5L_class_t links = {.version = H5L_LINK_CLASS_T_VERS,
                                    .id = H5L_TYPE_EXTERNAL,
                                    .comment = "external, beside",
                                    .trav_func = follow};
  hdf5_check(H5Lregister(&links), EXIT_RUN_FAILED, "HDF5", "restrict external links");
}

hid_t hdf5_open_dataset(hid_t group, const char *path, const char *name) {
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  /* Without this HDF5 may take sources of a virtual dataset from the working folder. */
  if (access >= 0) H5Pset_virtual_prefix(access, "${ORIGIN}");
  const hid_t dataset = hdf5_reading(H5Dopen2(group, name, access), path, name);
  H5Pclose(access);
  return dataset;
}

/** A dataset while it is checked. */
struct look {
  const char *path, *name; /* for messages */
  hid_t dataset, layout, space, type;
  double bytes; /* of all its values */
};

static struct look look_at(hid_t dataset, const char *path, const char *name) {
  struct look d = {.path = path, .name = name, .dataset = dataset};
  d.layout = hdf5_reading(H5Dget_create_plist(dataset), path, name);
  d.space = hdf5_reading(H5Dget_space(dataset), path, name);
  d.type = hdf5_reading(H5Dget_type(dataset), path, name);
  d.bytes = (double)H5Sget_simple_extent_npoints(d.space) * (double)H5Tget_size(d.type);
  return d;
}

static void look_away(const struct look *d) {
  H5Tclose(d->type);
  H5Sclose(d->space);
  H5Pclose(d->layout);
}

static double chunk_count(const struct look *d) {
  hsize_t size[HDF5_DIMENSIONS_MOST], chunk[HDF5_DIMENSIONS_MOST];
  double count = 1.0;
  const int rank = H5Sget_simple_extent_dims(d->space, size, NULL);
  if (H5Pget_chunk(d->layout, rank, chunk) != rank) return 0.0;
  for (int i = 0; i < rank; i++) {
    const hsize_t chunks = size[i] / chunk[i] + (size[i] % chunk[i] > 0);
    count *= (double)chunks;
  }
  return count;
}

/** The share of a dataset's values that were never written. */
static double unwritten_share(const struct look *d) {
  if (d->bytes == 0.0) return 0.0;
  if (H5Pget_layout(d->layout) != H5D_CHUNKED) return H5Dget_storage_size(d->dataset) == 0;
  hsize_t written = 0;
  const double chunks = chunk_count(d);
  hdf5_reading(H5Dget_num_chunks(d->dataset, d->space, &written), d->path, d->name);
  return (double)written < chunks ? 1.0 - (double)written / chunks : 0.0;
}

/** Values that stand nowhere take no room in a file, but memory. */
static void require_memory(const struct look *d) {
  const double most = installed_memory();
  if (d->bytes > most)
    fail(EXIT_BAD_INPUT,
         "%s: %s should have %.4g GB of values, of which not all are stored: more than the memory "
         "of "
         "%.4g GB",
         d->path, d->name, 1e-9 * d->bytes, 1e-9 * most);
}

static void accept_fill_values(const struct look *d, double share) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  double value = 0.0;
  H5Pfill_value_defined(d->layout, &defined);
  if ((defined != H5D_FILL_VALUE_DEFAULT && defined != H5D_FILL_VALUE_USER_DEFINED) ||
      H5Pget_fill_value(d->layout, H5T_NATIVE_DOUBLE, &value) < 0)
    fail(EXIT_BAD_INPUT, "%s: %s has values that were never written, and no fill value for them",
         d->path, d->name);
  require_memory(d);
  warn("%s: %.4g %% of the values of %s were never written: they are taken as its fill value, %g",
       d->path, 100.0 * share, d->name, value);
}

/** A dataset of numbers whose values are in its own file. @return bytes of values that are there */
static double check_own(const struct look *d, bool fill_values) {
  char reason[128];
  const double share = H5Pget_layout(d->layout) == H5D_VIRTUAL ||
                               H5Sget_simple_extent_ndims(d->space) > HDF5_DIMENSIONS_MOST ||
                               H5Pget_external_count(d->layout) > 0
                           ? 0.0
                           : unwritten_share(d);
  if (share > 0.0 && fill_values && hdf5_filters_known(d->layout, reason))
    accept_fill_values(d, share);
  else if (!hdf5_stored(d->dataset, reason))
    fail(EXIT_BAD_INPUT, "%s: %s %s", d->path, d->name, reason);
  return d->bytes;
}

/** One of the datasets that a virtual dataset shows. */
struct source {
  char file[NAME_SIZE], dataset[NAME_SIZE];
  double values; /* that are taken from it */
};

static struct source source_of(const struct look *d, size_t number) {
  struct source s;
  const ssize_t file = H5Pget_virtual_filename(d->layout, number, s.file, sizeof s.file),
                dataset = H5Pget_virtual_dsetname(d->layout, number, s.dataset, sizeof s.dataset);
  const hid_t space = H5Pget_virtual_vspace(d->layout, number);
  const hssize_t values = space < 0 ? -1 : H5Sget_select_npoints(space);
  if (space >= 0) H5Sclose(space);
  if (file < 0 || dataset < 0 || file >= NAME_SIZE || dataset >= NAME_SIZE || values < 0 ||
      strchr(s.file, '%') || strchr(s.dataset, '%'))
    fail(
        EXIT_BAD_INPUT,
        "%s: %s is virtual, and part %zu of it does not name one file, one dataset and a number of "
        "values",
        d->path, d->name, number);
  s.values = (double)values;
  return s;
}

/** Check a source of a virtual dataset. A source that is not there would silently be fill values. */
static void check_source(const struct look *d, const struct source *s) {
  char path[2 * NAME_SIZE], reason[256];
  const bool same = strcmp(s->file, ".") == 0;
  const hid_t file = same ? H5Iget_file_id(d->dataset)
                          : hdf5_open_beside(d->dataset, s->file, reason);
  if (file < 0)
    fail(EXIT_BAD_INPUT, "%s: %s is virtual and has values in the file %s: %s", d->path, d->name,
         s->file, same ? "it cannot be opened" : reason);
  snprintf(path, sizeof path, "%s", same ? d->path : s->file);
  const hid_t dataset = hdf5_open_dataset(file, path, s->dataset);
  const struct look source = look_at(dataset, path, s->dataset);
  check_own(&source, false);
  if ((double)H5Sget_simple_extent_npoints(source.space) < s->values)
    fail(EXIT_BAD_INPUT, "%s: %s has %.0f values, but %s of %s takes %.0f from it", path,
         s->dataset, (double)H5Sget_simple_extent_npoints(source.space), d->name, d->path,
         s->values);
  look_away(&source);
  H5Dclose(dataset);
  H5Fclose(file);
}

/** Say once for each file that values are elsewhere. */
static void say_virtual(const char *path, const char *name, const char *source) {
  static char said[NAME_SIZE];
  if (strncmp(said, path, sizeof said - 1) == 0) return;
  snprintf(said, sizeof said, "%s", path);
  warn("%s: %s is virtual: its values are read from files beside it (%s)", path, name, source);
}

static void check_virtual(const struct look *d) {
  size_t count = 0;
  double values = 0.0;
  hdf5_reading(H5Pget_virtual_count(d->layout, &count), d->path, d->name);
  for (size_t i = 0; i < count; i++) {
    const struct source s = source_of(d, i);
    check_source(d, &s);
    values += s.values;
    if (i == 0) say_virtual(d->path, d->name, s.file);
  }
  const double all = (double)H5Sget_simple_extent_npoints(d->space);
  require_memory(d);
  if (values < all) accept_fill_values(d, 1.0 - values / all);
}

void hdf5_check_readable(hid_t dataset, const char *path, const char *name) {
  const struct look d = look_at(dataset, path, name);
  if (H5Pget_layout(d.layout) == H5D_VIRTUAL &&
      H5Sget_simple_extent_ndims(d.space) <= HDF5_DIMENSIONS_MOST)
    check_virtual(&d);
  else
    check_own(&d, true);
  look_away(&d);
}
