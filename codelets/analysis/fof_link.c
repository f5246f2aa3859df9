/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fof_link: links particles inside an ORB group to their friends, and with them the friends of these.
 *
 * reads  positions
 * writes heads */
#include "src/analysis/fof_link.h"
#include "codelets/runtime/task.h"
#include "cuda/analysis/gpu_analysis.h"
#include "photons/analysis/codelets.h"
#include "photons/analysis/fof.h"

struct fof_link_argument {
  struct fof *fof;
  uint32_t block, first, count;
  uint64_t length2;
};
enum { POSITION, HEAD, SLOTS };

static double fof_link_work(const struct fof_link_argument *a) { return a->count; }

static void fof_link_cpu(void *buffers[], const struct fof_link_argument *a) {
  (void)buffers; /* these are where the particles and the heads of all ORB groups are */
  fof_link_block(a->fof, a->block);
}

static void fof_link_gpu(struct gpu *gpu, void *buffers[], const struct fof_link_argument *a) {
  gpu_fof_link(gpu, a->first, a->count, a->length2, VECTOR(const uint32_t, buffers[POSITION]),
               VECTOR(uint32_t, buffers[HEAD]));
}

STAGE(fof_link, 0x332288, NULL, .untimed = true);

void fof_link_submit(struct fof *f, uint32_t block, starpu_data_handle_t position,
                     starpu_data_handle_t head) {
  const struct particle_block b = particles_block(f->particles, block);
  const struct starpu_data_descr data[SLOTS] = {
      [POSITION] = {position, STARPU_R}, [HEAD] = {head, STARPU_W}};
  fof_link_insert(
      (struct fof_link_argument){f, block, (uint32_t)b.first, (uint32_t)b.count, f->length2},
      (struct task){.data = data, .count = SLOTS, .priority = PRIORITY_LOWEST});
}
