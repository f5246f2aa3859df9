/* Page-locked host memory, which GPUs copy to and from without the processor. Without a GPU in use it is ordinary memory. */
#ifndef PHOTONS_PINNED_H
#define PHOTONS_PINNED_H

#include <stddef.h>

/** Blocks that come and go with tasks, from any thread: page-locking is far too slow to be done for each. */
struct pinned_pool;

struct pinned_pool *pinned_pool_create(void);
/** All blocks are gone with it. */
void pinned_pool_free(struct pinned_pool *p);
/** A block of at least so many bytes, not cleared. */
void *pinned_take(struct pinned_pool *p, size_t bytes);
/** @param bytes  as given to pinned_take(); block may be NULL */
void pinned_give_back(struct pinned_pool *p, void *block, size_t bytes);

/** Page-lock memory that is there already, if a GPU is in use; undo it before the memory is freed. */
void pin_memory(void *memory, size_t bytes);
void unpin_memory(void *memory, size_t bytes);

#endif
