/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hdf5_stored.h"

#include <math.h>
#include <stdio.h>

#include "hdf5_util.h"

/** The name of a filter, as the file has it, or its number. */
static void name_filter(H5Z_filter_t filter, const char *stored, char *name, size_t size) {
  if (filter == H5Z_FILTER_SZIP) stored = "szip";
  if (*stored)
    snprintf(name, size, "%.40s (filter %d)", stored, (int)filter);
  else
    snprintf(name, size, "filter %d", (int)filter);
}

bool hdf5_filters_known(hid_t layout, char reason_128[128]) {
  const int filters = H5Pget_nfilters(layout);
  for (int i = 0; i < filters; i++) {
    unsigned flags, config;
    size_t values = 0;
    char stored[64] = "", name[64];
    const H5Z_filter_t filter = H5Pget_filter2(layout, (unsigned)i, &flags, &values, NULL,
                                               sizeof stored, stored, &config);
    if (filter >= 0 && H5Zfilter_avail(filter) > 0) continue;
    stored[sizeof stored - 1] = '\0';
    name_filter(filter, stored, name, sizeof name);
    snprintf(reason_128, 128, "is stored through %s, which this HDF5 lacks: rewrite it with gzip",
             name);
    return false;
  }
  return true;
}

/** How many bytes of values one byte in the file can stand for. */
static double most_expansion(hid_t layout) {
  static const double deflate_most = 1032.0; /* of zlib's format: 258 bytes in two bits */
  double expansion = 1.0;
  const int filters = H5Pget_nfilters(layout);
  for (int i = 0; i < filters; i++) {
    unsigned flags, config;
    size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(layout, (unsigned)i, &flags, &values, NULL, 0, NULL,
                                               &config);
    if (filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32) continue;
    expansion *= filter == H5Z_FILTER_DEFLATE ? deflate_most : 1e6; /* more than others reach */
  }
  return expansion;
}

static double file_size(hid_t dataset) {
  const hid_t file = H5Iget_file_id(dataset);
  hsize_t size = 0;
  if (file < 0 || H5Fget_filesize(file, &size) < 0) size = 0;
  if (file >= 0) H5Fclose(file);
  return (double)size;
}

static bool complain(char *reason_128, const char *reason) {
  snprintf(reason_128, 128, "%s", reason);
  return false;
}

static bool is_stored(hid_t dataset, hid_t layout, hid_t space, hid_t type, char *reason_128) {
  if (layout < 0 || space < 0 || type < 0) return complain(reason_128, "cannot be examined");
  if (H5Sget_simple_extent_ndims(space) > HDF5_DIMENSIONS_MOST)
    return complain(reason_128, "has more than four dimensions");
  if (H5Pget_layout(layout) == H5D_VIRTUAL || H5Pget_external_count(layout) > 0)
    return complain(reason_128, "has its values in other files");
  if (!hdf5_filters_known(layout, reason_128)) return false;
  const double expansion = most_expansion(layout);
  const double promised = (double)H5Sget_simple_extent_npoints(space) * (double)H5Tget_size(type);
  const double stored = fmin((double)H5Dget_storage_size(dataset), file_size(dataset));
  if (promised <= stored * expansion) return true;
  snprintf(reason_128, 128, "should have %.0f bytes of values, but the file holds %.0f", promised,
           stored);
  return false;
}

bool hdf5_stored(hid_t dataset, char reason_128[128]) {
  const hid_t layout = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
  const hid_t type = H5Dget_type(dataset);
  const bool stored = is_stored(dataset, layout, space, type, reason_128);
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  if (layout >= 0) H5Pclose(layout);
  return stored;
}

void hdf5_check_stored(hid_t dataset, const char *path, const char *name) {
  char reason[128];
  if (!hdf5_stored(dataset, reason)) fail(EXIT_BAD_INPUT, "%s: %s %s", path, name, reason);
}
