/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole mesh without tasks: its slabs, transpose blocks of the spectra (`block`) and stages. */
#ifndef PHOTONS_TESTS_MESH_WORKSPACE_H
#define PHOTONS_TESTS_MESH_WORKSPACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "photons/base/error.h" /* before cmocka.h, which has a macro fail() */
#include "photons/mesh/kernels.h"

#include <cmocka.h>

#include "assert_near.h"

#define TURN 4294967296.0

/* Slabs and transpose blocks of a whole mesh, and the stages applied to them. */
struct workspace {
  const struct mesh *mesh;
  const struct mesh_kernels *kernels;
  uint32_t sets, fields; /* fields: of all sets */
  float *slabs[6];       /* [set][field] all planes; the density is stored in the memory of field
                            0 */
  float complex *blocks; /* [sets][fields][slabs][columns] */
  float complex **block; /* pointers to each transpose block of `blocks` */
  double *potential;     /* [ky][kz] sums of potentials */
};

static inline float *slab_of(const struct workspace *w, uint32_t set, uint32_t field, uint32_t s) {
  return w->slabs[set * w->mesh->fields + field] + slab_first(w->mesh, s) * plane_floats(w->mesh);
}

static inline struct workspace workspace_create(const struct mesh *m,
                                                const struct mesh_kernels *kernels) {
  struct workspace w = {.mesh = m,
                        .kernels = kernels,
                        .sets = m->interlace ? 2 : 1,
                        .fields = (m->interlace ? 2 : 1) * m->fields};
  const uint32_t s = m->slabs, fields = w.fields;
  for (uint32_t i = 0; i < fields; i++) {
    w.slabs[i] = aligned_alloc(64, m->cells * plane_floats(m) * sizeof(float));
    assert_non_null(w.slabs[i]);
    memset(w.slabs[i], 0, m->cells * plane_floats(m) * sizeof(float));
  }
  w.blocks = allocate((size_t)fields * m->cells * m->cells * m->kz, sizeof *w.blocks, "blocks");
  w.potential = allocate((size_t)m->cells * m->kz, sizeof *w.potential, "sums of potentials");
  w.block = allocate((size_t)fields * s * s, sizeof *w.block, "blocks");
  size_t at = 0;
  for (uint32_t f = 0; f < fields; f++)
    for (uint32_t i = 0; i < s; i++)
      for (uint32_t c = 0; c < s; c++) {
        w.block[(f * s + i) * s + c] = w.blocks + at;
        at += block_size(m, i, c);
      }
  return w;
}

static inline void workspace_free(struct workspace *w) {
  for (int i = 0; i < 6; i++) free(w->slabs[i]);
  free(w->blocks);
  free(w->block);
  free(w->potential);
}

/* Every `threads`-th slab or column, beginning with `first`, of one stage. */
struct share {
  const struct workspace *w;
  int stage;
  uint32_t first, threads;
};

static inline void *run_share(void *argument) {
  const struct share *share = argument;
  const struct workspace *w = share->w;
  const struct mesh *m = w->mesh;
  void *scratch = allocate(mesh_scratch_bytes(m), 1, "scratch");
  const uint32_t fields = w->fields;
  float complex **out = allocate((size_t)fields * m->slabs, sizeof *out, "blocks");
  const float complex **in = allocate((size_t)w->sets * m->slabs, sizeof *in, "blocks");
  for (uint32_t i = share->first; i < m->slabs; i += share->threads) {
    if (share->stage == 0) {
      for (uint32_t set = 0; set < w->sets; set++)
        mesh_fft_yz(m, i, slab_of(w, set, 0, i),
                    w->block + (set * m->spectra * m->slabs + i) * m->slabs, scratch);
    } else if (share->stage == 1) {
      for (uint32_t s = 0; s < w->sets * m->spectra * m->slabs; s++)
        out[s] = w->block[s * m->slabs + i];
      for (uint32_t set = 0; set < w->sets; set++)
        for (uint32_t s = 0; s < m->slabs; s++)
          in[set * m->slabs + s] = out[set * m->spectra * m->slabs + s];
      mesh_fft_x(m, i, column_kys(m, i), in, out, w->potential + (size_t)column_first(m, i) * m->kz,
                 scratch);
    } else {
      for (uint32_t f = 0; f < fields; f++)
        mesh_ifft_yz(
            m, i, f % m->fields,
            (const float complex *const *)w->block +
                ((f / m->fields * m->spectra + spectrum_of_field(f % m->fields)) * m->slabs + i) *
                    m->slabs,
            w->slabs[f] + slab_first(m, i) * plane_floats(m), scratch);
    }
  }
  free(in);
  free(out);
  free(scratch);
  return NULL;
}

/* Transform the densities in the slabs into fields. */
static inline void transform(const struct workspace *w, uint32_t threads) {
  for (int stage = 0; stage < 3; stage++) {
    pthread_t thread[4];
    struct share share[4];
    for (uint32_t t = 0; t < threads; t++) {
      share[t] = (struct share){.w = w, .stage = stage, .first = t, .threads = threads};
      assert_int_equal(pthread_create(&thread[t], NULL, run_share, &share[t]), 0);
    }
    for (uint32_t t = 0; t < threads; t++) assert_int_equal(pthread_join(thread[t], NULL), 0);
  }
}

/* The patch of particles that lie within half a box of each other. */
static inline struct patch patch_of(const struct mesh *m, uint32_t count, const uint32_t *x) {
  uint32_t centre[3];
  double half[3];
  for (size_t c = 0; c < 3; c++) {
    int64_t low = 0, high = 0;
    for (uint32_t i = 1; i < count; i++) {
      const int32_t d = (int32_t)(x[c * count + i] - x[c * count]);
      low = d < low ? d : low;
      high = d > high ? d : high;
    }
    const int64_t middle = (low + high) / 2;
    centre[c] = x[c * count] + (uint32_t)middle;
    half[c] = (double)(high - middle > middle - low ? high - middle : middle - low);
  }
  return patch_for_box(m, centre, half);
}

static inline void deposit(const struct workspace *w, uint32_t count, const uint32_t *x) {
  const struct mesh *m = w->mesh;
  const struct patch patch = patch_of(m, count, x);
  const size_t size = (size_t)patch.size[0] * patch.size[1] * patch.size[2];
  float *data = allocate(size, sizeof *data, "patch");
  for (uint32_t set = 0; set < w->sets; set++) {
    w->kernels->deposit(m, count, x, NULL, set == 1, &patch, data);
    for (uint32_t s = 0; s < m->slabs; s++)
      w->kernels->patch_add(m, s, &patch, data, slab_of(w, set, 0, s));
  }
  free(data);
}

static inline void read_field(const struct workspace *w, uint32_t count, const uint32_t *x,
                              float factor, float *acceleration) {
  const struct mesh *m = w->mesh;
  const float **planes = allocate(m->fields * (size_t)m->cells, sizeof *planes, "planes");
  const struct field_view view = whole_planes(m->row, planes);
  for (uint32_t set = 0; set < w->sets; set++) {
    for (uint32_t f = 0; f < m->fields; f++)
      for (uint32_t i = 0; i < m->cells; i++)
        planes[f * m->cells + i] = slab_of(w, set, f, 0) + i * plane_floats(m);
    w->kernels->read(m, count, x, set == 1, factor / (float)w->sets, &view, acceleration);
  }
  free(planes);
}

static inline struct split gauss_split(double cell, double r_s, double r_cut) {
  struct split s;
  split_init(&s, SPLIT_GAUSS, r_s * cell, r_cut * cell, 9);
  return s;
}

#endif
