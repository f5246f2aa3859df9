/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block time steps: packed targets, and the kick by rungs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/step/gpu_step.h"
#include "photons/base/error.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/tree/pack.h"

/** Columns of a group for a kick by rungs, in host or device memory. */
struct kick_columns {
  float *momentum, *acceleration, *mesh;
  uint8_t *rung;
};

/** @param p  NULL: all particles are active, and their own accelerations are given */
static struct rung_arrays kick_arrays(const struct group *g, const struct kick_columns *c,
                                      const struct packed_set *p, bool device) {
  return (struct rung_arrays){.count = g->count,
                              .active = p ? p->t.count : g->count,
                              .index = !p       ? NULL
                                       : device ? p->index_out
                                                : p->index,
                              .given = !p       ? NULL
                                       : device ? p->acceleration_out
                                                : p->acceleration,
                              .mesh = c->mesh,
                              .acceleration = c->acceleration,
                              .momentum = c->momentum,
                              .rung = c->rung};
}

/** Compare the particles after both kicks. Where the rung differs, so does the momentum. */
static void compare_kicks(const struct bench *b, const struct group *g,
                          const struct kick_columns *cpu, const struct kick_columns *out,
                          uint32_t active, uint8_t top, const uint32_t *counts,
                          struct block_difference *d) {
  const size_t n = g->count;
  uint32_t counted[RUNGS] = {0};
  float *momentum = allocate(3 * n, sizeof *momentum, "momenta"),
        *acceleration = allocate(3 * n, sizeof *acceleration, "accelerations");
  uint8_t *rung = allocate(n, 1, "rungs");
  to_host(b, momentum, out->momentum, 3 * n * sizeof *momentum);
  to_host(b, acceleration, out->acceleration, 3 * n * sizeof *acceleration);
  to_host(b, rung, out->rung, n);
  for (size_t i = 0; i < n; i++) {
    if (rung[i] < RUNGS) counted[rung[i]]++;
    d->rung_wrong += rung[i] != cpu->rung[i];
    for (size_t c = 0; c < 3 && rung[i] == cpu->rung[i]; c++) {
      compare(&d->kick, &cpu->momentum[c * n + i], &momentum[c * n + i], 1);
      compare(&d->kick, &cpu->acceleration[c * n + i], &acceleration[c * n + i], 1);
    }
  }
  d->kicked += active;
  bool same = true; /* only active particles have rungs from top on */
  for (int k = 0; k < RUNGS; k++) same &= counts[k] == (k < top ? UINT32_MAX : counted[k]);
  d->counts_wrong += !same;
  free(momentum);
  free(acceleration);
  free(rung);
}

/** @param total, choice  of struct rung_kick */
static void check_kick_rungs(const struct bench *b, const struct group *g, const uint8_t *rung,
                             uint8_t top, const struct packed_set *p, bool total,
                             enum rung_choice choice, struct block_difference *d) {
  const struct nbody *s = b->s;
  const struct particle_block all = particles_block(&s->domain.particles, g->index);
  const size_t n = g->count, bytes = 3 * n * sizeof(float);
  struct kick_columns cpu = {
      allocate(3 * n, sizeof(float), "momenta"), allocate(3 * n, sizeof(float), "accelerations"),
      allocate(3 * n, sizeof(float), "accelerations"), allocate(n, 1, "rungs")};
  struct rung_kick k = {.mesh = 2e-4f,
                        .top = top,
                        .deepest = (uint8_t)(top + 8 < RUNG_MOST ? top + 8 : RUNG_MOST),
                        .choice = choice,
                        .shift = 1,
                        .total = total};
  double mean2 = 0.0;
  for (size_t i = 0; i < n; i++) mean2 += (double)acceleration2(&all, i) / (double)n;
  for (int i = 0; i < RUNGS; i++) {
    k.close[i] = ldexpf(1e-3f, -i);
    k.open[i] = ldexpf(1.1e-3f, -i);
    k.limit[i] = (float)ldexp(mean2, 2 * (i - top) - 4);
  }
  memcpy(cpu.momentum, all.p[0], bytes);
  memcpy(cpu.acceleration, all.acc[0], bytes);
  memcpy(cpu.rung, rung, n);
  for (size_t i = 0; i < 3 * n; i++) cpu.mesh[i] = 0.1f * all.acc[0][3 * n - 1 - i];
  const struct kick_columns out = {to_device(cpu.momentum, bytes),
                                   to_device(cpu.acceleration, bytes), to_device(cpu.mesh, bytes),
                                   to_device(cpu.rung, n)};
  const struct rung_arrays host = kick_arrays(g, &cpu, p, false),
                           device = kick_arrays(g, &out, p, true);
  struct kick_largest largest[2];
  uint32_t rungs[2][RUNGS];
  memset(rungs[1], 0xff, sizeof rungs[1]);
  largest[0] = s->kernels->kick_rungs(&k, &host, rungs[0]);
  gpu_kick_rungs(b->gpu, &k, &device, rungs[1], &largest[1]);
  CUDA(cudaStreamSynchronize(b->stream));
  compare_kicks(b, g, &cpu, &out, host.active, top, rungs[1], d);
  compare(&d->kick, &largest[0].acceleration, &largest[1].acceleration, 1);
  compare(&d->kick, &largest[0].momentum, &largest[1].momentum, 1);
  void *host_memory[] = {cpu.momentum, cpu.acceleration, cpu.mesh, cpu.rung},
       *device_memory[] = {out.momentum, out.acceleration, out.mesh, out.rung};
  for (size_t i = 0; i < sizeof host_memory / sizeof *host_memory; i++) {
    free(host_memory[i]);
    CUDA(cudaFree(device_memory[i]));
  }
}

