/* Memory that the processes of one host share: each writes a segment of its own, which the others read. */
#ifndef PHOTONS_HOST_MEMORY_H
#define PHOTONS_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Share memory among the processes of each host; by all. Pages take up memory when they are first written.
 * @return whether all can; else nobody shares any (processes of one host in different containers, say)
 */
bool host_memory_start(void);
void host_memory_stop(void);
/** Whether any process shares memory: the same on all. */
bool host_memory_shared(void);
/** Is process @p rank on this host, and its segment here? Its own does not count. */
bool host_memory_with(int rank);
/** Begin at the start of the own segment again. Its readers must be done. */
void host_memory_reset(void);
/** Room in the own segment, from host_memory_of(comm_rank()) + the offset returned; main thread only. */
size_t host_memory_take(size_t bytes);
/** Page-lock what begins at a place of a segment, for this process's GPUs. Returns how many of the bytes it could in one piece, at least one. */
size_t host_memory_pin(int rank, size_t place, size_t bytes);
/** The segment of a process of this host. */
char *host_memory_of(int rank);

#endif
