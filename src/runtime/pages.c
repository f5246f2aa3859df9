/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "photons/runtime/pages.h"

#include <stdint.h>
#include <sys/mman.h>

#include "photons/base/error.h"

#define HUGE_PAGE ((size_t)2 << 20)

struct pages pages_create(size_t bytes, const char *what) {
  struct pages p = {.bytes = bytes, .mapped_bytes = bytes + HUGE_PAGE};
  if (bytes == 0) return p;
  p.mapped = mmap(NULL, p.mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p.mapped == MAP_FAILED)
    fail(EXIT_RUN_FAILED, "not enough memory for %s (%.1f MiB)", what, (double)bytes / 1048576.0);
  const size_t past = (uintptr_t)p.mapped % HUGE_PAGE;
  p.start = (char *)p.mapped + (past > 0 ? HUGE_PAGE - past : 0);
  (void)madvise(p.start, bytes, MADV_HUGEPAGE);
  return p;
}

void pages_rest(const struct pages *p) {
  if (p->bytes > 0 && madvise(p->start, p->bytes, MADV_DONTNEED) != 0)
    fail(EXIT_RUN_FAILED, "the system does not take back %zu bytes of memory", p->bytes);
}

void pages_free(struct pages *p) {
  if (p->bytes > 0) munmap(p->mapped, p->mapped_bytes);
  *p = (struct pages){0};
}