/** One group with so many active particles. */
static void check_active(const struct bench *b, struct group *g, enum active_choice choice,
                         uint32_t active, uint8_t top, struct walk_scratch *scratch,
                         struct block_difference *d) {
  const struct nbody *s = b->s;
  struct lists *lists = &s->short_range.groups[g->index].lists;
  uint8_t *rung = rungs_for(s, g, choice, active, top);
  struct packed_set p = packed_create(s, active);
  struct p2p_law law = s->short_range.law;
  law.kind = P2P_POLYNOMIAL;
  check_pack(b, g, rung, top, &p, d);
  check_reach(b, g, &p.t, scratch, &d->walk);
  walk_group(b, g, &p.t, scratch);
  check_walk(b, g, &p.t, &d->walk);
  check_expansions(b, g, &p.t, &d->m2l, &d->l2l, &d->l2p);
  check_p2p(b, g, &p.t, &law, false, &d->p2p);
  law.kind = P2P_EXACT;
  if (g->index < exact_groups(s)) {
    check_p2p(b, g, &p.t, &law, true, &d->p2p_double);
    add_float_error(b, g, &p.t, law, &d->p2p_float);
  }
  check_kick_rungs(b, g, rung, top, &p, false, RUNG_DEEPENS, d);
  if (active == g->count) { /* at the ends of a base step */
    check_kick_rungs(b, g, rung, top, NULL, true, RUNG_BY_ACCELERATION, d);
    check_kick_rungs(b, g, rung, top, NULL, true, RUNG_SHIFTS, d);
    check_kick_rungs(b, g, rung, top, NULL, false, RUNG_FOLLOWS, d);
    check_kick_rungs(b, g, rung, top, NULL, false, RUNG_STAYS, d);
  }
  interaction_list_free(&lists->host[LIST_NEAR]);
  interaction_list_free(&lists->host[LIST_FAR]);
  packed_free(&p);
  free(rung);
}

/* A particle whose acceleration is at the limit of a rung within rounding may get another rung. */
static void report_block(const struct block_difference *d) {
  const bool packed = d->pack_wrong == 0,
             kicked = d->counts_wrong == 0 && (double)d->rung_wrong <= 1e-5 * (double)d->kicked;
  printf("  %-10s %" PRIu64 " targets, %" PRIu64 " of %" PRIu64
         " leaves empty, the largest has %" PRIu32 "  %s\n",
         "pack", d->packed, d->empty, d->leaves, d->largest, packed ? "ok" : "WRONG");
  report(&d->refit, 1e-6);
  report_walk("  walk", &d->walk);
  report(&d->m2l, EXPANSION_LIMIT);
  report(&d->l2l, 1e-6);
  report(&d->l2p, 1e-6);
  /* Leaves of few targets are wide, where floats lose close pairs: the cores' own loss, found in the
   * first groups, is the limit then. */
  report(&d->p2p, fmax(5e-6, rms_of(&d->p2p_float)));
  report(&d->p2p_double, 1e-6);
  report_tides();
  printf("  %-10s %" PRIu64 " of %" PRIu64 " rungs differ, %" PRIu64 " wrong counts  %s\n",
         "kick_rungs", d->rung_wrong, d->kicked, d->counts_wrong, kicked ? "ok" : "WRONG");
  report(&d->kick, 1e-6);
  failures += !packed + !kicked;
}

void check_block(const struct bench *b) {
  const struct domain *domain = &b->s->domain;
  struct walk_scratch scratch = {0};
  struct block_difference d = {.refit = {.stage = "  refit"},
                               .m2l = {.stage = "  m2l"},
                               .l2l = {.stage = "  l2l"},
                               .l2p = {.stage = "  l2p"},
                               .p2p = {.stage = "  p2p"},
                               .p2p_double = {.stage = "  exact f64"},
                               .kick = {.stage = "  kick"}};
  for (uint32_t i = 0; i < domain->group_count; i++) {
    struct group *g = &domain->groups[i];
    check_active(b, g, STRONGEST, g->count, 0, &scratch, &d);
    check_active(b, g, STRONGEST, g->count / 2 + 1, 1, &scratch, &d);
    check_active(b, g, STRONGEST, g->count / 20 + 1, 7, &scratch, &d);
    check_active(b, g, STRONGEST, 1, RUNG_MOST, &scratch, &d);
    check_active(b, g, TOGETHER, g->count / 3 + 1, 2, &scratch, &d);
    check_active(b, g, TOGETHER, g->count / 20 + 1, 3, &scratch, &d);
    check_active(b, g, TOGETHER, 1 + i % 40, 4, &scratch, &d);
    check_active(b, g, APART, g->count / 5 + 1, 2, &scratch, &d);
    check_active(b, g, APART, 1 + i % 40, 3, &scratch, &d);
  }
  walk_scratch_free(&scratch);
  report_block(&d);
}
