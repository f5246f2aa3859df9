/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and memory of generated initial conditions, second order: bench_ic [particles a side = 128]
 * [mesh = as many]. */
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "photons/app/report.h"
#include "photons/base/clock.h"
#include "photons/base/comm.h"
#include "photons/base/error.h"
#include "photons/config/parameters.h"
#include "photons/cosmology/linear_power.h"
#include "photons/ic/ic.h"

int main(int argc, char **argv) {
  comm_start(&argc, &argv);
  if (starpu_init(NULL) != 0) fail(EXIT_RUN_FAILED, "StarPU does not start");
  struct parameters p;
  parameters_default(&p);
  p.box.npart_side = argc > 1 ? strtol(argv[1], NULL, 10) : 128;
  p.box.size = (double)p.box.npart_side;
  p.ic.mesh = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  struct linear_power *power = linear_power_create(&p);
  const struct cosmology c = {
      .omega_m = p.cosmology.omega_m, .omega_lambda = p.cosmology.omega_lambda, .w0 = -1.0};
  comm_barrier();
  const double start = wall_clock();
  const clock_t processor = clock();
  struct particles s = ic_generate(&p, &c, power, NULL);
  comm_barrier();
  const double wall = wall_clock() - start;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double most = (double)usage.ru_maxrss / 1048576.0;
  comm_max_double(&most, 1);
  if (comm_rank() == 0)
    printf("%zu^3 particles, %d processes of %u workers: %.2f s, %.2f s of processor time here, at "
           "most %.3f GiB a "
           "process\n",
           (size_t)p.box.npart_side, comm_size(), starpu_cpu_worker_get_count(), wall,
           (double)(clock() - processor) / CLOCKS_PER_SEC, most);
  particles_free(&s);
  linear_power_free(power);
  starpu_shutdown();
  comm_end();
  return 0;
}
