/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gadget HDF5 files, as Gadget-3 and -4, AREPO, MUSIC, monofonIC, SWIFT and this program write
 * them. */
#include <stdio.h>
#include <stdlib.h>

#include "gadget.h"
#include "hdf5_checksum.h"
#include "hdf5_util.h"
#include "hdf5_virtual.h"

/** A number from /Header, or from /Parameters where Gadget-4 stores it. */
static double header_number(hid_t header, hid_t parameters, const char *path, const char *name) {
  double value = GADGET_ABSENT;
  if (hdf5_read_attribute(header, path, name, H5T_NATIVE_DOUBLE, 1, &value) == 0 && parameters >= 0)
    hdf5_read_attribute(parameters, path, name, H5T_NATIVE_DOUBLE, 1, &value);
  return value;
}

/** BoxSize is one number, or three. */
static void read_box(hid_t group, hid_t parameters, const char *path,
                     struct gadget_header *header) {
  double side[3] = {GADGET_ABSENT, GADGET_ABSENT, GADGET_ABSENT};
  size_t count = hdf5_read_attribute(group, path, "BoxSize", H5T_NATIVE_DOUBLE, 3, side);
  if (count == 0 && parameters >= 0)
    count = hdf5_read_attribute(parameters, path, "BoxSize", H5T_NATIVE_DOUBLE, 3, side);
  header->box = side[0];
  for (size_t i = 1; i < count; i++)
    header->sides_differ = header->sides_differ || side[i] != side[0];
}

static void hdf5_header(const char *path, struct gadget_header *header) {
  const hid_t file = hdf5_open(path), group = hdf5_open_group(file, path, "Header");
  if (group < 0) fail(EXIT_BAD_INPUT, "%s: not a Gadget file: there is no group Header", path);
  const hid_t parameters = hdf5_open_group(file, path, "Parameters");
  *header = (struct gadget_header){
      .time = header_number(group, -1, path, "Time"),
      .redshift = header_number(group, -1, path, "Redshift"),
      .omega_m = header_number(group, parameters, path, "Omega0"),
      .omega_lambda = header_number(group, parameters, path, "OmegaLambda"),
      .h = header_number(group, parameters, path, "HubbleParam"),
      .unit_length = header_number(group, parameters, path, "UnitLength_in_cm"),
      .unit_mass = header_number(group, parameters, path, "UnitMass_in_g"),
      .unit_velocity = header_number(group, parameters, path, "UnitVelocity_in_cm_per_s")};
  uint64_t high[GADGET_TYPES] = {0};
  const hid_t integer = H5T_NATIVE_UINT64;
  if (!hdf5_read_attribute(group, path, "NumPart_ThisFile", integer, GADGET_TYPES, header->in_file))
    fail(EXIT_BAD_INPUT, "%s: not a Gadget file: Header has no NumPart_ThisFile", path);
  if (!hdf5_read_attribute(group, path, "NumPart_Total", integer, GADGET_TYPES, header->total))
    for (unsigned t = 0; t < GADGET_TYPES; t++) header->total[t] = header->in_file[t];
  header->total_is_32_bit = !hdf5_read_attribute(group, path, "NumPart_Total_HighWord", integer,
                                                 GADGET_TYPES, high);
  for (unsigned t = 0; t < GADGET_TYPES; t++) header->total[t] += high[t] << 32;
  hdf5_read_attribute(group, path, "MassTable", H5T_NATIVE_DOUBLE, GADGET_TYPES, header->mass);
  hdf5_read_attribute(group, path, "NumFilesPerSnapshot", integer, 1, &header->files);
  read_box(group, parameters, path, header);
  header->checksums = hdf5_check_attributes(group, path);
  header->swift = gadget_read_swift(file, path, header);
  if (parameters >= 0) H5Gclose(parameters);
  H5Gclose(group);
  H5Fclose(file);
}

/** Open a dataset of @p count rows and check its shape and number class. */
static hid_t open_dataset(hid_t group, const char *path, const char *name, H5T_class_t class,
                          uint64_t count, uint64_t columns) {
  if (H5Lexists(group, name, H5P_DEFAULT) <= 0)
    fail(EXIT_BAD_INPUT, "%s: there is no block %s", path, name);
  const hid_t dataset = hdf5_open_dataset(group, path, name);
  const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  if (H5Tget_class(type) != class)
    fail(EXIT_BAD_INPUT, "%s: block %s does not hold %s numbers", path, name,
         class == H5T_FLOAT ? "real" : "integer");
  hsize_t size[2] = {0, 1};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank == 1 || rank == 2) H5Sget_simple_extent_dims(space, size, NULL);
  if (size[0] != count || size[1] != columns)
    fail(EXIT_BAD_INPUT,
         "%s: block %s has %llu rows of %llu, expected %llu of %llu (NumPart_ThisFile)", path, name,
         (unsigned long long)size[0], (unsigned long long)size[1], (unsigned long long)count,
         (unsigned long long)columns);
  if (class == H5T_INTEGER && H5Tget_size(type) > sizeof(uint64_t))
    fail(EXIT_BAD_INPUT, "%s: block %s has integers of %zu bytes, expected at most 8", path, name,
         H5Tget_size(type));
  H5Tclose(type);
  H5Sclose(space);
  return dataset;
}

