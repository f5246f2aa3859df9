/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hdf5_share.h"

#include <stdio.h>
#include <string.h>

#include "hdf5_stored.h"
#include "hdf5_util.h"
#include "hdf5_virtual.h"
#include "photons/base/comm.h"

static bool refuse(char reason_256[256], const char *reason) {
  snprintf(reason_256, 256, "%s", reason);
  return false;
}

/** Rows that a virtual dataset shows of one part. */
struct window {
  hsize_t first, end;                   /* of the dataset */
  hsize_t extent[HDF5_DIMENSIONS_MOST]; /* of the part's dataset, as far as the window shows it */
  int dimensions;
};

/** Whether a selection is rows, and which. */
static bool select_rows(hid_t space, struct window *w) {
  hsize_t start[HDF5_DIMENSIONS_MOST], end[HDF5_DIMENSIONS_MOST], numbers = 1;
  if (H5Sget_select_bounds(space, start, end) < 0) return false;
  for (int d = 0; d < w->dimensions; d++) numbers *= end[d] + 1 - start[d];
  w->first = start[0];
  w->end = end[0] + 1;
  return H5Sget_select_npoints(space) == (hssize_t)numbers;
}

/** What part of the layout @p number shows. @return false where it is no rows */
static bool window_of(hid_t layout, size_t number, struct window *w) {
  const hid_t here = H5Pget_virtual_vspace(layout, number),
              there = H5Pget_virtual_srcspace(layout, number);
  w->dimensions = there < 0 ? -1 : H5Sget_simple_extent_ndims(there);
  const bool good = here >= 0 && w->dimensions > 0 && w->dimensions <= HDF5_DIMENSIONS_MOST &&
                    H5Sget_simple_extent_ndims(here) == w->dimensions &&
                    H5Sget_simple_extent_dims(there, w->extent, NULL) == w->dimensions &&
                    select_rows(here, w);
  if (here >= 0) H5Sclose(here);
  if (there >= 0) H5Sclose(there);
  return good;
}

/** Whether a part's dataset has the rows that a window shows, and their values. */
static bool part_has(hid_t file, const char *name, const struct window *w, char reason_128[128]) {
  hsize_t extent[HDF5_DIMENSIONS_MOST] = {0};
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
  bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == w->dimensions &&
              H5Sget_simple_extent_dims(space, extent, NULL) >= 0 && extent[0] >= w->extent[0];
  for (int c = 1; good && c < w->dimensions; c++) good = extent[c] == w->extent[c];
  if (!good)
    snprintf(reason_128, 128, "it does not have the rows that it should have");
  else
    good = hdf5_stored(dataset, reason_128);
  if (space >= 0) H5Sclose(space);
  if (dataset >= 0) H5Dclose(dataset);
  return good;
}

/** Whether a part is there that a window shows. */
static bool part_stored(hid_t dataset, hid_t layout, size_t number, const struct window *w,
                        char reason_256[256]) {
  char file_name[128] = "", name[128] = "", why[256] = "";
  const ssize_t length = H5Pget_virtual_filename(layout, number, file_name, sizeof file_name),
                name_length = H5Pget_virtual_dsetname(layout, number, name, sizeof name);
  if (length <= 0 || length >= (ssize_t)sizeof file_name || name_length <= 0 ||
      name_length >= (ssize_t)sizeof name || strpbrk(file_name, "/%") || strchr(name, '%') ||
      strcmp(file_name, ".") == 0)
    return refuse(reason_256, "has its values in other files");
  const hid_t file = hdf5_open_beside(dataset, file_name, why);
  const bool good = file >= 0 && part_has(file, name, w, why);
  if (file >= 0) H5Fclose(file);
  if (!good)
    snprintf(reason_256, 256, "is not complete: %.127s, which has a part of it: %.80s", file_name,
             why);
  return good;
}

/** Whether all rows from @p first to @p end of a virtual dataset are there. */
static bool parts_stored(hid_t dataset, hid_t layout, hsize_t first, hsize_t end,
                         char reason_256[256]) {
  size_t count = 0;
  hsize_t rows = 0;
  H5Pget_virtual_count(layout, &count);
  for (size_t i = 0; i < count; i++) {
    struct window w;
    if (!window_of(layout, i, &w)) return refuse(reason_256, "cannot be examined");
    if (w.end <= first || w.first >= end) continue;
    if (!part_stored(dataset, layout, i, &w, reason_256)) return false;
    rows += (w.end < end ? w.end : end) - (w.first > first ? w.first : first);
  }
  return rows == end - first || refuse(reason_256, "is not complete: rows are in no part");
}

bool hdf5_share_stored(hid_t dataset, char reason_256[256]) {
  hsize_t extent[HDF5_DIMENSIONS_MOST] = {0};
  const hid_t layout = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
  const bool is_virtual = layout >= 0 && H5Pget_layout(layout) == H5D_VIRTUAL;
  bool stored = false;
  if (!is_virtual)
    stored = hdf5_stored(dataset, reason_256);
  else if (H5Sget_simple_extent_ndims(space) > HDF5_DIMENSIONS_MOST ||
           H5Sget_simple_extent_dims(space, extent, NULL) <= 0)
    refuse(reason_256, "cannot be examined");
  else
    stored = parts_stored(dataset, layout, comm_first(extent[0], comm_rank()),
                          comm_first(extent[0], comm_rank() + 1), reason_256);
  if (space >= 0) H5Sclose(space);
  if (layout >= 0) H5Pclose(layout);
  return stored;
}

void hdf5_check_share(hid_t dataset, const char *path, const char *name) {
  char reason[256];
  if (!hdf5_share_stored(dataset, reason)) fail(EXIT_BAD_INPUT, "%s: %s %s", path, name, reason);
}
