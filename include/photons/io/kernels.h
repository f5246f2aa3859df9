/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU kernels of lean snapshots, one table for each instruction set. All tables give the same bits. */
#ifndef PHOTONS_IO_KERNELS_H
#define PHOTONS_IO_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "photons/runtime/isa.h"

/** How a number of the file follows from one of the run: rounded() of `factor` times it, and `shift`. */
struct rounded_scale {
  double factor, shift;
  double step; /**< a power of two, of which the number is a multiple */
  double
      end; /**< numbers are below it, and those that are rounded up to it are 0; HUGE_VAL: there is no end */
};

struct io_kernels {
  /** Numbers of the file as floats, and as doubles. Exact: the next float, and rounded(), have no other choice. */
  void (*round_positions)(size_t count, const uint32_t *x, const struct rounded_scale *s,
                          float *out);
  void (*round_positions_wide)(size_t count, const uint32_t *x, const struct rounded_scale *s,
                               double *out);
  void (*round_velocities)(size_t count, const float *p, const struct rounded_scale *s, float *out);
  /** Whether all numbers are finite. @param size  bytes of a float or of a double */
  bool (*all_finite)(size_t size, size_t count, const void *values);
  /** Rows of three columns. @param size  bytes of a number: 4 or 8 @param columns  [3][count] @param[out] rows  [count][3] */
  void (*rows_of_three)(size_t count, size_t size, const void *columns, void *rows);
  /**
   * HDF5's filter shuffle: byte k of number i comes to planes[k * stride + i].
   * @param size     bytes of a number: 4 or 8
   * @param numbers  [count][size]
   */
  void (*shuffle)(size_t count, size_t size, const void *numbers, size_t stride,
                  unsigned char *planes);
  /**
   * What rows contribute to the checksum of their dataset (src/io/hdf5_checksum.h): the sum modulo 2^64 of XXH3_64 of their bytes, with
   * their indices as seeds.
   * @param columns  numbers of a row: 1 or 3
   * @param size     bytes of a number: 4 or 8
   * @param column   [columns][count]
   * @param first    index of the first of these rows in the dataset
   */
  uint64_t (*checksum_columns)(size_t columns, size_t size, size_t count, const void *column,
                               uint64_t first);
  /** The same for rows of one number that are equal. @param number  of @p size bytes */
  uint64_t (*checksum_equal)(size_t size, size_t count, const void *number, uint64_t first);
  /**
   * Pack planes as a stream of deflate's format with zlib's frame (RFC 1950, RFC 1951), which every reader of that
   * format reads.
   * @param count     bytes of a plane, fewer than 2^24
   * @param data      [plane][count]
   * @param[out] out  has room for deflate_planes_bound()
   * @return bytes of the stream
   */
  size_t (*deflate_planes)(size_t planes, size_t count, const unsigned char *data,
                           unsigned char *out);
};

/** The kernels for isa_select(). */
const struct io_kernels *io_kernels_select(void);
/** Bytes that a stream of deflate_planes() takes at most. */
size_t deflate_planes_bound(size_t planes, size_t count);

#ifdef KERNEL_ISA
KERNEL_FUNCTION(io_kernels, round_positions, round_positions);
KERNEL_FUNCTION(io_kernels, round_positions_wide, round_positions_wide);
KERNEL_FUNCTION(io_kernels, round_velocities, round_velocities);
KERNEL_FUNCTION(io_kernels, all_finite, all_finite);
KERNEL_FUNCTION(io_kernels, rows_of_three, rows_of_three);
KERNEL_FUNCTION(io_kernels, shuffle, shuffle);
KERNEL_FUNCTION(io_kernels, checksum_columns, checksum_columns);
KERNEL_FUNCTION(io_kernels, checksum_equal, checksum_equal);
KERNEL_FUNCTION(io_kernels, deflate_planes, deflate_planes);
#endif

#endif
