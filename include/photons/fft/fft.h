/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distributed Fourier transform: of real numbers on a mesh that is divided over the ranks. FFTW
 * transforms lines of cells; between two axes the ranks exchange their numbers. Results depend neither on
 * the number of ranks and their layout nor on the number of workers.
 *
 * Axes are 0, 1 and 2; along axis 2 numbers follow each other in memory. Values are transformed along
 * axis 2, then 1, then 0. The ranks are a grid: a rank has the values of some planes x0, its row of the grid, and
 * of these some rows x1, its column of the grid. Of the modes it has some k1, by its row, and some k2, by its
 * column. A grid of one column has slabs, whole planes of values; where there are more ranks than planes,
 * there are more columns, and ranks have pencils. Those who use the transform go by the boxes fft.values and
 * fft.modes, and take for granted only that a rank has whole rows of values along axis 2, and whole lines
 * of modes along axis 0.
 *
 * Initial waves of particles and of gas, power spectra of particles and of gas, and the potential of
 * the root level of gas are made with it on cores. Apart are:
 *
 * - The particle mesh (photons/mesh/mesh.h). Its parts are tasks between those of deposit, walks and
 *   read-out. Each rank has several slabs and columns, each of them data of StarPU that cores or GPUs
 *   transform, and each of their blocks is a message of its own, so that transforms, messages and the
 *   short range overlap. Here ranks have one part of the mesh each, and wait for each other between two axes.
 * - The root level on GPUs (photons/potential/root_gpu.h) and power spectra on the GPU of the only rank
 *   (src/analysis/power_gpu.h), which cuFFT transforms. */
#ifndef PHOTONS_FFT_FFT_H
#define PHOTONS_FFT_FFT_H

#include <fftw3.h>
#include <stdbool.h>
#include <stddef.h>

#include "photons/base/parts.h"

struct stage;

enum fft_precision { FFT_DOUBLE, FFT_SINGLE };

/** How ranks divide a mesh. FFT_AUTO: slabs, or pencils where slabs would leave ranks without a part. */
enum fft_layout { FFT_AUTO, FFT_SLABS, FFT_PENCILS };

/** What is transformed. */
struct fft_mesh {
  size_t cells[3]; /**< along each axis */
  /** The transforms are over twice as many cells along each axis, of which the second half is empty: products
   * are then convolutions without periodic images. */
  bool padded;
  enum fft_precision precision; /**< of all numbers */
  /** Numbers from a row of values to the next; 0: as few as the transform needs. Even; in single precision a
   * multiple of 4, and where fft_pair_to_lines() is used more than size[2] + 1. */
  size_t row;
  size_t spare; /**< rows in memory between those of one plane and of the next */
  enum fft_layout layout;
  bool lasting;        /**< memory for exchanges is kept from one transform to the next */
  struct stage *stage; /**< of the loops; NULL: mesh_transform */
};

/** A part of a mesh: numbers first .. first + count - 1 along each axis, and in memory `step` numbers
 * from one to the next. */
struct fft_box {
  size_t first[3], count[3], step[3];
};

/** Ranks as rows and columns: rank row * columns + column. Ranks beyond the grid have no numbers. */
struct fft_grid {
  size_t rows, columns;
};

struct fft {
  struct fft_mesh mesh;
  struct fft_grid grid;
  size_t size[3];        /**< of the transforms: mesh.cells, or twice as many */
  struct fft_box values; /**< real numbers of this rank */
  /** Complex numbers of this rank, of k2 up to size[2]/2; of a padded mesh they are only ever seen line by
   * line: see fft_work. */
  struct fft_box modes;
  struct fft_plans *plans;
  void *buffer; /**< mesh.lasting: memory for exchanges */
};

/** Plan transforms; on the main thread, or on that of background.h. Failure ends the program. */
struct fft fft_create(const struct fft_mesh *mesh);
void fft_free(struct fft *f);
/** Only one thread at a time may make or free plans of FFTW. Those who do so without the functions above hold this
 * lock. */
void fft_planner_lock(void);
void fft_planner_unlock(void);

/** Bytes of memory that the numbers of this rank need, values or modes: both are in the same memory,
 * which malloc(), allocate() and fftw_malloc() align as FFTW needs it. */
