/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages with ghosts. */
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h"
#include "tests/gpu/hydro/stages.h"

/** A message with all groups of two batches. */
struct ghost_check {
  enum gpu_ghost_kind kind;
  uint32_t ghosts, parts;
  struct gpu_ghost *ghost;
  size_t bytes;            /* of a group in the batches */
  const char *from[2];     /* the batches on the host */
  const char *from_out[2]; /* and on the device */
  uint32_t groups[2];      /* of the batches */
  size_t packed_bytes;
};

static struct ghost_check make_ghosts(const struct stages *s, int level, const struct gas_batch *b,
                                      const struct twin *t, enum gpu_ghost_kind kind) {
  const struct gas *g = s->g;
  const struct gas_level *l = &g->level[level];
  const struct gas_batch *batch[] = {&l->batch[0], b};
  const struct twin *twin[] = {&s->twin[level][0], t};
  const bool sides = kind == GPU_GHOST_SIDES;
  struct ghost_check c = {.kind = kind,
                          .ghosts = batch[0]->count + b->count,
                          .bytes = sides ? gas_sides_bytes(g) : gas_group_bytes(g)};
  c.ghost = allocate(c.ghosts, sizeof *c.ghost, "ghosts");
  uint64_t random = 1;
  for (uint32_t k = 0, n = 0; k < 2; k++) {
    c.from[k] = sides ? twin[k]->sides : on_host(batch[k]->handle[l->now]);
    c.from_out[k] = sides ? twin[k]->sides_out : twin[k]->now;
    c.groups[k] = batch[k]->count;
    for (uint32_t i = 0; i < batch[k]->count; i++, n++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const uint64_t parts = kind == GPU_GHOST_MEANS ? 1 : sides ? random >> 58 : random;
      c.ghost[n] = (struct gpu_ghost){k, i, c.parts, (3 * n + 1) % GAS_PATCHES, parts};
      c.parts += (uint32_t)__builtin_popcountll(parts);
    }
  }
  if (kind == GPU_GHOST_MEANS)
    c.packed_bytes = (c.parts + GAS_PATCHES - 1) / GAS_PATCHES * gas_group_bytes(g);
  else
    c.packed_bytes = c.parts * g->scheme.variables * (size_t)GAS_FACE_CELLS * real_of(s);
  return c;
}

/** Cell x, y, z of a group. */
static size_t place_of(size_t variable, size_t x, size_t y, size_t z) {
  const size_t patch = x / 8 + 2 * (y / 8) + 4 * (z / 8);
  return ((variable * GAS_PATCHES + patch) * 8 + z % 8) * 64 + y % 8 * 8 + x % 8;
}

/** Value k of part `part` of a group. */
static size_t value_of_part(const struct gas *g, enum gpu_ghost_kind kind, size_t part, size_t k) {
  if (kind == GPU_GHOST_SIDES) return part * g->scheme.variables * GAS_FACE_CELLS + k;
  const size_t cell = k % GAS_FACE_CELLS;
  return place_of(k / GAS_FACE_CELLS, 4 * (part & 3) + (cell & 3),
                  4 * (part >> 2 & 3) + (cell >> 2 & 3), 4 * (part >> 4) + (cell >> 4));
}

/** What the message must hold, and what becomes of zeroed batches by pasting it. */
static void expect_ghosts(const struct stages *s, const struct ghost_check *c, char *packed,
                          char *const pasted[2]) {
  const struct gas *g = s->g;
  const size_t real = real_of(s), values = g->scheme.variables * (size_t)GAS_FACE_CELLS;
  for (uint32_t i = 0; i < c->ghosts; i++) {
    const struct gpu_ghost *ghost = &c->ghost[i];
    const char *from = c->from[ghost->batch] + ghost->group * c->bytes;
    char *to = pasted[ghost->batch] + ghost->group * c->bytes;
    if (c->kind == GPU_GHOST_MEANS) {
      char *group = packed + i / GAS_PATCHES * gas_group_bytes(g);
      g->scheme.kernels->restrict_group(g->scheme.variables, from, group, (int)(i % GAS_PATCHES));
      for (size_t v = 0; v < g->scheme.variables; v++)
        memcpy(to + (v * GAS_PATCHES + ghost->patch) * GAS_PATCH_CELLS * real,
               group + (v * GAS_PATCHES + i % GAS_PATCHES) * GAS_PATCH_CELLS * real,
               GAS_PATCH_CELLS * real);
      continue;
    }
    char *next = packed + ghost->first * values * real;
    for (size_t part = 0; part < 64; part++)
      for (size_t k = 0; (ghost->parts >> part & 1) && k < values; k++, next += real) {
        const size_t at = value_of_part(g, c->kind, part, k) * real;
        memcpy(next, from + at, real);
        memcpy(to + at, from + at, real);
      }
  }
}

void check_cell_ghosts(struct stages *s, int level, const struct gas_batch *b, struct twin *t) {
  for (int kind = GPU_GHOST_CELLS; kind <= GPU_GHOST_MEANS; kind++) {
    struct ghost_check c = make_ghosts(s, level, b, t, (enum gpu_ghost_kind)kind);
    char *packed = allocate(c.packed_bytes, 1, "a message"), *pasted[2], *pasted_out[2];
    for (int k = 0; k < 2; k++) {
      pasted[k] = allocate(c.groups[k], c.bytes, "ghosts");
      pasted_out[k] = to_device(pasted[k], c.groups[k] * c.bytes);
    }
    char *packed_out = to_device(packed, c.packed_bytes);
    expect_ghosts(s, &c, packed, pasted);
    struct gpu_gas g = gas_on_gpu(s, b);
    g.groups = c.ghosts;
    struct gpu_ghost *ghost = to_device(c.ghost, c.ghosts * sizeof *ghost);
    struct gpu_message m = {(enum gpu_ghost_kind)kind, ghost, c.from_out, 2};
    gpu_gas_cut(&g, &m, packed_out);
    compare_device(s, &s->cut, packed, packed_out, c.packed_bytes);
    m.batch = (const char *const *)pasted_out;
    gpu_gas_paste(&g, &m, packed_out);
    for (int k = 0; k < 2; k++) {
      compare_device(s, &s->paste, pasted[k], pasted_out[k], c.groups[k] * c.bytes);
      CUDA(cudaFree(pasted_out[k]));
      free(pasted[k]);
    }
    CUDA(cudaFree(packed_out));
    CUDA(cudaFree(ghost));
    free(packed);
    free(c.ghost);
  }
}
