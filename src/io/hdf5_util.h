/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HDF5 with every call checked: what snapshots, checkpoints, initial conditions and catalogues
 * share. `path` is the file's name in messages. Failures end the program: EXIT_RUN_FAILED when
 * writing, EXIT_BAD_INPUT when reading. Files are written in the format of HDF5 1.8, those with virtual
 * datasets in that of 1.10: their metadata have checksums of their own; hdf5_checksum.h has those of the
 * data. */
#ifndef PHOTONS_HDF5_UTIL_H
#define PHOTONS_HDF5_UTIL_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "photons/base/error.h"
#include "photons/config/parameters.h"

enum { HDF5_DIMENSIONS_MOST = 4 };

/** Result of an HDF5 call (identifier, status, count); ends the program with HDF5's own reason
 * where it is negative. */
int64_t hdf5_check(int64_t result, enum exit_code code, const char *path, const char *what);

/** HDF5's innermost reason for the last failure. */
void hdf5_reason(char reason_256[256]);

/** End the program (EXIT_BAD_INPUT) if reading has failed. @return the result otherwise
 * @param name  of what is read, for the message */
int64_t hdf5_reading(int64_t result, const char *path, const char *name);

/** Create a file under its temporary name. @param path final name, for messages */
hid_t hdf5_create(const char *temporary, const char *path);
/** Open a file that another process has created, to write more. */
hid_t hdf5_continue(const char *temporary, const char *path);
/** Close a written file; what was buffered may fail only now (full disk). */
void hdf5_close_written(hid_t file, const char *path);
hid_t hdf5_create_group(hid_t file, const char *path, const char *name);
/** Close a group that has been written, with a checksum of its attributes. */
void hdf5_close_group(hid_t group, const char *path);
/**
 * A dataset without values yet, whose checksum hdf5_write_rows() makes.
 * @param columns 1: one dimension
 * @param layout  a property list for its creation, or H5P_DEFAULT
 */
hid_t hdf5_create_dataset(hid_t group, const char *path, const char *name, hid_t type, size_t rows,
                          size_t columns, hid_t layout);
/** The same with up to HDF5_DIMENSIONS_MOST dimensions, the rows being the first. */
hid_t hdf5_create_array(hid_t group, const char *path, const char *name, hid_t type, int dimensions,
                        const hsize_t *size, hid_t layout);
/** Numbers must be finite, as in hdf5_write_rows().
 * @param type of the values in memory and file @param count 0: a scalar, else an array */
void hdf5_write_attribute(hid_t object, const char *path, const char *name, hid_t type,
                          size_t count, const void *value);
void hdf5_write_double(hid_t object, const char *path, const char *name, double value);
void hdf5_write_text(hid_t object, const char *path, const char *name, const char *text);
/** The resolved config.ini as attribute `config.ini`, the program's version as `program`. */
void hdf5_write_config(hid_t object, const char *path, const struct parameters *p);

hid_t hdf5_open(const char *path);
/** The same, but negative where the file cannot be opened. */
hid_t hdf5_try_open(const char *path);
/** Open a group whose attributes, where they have a checksum, must be right.
 * @return negative where there is none of this name */
hid_t hdf5_open_group(hid_t file, const char *path, const char *name);
/** Whether an integer type has a sign. */
bool hdf5_is_signed(hid_t type);
/**
 * HDF5 turns a negative integer into the unsigned integer 0. Numbers that cannot be negative (ids,
 * counts) are rather read as H5T_NATIVE_INT64 and then given to this function: it keeps the bits
 * that the file has, as an unsigned integer of the same width. So do programs that count beyond 2^31
 * in a type with a sign.
 * @param stored  type in the file, of at most 8 bytes
 */
void hdf5_keep_bits(hid_t stored, size_t count, uint64_t *values);
/** Numbers of an attribute; returns how many (at most @p room, more is an error), 0 where it does
 * not exist. As H5T_NATIVE_UINT64 they keep their bits: hdf5_keep_bits(). */
size_t hdf5_read_attribute(hid_t object, const char *path, const char *name, hid_t type,
                           size_t room, void *values);
/** A string of fixed length, malloc'ed; NULL where it does not exist. Where the attributes of
 * @p object have a checksum, it must be right. */
char *hdf5_read_text(hid_t object, const char *path, const char *name);
/** The same, but false where the string is not there or has more than @p size bytes. */
bool hdf5_try_text(hid_t object, const char *name, char *text, size_t size);
/** What hdf5_write_config() wrote (malloc'ed); what it would write for other parameters. */
char *hdf5_read_config(hid_t object, const char *path);
char *hdf5_config_text(const struct parameters *p);

/** Rows [first, first + count) of a dataset; a scalar has one row. @p columns 1: one dimension;
 * more than two dimensions: the numbers of a row. Each row must be written only once: it becomes
 * part of the dataset's checksum. Floating-point numbers must be finite: one that is not ends the
 * program (EXIT_RUN_FAILED), and the file is not written. */
void hdf5_write_rows(hid_t dataset, const char *path, const char *name, hid_t type, size_t first,
                     size_t count, size_t columns, const void *rows);
/** @param[in,out] sum gets what checksum_rows() finds for the stored bytes of these rows, or NULL
 *         */
void hdf5_read_rows(hid_t dataset, const char *path, const char *name, hid_t type, size_t first,
                    size_t count, size_t columns, void *rows, uint64_t *sum);
/** Read rows without a check: negative where they cannot be read. */
herr_t hdf5_try_rows(hid_t dataset, hid_t type, size_t first, size_t count, size_t columns,
                     void *rows);

#endif