const char *const gadget_block_name[GADGET_BLOCKS] = {"ParticleIDs", "Coordinates", "Velocities",
                                                      "Masses"};
enum { IDS = 0, VELOCITIES = 2 };
static const struct {
  H5T_class_t class;
  size_t columns;
  void (*put)(const struct gadget_sink *sink, const char *block, size_t first, size_t count,
              const double *values);
} blocks[GADGET_BLOCKS] = {
    {H5T_INTEGER, 1, NULL}, /* gadget_put_ids: first, so that messages about the other blocks can
                               name ids */
    {H5T_FLOAT, 3, gadget_put_positions},
    {H5T_FLOAT, 3, gadget_put_velocities},
    {H5T_FLOAT, 1, gadget_put_masses},
};

static void read_ids(hid_t dataset, const char *path, const char *block, size_t first, size_t count,
                     uint64_t *ids, uint64_t *sum) {
  const hid_t stored = hdf5_check(H5Dget_type(dataset), EXIT_BAD_INPUT, path, "read the ids");
  const bool is_signed = hdf5_is_signed(stored);
  hdf5_read_rows(dataset, path, block, is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, first,
                 count, 1, ids, sum);
  if (is_signed) hdf5_keep_bits(stored, count, ids);
  H5Tclose(stored);
}

/** Check the datasets of a type; with a sink, read the particles that it asks for. */
static void visit_blocks(const char *path, const struct gadget_header *header, unsigned type,
                         const struct gadget_sink *sink) {
  const size_t count = header->in_file[type];
  char name[32];
  snprintf(name, sizeof name, "PartType%u", type);
  const hid_t file = hdf5_open(path), group = hdf5_open_group(file, path, name);
  if (group < 0)
    fail(EXIT_BAD_INPUT, "%s: there is no group %s, but Header counts %zu particles", path, name,
         count);
  const size_t most = !sink ? 0 : sink->rows < GADGET_CHUNK ? sink->rows : GADGET_CHUNK;
  void *chunk = allocate(3 * most, sizeof(double), "reading initial conditions");
  const unsigned needed = GADGET_BLOCKS - (header->mass[type] != 0.0);
  for (unsigned b = 0; b < needed; b++) {
    if (sink && !gadget_wants(sink, header, b)) continue;
    if (b == IDS && header->without_ids) continue;
    const char *block = gadget_block_name[b];
    if (header->analysed && b == VELOCITIES && H5Lexists(group, block, H5P_DEFAULT) == 0) {
      if (!sink) gadget_say_still(path, type);
      continue;
    }
    const hid_t dataset = open_dataset(group, path, block, blocks[b].class, count,
                                       blocks[b].columns);
    if (!sink) hdf5_check_readable(dataset, path, block);
    uint64_t stored = 0, sum = 0;
    if (hdf5_checksum_stored(dataset, path, &stored) != header->checksums)
      fail(EXIT_BAD_INPUT, "%s: only one of block %s and Header has a checksum", path, block);
    const size_t begin = sink ? sink->row : 0, end = sink ? begin + sink->rows : 0;
    for (size_t first = begin, n; first < end; first += n) {
      n = end - first < GADGET_CHUNK ? end - first : GADGET_CHUNK;
      uint64_t *rows_sum = header->checksums ? &sum : NULL;
      if (blocks[b].put) {
        hdf5_read_rows(dataset, path, block, H5T_NATIVE_DOUBLE, first, n, blocks[b].columns, chunk,
                       rows_sum);
        blocks[b].put(sink, block, first, n, chunk);
      } else {
        read_ids(dataset, path, block, first, n, chunk, rows_sum);
        gadget_put_ids(sink, block, first, n, chunk);
      }
    }
    if (sink && sink->checksum && header->checksums)
      sink->checksum[b] += begin == 0 ? sum - stored : sum;
    H5Dclose(dataset);
  }
  free(chunk);
  H5Gclose(group);
  H5Fclose(file);
}

bool gadget_hdf5_has_ids(const char *path, const struct gadget_header *header) {
  const hid_t file = hdf5_open(path);
  bool has = false;
  for (unsigned type = 0; type < GADGET_TYPES; type++) {
    char name[48];
    snprintf(name, sizeof name, "PartType%u", type);
    if (header->in_file[type] == 0 || H5Lexists(file, name, H5P_DEFAULT) <= 0) continue;
    snprintf(name, sizeof name, "PartType%u/%s", type, gadget_block_name[IDS]);
    has = has || H5Lexists(file, name, H5P_DEFAULT) > 0;
  }
  H5Fclose(file);
  return has;
}

static void hdf5_check_blocks(const char *path, const struct gadget_header *header) {
  for (unsigned type = 0; type < GADGET_TYPES; type++)
    if (header->in_file[type] > 0) visit_blocks(path, header, type, NULL);
}

static void hdf5_read(const char *path, const struct gadget_header *header,
                      const struct gadget_sink *sink) {
  visit_blocks(path, header, sink->type, sink);
}

const struct gadget_format gadget_hdf5 = {hdf5_header, hdf5_check_blocks, hdf5_read};