size_t fft_bytes(const struct fft *f);
/** Bytes that the numbers of all ranks need, and what a transform takes up besides for exchanges. */
double fft_bytes_of_all(const struct fft_mesh *mesh);
double fft_exchange_bytes_of_all(const struct fft_mesh *mesh);
struct fft_grid fft_grid_of(const struct fft_mesh *mesh);
/** The values of a rank in the grid of the mesh. */
struct fft_box fft_values_of(const struct fft_mesh *mesh, struct fft_grid grid, int rank);
/** The row of the grid that has the values of a plane, and the column that has those of a row x1. */
static inline size_t fft_row_of(const struct fft *f, size_t x0) {
  return block_containing(f->mesh.cells[0], f->grid.rows, x0);
}
static inline size_t fft_column_of(const struct fft *f, size_t x1) {
  return block_containing(f->mesh.cells[1], f->grid.columns, x1);
}

/** Where a number is in memory, counted from the first one of the rank: x or k within the box. */
static inline size_t fft_at(const struct fft_box *b, size_t i0, size_t i1, size_t i2) {
  return i0 * b->step[0] + i1 * b->step[1] + i2 * b->step[2];
}
/** The frequency of mode k along an axis, of n cells: negative above n/2. */
static inline double fft_frequency(size_t k, size_t n) {
  return 2 * k <= n ? (double)k : (double)k - (double)n;
}

/** Transform values to modes in place, without a norm, exponent -i; not of a padded mesh. Double
 * precision. Collective. */
void fft_forward(const struct fft *f, double *memory);
/** Transform modes back to values, exponent +i: both transforms together multiply by the product of the
 * sizes. Double precision. Collective. */
void fft_backward(const struct fft *f, double *memory);

/**
 * What is done with modes of equal k1, on any worker. Modes of one k1 may come in several calls.
 * @param k1     on the whole mesh
 * @param k2     of the first of `count` neighbours along axis 2, on the whole mesh
 * @param modes  [k0 < size[0]][count]
 */
typedef void fft_work(void *context, size_t k1, size_t k2, size_t count, fftw_complex *modes);

/** Transform values, let all modes of this rank be worked on, and transform them back to values. Of a
 * padded mesh numbers with x2 >= cells[2] are 0 on entry, and those beyond the cells are lost. Double
 * precision. Collective. */
void fft_convolve(const struct fft *f, double *memory, fft_work *work, void *context);
/** The same without the transform back: the values are lost.
 * @param whole  of a padded mesh x1 and x2 of the second half have values, too: those of x1 + cells[1] are in
 *         the row of a plane that is values.count[1] behind that of x1 */
void fft_visit(const struct fft *f, double *memory, bool whole, fft_work *work, void *context);

/** The columns (k0, k1) of modes that fft_fill() asks this rank for: all ranks together have each once. */
struct fft_box fft_columns(const struct fft *f);
/** Give modes (k0, k1), both on the whole mesh, on any worker. @param[out] modes  [k2 <= size[2]/2] */
typedef void fft_column(void *context, size_t k0, size_t k1, fftw_complex *modes);
/** Fill the modes of all ranks, each rank with its columns. Double precision, not of a padded mesh. Collective. */
void fft_fill(const struct fft *f, double *memory, fft_column *column, void *context);

enum {
  FFT_LINES = 16, /**< lines that are transformed together, neighbours along axis 2 */
  FFT_BEYOND = 8  /**< numbers behind the end of each line that fft_weave may write, too */
};
/** Give the values of rows x1 .. x1 + count - 1 of two meshes, on any worker.
 * @param x0, x1      within the box
 * @param count       at most FFT_LINES
 * @param[out] lines  [size[2] + FFT_BEYOND][FFT_LINES] complex numbers, of the first mesh the real parts; the line of the last row is
 *                    also that of all behind `count` */
typedef void fft_weave(void *context, size_t x0, size_t x1, size_t count, float *lines);
/** Transform the values of two meshes along axes 2 and 1 only, in place, and exchange: to numbers (x0, k1, k2) in the
 * places of modes (k0, k1, k2). Two meshes together take less than half of the work of each on its own. Single precision, not
 * of padded meshes. Collective.
 * @param width  modes of k2 >= width are lost, and those at the Nyquist frequency along axis 2 */
void fft_pair_to_lines(const struct fft *f, void *const memory[2], size_t width, fft_weave *weave,
                       void *context);

/** After fft_pair_to_lines(): transform lines along axis 0 of one mesh.
 * @param line      their k1 within the box of modes
 * @param k2        of the first line, within the box
 * @param count     at most FFT_LINES
 * @param[out] out  [size[0]][FFT_LINES] complex numbers, 0 beyond `count`; memory of fftw_malloc() */
void fft_lines(const struct fft *f, const void *memory, size_t line, size_t k2, size_t count,
               void *out);

#endif
