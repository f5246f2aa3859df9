/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Direct sums. */
#include <stdlib.h>

#include "photons/base/error.h"
#include "photons/tree/pair_rates.h"
#include "tests/gpu/tree/tree.h"

/** Tides of direct sums in single and in double precision. */
static struct difference tides[2] = {{.stage = "tide f32"}, {.stage = "tide f64"}};

void report_tides(void) {
  for (int k = 0; k < 2; k++) {
    report(&tides[k], 5e-6);
    tides[k] = (struct difference){.stage = tides[k].stage};
  }
}

static struct p2p_columns columns_create(const struct bench *b, uint32_t n) {
  struct p2p_columns c = {.x = allocate(n, sizeof *c.x, "sources")};
  if (b->mass) c.mass = allocate(n, sizeof *c.mass, "sources");
  if (b->type) c.type = allocate(n, sizeof *c.type, "sources");
  return c;
}

static void columns_free(struct p2p_columns *c) {
  free(c->x);
  free(c->mass);
  free(c->type);
}

struct p2p_sources sources_of(const struct bench *b, const struct group *g) {
  struct p2p_sources o = {.host = columns_create(b, g->near.count),
                          .device = columns_create(b, g->near.count),
                          .count = allocate(g->near.count, sizeof *o.count, "sources")};
  for (uint32_t i = 0; i < g->near.count; i++) {
    const uint32_t k = g->near.group[i]->index;
    const struct particle_block p = particles_block(&b->s->domain.particles, k);
    o.host.x[i] = p.x[0];
    o.device.x[i] = position_on_device(b, k);
    if (b->mass) o.host.mass[i] = p.relative_mass;
    if (b->mass) o.device.mass[i] = b->mass + p.first;
    if (b->type) o.host.type[i] = p.type;
    if (b->type) o.device.type[i] = b->type + p.first;
    o.count[i] = b->s->domain.groups[k].count;
  }
  return o;
}

void sources_free(struct p2p_sources *o) {
  columns_free(&o->host);
  columns_free(&o->device);
  free(o->count);
}

struct p2p_target target_of(const struct nbody *s, const struct group *g,
                            const struct target_set *t, bool device,
                            const struct p2p_sources *sources) {
  const struct p2p_columns *columns = device ? &sources->device : &sources->host;
  return (struct p2p_target){.count = t->count,
                             .depth = t->depth,
                             .first = device ? t->first_out : t->first,
                             .source_depth = s->domain.depth,
                             .scale = s->domain.geometry.scale,
                             .factor = s->short_range.factor,
                             .x = device ? t->x_out : t->x,
                             .nodes = t->nodes,
                             .near = &s->short_range.groups[g->index].lists.host[LIST_NEAR],
                             .source_x = columns->x,
                             .source_count = sources->count,
                             .source_mass = columns->mass,
                             .source_type = columns->type,
                             .index = device ? t->index_out : t->index,
                             .tide = s->short_range.split.kind != SPLIT_NEWTON};
}

void check_p2p(const struct bench *b, const struct group *g, const struct target_set *t,
               const struct p2p_law *law, bool double_precision, struct difference *d) {
  const struct nbody *s = b->s;
  struct p2p_sources sources = sources_of(b, g);
  struct p2p_scratch scratch = {0};
  struct p2p_target host = target_of(s, g, t, false, &sources),
                    device = target_of(s, g, t, true, &sources);
  const size_t forces = P2P_TIDE * (size_t)t->count,
               floats = p2p_components(&host) * (size_t)t->count;
  float *cpu = allocate(floats, sizeof *cpu, "accelerations"),
        *gpu = allocate(floats, sizeof *gpu, "accelerations");
  float *out = device_memory(floats * sizeof *out);
  uint64_t pairs = 0;
  CUDA(cudaMemset(out, 0xff, floats * sizeof *out));
  if (law->kind == P2P_EXACT)
    p2p_exact(law, &host, cpu);
  else
    s->short_range.kernels->p2p.p2p(law, &host, &scratch, cpu);
  gpu_p2p(b->gpu, b->split, law, &device, g->near.count, double_precision, out, &pairs);
  to_host(b, gpu, out, floats * sizeof *gpu);
  compare(d, cpu, gpu, forces);
  compare(&tides[double_precision], cpu + forces, gpu + forces, floats - forces);
  free(cpu);
  free(gpu);
  CUDA(cudaFree(out));
  p2p_scratch_free(&scratch);
  sources_free(&sources);
}

