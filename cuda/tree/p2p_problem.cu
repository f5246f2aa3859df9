/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all kernels of p2p are told. */
#include "cuda/domain/targets.cuh"
#include "cuda/tree/p2p.cuh"

/** Copy the tables of the sources to the GPU. */
static void upload_sources(struct gpu *g, const struct p2p_law *law,
                           const struct p2p_target *target, uint32_t slots, struct p2p_problem *p) {
  const size_t pointers = slots * sizeof(void *), counts = slots * sizeof *target->source_count;
  char *x = (char *)gpu_scratch(g, SCRATCH_TABLE, 3 * pointers + counts + 8), *count = x + pointers,
       *mass = x + pointers + (counts + 7) / 8 * 8, *type = mass + pointers;
  gpu_upload_pair(g, x, target->source_x, pointers, target->source_count, counts);
  if (target->source_mass) gpu_upload(g, mass, target->source_mass, pointers);
  if (target->source_type) gpu_upload(g, type, target->source_type, pointers);
  p->source_x = (const uint32_t *const *)x;
  p->source_count = (const uint32_t *)count;
  p->source_mass = target->source_mass ? (const float *const *)mass : NULL;
  p->source_type = target->source_type ? (const uint8_t *const *)type : NULL;
  p->index = target->index;
  p->soft2 = law->softening_kind == SOFTENING_SPLINE ? law->support2 : law->plummer2;
  for (int k = 0; k < PARTICLE_TYPES; k++) p->soft2_of[k] = law->soft2_of[k];
}

void p2p_problem_init(struct gpu *g, const struct p2p_law *law, const struct p2p_target *target,
                      uint32_t slots, const struct device_list *list, struct p2p_problem *p) {
  *p = {};
  upload_sources(g, law, target, slots, p);
  p->count = target->count;
  p->depth = p->block_level = target->depth;
  while ((((uint64_t)p->count - 1) >> p->block_level) + 1 > P2P_TARGETS_MOST) p->block_level++;
  p->first = target->first;
  p->source_depth = target->source_depth;
  p->scale = target->scale;
  p->factor = target->factor;
  p->x = target->x;
  p->offset = list->offset;
  p->entry = list->entry;
}
