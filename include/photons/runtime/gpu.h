/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every CUDA worker has, and the one place where a build without CUDA differs.
 *
 * Functions whose names begin with gpu_ queue work on the stream of the worker whose struct gpu they
 * get, and return; they neither wait nor, once scratch memory has grown to size, allocate. Arrays are
 * in device memory unless said otherwise. Arrays of pointers and all structs are in host memory and
 * may change as soon as the function has returned. */
#ifndef PHOTONS_RUNTIME_GPU_H
#define PHOTONS_RUNTIME_GPU_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A CUDA worker's stream and scratch memory. */
struct gpu;
struct CUstream_st; /* cudaStream_t points to one */

/** On the worker that it is for, with its stream. */
struct gpu *gpu_create(struct CUstream_st *stream);
void gpu_free(struct gpu *g);

/** Copy bytes; both ends in device memory or page-locked host memory. */
void gpu_copy(struct gpu *g, void *to, const void *from, size_t bytes);
/** Copy rows, both ends in device memory; strides and width in bytes. */
void gpu_copy_rows(struct gpu *g, void *to, size_t to_stride, const void *from, size_t from_stride,
                   size_t width, size_t rows);

#ifdef __cplusplus
}
#endif

/* A build without CUDA has no gpu_ functions: calls of them must stand in GPU_CALL() or in the _gpu
 * function of a codelet (task.h), which such a build does not refer to. */
#ifdef PHOTONS_CUDA
#define GPU_CALL(call) (call)
#define GPU_CODELET(function) .cuda_funcs = {function}, .cuda_flags = {STARPU_CUDA_ASYNC},
#else
#define GPU_CALL(call) NULL
#define GPU_CODELET(function)
#endif

#endif
