/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time of the analysis of a Gadget snapshot: PHOTONS_BENCH_SNAPSHOT, else the test data's late32. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "force_set.h"
#include "photons/analysis.h"
#include "photons/fof.h"
#include "photons/ic.h"
#include "photons/report.h"

int main(void) {
  const char *snapshot = getenv("PHOTONS_BENCH_SNAPSHOT");
  if (!snapshot || !*snapshot) snapshot = test_data("forces/late32.hdf5");
  if (!snapshot) {
    puts("skipped: neither PHOTONS_BENCH_SNAPSHOT nor PHOTONS_TEST_DATA names a snapshot");
    return 77;
  }
  start_starpu_for_tests();
  struct parameters p;
  parameters_default(&p);
  snprintf(p.ic.file, sizeof p.ic.file, "%s", snapshot);
  struct particles s = ic_read_gadget(&p);
  struct layout layout = layout_choose(&p, s.count);
  struct simulation simulation = {.parameters = &p, .particles = s, .group_count = layout.group_count, .depth = layout.depth};
  simulation.worker_count = starpu_worker_get_count();
  simulation.workers = calloc(simulation.worker_count, sizeof *simulation.workers);
  double start = wall_clock();
  domain_rebuild(&simulation);
  s = simulation.particles;
  printf("%zu particles in %u groups, depth %u, %u workers; sorted in %.3f s\n", s.count, layout.group_count, layout.depth,
         simulation.worker_count, wall_clock() - start);
  for (int repeat = 0; repeat < 3; repeat++) {
    start = wall_clock();
    struct fof *f = fof_find(&s, layout.depth, 0.2 * s.box / cbrt((double)s.count));
    double spent = wall_clock() - start;
    size_t groups = 0;
    for (size_t i = 0; i < s.count; i++) groups += f->head[i] == i;
    printf("friends of friends: %.3f s, %zu groups\n", spent, groups);
    fof_free(f);
  }
  size_t bins;
  start = wall_clock();
  free(power_measure(&s, (size_t)lround(cbrt((double)s.count)), 2, &bins));
  printf("power spectrum: %.3f s\n", wall_clock() - start);
  start = wall_clock();
  image_write("bench_analysis.png", &s, 0, 1.0);
  printf("picture: %.3f s\n", wall_clock() - start);
  remove("bench_analysis.png");
  particles_free(&s);
  free(simulation.workers);
  starpu_shutdown();
  return 0;
}
