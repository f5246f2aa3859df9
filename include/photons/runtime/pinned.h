/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Page-locked host memory, which GPUs copy from and to without the CPU. Without a GPU in use it is
 * ordinary memory. */
#ifndef PHOTONS_PINNED_H
#define PHOTONS_PINNED_H

#include <stddef.h>

/** A pool of buffers that tasks take and give back, on any thread. The pool page-locks large
 * chunks, since page-locking each buffer would be far too slow. */
struct pinned_pool;

struct pinned_pool *pinned_pool_create(void);
/** Frees all buffers of the pool, too. */
void pinned_pool_free(struct pinned_pool *p);
/** A buffer of at least so many bytes, not cleared; without a pool from malloc(). */
void *pinned_take(struct pinned_pool *p, size_t bytes);
/** the number given to pinned_take(); block may be NULL */
void pinned_give_back(struct pinned_pool *p, void *block, size_t bytes);

/** Page-lock existing memory if a GPU is in use, and undo that, which must come before the memory
 * is freed. If locking fails, a warning is printed. */
void pin_memory(void *memory, size_t bytes);
void unpin_memory(void *memory, size_t bytes);

#endif
