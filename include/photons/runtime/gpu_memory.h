/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of GPUs shared among the ranks of one host, by CUDA's interprocess communication. Each rank fills
 * a segment of its own, in the memory of its first GPU, with messages; the other ranks' GPUs read it,
 * over NVLink where the host has that. message.h uses the segments beside those of host_memory.h. */
#ifndef PHOTONS_GPU_MEMORY_H
#define PHOTONS_GPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/** No place: the GPU has no memory left. */
#define GPU_MEMORY_NONE ((size_t)-1)

/**
 * Share GPU memory among the ranks of each host; collective. After host_memory_start() and the start of
 * StarPU.
 * @return whether all ranks have a GPU and can read what the other ranks of their host have written
 */
bool gpu_memory_start(void);
/** Close and free all segments; collective. */
void gpu_memory_stop(void);
/** Empty this rank's segment. Its readers must have finished. */
void gpu_memory_reset(void);
/**
 * Reserve bytes in this rank's segment; main thread only.
 * @return their place, at which gpu_memory_holds() is true, or GPU_MEMORY_NONE
 */
size_t gpu_memory_take(size_t bytes);
/** Whether a place is one of a segment of GPU memory; if not, it is one of host_memory.h. */
bool gpu_memory_holds(size_t place);
/** The memory at a place in the segment of a rank of this host, for the GPU of the calling worker. */
char *gpu_memory_at(int rank, size_t place);

#endif
