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
  char *(**opened)[CHUNKS_MOST]; /* [rank] NULL for a rank whose memory is not shared; else
                                    [device][chunk] chunks that a GPU of this rank has opened, or NULL */
} memory;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

static struct directory *directory_of(int rank) {
  return (struct directory *)(host_memory_of(rank) + memory.directory);
}

/** Whether a call of CUDA did what it should. If not, later calls do not report that error again. */
static bool succeeds(cudaError_t status) {
  if (status != cudaSuccess) (void)cudaGetLastError();
  return status == cudaSuccess;
}

/** Add a chunk of so many bytes. Returns false if there is no memory. */
static bool add_chunk(size_t bytes) {
  const size_t k = memory.chunks;
  if (k == CHUNKS_MOST || !succeeds(cudaSetDevice(memory.device)) ||
      !succeeds(cudaMalloc((void **)&memory.own[k], bytes)))
    return false;
  if (!succeeds(cudaIpcGetMemHandle(&directory_of(comm_rank())->chunk[k], memory.own[k]))) {
    (void)succeeds(cudaFree(memory.own[k])); /* the message goes another way in any case */
    return false;
  }
  memory.bytes[k] = bytes;
  memory.chunks++;
  return true;
}

/** A chunk of another rank for the current GPU; NULL if it cannot be opened. */
static char *open_chunk(int rank, size_t chunk) {
  int device;
  if (!succeeds(cudaGetDevice(&device)) || device >= DEVICES_MOST) return NULL;
  char **place = &memory.opened[rank][device][chunk];
  pthread_mutex_lock(&open_lock);
  if (!*place && !succeeds(cudaIpcOpenMemHandle((void **)place, directory_of(rank)->chunk[chunk],
                                                cudaIpcMemLazyEnablePeerAccess)))
    *place = NULL;
  char *const opened = *place;
  pthread_mutex_unlock(&open_lock);
  return opened;
}

/** Whether the first GPU of this rank reads what all other ranks of the host have written. */
static bool reads_others(void) {
  bool right = true;
  for (int r = 0; r < comm_size(); r++) {
    if (!host_memory_with(r)) continue;
    int found = -1;
    memory.opened[r] = allocate(DEVICES_MOST, sizeof *memory.opened[r], "chunks of GPU memory");
    const char *from = open_chunk(r, 0);
    right = right && from && succeeds(cudaMemcpy(&found, from, sizeof found, cudaMemcpyDefault)) &&
            found == r;
  }
  return right;
}

/** Write this rank's number to its first chunk, for reads_others(). */
static bool write_own(void) {
  const int rank = comm_rank();
  return add_chunk(CHUNK_BYTES) &&
         succeeds(cudaMemcpy(memory.own[0], &rank, sizeof rank, cudaMemcpyDefault));
}

bool gpu_memory_start(void) {
  int device[STARPU_NMAXWORKERS] = {0};
  if (!host_memory_shared()) return false;
  memory.directory = host_memory_keep(sizeof(struct directory));
  memory.opened = allocate((size_t)comm_size(), sizeof *memory.opened, "chunks of GPU memory");
  const bool gpu = scheduler_gpus(device) > 0;
  memory.device = device[0];
  /* A rank that is alone on its host shares nothing. */
  uint32_t missing = !gpu || (comm_host_size() > 1 && !write_own());
  comm_max_u32(&missing, 1); /* all ranks have written by now */
  if (!missing) missing = !reads_others();
  comm_max_u32(&missing, 1);
  memory.shared = !missing;
  if (missing) gpu_memory_stop();
  return !missing;
}

/** Close what this rank has opened. */
static void close_chunks(void) {
  for (int r = 0; r < comm_size(); r++) {
    for (int device = 0; memory.opened[r] && device < DEVICES_MOST; device++)
      for (size_t k = 0; k < CHUNKS_MOST; k++) {
        char *chunk = memory.opened[r][device][k];
        if (chunk && (!succeeds(cudaSetDevice(device)) || !succeeds(cudaIpcCloseMemHandle(chunk))))
          warn("cannot close GPU memory of rank %d", r);
      }
    free(memory.opened[r]);
  }
  free(memory.opened);
  memory.opened = NULL;
}

void gpu_memory_stop(void) {
  if (!memory.opened) return;
  close_chunks();
  comm_barrier(); /* all have closed theirs */
  for (size_t k = 0; k < memory.chunks; k++)
    if (!succeeds(cudaFree(memory.own[k]))) warn("cannot free memory of GPU %d", memory.device);
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
