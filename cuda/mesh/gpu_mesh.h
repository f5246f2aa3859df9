/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages of the mesh on a GPU; see photons/runtime/gpu.h. Arguments have the same meaning as for
 * the CPU functions in mesh.h. */
#ifndef PHOTONS_CUDA_MESH_H
#define PHOTONS_CUDA_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "photons/mesh/copies.h"
#include "photons/mesh/mesh.h"
#include "photons/runtime/gpu.h"

#ifdef __cplusplus
#define complex /* as in mesh.h */
extern "C" {
#else
#include <complex.h>
#endif

/** A mesh's tables and FFT plans in the memory of a GPU, for one worker. */
struct gpu_mesh;
/** Called on the worker that the tables are for. @param m  must outlive the result */
struct gpu_mesh *gpu_mesh_create(struct gpu *gpu, const struct mesh *m);
void gpu_mesh_free(struct gpu_mesh *g);
/** Copy the mesh's Green's function, which has changed, to the GPU. No task may run. */
void gpu_mesh_copy_green(struct gpu_mesh *g);

/** The particles are in the order of their tree. */
void gpu_deposit(struct gpu_mesh *g, uint32_t count, const uint32_t *x, const float *mass,
                 bool shifted, const struct patch *patch, float *data);
/** Clear the slab and add n patches in the given order. */
void gpu_patch_add(struct gpu_mesh *g, uint32_t slab_number, uint32_t n,
                   const struct patch *const *patch, const float *const *data, float *slab);
void gpu_fft_yz(struct gpu_mesh *g, uint32_t slab_number, float *slab,
                float complex *const *blocks);
void gpu_fft_z(struct gpu_mesh *g, uint32_t slab_number, float *slab, float complex *const *blocks);
void gpu_fft_y(struct gpu_mesh *g, uint32_t slab_number, const float complex *const *rows,
               float complex *const *columns);
void gpu_ifft_y(struct gpu_mesh *g, uint32_t slab_number, uint32_t field,
                const float complex *const *columns, float complex *const *rows);
void gpu_ifft_z(struct gpu_mesh *g, uint32_t slab_number, const float complex *const *blocks,
                float *slab);
/** @param[out] energy  the sum over all kz of a ky, which the CPU function has by kz, at its first kz; others are
 *         0 */
void gpu_fft_x(struct gpu_mesh *g, uint32_t column, const float complex *const *in,
               float complex *const *out, double *energy);
void gpu_ifft_yz(struct gpu_mesh *g, uint32_t slab_number, uint32_t field,
                 const float complex *const *blocks, float *slab);
/** Copy cells from one array on this GPU to another, see copies.h: of all copies at once. */
void gpu_copy_cells(struct gpu_mesh *g, const struct cell_copies *list);
/** Scratch memory for a field box that gpu_read() then reads. */
float *gpu_field_box(struct gpu_mesh *g, size_t floats);
/** @param slabs  the view consists of whole slabs: only the first plane pointer of each slab is
 *         used */
void gpu_read(struct gpu_mesh *g, uint32_t count, const uint32_t *x, bool shifted, float factor,
              const struct field_view *view, bool slabs, float *acceleration);

#ifdef __cplusplus
#undef complex
}
#endif

#endif
