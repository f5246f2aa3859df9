/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gas on several levels, and what stages write on the host and on the GPU. */
#ifndef PHOTONS_TESTS_GPU_HYDRO_STAGES_H
#define PHOTONS_TESTS_GPU_HYDRO_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/hydro/gpu_hydro.h"
#include "photons/gas/create.h"
#include "tests/gpu/compare.h"

/* pressure/density, between those on the two sides of the tube. */
#define LEAST_HEAT 0.9

/** A batch with all that stages write, on the host and on the device. */
struct twin {
  char *now, *before;                                    /* cells, on the device */
  char *blocks, *cells, *fluxes, *sides;                 /* the CPU's results */
  char *blocks_out, *cells_out, *fluxes_out, *sides_out; /* the GPU's, on the device */
  struct gas_links *links;                               /* on the device */
};

struct stages {
  struct gas *g;
  struct gpu *gpu;
  cudaStream_t stream;
  struct twin *twin[GAS_LEVELS_MAX];
  struct difference prepare, solve, fluxes, close, fix, restricted, regrid, cut, paste, speed, sum,
      accelerated;
  bool same_flags, same_faults;
  uint32_t faces, interpolated; /* whose fluxes were replaced; groups */
  uint32_t warmed;              /* cells */
};

/** Bytes of a number. */
size_t real_of(const struct stages *s);
/** A batch as kernels take it. */
struct gpu_gas gas_on_gpu(const struct stages *s, const struct gas_batch *b);
/** What the GPU wrote, on the host; free() it. */
void *from_device(const struct stages *s, const void *from, size_t bytes);
/** Add what the GPU's result differs by. */
void compare_device(struct stages *s, struct difference *d, const void *cpu, const void *gpu,
                    size_t bytes);
/** Cells on the host, whose handle is acquired. */
const char *on_host(starpu_data_handle_t cells);
/** Host and device addresses of what a block is made from. */
size_t list_sources(const struct stages *s, int level, const struct gas_batch *b, const char **host,
                    const char **device);
/** Where the entropy decides everywhere, interpolation and fix-up keep it. */
struct gas_physics cold_physics(const struct gas_physics *physics);
/** The blocks that a step starts from. */
void check_prepare(struct stages *s, int level, const struct gas_batch *b, struct twin *t);
/** A step of all groups, with and without dual energy. */
void check_solve(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
                 struct gas_fault *fault);
/** Fluxes at the sides of groups. */
void check_close(struct stages *s, const struct gas_batch *b, struct twin *t);
/** The fix-up of a batch, whose finer batches have been solved.
 * @param cells, cells_out  of the batch, on the host and on the device */
void check_fix(struct stages *s, const struct gas_batch *b, struct twin *t,
               const struct twin *finer, char *cells, char *cells_out);
/** The fix-up of cold gas. Leaves the cells as they are. */
void check_cold_fix(struct stages *s, const struct gas_batch *b, struct twin *t,
                    const struct twin *finer);
/** A change of the velocity of all cells. */
void check_accelerate(struct stages *s, const struct gas_batch *b, const struct twin *t);
/** The means of finer cells. */
void check_restrict(struct stages *s, int level, const struct gas_batch *b, struct twin *t);
/** Speeds, and the fault of a cell without a positive energy. */
void check_speed(struct stages *s, const struct gas_batch *b, struct twin *t, void *pinned);
/** Conserved sums of cells that are not refined. */
void check_sum(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
               void *pinned);
/** Flags of thresholds that some cells reach and others do not. */
void check_flags(struct stages *s, int level, const struct gas_batch *b, struct twin *t,
                 void *pinned);
/** Messages with cells, sides and means of all groups of two batches. */
void check_cell_ghosts(struct stages *s, int level, const struct gas_batch *b, struct twin *t);
/** Cells of new groups, of warm and of cold gas. */
void check_regrid(struct stages *s, int level, const struct gas_batch *b, struct twin *t);

#endif
