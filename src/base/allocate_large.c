/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large blocks of memory. */
#include <stdint.h>
#include <sys/mman.h>

#include "photons/base/error.h"

void use_huge_pages(void *block, size_t bytes) {
  const size_t huge_page = (size_t)2 << 20,
               before = (huge_page - (uintptr_t)block % huge_page) % huge_page;
  if (bytes >= before + huge_page)
    (void)madvise((char *)block + before, (bytes - before) / huge_page * huge_page, MADV_HUGEPAGE);
}

void *allocate_large(size_t count, size_t size, const char *what) {
  void *block = allocate(count, size, what);
  use_huge_pages(block, count * size);
  return block;
}

void *allocate_uncleared(size_t count, size_t size, const char *what) {
  void *block = reallocate(NULL, count, size, what);
  use_huge_pages(block, count * size);
  return block;
}
