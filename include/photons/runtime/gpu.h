/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CUDA workers: their stream and scratch memory, and the macros by which a build without CUDA
 * differs.
 *
 * A function whose name begins with gpu_ queues work on the stream of the worker whose struct gpu
 * it gets, and returns. It does not wait, and it does not allocate once scratch memory is large
 * enough. Arrays are in device memory unless the description says otherwise. Arrays of pointers and
 * all structs are in host memory and may change as soon as the function has returned. */
#ifndef PHOTONS_RUNTIME_GPU_H
#define PHOTONS_RUNTIME_GPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A CUDA worker's stream and scratch memory. */
struct gpu;
struct CUstream_st; /* cudaStream_t points to one */

/** To be called on the thread of the worker that will use it, with the worker's stream.
 * @param count_bytes  is told of scratch memory that is taken, or with a minus sign given back; or
 *                     NULL */
struct gpu *gpu_create(struct CUstream_st *stream, void (*count_bytes)(int64_t bytes));
void gpu_free(struct gpu *g);

/** What CUDA says of the last error that the calling thread met; NULL: there was none. */
const char *gpu_last_error(void);

/** Copy bytes; either end is in device memory or page-locked host memory. */
void gpu_copy(struct gpu *g, void *to, const void *from, size_t bytes);
/** Set bytes in device memory to zero. */
void gpu_clear(struct gpu *g, void *data, size_t bytes);
/** Copy rows; both ends are in device memory. Strides and width are in bytes. */
void gpu_copy_rows(struct gpu *g, void *to, size_t to_stride, const void *from, size_t from_stride,
                   size_t width, size_t rows);

#ifdef __cplusplus
}
#endif

/* A build without CUDA has no gpu_ functions. Calls of such functions must stand in GPU_CALL() or
 * in the _gpu function of a codelet (task.h), because a build without CUDA refers to neither. */
#ifdef PHOTONS_CUDA
#define GPU_CALL(call) (call)
#define GPU_CODELET(function) .cuda_funcs = {function}, .cuda_flags = {STARPU_CUDA_ASYNC},
#else
#define GPU_CALL(call) NULL
#define GPU_CODELET(function)
#endif

#endif