void add_float_error(const struct bench *b, const struct group *g, const struct target_set *t,
                     struct p2p_law law, struct difference *d) {
  const struct nbody *s = b->s;
  struct p2p_sources sources = sources_of(b, g);
  struct p2p_scratch scratch = {0};
  const struct p2p_target host = target_of(s, g, t, false, &sources);
  const size_t forces = P2P_TIDE * (size_t)t->count,
               floats = p2p_components(&host) * (size_t)t->count;
  float *exact = allocate(floats, sizeof *exact, "accelerations"),
        *single = allocate(floats, sizeof *single, "accelerations");
  law.kind = P2P_EXACT;
  p2p_exact(&law, &host, exact);
  law.kind = P2P_POLYNOMIAL;
  s->short_range.kernels->p2p.p2p(&law, &host, &scratch, single);
  compare(d, exact, single, forces);
  free(exact);
  free(single);
  p2p_scratch_free(&scratch);
  sources_free(&sources);
}

void check_potential(const struct bench *b, const struct group *g, const struct target_set *all,
                     struct difference *d) {
  const struct nbody *s = b->s;
  const struct p2p_law *law = &s->short_range.law;
  struct p2p_sources sources = sources_of(b, g);
  struct p2p_scratch scratch = {0};
  const struct p2p_target host = target_of(s, g, all, false, &sources),
                          device = target_of(s, g, all, true, &sources);
  const size_t bytes = g->count * sizeof(float);
  float *cpu = allocate(g->count, sizeof *cpu, "potentials"),
        *gpu = allocate(g->count, sizeof *gpu, "potentials"), *out = device_memory(bytes);
  CUDA(cudaMemset(out, 0xff, bytes));
  s->short_range.kernels->p2p.potential(law, &host, &scratch, cpu);
  gpu_potential(b->gpu, law, &device, g->near.count, out);
  to_host(b, gpu, out, bytes);
  compare(d, cpu, gpu, g->count);
  free(cpu);
  free(gpu);
  CUDA(cudaFree(out));
  p2p_scratch_free(&scratch);
  sources_free(&sources);
}

/** Momenta of a group's neighbours. @param device  copies on the GPU */
static const float **momenta_of(const struct bench *b, const struct group *g, bool device) {
  const float **p = allocate(g->near.count, sizeof *p, "momenta");
  for (uint32_t i = 0; i < g->near.count; i++) {
    const struct group *near = g->near.group[i];
    const uint32_t place = group_place(&b->s->domain, near);
    const float *momentum = particles_block(&b->s->domain.particles, place).p[0];
    const size_t bytes = 3 * (size_t)near->count * sizeof *momentum;
    p[i] = device ? to_device(momentum, bytes) : momentum;
  }
  return p;
}

void check_pair_rates(const struct bench *b, const struct group *g, const struct target_set *t,
                      struct difference *d) {
  const struct nbody *s = b->s;
  const struct pair_law law = {
      .speed = 1.0f, .mass = s->short_range.factor, .inverse_eta = 5.0f, .soft = 1.0f};
  struct p2p_sources sources = sources_of(b, g);
  const float **momenta = momenta_of(b, g, false), **copies = momenta_of(b, g, true);
  struct pair_target host = {target_of(s, g, t, false, &sources), momenta},
                     device = {target_of(s, g, t, true, &sources), copies};
  host.at.leaf_end = 1u << t->depth;
  const size_t bytes = t->count * sizeof(float);
  float *cpu = allocate(t->count, sizeof *cpu, "rates"),
        *gpu = allocate(t->count, sizeof *gpu, "rates"), *out = device_memory(bytes);
  CUDA(cudaMemset(out, 0xff, bytes));
  s->short_range.kernels->p2p.pair_rates(&law, &s->short_range.law, &host, cpu);
  gpu_pair_rates(b->gpu, &law, &s->short_range.law, &device, g->near.count, out);
  to_host(b, gpu, out, bytes);
  compare(d, cpu, gpu, t->count);
  for (uint32_t i = 0; i < g->near.count; i++) CUDA(cudaFree((void *)copies[i]));
  free(cpu);
  free(gpu);
  free(momenta);
  free(copies);
  CUDA(cudaFree(out));
  sources_free(&sources);
}
