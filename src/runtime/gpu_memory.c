/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of GPUs shared among the ranks of a host. A segment grows by chunks, which stay until the end. The
 * handles by which other processes open chunks stand in the rank's shared host memory. */
#include "photons/runtime/gpu_memory.h"

#include <stdint.h>

#ifdef PHOTONS_CUDA

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <starpu.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/host_memory.h"
#include "photons/runtime/scheduler.h"

enum { ALIGNMENT = 256, CHUNKS_MOST = 1024, DEVICES_MOST = 64 };
#define CHUNK_BYTES ((size_t)256 << 20) /* more for a larger message */
/* A place: this bit, the number of the chunk, and the offset in it. */
#define ON_GPU ((size_t)1 << 63)
#define OFFSET_BITS 44
#define OFFSET_MASK (((size_t)1 << OFFSET_BITS) - 1)

/** What other ranks need to know of a rank's chunks. */
struct directory {
  cudaIpcMemHandle_t chunk[CHUNKS_MOST];
};

static struct {
  bool shared;
  int device;                 /* of this rank's segment */
  size_t directory;           /* its place in a rank's host memory, the same for all ranks */
  char *own[CHUNKS_MOST];     /* chunks of this rank */
  size_t bytes[CHUNKS_MOST];  /* of each */
  size_t chunks, chunk, used; /* number of chunks; the one in use, and bytes of it that are taken */
  char **opened; /* [rank][device][chunk] chunks of others, opened by a GPU of this rank; or NULL */
} memory;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

static struct directory *directory_of(int rank) {
  return (struct directory *)(host_memory_of(rank) + memory.directory);
}

/** Add a chunk of so many bytes. Returns false if there is no memory. */
static bool add_chunk(size_t bytes) {
  const size_t k = memory.chunks;
  if (k == CHUNKS_MOST || cudaSetDevice(memory.device) != cudaSuccess) return false;
  if (cudaMalloc((void **)&memory.own[k], bytes) != cudaSuccess) {
    cudaGetLastError(); /* the error is dealt with here */
    return false;
  }
  if (cudaIpcGetMemHandle(&directory_of(comm_rank())->chunk[k], memory.own[k]) != cudaSuccess) {
    cudaGetLastError();
    cudaFree(memory.own[k]);
    return false;
  }
  memory.bytes[k] = bytes;
  memory.chunks++;
  return true;
}

/** A chunk of another rank for the current GPU; NULL if it cannot be opened. */
static char *open_chunk(int rank, size_t chunk) {
  int device;
  if (cudaGetDevice(&device) != cudaSuccess || device >= DEVICES_MOST) return NULL;
  char **place = &memory
                      .opened[((size_t)rank * DEVICES_MOST + (size_t)device) * CHUNKS_MOST + chunk];
  pthread_mutex_lock(&open_lock);
  if (!*place && cudaIpcOpenMemHandle((void **)place, directory_of(rank)->chunk[chunk],
                                      cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) {
    cudaGetLastError();
    *place = NULL;
  }
  char *const opened = *place;
  pthread_mutex_unlock(&open_lock);
  return opened;
}

/** Whether the first GPU of this rank reads what all other ranks of the host have written. */
static bool test_reading(void) {
  bool right = true;
  for (int r = 0; r < comm_size(); r++) {
    if (!host_memory_with(r)) continue;
    int found = -1;
    const char *from = open_chunk(r, 0);
    if (!from || cudaMemcpy(&found, from, sizeof found, cudaMemcpyDefault) != cudaSuccess)
      cudaGetLastError();
    right = right && found == r;
  }
  return right;
}

bool gpu_memory_start(void) {
  int device[STARPU_NMAXWORKERS];
  if (!host_memory_shared()) return false;
  memory.directory = host_memory_keep(sizeof(struct directory));
  memory.opened = allocate((size_t)comm_size() * DEVICES_MOST * CHUNKS_MOST, sizeof *memory.opened,
                           "chunks of GPU memory");
  const int rank = comm_rank();
  uint32_t missing = scheduler_gpus(device) == 0;
  memory.device = device[0];
  if (!missing)
    missing = !add_chunk(CHUNK_BYTES) ||
              cudaMemcpy(memory.own[0], &rank, sizeof rank, cudaMemcpyDefault) != cudaSuccess;
  comm_max_u32(&missing, 1); /* all ranks have written by now */
  if (!missing) missing = !test_reading();
  comm_max_u32(&missing, 1);
  memory.shared = !missing;
  if (missing) gpu_memory_stop();
  gpu_memory_reset();
  return !missing;
}

void gpu_memory_stop(void) {
  const size_t count = memory.opened ? (size_t)comm_size() * DEVICES_MOST * CHUNKS_MOST : 0;
  for (size_t i = 0; i < count; i++)
    if (memory.opened[i] && cudaIpcCloseMemHandle(memory.opened[i]) != cudaSuccess)
      cudaGetLastError();
  free(memory.opened);
  memory.opened = NULL;
  if (count > 0) comm_barrier(); /* all have closed what they opened */
  for (size_t k = 0; k < memory.chunks; k++) cudaFree(memory.own[k]);
  memory.chunks = 0;
  memory.shared = false;
}

void gpu_memory_reset(void) { memory.chunk = memory.used = 0; }

size_t gpu_memory_take(size_t bytes) {
  if (!memory.shared) return GPU_MEMORY_NONE;
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  while (memory.chunk < memory.chunks && memory.used + bytes > memory.bytes[memory.chunk]) {
    memory.chunk++;
    memory.used = 0;
  }
  if (memory.chunk == memory.chunks && !add_chunk(bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES))
    return GPU_MEMORY_NONE;
  const size_t place = ON_GPU | memory.chunk << OFFSET_BITS | memory.used;
  memory.used += bytes;
  return place;
}

bool gpu_memory_holds(size_t place) { return place & ON_GPU; }

char *gpu_memory_at(int rank, size_t place) {
  const size_t chunk = (place & ~ON_GPU) >> OFFSET_BITS;
  char *start = rank == comm_rank() ? memory.own[chunk] : open_chunk(rank, chunk);
  if (!start) fail(EXIT_RUN_FAILED, "cannot open GPU memory of rank %d", rank);
  return start + (place & OFFSET_MASK);
}

#else

bool gpu_memory_start(void) { return false; }
void gpu_memory_stop(void) {}
void gpu_memory_reset(void) {}
size_t gpu_memory_take(size_t bytes) {
  (void)bytes;
  return GPU_MEMORY_NONE;
}
bool gpu_memory_holds(size_t place) {
  (void)place;
  return false;
}
char *gpu_memory_at(int rank, size_t place) {
  (void)rank;
  (void)place;
  return NULL;
}

#endif
