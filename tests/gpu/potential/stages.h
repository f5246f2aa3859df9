/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Self-gravity of gas on several levels: numbers that are the same on the host and on the GPU. */
#ifndef PHOTONS_TESTS_GPU_POTENTIAL_STAGES_H
#define PHOTONS_TESTS_GPU_POTENTIAL_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/potential/gpu_potential.h"
#include "photons/gas/create.h"
#include "photons/potential/gravity.h"
#include "tests/gpu/compare.h"

enum { CUBE_BYTES = GAS_GROUP_CELLS * sizeof(double) };

/** The same numbers on the host and on the device. */
struct mirrored {
  char *host, *device;
  size_t bytes;
};

/** What tasks read of a batch. */
struct batch_data {
  struct mirrored old, now; /* potentials */
  struct mirrored mass, shares, links;
  char *cells;
};

struct stages {
  struct gas *g;
  struct gpu *gpu;
  cudaStream_t stream;
  struct batch_data *data[GAS_LEVELS_MAX];
  uint32_t random;
  struct difference blocks, density, solved, relaxed, shares, mass, means, kicked, border, energy,
      acceleration, cut, paste, means_of_matter;
  uint32_t beyond, sheets,
      untold; /* faces at ends of the box; patches beside refined ones; groups without these */
};

/** What a block is made from. */
struct mode {
  bool near, coarse, inner;
  double weight, change;
};

enum { HALVES = 4 };

/** A batch with blocks, which are the same on the host and on the device. */
struct prepared {
  struct stages *s;
  int level;
  const struct gas_batch *b;
  const struct batch_data *d;
  struct mirrored blocks, wide;
  const char *cells; /* on the host */
  double *out;       /* device memory for numbers of a cube each */
};

/** The lists of a block's sources, on the host and on the device. */
struct source_lists {
  const char **host, **device;
  uint32_t near, begin, end;
};
/** Those of a batch; free() `host` and `device`. */
struct source_lists lists_of(const struct stages *s, int level, const struct gas_batch *b,
                             struct mode m);
/** The same lists as kernels take them. */
struct gpu_potentials given_potentials(const struct source_lists *a, const struct batch_data *d,
                                       struct mode m);
/** The CPU's blocks. */
void make_blocks(const struct stages *s, int level, const struct gas_batch *b, struct mode m,
                 const struct source_lists *a, double *blocks);
/** What the GPU wrote, after all work of the stream. */
void copy_back(const struct stages *s, void *to, const void *from, size_t bytes);
/** A batch as kernels take it. */
struct gpu_gas batch_on_gpu(const struct stages *s, const struct gas_batch *b);
/** Even or odd groups are solved, and the others keep their potential or get 0: i of HALVES. */
struct gpu_half half_of(int i);
/** Whether a half solves a group. */
bool is_half(const struct stages *s, int level, uint32_t group, struct gpu_half half);
/** The blocks of a batch. */
void check_blocks(struct stages *s, int level, const struct gas_batch *b,
                  const struct batch_data *d, struct mode m);
/** What the sources of a batch's groups are made from. @param massive  with pseudo-mass */
struct gpu_density solve_density(const struct prepared *t, bool massive);
/** The densities of a batch's groups, as gas_density has them. */
void check_density(const struct prepared *t);
/** The potentials of a batch, directly, by the potentials around its groups. */
void check_direct(const struct prepared *t, struct mode m, bool massive);
/** Half of them. @param old  potentials before, on the host; NULL: there are none
 * @param blocks  with ghost cells, on the host */
void compare_direct(const struct prepared *t, const struct gpu_gas *g,
                    const struct gpu_solved *batch, struct gpu_half half, bool massive,
                    const double *old, const double *blocks);
/** The potentials of half of a batch's groups, by relaxation. */
void check_relaxation(struct prepared *t, struct gpu_half half, bool massive);
/** What groups give to coarser ones. */
void check_shares(struct prepared *t, bool massive);
/** What coarser groups make of it. */
void check_sheets(struct prepared *t);
/** Kicks of cells. */
void check_kick(struct prepared *t);
/** Kicks of cells beside refined patches. */
void check_border(struct prepared *t);
/** The work of mass that flows. */
void check_work(struct prepared *t);
/** Accelerations and energies. */
void check_field(struct prepared *t);
/** Means of densities of all groups of a batch, from the first ones to the last ones. */
void check_means(struct stages *s, const struct gas_batch *b, const struct mirrored *from);
/** The potentials of levels of several batches, in one task and in a task for each batch and solution. */
void check_together(int precision, bool periodic);
/** A message with parts of all groups of a batch: of potentials, shares or densities of particles. */
void check_messages(struct stages *s, const struct gas_batch *b, const struct mirrored *from,
                    enum gpu_ghost_kind kind);

#endif
