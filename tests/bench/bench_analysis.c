/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time of the analysis of a Gadget snapshot: PHOTONS_BENCH_SNAPSHOT, else the clustered force set.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "photons/analysis/analysis.h"
#include "photons/analysis/fof.h"
#include "photons/analysis/halo.h"
#include "photons/app/report.h"
#include "photons/base/clock.h"
#include "photons/ic/ic.h"
#include "photons/runtime/engine.h"
#include "support/force_set.h"
#include "support/sorted_particles.h"

struct stopwatch {
  double wall;
  clock_t processor;
};

static struct stopwatch watch_start(void) { return (struct stopwatch){wall_clock(), clock()}; }

static void watch_print(const char *what, struct stopwatch w) {
  printf("%-20s %.3f s, %.3f s of processor time\n", what, wall_clock() - w.wall,
         (double)(clock() - w.processor) / CLOCKS_PER_SEC);
}

int main(void) {
  const char *snapshot = getenv("PHOTONS_BENCH_SNAPSHOT");
  if (!snapshot || !*snapshot) snapshot = force_set_path("late.hdf5");
  start_starpu_for_tests();
  struct parameters p;
  parameters_default(&p);
  snprintf(p.ic.file, sizeof p.ic.file, "%s", snapshot);
  struct particles s = ic_read_gadget(&p);
  struct layout layout = layout_choose(&p, s.count);
  struct stopwatch watch = watch_start();
  sort_particles(&s, layout.domain.group_count, layout.domain.depth);
  printf("%zu particles in %u groups, depth %u, %u workers\n", s.count, layout.domain.group_count,
         layout.domain.depth, starpu_worker_get_count());
  watch_print("sorting", watch);
  for (int repeat = 0; repeat < 3; repeat++) {
    watch = watch_start();
    struct fof *f = fof_find(&s, layout.domain.depth, 0.2 * s.box / cbrt((double)s.count));
    watch_print("friends of friends", watch);
    const struct cosmology c = {.omega_m = p.cosmology.omega_m,
                                .omega_lambda = p.cosmology.omega_lambda};
    const struct halo_background background = halo_background_at(&c, 1.0 / (1.0 + p.ic.z_init));
    watch = watch_start();
    halo_catalogue_free(halo_catalogue_create(f, 20, false, 0, &background));
    watch_print("halo catalogue", watch);
    watch = watch_start();
    struct halo_catalogue *catalogue = halo_catalogue_create(f, 20, true, 20, &background);
    watch_print("halo catalogue with subhalos", watch);
    size_t bins;
    watch = watch_start();
    free(power_measure(&s, (size_t)lround(cbrt((double)s.count)), 2, &bins));
    watch_print("power spectrum", watch);
    watch = watch_start();
    struct image image = {.path = "bench_analysis.png", .pixels = 1024, .a = 1.0, .thickness = 1.0};
    images_write(&s, &image, 1);
    watch_print("picture, smoothed", watch);
    watch = watch_start();
    image.lattice = (size_t)lround(cbrt((double)s.count));
    images_write(&s, &image, 1);
    watch_print("picture of the sheet", watch);
    watch = watch_start();
    image.thickness = 0.05;
    images_write(&s, &image, 1);
    watch_print("slice of the sheet", watch);
    printf("(%zu halos, the largest of %llu particles)\n", catalogue->count,
           catalogue->count ? (unsigned long long)catalogue->halo[0].count : 0);
    halo_catalogue_free(catalogue);
    fof_free(f);
  }
  remove("bench_analysis.png");
  particles_free(&s);
  engine_stop();
  return 0;
}
