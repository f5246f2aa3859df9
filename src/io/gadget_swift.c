/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots of SWIFT: as Gadget's HDF5 files, but with units and cosmology in groups of their own.
 * Lengths are comoving, no unit has h in it, and the time of the header is that since the Big Bang.
 */
#include <stdio.h>

#include "gadget.h"
#include "hdf5_util.h"

static double number(hid_t group, const char *path, const char *name) {
  double value = GADGET_ABSENT;
  hdf5_read_attribute(group, path, name, H5T_NATIVE_DOUBLE, 1, &value);
  return value;
}

static double unit(hid_t group, const char *path, const char *quantity, const char *symbol) {
  char name[64];
  snprintf(name, sizeof name, "Unit %s in cgs (U_%s)", quantity, symbol);
  return number(group, path, name);
}

/** @return whether they are units of SWIFT */
static bool read_units(hid_t group, const char *path, struct gadget_header *header) {
  header->unit_length = unit(group, path, "length", "L");
  if (header->unit_length == GADGET_ABSENT) return false;
  const double time = unit(group, path, "time", "t");
  header->unit_mass = unit(group, path, "mass", "M");
  header->unit_velocity = header->unit_length / time;
  if (header->unit_mass == GADGET_ABSENT || time == GADGET_ABSENT)
    fail(EXIT_BAD_INPUT, "%s: Units has no unit of mass or of time", path);
  return true;
}

/** Take a number of a group instead of that of the header, if the group has it. */
static void take(hid_t group, const char *path, const char *name, double *value) {
  const double found = number(group, path, name);
  if (found != GADGET_ABSENT) *value = found;
}

/* Initial conditions that MUSIC writes for SWIFT have only h here: time, redshift and matter are in their header. */
static void read_cosmology(hid_t group, const char *path, struct gadget_header *header) {
  if (number(group, path, "Cosmological run") == 0.0) return;
  take(group, path, "h", &header->h);
  take(group, path, "Omega_m", &header->omega_m);
  take(group, path, "Omega_lambda", &header->omega_lambda);
  take(group, path, "Omega_r", &header->omega_r);
  take(group, path, "w_0", &header->w0);
  take(group, path, "w_a", &header->wa);
  const double time = number(group, path, "Scale-factor");
  if (time == GADGET_ABSENT) return;
  header->time = time;
  header->redshift = number(group, path, "Redshift");
}

/** Power of a in the velocities of the first type that has particles; SWIFT's own are peculiar. */
static double velocity_power(hid_t file, const char *path, const struct gadget_header *header) {
  double power = 0.0;
  unsigned type = 0;
  char name[32];
  while (type < GADGET_TYPES && header->in_file[type] == 0) type++;
  snprintf(name, sizeof name, "PartType%u", type);
  if (type == GADGET_TYPES || H5Lexists(file, name, H5P_DEFAULT) <= 0) return power;
  const hid_t group = hdf5_open_group(file, path, name);
  if (H5Lexists(group, "Velocities", H5P_DEFAULT) > 0) {
    const hid_t velocities = hdf5_check(H5Oopen(group, "Velocities", H5P_DEFAULT), EXIT_BAD_INPUT,
                                        path, "open Velocities");
    hdf5_read_attribute(velocities, path, "a-scale exponent", H5T_NATIVE_DOUBLE, 1, &power);
    H5Oclose(velocities);
  }
  H5Gclose(group);
  return power;
}

bool gadget_read_swift(int64_t file, const char *path, struct gadget_header *header) {
  const hid_t units = hdf5_open_group(file, path, "Units");
  if (units < 0) return false;
  const bool swift = read_units(units, path, header);
  H5Gclose(units);
  if (!swift) return false;
  header->omega_r = header->w0 = header->wa = GADGET_ABSENT;
  const hid_t cosmology = hdf5_open_group(file, path, "Cosmology");
  if (cosmology >= 0) {
    read_cosmology(cosmology, path, header);
    H5Gclose(cosmology);
  }
  header->velocity_power = velocity_power(file, path, header);
  return true;
}
