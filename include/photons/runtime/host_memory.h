/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory shared among the ranks of one host. Each rank has a segment of its own, which it fills
 * with messages and the other ranks read. message.h uses the segments. */
#ifndef PHOTONS_HOST_MEMORY_H
#define PHOTONS_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Share memory among the ranks of each host; collective. A page takes up memory when it is first
 * written.
 * @return whether every rank could map the segments of its host; if not (ranks of one host in
 *         different containers, for example) no rank shares memory
 */
bool host_memory_start(void);
/** Unmap and free all segments; collective. */
void host_memory_stop(void);
/** Whether ranks share memory; the same on all ranks. */
bool host_memory_shared(void);
/** Whether the segment of rank @p rank can be read here; false for this rank itself. */
bool host_memory_with(int rank);
/** Empty this rank's segment but for what is kept. Its readers must have finished. */
void host_memory_reset(void);
/**
 * Empty this rank's segment and reserve bytes in it that stay until the end. Ranks that keep the same have
 * it at the same offset.
 * @return the offset
 */
size_t host_memory_keep(size_t bytes);
/**
 * Reserve bytes in this rank's segment; main thread only.
 * @return offset from host_memory_of(comm_rank())
 */
size_t host_memory_take(size_t bytes);
/**
 * Page-lock the memory at offset `place` of a rank's segment, for this rank's GPUs.
 * @return how many of the bytes are page-locked in one piece; at least one
 */
size_t host_memory_pin(int rank, size_t place, size_t bytes);
/** The segment of a rank of this host. */
char *host_memory_of(int rank);

#endif
