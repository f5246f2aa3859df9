/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records in HDF5 files: a scalar dataset of compound type, whose members have names. A record is
 * gathered member by member and then written. Its checksum is that of a dataset of one row. */
#ifndef PHOTONS_HDF5_RECORD_H
#define PHOTONS_HDF5_RECORD_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_MEMBERS_MOST = 96 };

struct record {
  unsigned char *bytes;
  size_t size, members;
  struct record_member {
    char name[32];
    hid_t type;
    size_t offset;
  } member[RECORD_MEMBERS_MOST];
};

/** Add a member. @param count 0: a number, else an array */
void record_int(struct record *r, const char *name, size_t count, const int32_t *values);
void record_int64(struct record *r, const char *name, size_t count, const int64_t *values);
void record_double(struct record *r, const char *name, size_t count, const double *values);
/** A string of fixed length. */
void record_text(struct record *r, const char *name, const char *text);
/** Write the record as a dataset, and empty it.
 * @param path  the file's name in messages, here and below */
void record_write(hid_t group, const char *path, const char *name, struct record *r);

/**
 * Read one member of the record NAME. The program ends with EXIT_BAD_INPUT where the record has no
 * such member, or one of another length.
 * @param type   of the numbers in memory
 * @param count  0: a number, else an array of so many
 */
void record_read(hid_t group, const char *path, const char *name, const char *member, hid_t type,
                 size_t count, void *values);

#endif
