/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages with potentials, shares and densities of particles. */
#include <stddef.h>
#include <stdlib.h>

#include "cuda/pm/gpu_pm.h"
#include "photons/amr/matter.h"
#include "photons/base/error.h"
#include "tests/gpu/potential/stages.h"

/** Where value k of a part is in a group. */
static size_t value_of_part(enum gpu_ghost_kind kind, size_t part, size_t k) {
  if (kind == GPU_GHOST_SHARES) return k;
  const size_t first = kind == GPU_GHOST_MATTER ? offsetof(struct gas_matter, coarse) / 8 : 0;
  const size_t x = 4 * (part & 3) + (k & 3), y = 4 * (part >> 2 & 3) + (k >> 2 & 3),
               z = 4 * (part >> 4) + (k >> 4);
  return first + (z * GAS_GROUP_SIDE + y) * GAS_GROUP_SIDE + x;
}

void check_means(struct stages *s, const struct gas_batch *b, const struct mirrored *from) {
  const struct gas_matter *matter = (const struct gas_matter *)(void *)from->host;
  struct gpu_ghost *ghost = allocate(b->count, sizeof *ghost, "ghosts");
  const size_t bytes = b->count * sizeof(double[GAS_PATCH_CELLS]);
  double(*packed)[GAS_PATCH_CELLS] = allocate(bytes, 1, "message");
  struct gas_matter *pasted = allocate(b->count, sizeof *pasted, "ghosts");
  double *packed_out = device_memory(bytes);
  struct gas_matter *pasted_out = to_device(pasted, from->bytes); /* zeros */
  for (uint32_t i = 0; i < b->count; i++) {
    ghost[i] = (struct gpu_ghost){.group = i, .first = i, .patch = (3 * i + 1) % 8, .parts = 1};
    matter_means(&matter[i], packed[i]);
    matter_put_means(packed[i], (int)ghost[i].patch, &pasted[i]);
  }
  const char *const batches[] = {from->device}, *const to[] = {(char *)pasted_out};
  const struct gpu_gas g = batch_on_gpu(s, b);
  struct gpu_ghost *places = to_device(ghost, b->count * sizeof *ghost);
  gpu_gas_cut(&g, &(struct gpu_message){GPU_GHOST_MATTER_MEANS, places, batches, 1}, packed_out);
  gpu_gas_paste(&g, &(struct gpu_message){GPU_GHOST_MATTER_MEANS, places, to, 1}, packed_out);
  char *back = allocate(from->bytes, 1, "ghosts");
  copy_back(s, back, packed_out, bytes);
  compare_numbers(&s->means_of_matter, sizeof(double), packed, back, bytes);
  copy_back(s, back, pasted_out, from->bytes);
  compare_numbers(&s->means_of_matter, sizeof(double), pasted, back, from->bytes);
  CUDA(cudaFree(packed_out));
  CUDA(cudaFree(pasted_out));
  CUDA(cudaFree(places));
  free(ghost);
  free(packed);
  free(pasted);
  free(back);
}

void check_messages(struct stages *s, const struct gas_batch *b, const struct mirrored *from,
                    enum gpu_ghost_kind kind) {
  const bool shares = kind == GPU_GHOST_SHARES;
  const size_t group = from->bytes / b->count / sizeof(double), values = shares ? group : 64;
  const double *inside = (const double *)(void *)from->host;
  struct gpu_ghost *ghost = allocate(b->count, sizeof *ghost, "ghosts");
  double *packed = allocate(b->count * (shares ? values : GAS_GROUP_CELLS), sizeof *packed,
                            "message"),
         *pasted = allocate(from->bytes, 1, "ghosts"), *back = allocate(from->bytes, 1, "ghosts");
  uint32_t parts = 0;
  for (uint32_t i = 0; i < b->count; i++) {
    const uint64_t of_group = shares ? 1 : 0x8000400020001u * (i + 3);
    ghost[i] = (struct gpu_ghost){.group = i, .first = parts, .parts = of_group};
    for (size_t part = 0; part < 64; part++)
      for (size_t k = 0; (of_group >> part & 1) && k < values; k++) {
        const size_t at = i * group + value_of_part(kind, part, k);
        packed[parts * values + k] = pasted[at] = inside[at];
        if (k + 1 == values) parts++;
      }
  }
  double *packed_out = device_memory(parts * values * sizeof *packed),
         *pasted_out = to_device(back, from->bytes); /* zeros */
  const char *const batches[] = {from->device}, *const to[] = {(char *)pasted_out};
  const struct gpu_gas g = batch_on_gpu(s, b);
  struct gpu_ghost *places = to_device(ghost, b->count * sizeof *ghost);
  gpu_gas_cut(&g, &(struct gpu_message){kind, places, batches, 1}, packed_out);
  gpu_gas_paste(&g, &(struct gpu_message){kind, places, to, 1}, packed_out);
  copy_back(s, back, pasted_out, from->bytes);
  compare_numbers(&s->paste, sizeof *back, pasted, back, from->bytes);
  free(back);
  back = allocate(parts * values, sizeof *back, "message");
  copy_back(s, back, packed_out, parts * values * sizeof *back);
  compare_numbers(&s->cut, sizeof *back, packed, back, parts * values * sizeof *back);
  CUDA(cudaFree(packed_out));
  CUDA(cudaFree(pasted_out));
  CUDA(cudaFree(places));
  free(ghost);
  free(packed);
  free(pasted);
  free(back);
}
