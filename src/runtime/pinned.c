/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pool of page-locked memory. Large chunks are cut into buffers whose sizes are powers of two;
 * each size has a list of free buffers. */
#include "photons/runtime/pinned.h"

#include <pthread.h>
#include <starpu.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "photons/base/error.h"

enum { SMALLEST_LOG = 12, LARGEST_LOG = 40, CHUNK_LOG = 26, HUGE_PAGE = 1 << 21 };

/** Stands at the start of a free buffer, and of a chunk, where it takes up 2^SMALLEST_LOG
 * bytes. */
struct link {
  struct link *next;
  size_t bytes;
};

struct pinned_pool {
  pthread_mutex_t lock;
  struct link *free[LARGEST_LOG + 1];
  struct link *chunks;
  char *rest; /* unused part of the newest chunk */
  size_t rest_bytes;
};

static unsigned size_log(size_t bytes) {
  unsigned log = SMALLEST_LOG;
  while (((size_t)1 << log) < bytes) log++;
  if (log > LARGEST_LOG)
    fail(EXIT_RUN_FAILED,
         "%zu bytes of page-locked memory in one piece are too many: make runtime.group_size "
         "smaller",
         bytes);
  return log;
}

struct pinned_pool *pinned_pool_create(void) {
  struct pinned_pool *p = allocate(1, sizeof *p, "memory pool");
  if (pthread_mutex_init(&p->lock, NULL) != 0)
    fail(EXIT_RUN_FAILED, "cannot make a lock for the memory pool");
  return p;
}

void pinned_pool_free(struct pinned_pool *p) {
  if (!p) return;
  while (p->chunks) {
    struct link *chunk = p->chunks;
    p->chunks = chunk->next;
    unpin_memory(chunk, chunk->bytes);
    free(chunk);
  }
  pthread_mutex_destroy(&p->lock);
  free(p);
}

/** Move the unused part of the newest chunk to the lists of free buffers. */
static void divide_rest(struct pinned_pool *p) {
  for (unsigned log = LARGEST_LOG; log >= SMALLEST_LOG; log--)
    for (const size_t block = (size_t)1 << log; p->rest_bytes >= block;
         p->rest += block, p->rest_bytes -= block) {
      struct link *link = (void *)p->rest;
      *link = (struct link){p->free[log], block};
      p->free[log] = link;
    }
}

static void new_chunk(struct pinned_pool *p, size_t block) {
  divide_rest(p);
  const size_t head = (size_t)1 << SMALLEST_LOG,
               bytes = (block > (size_t)1 << CHUNK_LOG ? block : (size_t)1 << CHUNK_LOG) + head;
  /* Written before it is locked, and in huge pages: page-locking goes page by page, which for small
   * pages takes a second in a virtual machine. */
  void *memory = aligned_alloc(HUGE_PAGE, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
  if (!memory) fail(EXIT_RUN_FAILED, "not enough memory for %zu bytes of interaction lists", bytes);
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 0, bytes);
  pin_memory(memory, bytes);
  struct link *chunk = memory;
  *chunk = (struct link){p->chunks, bytes};
  p->chunks = chunk;
  p->rest = (char *)memory + head;
  p->rest_bytes = bytes - head;
}

void *pinned_take(struct pinned_pool *p, size_t bytes) {
  if (!p) return reallocate(NULL, bytes, 1, "a buffer");
  const unsigned log = size_log(bytes);
  const size_t block = (size_t)1 << log;
  pthread_mutex_lock(&p->lock);
  void *result = p->free[log];
  if (result) {
    p->free[log] = p->free[log]->next;
  } else {
    if (p->rest_bytes < block) new_chunk(p, block);
    result = p->rest;
    p->rest += block;
    p->rest_bytes -= block;
  }
  pthread_mutex_unlock(&p->lock);
  return result;
}

void pinned_give_back(struct pinned_pool *p, void *block, size_t bytes) {
  if (!block) return;
  if (!p) {
    free(block);
    return;
  }
  const unsigned log = size_log(bytes);
  struct link *link = block;
  pthread_mutex_lock(&p->lock);
  *link = (struct link){p->free[log], bytes};
  p->free[log] = link;
  pthread_mutex_unlock(&p->lock);
}

void pin_memory(void *memory, size_t bytes) {
  if (starpu_cuda_worker_get_count() > 0 && bytes > 0 && starpu_memory_pin(memory, bytes) != 0)
    warn("%zu bytes could not be page-locked: copies to the GPU will be slow", bytes);
}

void unpin_memory(void *memory, size_t bytes) {
  if (starpu_cuda_worker_get_count() > 0 && bytes > 0) starpu_memory_unpin(memory, bytes);
}
