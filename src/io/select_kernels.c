/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of the kernels of lean snapshots for the processor's instruction set. */
#include "build_config.h"
#include "photons/io/kernels.h"

KERNEL_TABLES(struct io_kernels, io_kernels)

size_t deflate_planes_bound(size_t planes, size_t count) {
  /* A byte has a code of 12 bits at most. A block of 2^14 bytes, or the rest of a plane, has a head. */
  const size_t frame = 64, head = 200;
  return frame + planes * (count + count / 2 + (count / (1 << 14) + 1) * head);
}
