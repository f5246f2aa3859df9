/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mesh as its CUDA files see it: tables in device memory, and cuFFT plans. */
#ifndef PHOTONS_CUDA_MESH_CUH
#define PHOTONS_CUDA_MESH_CUH

#include <cufft.h>

#include "cuda/mesh/gpu_mesh.h"
#include "cuda/runtime/gpu.cuh"

/** FFT plans for slabs or columns of one width. Widths differ by one at most, so there are two
 * plans. */
struct gpu_plans {
  uint32_t width; /* planes of a slab, or ky of a column; 0: none */
  cufftHandle forward, backward;
};

/** A mesh as kernels see it. */
struct device_mesh {
  struct mesh m; /* its pointers are to device memory, or NULL */
  uint16_t *slab_of_plane;
};

struct gpu_mesh {
  struct gpu *gpu;
  const struct mesh *mesh; /* in host memory */
  struct device_mesh device;
  struct gpu_plans slab_plans[2]; /* not of pencils */
  struct gpu_plans column_plans[2];
  struct {
    cufftHandle z_forward, z_backward,
        y; /* of the rows of a plane, and of its lines of all own kz */
  } pencil_plans;
  void *fft_work; /* work area of all plans; they follow each other on the stream */
};

#define CHECK_CUFFT(call) gpu_check_fft((call), #call)
void gpu_check_fft(cufftResult status, const char *what);

#endif
