/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ghost_cut, ghost_paste: the positions of a group that another process can meet, packed for the way, and back to their places there; the others
 * stay undefined. Cut reads X and writes the packed ones, paste reads these and writes X. */
#include <string.h>

#include "codelets/runtime/task.h"

/** Three rows of coordinates, of one array into another. */
struct rows {
  uint32_t *to;
  const uint32_t *from;
  size_t to_stride, from_stride, width;
};

static void copy_rows(const struct rows *r, struct gpu *gpu) {
#ifdef PHOTONS_CUDA
  if (gpu) {
    gpu_copy_rows(gpu, r->to, r->to_stride * sizeof *r->to, r->from, r->from_stride * sizeof *r->from,
                  r->width * sizeof *r->to, 3);
    return;
  }
#endif
  (void)gpu;
  for (size_t c = 0; c < 3; c++)
    memcpy(r->to + c * r->to_stride, r->from + c * r->from_stride, r->width * sizeof *r->to);
}

/** Run by run of branches that follow each other. @param gpu  NULL: here */
static void copy_branches(void *buffers[], const struct simulation *s, const struct ghost *g, bool cut,
                          struct gpu *gpu) {
  const uint32_t all = s->groups[g->group].count;
  uint32_t done = 0;
  for (uint32_t b = 0, end; b < 1u << s->top_depth; b = end) {
    const bool wanted = g->branches >> b & 1;
    for (end = b + 1; end < 1u << s->top_depth && (g->branches >> end & 1) == wanted;) end++;
    if (!wanted) continue;
    const uint32_t first = level_first(all, s->top_depth, b), n = level_first(all, s->top_depth, end) - first;
    const uint32_t to = cut ? done : first, from = cut ? first : done;
    const struct rows rows = {.to = VECTOR(uint32_t, buffers[0]) + to,
                              .from = VECTOR(const uint32_t, buffers[1]) + from,
                              .to_stride = cut ? g->count : all,
                              .from_stride = cut ? all : g->count,
                              .width = n};
    copy_rows(&rows, gpu);
    done += n;
  }
}

static const struct ghost *sent(const struct task_argument *a) { return &a->simulation->sent.ghost[a->column]; }
static const struct ghost *received(const struct task_argument *a) { return &a->simulation->received.ghost[a->column]; }

static void ghost_cut_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  copy_branches(buffers, a->simulation, sent(a), true, NULL);
}
static void ghost_paste_cpu(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  copy_branches(buffers, a->simulation, received(a), false, NULL);
}

#ifdef PHOTONS_CUDA
static void ghost_cut_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  copy_branches(buffers, a->simulation, sent(a), true, task_worker(a)->gpu);
}
static void ghost_paste_cuda(void *buffers[], void *arguments) {
  const struct task_argument *a = arguments;
  copy_branches(buffers, a->simulation, received(a), false, task_worker(a)->gpu);
}
#endif

PHOTONS_CODELET(ghost_cut, 0x99bbbb, sent(a)->count);
PHOTONS_CODELET(ghost_paste, 0xbbdddd, received(a)->count);

static void submit(struct starpu_codelet *codelet, struct simulation *s, uint32_t i, starpu_data_handle_t to,
                   starpu_data_handle_t from) {
  task_submit(codelet, (struct task_argument){.simulation = s, .column = i},
              (struct starpu_data_descr[]){{to, STARPU_W}, {from, STARPU_R}}, 2, PRIORITY_REFIT);
}

void ghost_cut_submit(struct simulation *s, uint32_t i) {
  const struct ghost *g = &s->sent.ghost[i];
  submit(&ghost_cut_codelet, s, i, g->handle, s->groups[g->group].position_handle);
}

void ghost_paste_submit(struct simulation *s, uint32_t i) {
  const struct ghost *g = &s->received.ghost[i];
  submit(&ghost_paste_codelet, s, i, s->groups[g->group].position_handle, g->handle);
}
