/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One HDF5 file whose large arrays lie in several, which ranks write and read at the same time.
 *
 * NAME.hdf5 has everything but the rows of these arrays, which it shows as virtual datasets: readers
 * need not know of the others. The rows are in parts NAME-a.0.hdf5, NAME-a.1.hdf5 ... beside it, each
 * of consecutive ranks. The attribute `parts` of NAME.hdf5 is "NAME-a". The letter is one that no
 * complete file uses: a set is there when NAME.hdf5 gets its name, and until then the set before it.
 * A set of one file has no parts: its rows are in NAME.hdf5. */
#ifndef PHOTONS_HDF5_SET_H
#define PHOTONS_HDF5_SET_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "hdf5_util.h"

/**
 * Which rows of an array are in which file. An array has ranges of rows that follow each other, such
 * as the levels of an octree. Of each range a rank has rows that follow each other, and so have the
 * ranks, by their numbers.
 */
struct row_cut {
  size_t files, ranges;
  uint64_t *begin; /* [ranges + 1] first row of each range, and the number of all rows */
  uint64_t *first; /* [files + 1][ranges] first row of a range in a file */
};
/** Collective; row_cut_free() it. @param count  [ranges] rows of this rank */
struct row_cut row_cut_make(size_t files, size_t ranges, const uint64_t *count);
void row_cut_free(struct row_cut *cut);
/** The number of rows of a file, and the place of a row among them. */
uint64_t row_cut_rows(const struct row_cut *cut, size_t file);
uint64_t row_cut_place(const struct row_cut *cut, size_t file, uint64_t row);

struct set_array {
  char name[64]; /* in the file, with its groups */
  hid_t type;    /* in memory and file */
  int dimensions;
  hsize_t size[HDF5_DIMENSIONS_MOST]; /* of which size[0] is the number of all rows */
  char title[64];                     /* attribute `name`; "": none */
  const char *unit;                   /* attribute `unit`; NULL: none */
  const char *number_name;            /* an attribute that is a number; NULL: none */
  double number;
  const struct row_cut *cut;
  uint64_t sum; /* of several files: checksum of the rows that this rank has written */
};

/** A file of a set while it is written. */
struct set_file {
  struct hdf5_set *set;
  hid_t id;
  const char *path; /* in messages */
  size_t number;    /* of the file in the set */
};

struct hdf5_set {
  const char *format; /* attribute `format` */
  struct set_array *array;
  size_t arrays;
  /** Write this rank's rows by hdf5_set_rows(). */
  void (*rows)(void *context, const struct set_file *file);
  /** Write everything else: attributes, and datasets that one rank knows. On one rank. */
  void (*rest)(void *context, hid_t file, const char *path);
  void *context;
};

/**
 * Write a set of files; collective. If a rank fails while it writes, no part is left, and the set before stays.
 * @param path      NAME.hdf5
 * @param previous  the name that an existing NAME.hdf5 gets, whose parts stay; NULL: it is replaced
 * @param files     number of parts, at most comm_size(), as that of the arrays' cuts; 1: no parts
 */
void hdf5_set_write(struct hdf5_set *set, const char *path, const char *previous, size_t files);
/** Write rows [first, first + count) of an array; each row once. */
void hdf5_set_rows(const struct set_file *file, struct set_array *array, size_t first, size_t count,
                   const void *rows);

/** NAME-WORD.hdf5 for NAME.hdf5 (malloc'ed). */
char *hdf5_set_name(const char *path, const char *word);

#endif
