/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image_map.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/runtime/loop.h"

LOOP_STAGE(image, 0xaa4466, .untimed = true);

#define MAPS_MAX (256.0 * 1048576.0) /* most bytes of all maps on one host */
enum { PARTS_MAX = 32, BANDS = 64 };
enum { CORE_PARTS = 4 }; /* for each core: parts differ by their time */

static double choose_parts(double values, double most) {
  const double fitting = MAPS_MAX / (double)comm_host_size() / (values * sizeof(uint64_t));
  const double cores = (double)sysconf(_SC_NPROCESSORS_ONLN) / (double)comm_host_size();
  return floor(fmax(1.0, fmin(fmin(fmin(PARTS_MAX, CORE_PARTS * cores), most), fitting)));
}

struct maps maps_create(size_t values, size_t most) {
  struct maps m = {.values = values, .parts = (uint32_t)choose_parts((double)values, (double)most)};
  m.map = allocate(m.parts * values, sizeof *m.map, "the maps of a picture");
  return m;
}

double maps_memory(double values, double most, double border) {
  const double parts = choose_parts(values, most);
  return values * (sizeof(uint64_t) * fmin(parts, 1.0 + border * parts) + sizeof(double));
}

static void sum_band(void *context, uint32_t band) {
  const struct maps *m = context;
  const size_t end = block_first(m->values, BANDS, band + 1);
  for (uint32_t part = 1; part < m->parts; part++)
    for (size_t i = block_first(m->values, BANDS, band); i < end; i++)
      m->map[i] += m->map[part * m->values + i];
}

void maps_sum(struct maps *m) {
  loop_run(&image_stage, BANDS, sum_band, m);
  comm_sum_u64(m->map, m->values);
}

double *maps_convert(struct maps *m, double unit) {
  double *value = allocate(m->values, sizeof *value, "a map");
  for (size_t i = 0; i < m->values; i++) value[i] = (double)(int64_t)m->map[i] * unit;
  free(m->map);
  m->map = NULL;
  return value;
}
